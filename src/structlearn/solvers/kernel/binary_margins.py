"""What a binary SVM minimises: margins of two classes, with a bias or without."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.waist.objective import MarginObjective, Slack


@dataclass(frozen=True, eq=False)
class BinaryMargins:
    """min ½‖f‖² + (C/S) Σ_i s_i ℓ(ξ_i) with ξ_i = max(0, 1 − y_i(f(x_i) + b)), ℓ(ξ) = ξ or ½ξ², or no slack at all.

    Parameters
    ----------
    y : (n,)
        −1 or +1.
    sample_weight : (n,)
        s_i > 0.
    C : float
        Price of the mean slack.
    slack : {"linear", "squared", "hard"}
    has_bias : bool
        Whether there is a b, which costs nothing.
    largest : float
        max k(x_i, x_i), the squared radius of the features, by which hard margins that are too small are told.

    Examples
    --------
    >>> margins = BinaryMargins(np.array([-1.0, 1.0]), np.ones(2), C=2.0)
    >>> scores = np.array([0.0, 1.0])
    >>> margins.best_bias(scores), margins.primal(1.0, scores - 0.5)
    (-1.0, 1.5)
    """

    y: FloatArray
    sample_weight: FloatArray
    C: float
    slack: Slack = "linear"
    has_bias: bool = True
    largest: float = 1.0

    @cached_property
    def objective(self) -> MarginObjective:
        return MarginObjective(self.sample_weight, self.C, None, self.slack)

    @property
    def r(self) -> FloatArray:
        """The dual's term ½ Σ r_i β_i²."""
        return self.objective.limits[1]

    @cached_property
    def lower(self) -> FloatArray:
        return np.where(self.y > 0, 0.0, -self.objective.limits[0])

    @cached_property
    def upper(self) -> FloatArray:
        return np.where(self.y > 0, self.objective.limits[0], 0.0)

    def best_bias(self, scores: FloatArray) -> float:
        """The b that minimises the objective where f has these scores; 0 if there is none."""
        if not self.has_bias:
            return 0.0
        turns = self.y - scores
        if self.slack == "hard":
            return float(turns[self.y > 0].max() + turns[self.y < 0].min()) / 2.0
        order = np.argsort(turns)
        turns, y, prices = turns[order], self.y[order], self.objective.price * self.sample_weight[order]
        if self.slack == "linear":
            # The slope in b, which the price of every example raises where its slack comes or goes.
            slopes = np.cumsum(prices) - prices[y > 0].sum()
            return float(turns[min(int(np.searchsorted(slopes, 0.0)), len(turns) - 1)])
        # The slope is A b − B between two turns, where A and B are sums over the examples with slack.
        rise = np.concatenate([[0.0], np.cumsum(-y * prices)]) + prices[y > 0].sum()
        offset = np.concatenate([[0.0], np.cumsum(-y * prices * turns)]) + (prices * turns)[y > 0].sum()
        k = int(np.searchsorted(rise[1:] * turns - offset[1:], 0.0))
        return float(offset[k] / rise[k] if rise[k] > 1e-12 * prices.sum() else turns[min(k, len(turns) - 1)])

    def primal(self, norm: float, outputs: FloatArray) -> float:
        """The objective, given ‖f‖² and f(x_i) + b; for the hard margin that of f divided by the smallest margin."""
        margins = self.y * outputs
        if self.slack == "hard":
            margin = float(margins.min())
            return 0.5 * norm / margin**2 if margin > 0 and norm > 0 else np.inf
        slacks = np.maximum(0.0, 1.0 - margins)
        return 0.5 * norm + self.objective.price * float(self.sample_weight @ self.objective.slack_loss(slacks))

    def dual(self, norm: float, beta: FloatArray) -> float:
        """A lower bound on the minimum, given ‖f‖² for f = Σ β_i k(x_i, ·); for the hard margin the best of all tβ."""
        linear = float(beta @ self.y)
        if self.slack == "hard":
            return 0.5 * linear**2 / norm if norm > 0 else np.inf if linear > 0 else 0.0
        return linear - 0.5 * norm - 0.5 * float(self.r @ beta**2)
