"""What is minimised: margins or likelihoods, with a penalty on w.

The seven formulations of Tsochantaridis et al. 2005 are one scaling rule and one pair of limits a block,

    min_w  ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i),    ξ_i = max(0, max_y b − a⟨w, δΨ_i(y)⟩),   (a, b) = scaling(Δ(y_i, y))

with ℓ(ξ) = ξ (linear) or ½ξ² (squared), example weights s_i and S = Σ s_i; chosen weights may have to be ≥ 0.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.options import choice_option, real_option

Rescaling = Literal["margin", "slack"] | None
Slack = Literal["linear", "squared", "hard"]
Oracle = Literal["best", "loss_augmented", "second_best", "loss_levels", "sums", "gibbs"]


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
    def oracle(self) -> Oracle:
        if self.rescaling is None:
            return "second_best"
        return "loss_augmented" if (self.rescaling, self.slack) == ("margin", "linear") else "loss_levels"


@dataclass(frozen=True, eq=False)
class Objective:
    """Ω(w) + (C/S) Σ_i s_i ℓ_i(w), with example weights s_i and S = Σ s_i.

    Parameters
    ----------
    sample_weight : (n_examples,)
        s_i > 0.
    C : float
        Price of the mean loss.
    """

    sample_weight: FloatArray
    C: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.C) and self.C > 0):
            raise ValueError(f"C is {self.C}; it must be a positive number")

    @cached_property
    def price(self) -> float:
        """C/S."""
        return self.C / float(self.sample_weight.sum())


@dataclass(frozen=True, eq=False)
class MarginObjective(Objective):
    """½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i), the primal of a structural SVM; the hard margin ignores C.

    Parameters
    ----------
    sample_weight, C
        As for `Objective`.
    rescaling : {"margin", "slack", None}
        What the loss scales; None is the zero-one form, where every wrong output counts alike.
    slack : {"linear", "squared", "hard"}
        SVM₁, SVM₂ or SVM₀.
    nonnegative : int array
        The weights that must be ≥ 0, by index; none by default.
    """

    rescaling: Rescaling = "margin"
    slack: Slack = "linear"
    nonnegative: IntArray = field(default_factory=lambda: np.empty(0, np.int64))

    def __post_init__(self) -> None:
        choice_option("rescaling", self.rescaling, ("margin", "slack", None))
        choice_option("slack", self.slack, ("linear", "squared", "hard"))
        super().__post_init__()
        if self.slack == "hard" and self.rescaling is not None:
            raise ValueError(f"slack='hard' is the zero-one hard margin: give rescaling=None, not {self.rescaling!r}")

    def __str__(self) -> str:
        return f"rescaling={self.rescaling!r} and slack={self.slack!r}"

    @cached_property
    def scaling(self) -> Scaling:
        """How the loss enters the constraints; what the oracle is asked with."""
        return Scaling(self.rescaling, self.slack)

    @cached_property
    def limits(self) -> tuple[FloatArray, FloatArray]:
        """(u, r) a block of the dual: Σ_k α_ik ≤ u_i and a term −½ r_i (Σ_k α_ik)²."""
        n = len(self.sample_weight)
        if self.slack == "linear":
            return self.price * self.sample_weight, np.zeros(n)
        r = np.zeros(n) if self.slack == "hard" else 1.0 / (self.price * self.sample_weight)
        return np.full(n, np.inf), r

    def project(self, w: FloatArray) -> None:
        """Moves w to the nearest weights that are allowed."""
        w[self.nonnegative] = np.maximum(w[self.nonnegative], 0.0)

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


@dataclass(frozen=True, eq=False)
class LikelihoodObjective(Objective):
    """Ω(w) − (C/S) Σ_i s_i log P(y_i | x_i) with Ω(w) = ½(1 − ρ)‖w‖² + ρ‖w‖₁, the primal of a conditional random field.

    Parameters
    ----------
    sample_weight, C
        As for `Objective`.
    l1_ratio : float
        ρ in [0, 1]: 0 is the ridge, 1 the lasso, between them the elastic net.
    """

    l1_ratio: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not real_option("l1_ratio", self.l1_ratio) <= 1.0:
            raise ValueError(f"l1_ratio is {self.l1_ratio}; it must be between 0 and 1")

    def __str__(self) -> str:
        return f"a likelihood with l1_ratio={self.l1_ratio:g}"

    def penalty(self, w: FloatArray) -> float:
        """Ω(w)."""
        ridge = 0.5 * (1.0 - self.l1_ratio) * float(w @ w)
        return ridge + (self.l1_ratio * float(np.abs(w).sum()) if self.l1_ratio else 0.0)

    def primal(self, w: FloatArray, losses: FloatArray) -> float:
        """The objective at w, given −log P(y_i | x_i) of every example."""
        return self.penalty(w) + self.price * float(self.sample_weight @ losses)

    def dual(self, v: FloatArray, entropy: float) -> float:
        """A lower bound on the minimum, given a distribution over the outputs of every example.

        D = (C/S) Σ_i s_i H_i − Ω*(v) with Ω* the conjugate of Ω. For the lasso Ω* is finite only where no ``|v_k|``
        exceeds 1; mixing the distributions with the truth, which has entropy 0, shrinks v until that holds.

        Parameters
        ----------
        v : (n_weights,)
            (C/S) Σ_i s_i (Ψ(x_i, y_i) − E_i Ψ(x_i, y)).
        entropy : float
            Σ_i s_i H_i, or a lower bound on it.
        """
        value = self.price * entropy
        if self.l1_ratio < 1.0:
            beyond = np.maximum(np.abs(v) - self.l1_ratio, 0.0) if self.l1_ratio else v
            return value - 0.5 * float(beyond @ beyond) / (1.0 - self.l1_ratio)
        return value * min(1.0, 1.0 / max(float(np.abs(v).max(initial=0.0)), 1e-300))
