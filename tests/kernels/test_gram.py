"""Factors of Gram matrices against the matrices, and what refuses to be one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.kernels import (
    RBF,
    FunctionKernel,
    GapWeighted,
    Linear,
    Mismatch,
    Precomputed,
    Spectrum,
    check_psd,
    incomplete_cholesky,
    mercer_map,
    pivoted_cholesky,
)
from structlearn.kernels.gram import check_kernel

#: Few numbers, so that rows are there twice and depend on each other.
points = arrays(np.float64, st.tuples(st.integers(1, 8), st.just(2)), elements=st.integers(-2, 2).map(float))


@given(points, st.sampled_from([Linear(), RBF(0.5)]))
def test_the_mercer_map_reproduces_the_matrix(X, kernel):
    K = kernel(X)
    phi = mercer_map(K)
    np.testing.assert_allclose(phi @ phi.T, K, atol=1e-10)
    assert phi.shape[1] == np.linalg.matrix_rank(K, hermitian=True)


def test_the_first_components_are_the_best_ones():
    K = RBF()(np.random.default_rng(0).standard_normal((9, 2)))
    values = np.linalg.eigvalsh(K)
    for r in (1, 3, 9):
        phi = mercer_map(K, r)
        assert phi.shape == (9, r)
        assert np.trace(K - phi @ phi.T) == pytest.approx(values[: 9 - r].sum(), abs=1e-10)


@given(points, st.sampled_from([Linear(), RBF(0.5)]))
def test_pivoted_cholesky_keeps_what_is_independent(X, kernel):
    K = kernel(X)
    kept, L = pivoted_cholesky(K)
    assert len(kept) == np.linalg.matrix_rank(K, hermitian=True)
    np.testing.assert_allclose(L @ L.T, K[np.ix_(kept, kept)], atol=1e-10)
    assert not np.triu(L, 1).any()
    if len(kept):
        coordinates = np.linalg.solve(L, K[kept])
        np.testing.assert_allclose(coordinates.T @ coordinates, K, atol=1e-8)


@given(points, st.integers(1, 9), st.sampled_from([Linear(), RBF(0.5)]))
def test_the_residual_of_incomplete_cholesky_bounds_its_error(X, n_components, kernel):
    K = kernel(X)
    found = incomplete_cholesky(kernel, X, n_components)
    error = K - found.factor @ found.factor.T
    np.testing.assert_allclose(found.residual, error.diagonal(), atol=1e-10)
    assert np.linalg.norm(error, "nuc") <= found.residual.sum() + 1e-8
    assert np.abs(error).max() <= found.residual.max() + 1e-8
    np.testing.assert_allclose(error[found.pivots], 0.0, atol=1e-7)
    assert len(set(found.pivots.tolist())) == len(found.pivots) <= min(n_components, len(X))


def test_each_pivot_is_what_is_explained_least():
    X = np.random.default_rng(0).standard_normal((20, 2))
    K, found = RBF()(X), incomplete_cholesky(RBF(), X, 5)
    for r in range(1, 5):
        B = found.pivots[:r]
        left = (K - K[:, B] @ np.linalg.solve(K[np.ix_(B, B)], K[B])).diagonal()
        assert found.pivots[r] == left.argmax()
    assert found.pivots[0] == 0


def test_strings_are_factored_as_well():
    words = ["abab", "bab", "cc", "abab"]
    found = incomplete_cholesky(Spectrum(1), words, 10)
    assert len(found.pivots) == 3
    np.testing.assert_allclose(found.factor @ found.factor.T, Spectrum(1)(words), atol=1e-12)


NOT_PSD = [[1.0, 2.0], [2.0, 1.0]]


@pytest.mark.parametrize("of", [check_psd, mercer_map, pivoted_cholesky])
@pytest.mark.parametrize(
    ("K", "message"),
    [
        (NOT_PSD, "K is not positive semidefinite: its eigenvalues go from -1 to 3; take another kernel"),
        ([[0.0, 1.0], [1.0, 0.0]], "eigenvalues go from -1 to 1"),
        (-np.eye(2), "eigenvalues go from -1 to -1"),
        ([[1.0, 0.5]], r"K has shape \(1, 2\)"),
        (np.empty((0, 0)), r"K has shape \(0, 0\)"),
        ([[1.0, 0.0], [0.5, 1.0]], r"K\[0, 1\] is 0 but K\[1, 0\] is 0.5; a kernel is symmetric"),
        ([[np.nan]], r"K\[0, 0\] is nan"),
    ],
)
def test_what_is_no_gram_matrix_is_refused(of, K, message):
    with pytest.raises(ValueError, match=message):
        of(K)


def test_a_kernel_that_is_none_is_found_while_it_is_factored():
    with pytest.raises(ValueError, match=r"not positive semidefinite: after 1 columns, X\[1\] has -3 left"):
        incomplete_cholesky(Precomputed(NOT_PSD), [0, 1], 2)
    with pytest.raises(ValueError, match=r"that of X\[1\] with itself is -4; take another kernel"):
        incomplete_cholesky(FunctionKernel(lambda X, Z: -X @ Z.T), [[1.0], [2.0]], 2)
    with pytest.raises(ValueError, match=r"gave an array of shape \(3,\) for 1 example and 1"):
        incomplete_cholesky(FunctionKernel(lambda X, Z: np.ones(3)), [[1.0]], 1)
    with pytest.raises(ValueError, match=r"the kernel of X\[0\] and itself is nan"):
        incomplete_cholesky(FunctionKernel(lambda X, Z: np.full((len(X), len(Z)), np.nan)), [[1.0]], 1)


def test_a_look_at_some_examples_names_those_that_show_that_a_kernel_is_none():
    X = np.arange(1000.0)[:, None]
    check_kernel(Linear(), X)
    with pytest.raises(ValueError, match="the kernel matrix of 100 examples of X is not positive semidefinite"):
        check_kernel(FunctionKernel(lambda X, Z: -X @ Z.T), X)
    with pytest.raises(ValueError, match=r"the kernel of X\[0\] and X\[999\] is 0 but the kernel of X\[999\] and"):
        check_kernel(FunctionKernel(lambda X, Z: X * (1.0 + 0.0 * Z.T)), X)
    with pytest.raises(ValueError, match=r"the kernel of X\[0\] and X\[0\] is nan"):
        check_kernel(FunctionKernel(lambda X, Z: np.nan * X @ Z.T), X)


@pytest.mark.parametrize(
    "kernel", [Spectrum(2), Mismatch(3, 1, "abc"), GapWeighted(2), 0.5 * Spectrum(2) + 1.0], ids=repr
)
def test_columns_are_those_of_the_matrix(kernel):
    words = kernel.read(["abcab", "cabba", "bb", "", "aabbcc", "abcab"], "X")
    column_of, K = kernel.columns(words), kernel(words)
    for p in range(len(words)):
        np.testing.assert_allclose(column_of(p), K[:, p], rtol=1e-14)
