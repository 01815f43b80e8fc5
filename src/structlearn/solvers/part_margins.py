"""What the solvers of max-margin Markov networks share: the saddle function, and the exact price of a point."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import Solver
from structlearn.solvers.states import DualState
from structlearn.waist.objective import MarginObjective
from structlearn.waist.parts import PartProblem


def check_part_losses(solver: Solver, problem: PartProblem, objective: MarginObjective) -> None:
    """Refuses losses that are no sums over parts."""
    name = type(solver).__name__
    if objective.scaling.oracle != "loss_augmented":
        raise ValueError(f"{name} needs rescaling='margin' and slack='linear', not {objective}")
    if problem.part_losses(np.arange(min(1, problem.n_examples))) is None:
        raise ValueError(
            f"{name} needs a loss that is a sum over parts and zero on those of the truth, such as the Hamming loss"
        )


def price_margins(state: DualState, w: FloatArray, problem: PartProblem, objective: MarginObjective) -> None:
    """An oracle pass: certifies w exactly."""
    with state.timed("oracle_seconds"):
        violations = problem.violations(w, objective)
    state.certify(w, violations, objective)


@dataclass(frozen=True, slots=True)
class DualPoint:
    """All that the dual sees of one distribution m_i an example; mixtures of distributions mix it alike.

    Attributes
    ----------
    w : (n_features,)
        w(m) = Σ_i u_i A_iᵀ (τ_i − m_i), the least point of the saddle function over w.
    gain : float
        Σ_i u_i ⟨ℓ_i, m_i⟩.
    """

    w: FloatArray
    gain: float

    @property
    def value(self) -> float:
        """D(m) = Σ_i u_i ⟨ℓ_i, m_i⟩ − ½‖w(m)‖²."""
        return self.gain - 0.5 * float(self.w @ self.w)

    def towards(self, other: DualPoint, share: float) -> DualPoint:
        """The point of (1 − share) m + share m'."""
        return DualPoint(self.w + share * (other.w - self.w), self.gain + share * (other.gain - self.gain))


@dataclass(frozen=True, slots=True)
class Distributions:
    """m_i(y) ∝ exp⟨θ_i, μ(y)⟩ for every example.

    Attributes
    ----------
    theta, marginals : (n_parts,)
    log_z : (n_examples,)
    point : DualPoint
    """

    theta: FloatArray
    marginals: FloatArray
    log_z: FloatArray
    point: DualPoint


@dataclass(frozen=True, slots=True)
class MarginSaddle:
    """L(w, m) = ½‖w‖² + Σ_i u_i (⟨ℓ_i, m_i⟩ + ⟨A_i w, m_i − τ_i⟩), with the primal max_m L and the dual min_w L.

    τ_i are the parts of the truth, ℓ_i the losses of the parts, u_i = C s_i/S.

    Attributes
    ----------
    limits : (n_examples,)
        u.
    losses : (n_parts,)
        ℓ.
    truth : (n_features,)
        Σ_i u_i A_iᵀ τ_i.
    """

    limits: FloatArray
    losses: FloatArray
    truth: FloatArray

    @classmethod
    def of(cls, problem: PartProblem, objective: MarginObjective) -> MarginSaddle:
        examples = np.arange(problem.n_examples)
        limits, _ = objective.limits
        losses = problem.part_losses(examples)
        assert losses is not None
        truth = np.zeros(problem.n_features)
        problem.push(problem.true_parts(examples), examples, limits, truth)
        return cls(limits, losses, truth)

    def curvature_bound(self, problem: PartProblem) -> float:
        """L > 0 with ½‖w(m) − w(m')‖² ≤ L Σ_i u_i KL(m_i ‖ m'_i) for all distributions, by Pinsker's inequality.

        ¼ Σ_i u_i R_i² for the largest distance R_i between two outputs; a radius reaches from the truth, so that
        distance is at most two radii.
        """
        with np.errstate(over="ignore"):
            squares = problem.radii() ** 2
            bound = float(self.limits @ squares)
        if not np.isfinite(bound):
            i = int(np.argmax(squares))
            raise ValueError(f"X[{i}] has features too large to square, or C/S is too large: the sum is {bound}")
        return bound or 1.0

    def slopes(self, w: FloatArray, problem: PartProblem) -> FloatArray:
        """ℓ + A w, the slope of L in m, without the factors u_i."""
        return self.losses + problem.scores(w, np.arange(problem.n_examples))

    def distributions(self, theta: FloatArray, problem: PartProblem) -> Distributions:
        examples = np.arange(problem.n_examples)
        log_z, marginals = problem.expectations(theta, examples)
        w = self.truth.copy()
        problem.push(marginals, examples, -self.limits, w)
        gain = float(self.limits @ problem.part_dots(self.losses, marginals, examples))
        return Distributions(theta, marginals, log_z, DualPoint(w, gain))

    def divergence(self, left: Distributions, right: Distributions, problem: PartProblem) -> float:
        """Σ_i u_i KL(left_i ‖ right_i)."""
        along = problem.part_dots(left.theta - right.theta, left.marginals, np.arange(problem.n_examples))
        return float(self.limits @ (along - left.log_z + right.log_z))
