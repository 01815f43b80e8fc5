"""Ω(w) + Σ_i c_i ℓ(y_i, ⟨w, x_i⟩ + b), its gradient, and a bound from Fenchel's dual.

The dual is max_u −Ω*(−Xᵀu) − Σ_i c_i ℓ*(y_i, u_i/c_i), with Σ_i u_i = 0 if there is an intercept b. The slopes u_i of
the loss at any w and b are a point of it, once they are scaled to where it is finite: so there is a bound at every w,
and at the optimum it is the objective.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.regularized_risk.losses import RiskLoss
from structlearn.estimators.regularized_risk.regularizers import Regularizer


class Certificate(NamedTuple):
    """The objective at some w and b, a bound of it from below, and the slopes u that prove the bound.

    `own_gap` is what lies between the two for the loss whose slopes they are.
    """

    primal: float
    dual: float
    slopes: FloatArray
    own_gap: float


@dataclass(frozen=True)
class Risk:
    """Ω(w) + Σ_i c_i ℓ(y_i, ⟨w, x_i⟩ + b) of an (n, d) matrix X, dense or sparse, and prices c_i > 0.

    Coordinates θ are those of w for the regularizer, and then b if there is one.
    """

    X: Any
    y: FloatArray
    c: FloatArray
    loss: RiskLoss
    regularizer: Regularizer
    fit_intercept: bool

    def start(self) -> FloatArray:
        """θ where nothing is known of the data."""
        start = self.regularizer.start(self.X.shape[1])
        return np.append(start, 0.0) if self.fit_intercept else start

    def at(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """w and b at θ."""
        return self.regularizer.weights(self._own(theta)), float(theta[-1]) if self.fit_intercept else 0.0

    def scores(self, w: FloatArray, b: float) -> FloatArray:
        return np.asarray(self.X @ w) + b

    def value(self, w: FloatArray, b: float) -> float:
        return self.regularizer.value(w) + float(self.c @ self.loss.value(self.y, self.scores(w, b)))

    def smooth(self, theta: FloatArray, loss: RiskLoss) -> tuple[float, FloatArray]:
        """The objective with this smooth loss at θ, and its gradient."""
        own = self._own(theta)
        f = self.scores(*self.at(theta))
        u = self.c * loss.derivative(self.y, f)
        value, gradient = self.regularizer.smooth(own)
        gradient = gradient + self.regularizer.pull_back(own, np.asarray(self.X.T @ u))
        value += float(self.c @ loss.value(self.y, f))
        return value, np.append(gradient, u.sum()) if self.fit_intercept else gradient

    def certificate(self, w: FloatArray, b: float, loss: RiskLoss) -> Certificate:
        """Of w and b, by the slopes of this loss: ours, or one that has no steeper ones."""
        f = self.scores(w, b)
        u = self.c * loss.derivative(self.y, f)
        if self.fit_intercept:
            u = _balanced(u)
        v = -np.asarray(self.X.T @ u)
        scale = self.regularizer.shrink(v)
        u, penalty, bound = scale * u, self.regularizer.value(w), -self.regularizer.conjugate(scale * v)

        def both(loss: RiskLoss) -> tuple[float, float]:
            risk, conjugate = loss.value(self.y, f), loss.conjugate(self.y, u / self.c)
            return penalty + float(self.c @ risk), bound - float(self.c @ conjugate)

        primal, dual = both(self.loss)
        above, below = both(loss)
        return Certificate(primal, dual, u, above - below)

    def _own(self, theta: FloatArray) -> FloatArray:
        """The coordinates of w."""
        return theta[:-1] if self.fit_intercept else theta


def _balanced(u: FloatArray) -> FloatArray:
    """Slopes that add up to 0: those of the sign that has more of them, made smaller."""
    above, below = float(u[u > 0].sum()), float(-u[u < 0].sum())
    least = min(above, below)
    if least == 0.0:
        return np.zeros_like(u)
    return np.where(u > 0, u * (least / above), u * (least / below))
