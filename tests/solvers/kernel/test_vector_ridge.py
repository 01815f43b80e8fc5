"""Every way to solve Theorem 4's system against the system written out."""

from itertools import pairwise

import numpy as np
import pytest

from structlearn.kernels import RBF
from structlearn.solvers.kernel.vector_ridge import (
    RidgePath,
    conjugate_gradients,
    feature_spectrum,
    identity,
    learn_outputs,
    ridge_coefficients,
    spectrum,
)

N, D, LAM = 14, 3, 0.05


def problem(seed, rank=D):
    random = np.random.default_rng(seed)
    X, Y = random.normal(size=(N, 2)), random.normal(size=(N, D))
    factor = random.normal(size=(D, rank))
    return RBF(0.7)(X), factor @ factor.T, Y


def written_out(G, A, Y, n_lam):
    """C of (G ⊗ A + nλI) vec C = vec Y."""
    n, d = Y.shape
    return np.linalg.solve(np.kron(G, A) + n_lam * np.eye(n * d), Y.ravel()).reshape(n, d)


def objective(C, G, A, Y, lam):
    fitted = G @ C @ A
    return ((fitted - Y) ** 2).sum() / len(Y) + lam * np.vdot(C, fitted)


@pytest.mark.parametrize("rank", [D, 1], ids=["regular", "singular"])
@pytest.mark.parametrize("seed", range(3))
def test_all_ways_have_the_solution_of_the_system_written_out(seed, rank):
    G, A, Y = problem(seed, rank)
    path = RidgePath(spectrum(G, "G"), spectrum(A, "A"), Y)
    for lam in (1e-4, LAM, 3.0):
        expected = written_out(G, A, Y, N * lam)
        np.testing.assert_allclose(path.coefficients(lam), expected, atol=1e-8, rtol=1e-8)
        C, residual, _ = conjugate_gradients([(0.25 * G, A), (G, 0.75 * A)], Y, lam, 1e-13, 1000)
        assert residual <= 1e-13
        np.testing.assert_allclose(C, expected, atol=1e-8, rtol=1e-8)
        plain = written_out(G, np.eye(D), Y, N * lam)
        np.testing.assert_allclose(ridge_coefficients(G.copy(), Y, lam), plain, atol=1e-8, rtol=1e-8)
        np.testing.assert_allclose(
            RidgePath(spectrum(G, "G"), identity(D), Y).coefficients(lam), plain, atol=1e-8, rtol=1e-8
        )


@pytest.mark.parametrize("seed", range(3))
def test_features_of_few_columns_have_the_solution_of_their_kernel(seed):
    _, A, Y = problem(seed)
    Z = np.random.default_rng(seed).normal(size=(N, 4))
    few, all_ = (RidgePath(inputs, spectrum(A, "A"), Y) for inputs in (feature_spectrum(Z), spectrum(Z @ Z.T, "G")))
    np.testing.assert_allclose(few.coefficients(LAM), all_.coefficients(LAM), atol=1e-8)
    np.testing.assert_allclose(few.left_out(LAM), all_.left_out(LAM), atol=1e-8)


def test_nothing_near_the_solution_has_a_smaller_objective():
    G, A, Y = problem(0)
    C = RidgePath(spectrum(G, "G"), spectrum(A, "A"), Y).coefficients(LAM)
    least = objective(C, G, A, Y, LAM)
    assert least == pytest.approx(LAM * np.vdot(C, Y), rel=1e-10)
    random = np.random.default_rng(1)
    for size in (1e-3, 0.1, 1.0):
        assert objective(C + size * random.normal(size=C.shape), G, A, Y, LAM) > least


@pytest.mark.parametrize("groups", [None, np.array([0, 1, 4, 6, 6, 11, 14])], ids=["one", "groups"])
@pytest.mark.parametrize("coupled", [False, True])
def test_what_is_left_out_is_what_refitting_without_it_leaves(groups, coupled):
    G, A, Y = problem(2)
    A = A if coupled else np.eye(D)
    found = RidgePath(spectrum(G, "G"), spectrum(A, "A"), Y).left_out(LAM, groups)
    bounds = np.arange(N + 1) if groups is None else groups
    for begin, end in pairwise(bounds):
        rest = np.r_[0:begin, end:N]
        C = written_out(G[np.ix_(rest, rest)], A, Y[rest], N * LAM)
        np.testing.assert_allclose(found[begin:end], Y[begin:end] - G[begin:end][:, rest] @ C @ A, atol=1e-8)


def test_learnt_operators_have_the_least_objective_of_their_trace():
    G, _, Y = problem(3)
    found = learn_outputs(spectrum(G, "G"), Y, LAM, 1e-13, 5000)
    assert np.trace(found.A) == pytest.approx(D)
    assert (np.diff(found.objectives) <= 1e-12).all()
    assert found.objectives[-1] == pytest.approx(objective(found.coefficients, G, found.A, Y, LAM), rel=1e-8)
    random = np.random.default_rng(4)
    for _ in range(20):
        B = random.normal(size=(D, D)) * random.choice([0.05, 0.5, 2.0])
        other = found.A + B @ B.T
        other *= D / np.trace(other)
        C = written_out(G, other, Y, N * LAM)
        assert objective(C, G, other, Y, LAM) >= found.objectives[-1] * (1 - 1e-7)


def test_a_matrix_with_negative_eigenvalues_is_refused():
    with pytest.raises(ValueError, match="A is not positive semidefinite: its smallest eigenvalue is -1"):
        spectrum(np.diag([1.0, -1.0]), "A")
