"""The dual of the binary SVM: blocks of it, the best bias, and rounding."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from structlearn import _core
from structlearn.kernels import RBF, Linear
from structlearn.solvers import BinaryDual, BinaryMargins


def problem(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.where(X[:, 0] ** 2 + 0.5 * rng.normal(size=n) > 0.5, 1.0, -1.0), rng.uniform(0.5, 2.0, n)


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("seed", range(20))
def test_no_other_bias_is_better(slack, seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    y = np.array([1.0, -1.0, *rng.choice([-1.0, 1.0], n - 2)])
    margins = BinaryMargins(y, rng.uniform(0.1, 2.0, n), 3.0, slack)
    scores = rng.normal(size=n).round(int(rng.integers(0, 4)))
    reached = margins.primal(1.0, scores + margins.best_bias(scores))
    tried = [margins.primal(1.0, scores + b) for b in np.linspace(-6.0, 6.0, 2001)]
    exact = minimize_scalar(lambda b: margins.primal(1.0, scores + b), bounds=(-6.0, 6.0), method="bounded").fun
    assert reached <= min(*tried, exact) + 1e-9


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("has_bias", [True, False])
def test_a_block_ends_where_its_conditions_of_optimality_hold(dtype, has_bias):
    X, y, weight = problem(40)
    margins = BinaryMargins(y, weight, 200.0, has_bias=has_bias)
    K = RBF(1.0)(X).astype(dtype)
    beta, gradient = np.zeros(40), -y.copy()
    limits = margins.r, margins.lower, margins.upper
    steps, first, _ = _core.solve_block(K, *limits, has_bias, 1e-3, 100_000, beta, gradient)
    assert 0 < steps < 100_000
    assert first == -1
    np.testing.assert_allclose(gradient, K @ beta - y, atol=1e-5)
    assert (margins.lower <= beta).all()
    assert (beta <= margins.upper).all()
    up, down = -gradient[beta < margins.upper], gradient[beta > margins.lower]
    if has_bias:
        assert beta.sum() == pytest.approx(0.0, abs=1e-9)
        assert up.max() + down.max() < 1.1e-3
    else:
        assert max(up.max(), down.max()) < 1.1e-3


def test_small_blocks_and_little_memory_lead_to_the_same_optimum():
    X, y, weight = problem(300)
    margins = BinaryMargins(y, weight, 1000.0)
    whole, _ = BinaryDual(tol=1e-8).run(RBF(1.0), X, margins)
    small, history = BinaryDual(tol=1e-8, block_size=16, max_memory=300 * 4 * 20).run(RBF(1.0), X, margins)
    assert small.primal == pytest.approx(whole.primal, rel=2e-8)
    assert small.rows.n_computed > 300
    assert history[-1]["certified"]


def test_what_is_certified_is_exact_where_single_precision_is_not():
    X, y, weight = problem(100)
    far = X + 1e3
    margins = BinaryMargins(y, weight, 100.0)
    state, _ = BinaryDual(tol=1e-6).run(Linear(), far, margins)
    scores = far @ (far.T @ state.beta)
    assert state.relative_gap <= 1e-6
    assert state.primal == pytest.approx(margins.primal(state.beta @ scores, scores + state.bias), rel=1e-6)
    near, _ = BinaryDual(tol=1e-6).run(Linear(), X, margins)
    assert state.primal == pytest.approx(near.primal, rel=1e-4)
