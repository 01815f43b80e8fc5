"""Operator-valued kernels: their forms are positive semidefinite, and graphs give the matrices they should."""

import numpy as np
import pytest
from scipy.linalg import expm

from structlearn.kernels import RBF, Decomposable, OperatorSum, graph_smoothing, heat_kernel, laplacian

RANDOM = np.random.default_rng(0)
EDGES = np.triu(RANDOM.random((5, 5)) * (RANDOM.random((5, 5)) < 0.6), 1)
EDGES += EDGES.T


def test_sums_of_decomposables_are_positive_semidefinite_blocks():
    X = RANDOM.normal(size=(6, 2))
    B = RANDOM.normal(size=(3, 1))
    blocks = np.kron(RBF(0.5)(X), B @ B.T) + np.kron(RBF(3.0)(X), graph_smoothing(EDGES[:3, :3], 0.5))
    np.testing.assert_allclose(blocks, blocks.T)
    assert np.linalg.eigvalsh(blocks)[0] > -1e-12


def test_the_reproducing_property():
    # ⟨c, f(x)⟩ = ⟨K_x c, f⟩ for f = Σ_i K_{x_i} c_i, in the inner product ⟨K_x c, K_z b⟩ = ⟨c, K(x, z) b⟩.
    X, x = RANDOM.normal(size=(5, 2)), RANDOM.normal(size=(1, 2))
    A, C, c = graph_smoothing(EDGES[:3, :3]), RANDOM.normal(size=(5, 3)), RANDOM.normal(size=3)
    k = RBF(0.4)
    value = k(x, X)[0] @ C @ A
    inner = sum(k(x, X[i : i + 1])[0, 0] * (c @ A @ C[i]) for i in range(5))
    assert c @ value == pytest.approx(inner)


def test_graphs_smooth_and_heat_flows():
    L = laplacian(EDGES)
    np.testing.assert_allclose(L.sum(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(graph_smoothing(EDGES, 0.7) @ (np.eye(5) + 0.7 * L), np.eye(5), atol=1e-12)
    np.testing.assert_allclose(heat_kernel(EDGES, 0.3)(np.arange(5)), expm(-0.3 * L), atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Decomposable("rbf", "other").check_options(), "A is 'other'; it may be"),
        (lambda: Decomposable("rbf", np.diag([1.0, -1.0])).check_options(), "A is not positive semidefinite"),
        (lambda: Decomposable("rbf", [[1.0, np.nan], [0.0, 1.0]]).check_options(), r"A\[0, 1\] is nan"),
        (lambda: Decomposable("rbf", [1.0]).check_options(), "A has 1 dimension"),
        (lambda: Decomposable("rbf", "identity", 0.5).check_options(), "to which nothing is added"),
        (lambda: Decomposable("rbf", "covariance", -1.0).check_options(), "identity is -1.0"),
        (lambda: (Decomposable("rbf", "learnt") + Decomposable("linear")).check_options(), "for a single term only"),
        (lambda: OperatorSum(["rbf"]).check_options(), "expected a list of Decomposable"),
        (lambda: laplacian([[0.0, 1.0], [2.0, 0.0]]), r"edges\[0, 1\] is 1 and edges\[1, 0\] is 2"),
        (lambda: laplacian([[0.0, -1.0], [-1.0, 0.0]]), "must be the same, ≥ 0"),
        (lambda: graph_smoothing([[0.0]], -1.0), "mu is -1.0"),
        (lambda: heat_kernel([[0.0]], 0.0), "t is 0.0"),
    ],
)
def test_what_is_no_operator_is_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()
