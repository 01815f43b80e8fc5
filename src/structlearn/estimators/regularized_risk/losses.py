"""Losses ℓ(y, f) of a number f where y is true, with what their minimisation and its certificate need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option


class RiskLoss(Parameters, ABC):
    """ℓ(y, f) ≥ 0, convex in f, for arrays of truths and of numbers f(x_i) of the same length.

    A loss of margins has y ∈ {−1, +1} and depends on yf alone; for others y is any number.
    """

    of_margins: ClassVar[bool] = True

    def check_options(self) -> None:
        """Refuses options that cannot be; called before any work."""

    @abstractmethod
    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """ℓ(y_i, f_i), (n,)."""

    @abstractmethod
    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """∂ℓ/∂f at (y_i, f_i), (n,); where there are several slopes, one of them."""

    @abstractmethod
    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """∂²ℓ/∂f² at (y_i, f_i), (n,); where it jumps, that of one side."""

    @abstractmethod
    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """ℓ*(y_i, u_i) = sup_f u_i f − ℓ(y_i, f), (n,); finite for every u that is a slope of ℓ, and for 0."""


class Squared(RiskLoss):
    """½(y − f)²: ridge regression with `L2`, the lasso with `L1`.

    >>> Squared().value(np.array([1.0]), np.array([4.0]))
    array([4.5])
    """

    of_margins = False

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(0.5 * (f - y) ** 2)

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return f - y

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.ones_like(f)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.asarray(u * (y + 0.5 * u))


class Huber(RiskLoss):
    """½(y − f)² where y and f are at most δ apart, and a line beyond, so that no example pulls harder than δ.

    Parameters
    ----------
    delta : float
        δ > 0.

    Examples
    --------
    >>> Huber(delta=1.0).value(np.zeros(2), np.array([0.5, 10.0]))
    array([0.125, 9.5  ])
    """

    of_margins = False

    def __init__(self, delta: float = 1.0):
        self.delta = delta

    def check_options(self) -> None:
        real_option("delta", self.delta, positive=True)

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        near = self.derivative(y, f)
        return np.asarray(near * (f - y - 0.5 * near))

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.clip(f - y, -self.delta, self.delta)

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.where(np.abs(f - y) < self.delta, 1.0, 0.0)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.where(np.abs(u) <= self.delta, u * (y + 0.5 * u), np.inf)


class Logistic(RiskLoss):
    """log(1 + exp(−yf)) = −log P(y | x) with P(+1 | x) = 1/(1 + exp(−f)): logistic regression.

    >>> Logistic().value(np.ones(2), np.array([0.0, -1000.0])).round(3).tolist()
    [0.693, 1000.0]
    """

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.logaddexp(0.0, -y * f)

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(-y * np.exp(-np.logaddexp(0.0, y * f)))

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-np.logaddexp(0.0, f) - np.logaddexp(0.0, -f)))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        a = -y * u
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = [np.where(p == 0.0, 0.0, p * np.log(p)) for p in (a, 1.0 - a)]
        return np.where((a >= 0.0) & (a <= 1.0), terms[0] + terms[1], np.inf)


class SquaredHinge(RiskLoss):
    """½ max(0, 1 − yf)²: the support vector machine with squared slacks.

    >>> SquaredHinge().value(np.ones(3), np.array([2.0, 0.0, -1.0]))
    array([0. , 0.5, 2. ])
    """

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.maximum(0.0, 1.0 - y * f) ** 2)

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(-y * np.maximum(0.0, 1.0 - y * f))

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.where(y * f < 1.0, 1.0, 0.0)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        a = -y * u
        return np.where(a >= 0.0, a * (0.5 * a - 1.0), np.inf)


class Hinge(RiskLoss):
    """max(0, 1 − yf): the support vector machine.

    >>> Hinge().value(np.ones(3), np.array([2.0, 0.0, -1.0]))
    array([0., 1., 2.])
    """

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.maximum(0.0, 1.0 - y * f)

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(-y * (y * f < 1.0))

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.zeros_like(f)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        a = -y * u
        return np.where((a >= 0.0) & (a <= 1.0), -a, np.inf)


class ProximalHinge(RiskLoss):
    """The hinge loss as the method of multipliers sees it: smooth, by staying near slopes −y_i a_i that are known.

    Its conjugate is that of the hinge loss and ½ width (a − a_i)², so that maximising the dual with it is a proximal
    step from a_i; and its slope at the minimiser is the next a_i.
    """

    def __init__(self, a: FloatArray, width: float):
        self.a = a
        self.width = width

    def value(self, y: FloatArray, f: FloatArray) -> FloatArray:
        a = self.next(y, f)
        return np.asarray(a * (1.0 - y * f) - 0.5 * self.width * (a - self.a) ** 2)

    def derivative(self, y: FloatArray, f: FloatArray) -> FloatArray:
        return np.asarray(-y * self.next(y, f))

    def curvature(self, y: FloatArray, f: FloatArray) -> FloatArray:
        a = self.next(y, f)
        return np.where((a > 0.0) & (a < 1.0), 1.0 / self.width, 0.0)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        return np.asarray(Hinge().conjugate(y, u) + 0.5 * self.width * (-y * u - self.a) ** 2)

    def next(self, y: FloatArray, f: FloatArray) -> FloatArray:
        """The slopes, without their signs, that are best for these f."""
        return np.clip(self.a + (1.0 - y * f) / self.width, 0.0, 1.0)
