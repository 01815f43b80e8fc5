"""Regularizers Ω(w), with coordinates in which they are smooth and what certificates need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.kernels import Kernel, kernel_option
from structlearn.wording import shown


class Regularizer(Parameters, ABC):
    """Ω(w) ≥ 0, convex, of weights w ∈ ℝᵈ.

    Minimisation moves coordinates θ, in which Ω is smooth and which may have to be ≥ 0: w itself, unless a class says
    otherwise.
    """

    kernel: Any = None
    nonnegative: ClassVar[bool] = False

    def check_options(self) -> None:
        """Refuses options that cannot be; called before any work."""

    @abstractmethod
    def value(self, w: FloatArray) -> float:
        """Ω(w); infinite for weights that are not allowed."""

    @abstractmethod
    def conjugate(self, v: FloatArray) -> float:
        """Ω*(v) = sup_w ⟨v, w⟩ − Ω(w), of a v that was `shrunk`."""

    def shrink(self, v: FloatArray) -> float:
        """The largest s ≤ 1 for which Ω*(sv) is finite."""
        return 1.0

    def start(self, n: int) -> FloatArray:
        """θ of the n weights that are best without data."""
        return np.zeros(n)

    def weights(self, theta: FloatArray) -> FloatArray:
        """w at θ."""
        return theta

    def pull_back(self, theta: FloatArray, gradient: FloatArray) -> FloatArray:
        """The gradient by θ of a function with this gradient by w."""
        return gradient

    @abstractmethod
    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Ω, at the least over all θ for one w, and its gradient by θ."""


class L2(Regularizer):
    """½‖w‖², or ½‖f‖² in the space of functions that belongs to a kernel.

    With a kernel the best function is Σ_i α_i k(x_i, ·) + b, whatever the loss (the representer theorem).

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        An object of `structlearn.kernels`, such as ``RBF(gamma=0.5)``, the name of one, or a function of two matrices.
        "rbf" and "laplacian" have the γ that `median_gamma` proposes for the training data; `kernel_` records it.

    Examples
    --------
    >>> L2().value(np.array([3.0, 4.0])), L2().conjugate(np.array([3.0, 4.0]))
    (12.5, 12.5)
    """

    def __init__(self, kernel: Kernel | str | Any = None):
        self.kernel = kernel

    def check_options(self) -> None:
        if self.kernel is not None:
            kernel_option(self.kernel)

    def value(self, w: FloatArray) -> float:
        return float(0.5 * (w @ w))

    def conjugate(self, v: FloatArray) -> float:
        return float(0.5 * (v @ v))

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        return self.value(theta), theta


class Lp(Regularizer):
    """‖w‖ᵖₚ / p for 1 < p ≤ 2, between `L1` and `L2`; its conjugate is ‖v‖_q^q / q with 1/p + 1/q = 1.

    Parameters
    ----------
    p : float

    Examples
    --------
    >>> Lp(p=1.5).value(np.array([4.0, 0.0]))
    5.333333333333333
    """

    def __init__(self, p: float = 1.5):
        self.p = p

    def check_options(self) -> None:
        if not 1.0 < real_option("p", self.p, positive=True) <= 2.0:
            raise ValueError(f"p is {shown(self.p)}; it must be above 1 and at most 2; L1() is for p = 1")

    def value(self, w: FloatArray) -> float:
        return float((np.abs(w) ** self.p).sum() / self.p)

    def conjugate(self, v: FloatArray) -> float:
        q = self.p / (self.p - 1.0)
        return float((np.abs(v) ** q).sum() / q)

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        return self.value(theta), np.sign(theta) * np.abs(theta) ** (self.p - 1.0)


class ElasticNet(Regularizer):
    """ρ‖w‖₁ + ½(1 − ρ)‖w‖²: some weights are exactly 0, and columns that are alike share theirs.

    Parameters
    ----------
    l1_ratio : float
        ρ, from 0 to 1.

    Examples
    --------
    >>> ElasticNet(l1_ratio=0.5).value(np.array([3.0, -4.0]))
    9.75
    """

    nonnegative = True

    def __init__(self, l1_ratio: float = 0.5):
        self.l1_ratio = l1_ratio

    def check_options(self) -> None:
        if real_option("l1_ratio", self.l1_ratio) > 1.0:
            raise ValueError(f"l1_ratio is {shown(self.l1_ratio)}; it must be a number from 0 to 1")

    def value(self, w: FloatArray) -> float:
        return float(self.l1_ratio * np.abs(w).sum() + 0.5 * (1.0 - self.l1_ratio) * (w @ w))

    def conjugate(self, v: FloatArray) -> float:
        if self.l1_ratio == 1.0:
            return 0.0
        beyond = np.maximum(0.0, np.abs(v) - self.l1_ratio)
        return float(0.5 * (beyond @ beyond) / (1.0 - self.l1_ratio))

    def shrink(self, v: FloatArray) -> float:
        largest = float(np.abs(v).max(initial=0.0))
        return 1.0 if self.l1_ratio < 1.0 or largest <= 1.0 else 1.0 / largest

    def start(self, n: int) -> FloatArray:
        return np.zeros(2 * n)

    def weights(self, theta: FloatArray) -> FloatArray:
        # w = θ₊ − θ₋ with parts ≥ 0, of which one is 0 at the optimum: then |w| = θ₊ + θ₋, which has no corner.
        positive, negative = np.split(theta, 2)
        return np.asarray(positive - negative)

    def pull_back(self, theta: FloatArray, gradient: FloatArray) -> FloatArray:
        return np.concatenate([gradient, -gradient])

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        w, rest = self.weights(theta), 1.0 - self.l1_ratio
        value = self.l1_ratio * theta.sum() + 0.5 * rest * (w @ w)
        return float(value), self.l1_ratio + self.pull_back(theta, rest * w)


class L1(ElasticNet):
    """‖w‖₁, with which most weights are exactly 0.

    >>> L1().value(np.array([3.0, -4.0]))
    7.0
    """

    l1_ratio: float = 1.0

    def __init__(self) -> None:
        pass


class Entropy(Regularizer):
    """Σ_j w_j log w_j + log d of weights w_j ≥ 0 with Σ_j w_j = 1: 0 where all are equal, log d where one is all.

    For mixtures: weights of experts, of kernels, of sources.

    Examples
    --------
    >>> Entropy().value(np.array([0.5, 0.5])), Entropy().value(np.array([-0.5, 1.5]))
    (0.0, inf)
    """

    def value(self, w: FloatArray) -> float:
        if w.min() < 0.0 or not np.isclose(w.sum(), 1.0):
            return np.inf
        return float(w[w > 0.0] @ np.log(w[w > 0.0]) + np.log(len(w)))

    def conjugate(self, v: FloatArray) -> float:
        return float(_log_sum_exp(v) - np.log(len(v)))

    def weights(self, theta: FloatArray) -> FloatArray:
        # The optimum has no weight that is 0, so that all are reached by exponentials.
        return np.asarray(np.exp(theta - _log_sum_exp(theta)))

    def pull_back(self, theta: FloatArray, gradient: FloatArray) -> FloatArray:
        w = self.weights(theta)
        return np.asarray(w * (gradient - w @ gradient))

    def smooth(self, theta: FloatArray) -> tuple[float, FloatArray]:
        logarithms = theta - _log_sum_exp(theta)
        value = np.exp(logarithms) @ logarithms + np.log(len(theta))
        return float(value), self.pull_back(theta, logarithms)


def _log_sum_exp(v: FloatArray) -> float:
    largest = v.max()
    return float(largest + np.log(np.exp(v - largest).sum()))
