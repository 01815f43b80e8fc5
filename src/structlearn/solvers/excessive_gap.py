"""The excessive gap technique for max-margin Markov networks (Nesterov 2005; Zhang, Saha and Vishwanathan 2011)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import GapSolver
from structlearn.solvers.part_margins import (
    Distributions,
    DualPoint,
    MarginSaddle,
    check_part_losses,
    price_margins,
)
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import MarginObjective
from structlearn.waist.parts import PartProblem


@dataclass(frozen=True, slots=True)
class SmoothedPoint:
    """A point of the primal and all that its smoothing knows.

    Attributes
    ----------
    w : (n_features,)
    slopes : (n_parts,)
        ℓ + A w.
    smoothing, value : float
        μ and P_μ(w).
    nearest : Distributions
        α_μ(w), which attain the maximum in P_μ(w).
    """

    w: FloatArray
    slopes: FloatArray
    smoothing: float
    value: float
    nearest: Distributions


@dataclass(kw_only=True)
class ExcessiveGapState(DualState):
    """A point w of the primal and a point m of the dual with P_μ(w) ≤ D(m).

    Attributes
    ----------
    saddle : MarginSaddle
    log_sizes : (n_examples,)
        log|Y_i|, of the number of outputs.
    smooth : SmoothedPoint
        w.
    point : DualPoint
        m.
    curvature, most_curvature : float
        The present guess of L, and a bound on it.
    """

    saddle: MarginSaddle
    log_sizes: FloatArray
    smooth: SmoothedPoint
    point: DualPoint
    curvature: float
    most_curvature: float


@dataclass(frozen=True, kw_only=True)
class ExcessiveGap(GapSolver):
    """min_w max_m ½‖w‖² + Σ_i u_i (⟨ℓ_i, m_i⟩ + ⟨A_i w, m_i − τ_i⟩) with a primal that is smoothed less and less.

    P_μ(w) is the primal with −μ d(m) inside the maximum, d(m) = Σ_i u_i (log|Y_i| − H(m_i)), so that the maximum is at
    the distributions α_μ(w) ∝ exp((ℓ + A w)/μ) and P − μ max d ≤ P_μ ≤ P. Every step keeps

        P_μ(w) ≤ D(m),    hence    P(w) − D(m) ≤ μ max d = μ Σ_i u_i log|Y_i|,

    and makes μ smaller:

        β = (1 − τ) m + τ α_μ(w),          w⁺ = (1 − τ) w + τ w(β),
        m̃ ∝ α_μ(w) exp(τ/((1 − τ)μ) (ℓ + A w(β))),    m⁺ = (1 − τ) m + τ m̃,          μ⁺ = (1 − τ) μ.

    Notes
    -----
    Why the condition survives: P_μ⁺(w⁺) is convex in w, so at most the maximum over m' of 1 − τ times
    P_μ(w) − μ KL(m' ‖ α) plus τ times D(β) + ⟨∇D(β), m' − β⟩. With P_μ(w) ≤ D(m) ≤ D(β) + ⟨∇D(β), m − β⟩ this is
    D(β) + max_m' {τ⟨∇D(β), m' − α⟩ − (1 − τ) μ KL(m' ‖ α)}, attained at m̃. It is at most D(m⁺) if
    ½‖τ(w(m̃) − w(α))‖² ≤ (1 − τ) μ KL(m̃ ‖ α), KL weighted by u, thus, with L such that ½‖w(m) − w(m')‖² ≤ L KL(m ‖ m'),
    if τ² L ≤ (1 − τ) μ. Pinsker's inequality gives L ≤ ¼ Σ_i u_i R_i², R_i the largest distance between two outputs.

    That bound is pessimistic by orders of magnitude, so L is guessed: τ solves τ² L = (1 − τ) μ, and a step is taken
    only if P_μ⁺(w⁺) ≤ D(m⁺) as computed; otherwise it is tried again with L doubled. After each step the guess shrinks
    a little. At the bound only rounding can break the condition, so there every finite step is taken. μ begins with the
    first of a doubling sequence for which w = w(m) of the uniform m and its α_μ(w) meet the condition; at μ = L they
    do. The guess stays below twice the bound L̄ that the code uses, so 1/√μ grows by 1/(2√(2L̄)) or more a step, and the
    gap after k steps is at most (8 L̄/k²) Σ_i u_i log|Y_i|: O(1/√ε) iterations.

    References
    ----------
    Yu. Nesterov, Excessive gap technique in nonsmooth convex minimization, SIAM J. Optimization 16, 2005.
    X. Zhang, A. Saha, S. V. N. Vishwanathan, Accelerated training of max-margin Markov networks with kernels, ALT 2011.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X, Y = [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]], [["rain", "sun"], ["sun", "sun"]]
    >>> svm = StructuralSVM(Chain(), C=1.0, solver=ExcessiveGap(tol=0.01)).fit(X, Y)
    >>> svm.duality_gap_ <= 0.01
    True
    """

    slacks: ClassVar[tuple[str, ...]] = ("linear",)
    vectors: ClassVar[int] = 14
    part_vectors: ClassVar[int] = 14
    #: What the guess of L is multiplied by after a step that was taken.
    hope: ClassVar[float] = 0.85

    def check(self, problem: PartProblem, objective: MarginObjective) -> None:
        super().check(problem, objective)
        check_part_losses(self, problem, objective)

    def oracle(self, objective: MarginObjective) -> str:
        return "sums"

    @np.errstate(over="ignore", invalid="ignore")
    def init_state(self, problem: PartProblem, objective: MarginObjective) -> ExcessiveGapState:
        saddle = MarginSaddle.of(problem, objective)
        uniform = saddle.distributions(np.zeros_like(saddle.losses), problem)
        most = saddle.curvature_bound(problem)
        w = uniform.point.w
        slopes = saddle.slopes(w, problem)
        mu = most / 1024.0
        while True:
            smooth = _smoothed(w, slopes, mu, saddle, uniform.log_z, problem)
            if self._acceptable(smooth, smooth.nearest.point, mu >= most, 0):
                break
            mu *= 2.0
        state = ExcessiveGapState(
            w=np.zeros(problem.n_features),
            saddle=saddle,
            log_sizes=uniform.log_z,
            smooth=smooth,
            point=smooth.nearest.point,
            curvature=mu,
            most_curvature=most,
            objective=objective,
            dual=-np.inf,
        )
        self._certify(state, problem, objective)
        return state

    @np.errstate(over="ignore", invalid="ignore")
    def update(self, state: ExcessiveGapState, problem: PartProblem, objective: MarginObjective) -> ExcessiveGapState:
        with state.timed("dual_seconds"):
            while True:
                smooth, point = _step(state, problem)
                surely = state.curvature >= state.most_curvature
                if self._acceptable(smooth, point, surely, state.iteration + 1):
                    break
                state.curvature *= 2.0
        state.smooth, state.point = smooth, point
        state.curvature *= self.hope
        self._certify(state, problem, objective)
        return state

    @staticmethod
    def _acceptable(smooth: SmoothedPoint, point: DualPoint, surely: bool, iteration: int) -> bool:
        if surely and not (np.isfinite(smooth.value) and np.isfinite(point.value)):
            raise FloatingPointError(
                f"ExcessiveGap finds no finite step at iteration {iteration} (smoothed primal {smooth.value}, dual "
                f"{point.value}): the features or C are too large; scale them down"
            )
        return surely or smooth.value <= point.value

    def _certify(self, state: ExcessiveGapState, problem: PartProblem, objective: MarginObjective) -> None:
        price_margins(state, state.smooth.w, problem, objective)
        state.dual = max(state.dual, state.point.value)
        state.record = dual_record(state, problem)


def _step(state: ExcessiveGapState, problem: PartProblem) -> tuple[SmoothedPoint, DualPoint]:
    """(w⁺, μ⁺) and m⁺ for the present guess of L."""
    old, saddle = state.smooth, state.saddle
    tau = 2.0 / (1.0 + np.sqrt(1.0 + 4.0 * state.curvature / old.smoothing))
    w_beta = state.point.towards(old.nearest.point, tau).w
    slopes_beta = saddle.slopes(w_beta, problem)
    ahead = saddle.distributions(old.nearest.theta + tau / ((1.0 - tau) * old.smoothing) * slopes_beta, problem)
    smooth = _smoothed(
        old.w + tau * (w_beta - old.w),
        old.slopes + tau * (slopes_beta - old.slopes),
        (1.0 - tau) * old.smoothing,
        saddle,
        state.log_sizes,
        problem,
    )
    return smooth, state.point.towards(ahead.point, tau)


def _smoothed(
    w: FloatArray, slopes: FloatArray, mu: float, saddle: MarginSaddle, log_sizes: FloatArray, problem: PartProblem
) -> SmoothedPoint:
    nearest = saddle.distributions(slopes / mu, problem)
    value = 0.5 * float(w @ w) - float(w @ saddle.truth) + mu * float(saddle.limits @ (nearest.log_z - log_sizes))
    return SmoothedPoint(w, slopes, mu, value, nearest)
