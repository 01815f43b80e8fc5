"""Losses of numbers and margins: slopes by differences, conjugates by search."""

import numpy as np
import pytest

from structlearn.estimators.regularized_risk import Hinge, Huber, Logistic, Squared, SquaredHinge
from structlearn.estimators.regularized_risk.losses import ProximalHinge

#: Each with slopes u (for y = 1) at which its conjugate is finite, and some at which it is not.
LOSSES = [
    (Squared(), [-3.0, -0.5, 0.0, 2.0], []),
    (Huber(delta=1.5), [-1.5, -0.4, 0.0, 1.2], [-1.6, 2.0]),
    (Logistic(), [-0.999, -0.3, -1e-6], [-1.1, 0.1]),
    (SquaredHinge(), [-4.0, -0.5, 0.0], [0.1]),
    (Hinge(), [-1.0, -0.5, 0.0], [-1.1, 0.1]),
    (ProximalHinge(np.array([0.4]), 0.5), [-1.0, -0.5, 0.0], [-1.1, 0.1]),
]
names = pytest.mark.parametrize(
    ("loss", "inside", "outside"), LOSSES, ids=[type(loss).__name__ for loss, _, _ in LOSSES]
)
GRID = np.linspace(-40.0, 40.0, 800_001)


@names
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_slopes_are_those_of_the_values(loss, inside, outside, sign):
    f = np.array([-3.03, -0.71, 0.02, 0.93, 1.4, 2.6])
    y, h = np.full(len(f), sign), 1e-6
    expected = (loss.value(y, f + h) - loss.value(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.derivative(y, f), expected, atol=1e-8)
    expected = (loss.derivative(y, f + h) - loss.derivative(y, f - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(y, f), expected, atol=1e-8)


@names
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_conjugate_is_the_largest_of_all_differences(loss, inside, outside, sign):
    y = np.array([sign])
    for slope in inside:
        u = slope if loss.of_margins is False else slope * sign
        largest = (u * GRID - loss.value(np.full(len(GRID), sign), GRID)).max()
        np.testing.assert_allclose(loss.conjugate(y, np.array([u])), largest, atol=1e-4)
    for slope in outside:
        assert loss.conjugate(y, np.array([slope * sign])) == np.inf


def test_margins_bound_the_zero_one_loss():
    f = np.linspace(-3, 3, 50)
    y = np.ones(50)
    for loss, scale in ((Hinge(), 1.0), (Logistic(), 1 / np.log(2)), (SquaredHinge(), 2.0)):
        assert (scale * loss.value(y, f) >= (f <= 0)).all()


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, "1", True])
def test_huber_has_a_width_above_zero(delta):
    with pytest.raises(ValueError, match=r"^delta is "):
        Huber(delta=delta).check_options()
