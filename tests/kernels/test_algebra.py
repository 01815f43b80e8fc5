"""What kernels combine to is a kernel, with the values of the definition, and so on for what these combine to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from structlearn.kernels import (
    RBF,
    Constant,
    FunctionKernel,
    Laplacian,
    Linear,
    Polynomial,
    Precomputed,
    Spectrum,
    check_psd,
)

X = np.random.default_rng(0).standard_normal((6, 2))
Z = np.random.default_rng(1).standard_normal((3, 2))
points = arrays(np.float64, st.tuples(st.integers(1, 6), st.just(2)), elements=st.floats(-2, 2))


def lengths(X):
    return np.linalg.norm(np.asarray(X), axis=1)


def combined(kernels):
    return st.one_of(
        st.builds(lambda a, b: a + b, kernels, kernels),
        st.builds(lambda a, b: a * b, kernels, kernels),
        st.builds(lambda c, k: c * k + c, st.floats(0, 3), kernels),
        st.builds(lambda k: k**2, kernels),
        st.builds(lambda k: k.normalised().exp(), kernels),
        st.builds(lambda k: k.weighted(lengths), kernels),
        st.builds(lambda k: k.normalised(), kernels),
        st.builds(lambda k: k.centred(X), kernels),
    )


simple = st.sampled_from([Linear(), RBF(0.7), Laplacian(), Polynomial(2)])


@given(st.recursive(simple, combined, max_leaves=4), points)
def test_the_algebra_never_leaves_the_kernels(kernel, X):
    K = kernel(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(K).max()))
    # Centring subtracts numbers that may be far larger than what is left.
    eigenvalues = np.linalg.eigvalsh(K)
    assert eigenvalues[0] >= -1e-8 * max(1.0, eigenvalues[-1], np.abs(kernel(X * 0 + 2)).max())
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal(), rtol=1e-9, atol=1e-9 * max(1.0, np.abs(K).max()))


def test_values_are_those_of_the_definitions():
    a, b = RBF(0.5), Linear()
    A, B = a(X, Z), b(X, Z)
    for kernel, values in [
        (a + b, A + B),
        (a * b, A * B),
        (2.0 * a, 2 * A),
        (a * 3, 3 * A),
        (1.0 + a, 1 + A),
        (a + 0.5, A + 0.5),
        (b**3, B**3),
        ((1.0 + b) ** 2, Polynomial(2)(X, Z)),
        (b.exp(), np.exp(B)),
        (b.weighted(lengths), lengths(X)[:, None] * B * lengths(Z)),
        (b.normalised(), B / lengths(X)[:, None] / lengths(Z)),
    ]:
        np.testing.assert_allclose(kernel(X, Z), values, rtol=1e-12)


def test_a_gaussian_is_made_by_the_algebra():
    kernel = (2.0 * Linear()).exp().weighted(lambda X: np.exp(-(X**2).sum(axis=1)))
    np.testing.assert_allclose(kernel(X, Z), RBF(1.0)(X, Z), rtol=1e-12)


def test_centring_subtracts_the_mean_of_the_features():
    mean = X.mean(axis=0)
    np.testing.assert_allclose(Linear().centred(X)(X, Z), (X - mean) @ (Z - mean).T, atol=1e-12)
    np.testing.assert_allclose(RBF().centred(X)(X).sum(axis=0), 0.0, atol=1e-12)


def test_what_has_no_length_is_normalised_to_nothing():
    kernel = Linear().normalised()
    np.testing.assert_array_equal(kernel([[0.0], [2.0]]), [[0.0, 0.0], [0.0, 1.0]])
    assert kernel.diagonal([[0.0], [2.0]]).tolist() == [0.0, 1.0]


def test_kernels_of_strings_combine_as_well():
    words = ["abab", "bab", "cc"]
    kernel = (0.5 * Spectrum(1) + Spectrum(2)).normalised() + 1.0
    K = kernel(words)
    assert K[0, 0] == pytest.approx(2.0)
    assert K[0, 2] == 1.0
    check_psd(K)


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (-1.0 * RBF(), "multiplied with is -1.0; it must be a number ≥ 0"),
        (RBF() + "1", "multiplied with is '1'"),
        (RBF() ** 0, "exponent is 0; it must be a whole number ≥ 1"),
        (RBF() ** 0.5, "exponent is 0.5"),
        (RBF() + RBF(0.0), "gamma is 0.0"),
        (2.0 * (RBF(-1.0) ** 2).exp(), "gamma is -1.0"),
        (RBF().weighted(3), "weight is 3; expected a function of examples"),
        (RBF().weighted(lambda X: [1.0]), r"weight gave an array of shape \(1,\) for 6 examples"),
        (RBF().weighted(lambda X: np.full(6, np.nan)), r"the kernel of X\[0\] and X\[0\] is nan"),
        (RBF() + 2 * Spectrum(2), "one takes rows of a matrix and the other does not"),
        (FunctionKernel(lambda X, Z: -(X @ Z.T)).normalised(), "has the kernel -.* with itself"),
        ((1000.0 * Polynomial(4)).exp(), r"the kernel of X\[0\] and X\[0\] is inf"),
    ],
)
def test_combinations_that_are_no_kernels_are_refused(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel(X)


def test_precomputed_kernels_are_asked_for_rows_by_number():
    K = RBF()(X)
    kernel = Precomputed(K)
    np.testing.assert_array_equal(kernel([3, 0], [1]), K[[3, 0]][:, [1]])
    np.testing.assert_array_equal((2 * kernel)(np.array([[3], [0]])), 2 * K[[3, 0]][:, [3, 0]])
    assert kernel.diagonal([1, 2]).tolist() == [1.0, 1.0]
    for rows, message in [
        ([6], r"X\[0\] is 6; the matrix has the rows 0 to 5"),
        ([0, -1], r"X\[1\] is -1"),
        ([0.5], r"X\[0\] is 0.5"),
        ([[0, 1]], "X has 2 columns; expected one"),
    ]:
        with pytest.raises(ValueError, match=message):
            kernel(rows)
    with pytest.raises(ValueError, match=r"matrix has shape \(6, 2\); expected a square one"):
        Precomputed(K[:, :2])([0])
    with pytest.raises(ValueError, match=r"matrix\[0, 0\] is nan"):
        Precomputed([[np.nan]])([0])


def test_functions_of_users_are_checked():
    def broken(X, Z):
        found = X @ Z.T
        found[2, 1] = np.nan
        return found

    with pytest.raises(ValueError, match=r"the kernel of X\[2\] and Z\[1\] is nan"):
        FunctionKernel(broken)(X, Z)
    with pytest.raises(ValueError, match=r"FunctionKernel gave an array of shape \(3, 6\) for 6 examples and 3"):
        FunctionKernel(lambda X, Z: Z @ X.T)(X, Z)
    with pytest.raises(ValueError, match="what the function gave holds <U1 values"):
        FunctionKernel(lambda X, Z: [["a"]])([[1.0]])
    with pytest.raises(ValueError, match="function is 3"):
        FunctionKernel(3)(X)
    sets = FunctionKernel(lambda X, Z: [[len(x & z) for z in Z] for x in X], rows=False)
    assert sets([{1, 2}, {2, 3, 4}]).tolist() == [[2.0, 1.0], [1.0, 3.0]]
    assert sets.diagonal([{1, 2}, {2, 3, 4}]).tolist() == [2.0, 3.0]
    with pytest.raises(ValueError, match="X is empty"):
        sets([])


def test_kernels_may_be_written_to_and_nobody_elses_array_changes():
    kept = np.eye(3)
    for kernel in (FunctionKernel(lambda X, Z: kept), Precomputed(kept), Constant(2.0)):
        found = kernel([[0.0], [1.0], [2.0]])
        found[:] = 7.0
    np.testing.assert_array_equal(kept, np.eye(3))
