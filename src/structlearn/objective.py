"""The seven formulations of Tsochantaridis et al. 2005 as one scaling rule and one pair of limits a block.

    min_w  ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i),    ξ_i = max(0, max_y b − a⟨w, δΨ_i(y)⟩),   (a, b) = scaling(Δ(y_i, y))

with ℓ(ξ) = ξ (linear) or ½ξ² (squared), example weights s_i and S = Σ s_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from structlearn.problem import FloatArray, Oracle

Rescaling = Literal["margin", "slack"] | None
Slack = Literal["linear", "squared", "hard"]


@dataclass(frozen=True, slots=True)
class Scaling:
    """(a, b) of the constraint ξ ≥ b − a⟨w, δΨ⟩ as a function of the loss.

    >>> Scaling("margin", "linear")(np.array([0.0, 4.0]))
    (array([1., 1.]), array([0., 4.]))
    >>> Scaling("slack", "squared")(np.array([0.0, 4.0]))
    (array([0., 2.]), array([0., 2.]))
    """

    rescaling: Rescaling
    slack: Slack

    def __call__(self, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        one = np.ones_like(losses)
        if self.rescaling is None:
            return one, one
        size = np.sqrt(losses) if self.slack == "squared" else losses
        return (one if self.rescaling == "margin" else size), size

    @property
    def bars_truth(self) -> bool:
        return self.rescaling is None

    @property
    def oracle(self) -> Oracle:
        if self.rescaling is None:
            return "second_best"
        return "loss_augmented" if (self.rescaling, self.slack) == ("margin", "linear") else "loss_levels"


class _Prediction(Scaling):
    """No margin at all: a = 1, b = 0. Its argmax is the model's prediction."""

    __slots__ = ()

    def __call__(self, losses: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.ones_like(losses), np.zeros_like(losses)

    @property
    def bars_truth(self) -> bool:
        return False

    @property
    def oracle(self) -> Oracle:
        return "best"


PREDICTION = _Prediction("margin", "linear")


@dataclass(frozen=True, eq=False)
class Objective:
    """½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i), the primal of a structural SVM.

    Parameters
    ----------
    sample_weight : (n_examples,)
        s_i > 0.
    C : float
        Price of the mean slack; ignored by the hard margin.
    rescaling : {"margin", "slack", None}
        What the loss scales; None is the zero-one form, where every wrong output counts alike.
    slack : {"linear", "squared", "hard"}
        SVM₁, SVM₂ or SVM₀.
    """

    sample_weight: FloatArray
    C: float = 1.0
    rescaling: Rescaling = "margin"
    slack: Slack = "linear"

    def __post_init__(self) -> None:
        if self.rescaling not in ("margin", "slack", None):
            raise ValueError(f"rescaling is {self.rescaling!r}; it may be 'margin', 'slack' or None")
        if self.slack not in ("linear", "squared", "hard"):
            raise ValueError(f"slack is {self.slack!r}; it may be 'linear', 'squared' or 'hard'")
        if not (np.isfinite(self.C) and self.C > 0):
            raise ValueError(f"C is {self.C}; it must be a positive number")
        if self.slack == "hard" and self.rescaling is not None:
            raise ValueError(f"slack='hard' is the zero-one hard margin: give rescaling=None, not {self.rescaling!r}")

    @cached_property
    def scaling(self) -> Scaling:
        """How the loss enters the constraints; what the oracle is asked with."""
        return Scaling(self.rescaling, self.slack)

    @cached_property
    def price(self) -> float:
        """C/S."""
        return self.C / float(self.sample_weight.sum())

    @cached_property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """(u, r) a block of the dual: Σ_k α_ik ≤ u_i and a term −½ r_i (Σ_k α_ik)²."""
        n = len(self.sample_weight)
        if self.slack == "linear":
            return self.price * self.sample_weight, np.zeros(n)
        r = np.zeros(n) if self.slack == "hard" else 1.0 / (self.price * self.sample_weight)
        return np.full(n, np.inf), r

    def slack_loss(self, slacks: FloatArray) -> FloatArray:
        """ℓ(ξ)."""
        return 0.5 * slacks**2 if self.slack == "squared" else slacks

    def slack_slope(self, slacks: FloatArray) -> FloatArray:
        """ℓ'(ξ), 0 where nothing is violated."""
        return slacks if self.slack == "squared" else (slacks > 0).astype(np.float64)

    def primal(self, w: FloatArray, violations: FloatArray) -> float:
        """The objective at w, given max_y b − a⟨w, δΨ_i(y)⟩ of every example (−∞ where it has no constraint).

        For the hard margin: ½‖w/γ‖² with γ the smallest margin, infinite while there is none.
        """
        norm = 0.5 * float(w @ w)
        if self.slack == "hard":
            margin = 1.0 - float(violations.max(initial=-np.inf))
            if margin == np.inf:
                return 0.0
            return norm / margin**2 if margin > 0 and norm > 0 else np.inf
        slacks = np.maximum(violations, 0.0)
        return norm + self.price * float(self.sample_weight @ self.slack_loss(slacks))
