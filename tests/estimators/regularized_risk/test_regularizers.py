"""Regularizers: coordinates, slopes by differences, conjugates by search."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from structlearn.estimators.regularized_risk import L1, L2, ElasticNet, Entropy, Lp

ALL = [L2(), L1(), ElasticNet(0.3), Lp(1.5), Lp(1.1), Entropy()]
each = pytest.mark.parametrize("regularizer", ALL, ids=repr)


@each
def test_slopes_in_coordinates_are_those_of_the_values(regularizer):
    theta = np.abs(np.random.default_rng(0).normal(size=len(regularizer.start(4)))) + 0.1
    value, gradient = regularizer.smooth(theta)
    np.testing.assert_allclose(gradient, approx_fprime(theta, lambda t: regularizer.smooth(t)[0], 1e-7), atol=1e-5)
    assert value >= regularizer.value(regularizer.weights(theta)) - 1e-12
    direction = np.array([1.0, -2.0, 0.5, 3.0])
    pulled = regularizer.pull_back(theta, direction)
    expected = approx_fprime(theta, lambda t: regularizer.weights(t) @ direction, 1e-7)
    np.testing.assert_allclose(pulled, expected, atol=1e-5)


@each
def test_the_conjugate_is_the_largest_of_all_differences(regularizer):
    v = np.array([0.7, -0.2, 1.3, -2.4])
    v *= regularizer.shrink(v)

    def negative(theta):
        w = regularizer.weights(theta)
        return regularizer.value(w) - v @ w

    start = regularizer.start(4) + 0.01
    bounds = [(0, 50)] * len(start) if regularizer.nonnegative else None
    options = {"maxiter": 20_000, "maxfev": 50_000, "fatol": 1e-12, "xatol": 1e-9, "adaptive": True}
    found = minimize(negative, start, bounds=bounds, method="Nelder-Mead", options=options)
    assert regularizer.conjugate(v) == pytest.approx(-found.fun, abs=1e-3)
    # Fenchel and Young: no w has a larger difference.
    for theta in np.random.default_rng(1).uniform(0, 2, (200, len(start))):
        assert -negative(theta) <= regularizer.conjugate(v) + 1e-12


def test_l1_shrinks_to_where_its_conjugate_is_finite():
    assert L1().shrink(np.array([0.5, -4.0])) == 0.25
    assert L1().shrink(np.array([0.5, -0.9])) == 1.0
    assert ElasticNet(0.9).shrink(np.array([5.0])) == 1.0


def test_entropy_is_of_distributions_alone():
    assert Entropy().value(np.array([0.25] * 4)) == pytest.approx(0.0)
    assert Entropy().value(np.array([1.0, 0.0])) == pytest.approx(np.log(2))
    for wrong in ([-0.1, 1.1], [0.5, 0.4]):
        assert Entropy().value(np.array(wrong)) == np.inf


@pytest.mark.parametrize(
    ("regularizer", "message"),
    [
        *((Lp(p), "^p is ") for p in (1.0, 0.5, 2.5, -1, np.nan, "2")),
        *((ElasticNet(ratio), "^l1_ratio is ") for ratio in (-0.1, 1.1, np.nan, None)),
        (L2("no such kernel"), "^kernel is 'no such kernel'"),
    ],
)
def test_options_that_mean_nothing_are_refused(regularizer, message):
    with pytest.raises(ValueError, match=message):
        regularizer.check_options()
