"""Extragradient for max-margin Markov networks (Taskar, Lacoste-Julien and Jordan 2006; Nemirovski 2004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.solvers.base import GapSolver
from structlearn.solvers.exponentiated_gradient import ExponentiatedGradient
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
class SaddlePoint:
    """w and m, the two sides of the saddle."""

    w: FloatArray
    m: Distributions


@dataclass(kw_only=True)
class ExtragradientState(DualState):
    """Where the steps are, and their average.

    Attributes
    ----------
    saddle : MarginSaddle
    now, begin : SaddlePoint
        The present point, and where the average began.
    mean_w : (n_features,)
    mean_m : DualPoint
        The average of the predicted points w' and m', weighted by η.
    weight : float
        Σ η of the average.
    step, balance : float
        η and σ.
    growth : float
        By what η grows after a step that succeeds at once: 2 until one fails.
    most_curvature : float
        A bound on L.
    """

    saddle: MarginSaddle
    now: SaddlePoint
    begin: SaddlePoint
    mean_w: FloatArray
    mean_m: DualPoint
    weight: float = 0.0
    step: float
    balance: float = 1.0
    growth: float = 2.0
    most_curvature: float


@dataclass(frozen=True, kw_only=True)
class Extragradient(GapSolver):
    """min_w max_m ½‖w‖² + Σ_i u_i (⟨ℓ_i, m_i⟩ + ⟨A_i w, m_i − τ_i⟩) by a step that predicts and a step that corrects.

        w' = (w + ησ w(m))/(1 + ησ),     m' ∝ m exp(η (ℓ + A w)),
        w⁺ = (w + ησ w(m'))/(1 + ησ),    m⁺ ∝ m exp(η (ℓ + A w')),

    proximal steps in ‖·‖²/(2σ) for w and in Σ_i u_i KL for m, which stays a product over the cliques: a step is two
    sum-product passes. What is reported and certified is the average of (w', m'), each with weight η.

    Parameters
    ----------
    step_size : float
        The first η. It grows while steps succeed and is halved where one fails, see the notes.

    Notes
    -----
    A step is taken if, with V(z, z') = ‖w − w'‖²/(2σ) + Σ_i u_i KL(m_i ‖ m'_i),

        η (⟨w(m) − w(m'), w' − w⁺⟩ + ⟨w(m⁺) − w(m'), w − w'⟩) ≤ V(z', z) + V(z⁺, z'),

    which is all that the proof of Nemirovski's rate asks of η: the saddle function then differs between the average and
    any other point z by at most V(z, z_0)/Σ η, O(1/ε) iterations. It holds for every η ≤ 1/√(σL), where L is such that
    ½‖w(m) − w(m')‖² ≤ L Σ_i u_i KL(m_i ‖ m'_i), so that halving ends; below that size every finite step is taken.

    The average begins anew after 1, 2, 4, 8, … iterations, which forgets the way from the start; the proof covers each
    of these runs by itself. At the same time σ moves, by a geometric mean, to the ratio of ½‖w − w_0‖² to
    Σ_i u_i KL(m_i ‖ m_0i) over the last run, since the bound is least where both parts of V are alike.

    Taskar et al. keep w in a ball and add up gradients (dual extragradient); here ½‖w‖² takes the place of the ball and
    the steps are those of mirror-prox, so that the dual of the objective is at hand for a certificate.

    References
    ----------
    B. Taskar, S. Lacoste-Julien, M. I. Jordan, Structured prediction, dual extragradient and Bregman projections,
    JMLR 7, 2006.
    A. Nemirovski, Prox-method with rate of convergence O(1/t) for variational inequalities with Lipschitz continuous
    monotone operators and smooth convex-concave saddle point problems, SIAM J. Optimization 15, 2004.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X, Y = [[[0.0, 1.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]]], [["rain", "sun"], ["sun", "sun"]]
    >>> svm = StructuralSVM(Chain(), C=1.0, solver=Extragradient(tol=0.01)).fit(X, Y)
    >>> svm.duality_gap_ <= 0.01
    True
    """

    step_size: float = 0.5

    slacks: ClassVar[tuple[str, ...]] = ("linear",)
    vectors: ClassVar[int] = 19
    part_vectors: ClassVar[int] = 15

    def check(self, problem: PartProblem, objective: MarginObjective) -> None:
        super().check(problem, objective)
        check_part_losses(self, problem, objective)
        real_option("step_size", self.step_size, positive=True)

    def oracle(self, objective: MarginObjective) -> str:
        return "sums"

    @np.errstate(over="ignore", invalid="ignore")
    def init_state(self, problem: PartProblem, objective: MarginObjective) -> ExtragradientState:
        saddle = MarginSaddle.of(problem, objective)
        truths = problem.true_parts(np.arange(problem.n_examples))
        m = saddle.distributions(ExponentiatedGradient.start * np.minimum(truths, 1.0), problem)
        begin = SaddlePoint(np.zeros(problem.n_features), m)
        state = ExtragradientState(
            w=begin.w,
            saddle=saddle,
            now=begin,
            begin=begin,
            mean_w=begin.w,
            mean_m=m.point,
            step=self.step_size,
            most_curvature=saddle.curvature_bound(problem),
            objective=objective,
            dual=-np.inf,
        )
        self._certify(state, problem, objective)
        return state

    @np.errstate(over="ignore", invalid="ignore")
    def update(self, state: ExtragradientState, problem: PartProblem, objective: MarginObjective) -> ExtragradientState:
        iteration = state.iteration + 1
        if iteration & (iteration - 1) == 0:
            _begin_anew(state, problem)
        with state.timed("dual_seconds"):
            growth = state.growth
            while True:
                predicted, corrected, excess = _steps(state, problem)
                finite = np.isfinite(excess + predicted.m.point.value)
                safe = state.step * state.step * state.balance * state.most_curvature <= 1.0
                if finite and (safe or excess <= 0.0):
                    break
                if safe:
                    raise FloatingPointError(
                        f"Extragradient finds no finite step at iteration {iteration} (step size {state.step:.2g}): "
                        "the features or C are too large; scale them down"
                    )
                state.step *= 0.5
                state.growth, growth = 1.2, 1.0
        state.now = corrected
        state.weight += state.step
        share = state.step / state.weight
        state.mean_w = state.mean_w + share * (predicted.w - state.mean_w)
        state.mean_m = state.mean_m.towards(predicted.m.point, share)
        # Where nothing limits η, it must still remain a number.
        state.step = min(growth * state.step, 1e50)
        self._certify(state, problem, objective)
        return state

    def _certify(self, state: ExtragradientState, problem: PartProblem, objective: MarginObjective) -> None:
        price_margins(state, state.mean_w, problem, objective)
        state.dual = max(state.dual, state.mean_m.value)
        state.record = dual_record(state, problem)


def _steps(state: ExtragradientState, problem: PartProblem) -> tuple[SaddlePoint, SaddlePoint, float]:
    """z', z⁺, and by how much the condition on η is missed."""
    now, saddle, eta = state.now, state.saddle, state.step
    predicted = _proximal(state, now, problem)
    corrected = _proximal(state, predicted, problem)
    towards, away = predicted.w - now.w, corrected.w - predicted.w
    coupling = eta * (
        float((predicted.m.point.w - now.m.point.w) @ away)
        + float((predicted.m.point.w - corrected.m.point.w) @ towards)
    )
    distance = (
        0.5 / state.balance * float(towards @ towards + away @ away)
        + saddle.divergence(predicted.m, now.m, problem)
        + saddle.divergence(corrected.m, predicted.m, problem)
    )
    # A divergence is the difference of much larger numbers; without this, steps at a vertex fail for nothing.
    rounding = 1e-13 * float(saddle.limits @ np.abs(corrected.m.log_z))
    return predicted, corrected, coupling - distance - rounding


def _proximal(state: ExtragradientState, seen: SaddlePoint, problem: PartProblem) -> SaddlePoint:
    """From the present point, along the gradient that is seen at another."""
    now, saddle, pull = state.now, state.saddle, state.step * state.balance
    theta = now.m.theta + state.step * saddle.slopes(seen.w, problem)
    return SaddlePoint((now.w + pull * seen.m.point.w) / (1.0 + pull), saddle.distributions(theta, problem))


def _begin_anew(state: ExtragradientState, problem: PartProblem) -> None:
    moved_w = 0.5 * float(np.sum((state.now.w - state.begin.w) ** 2))
    moved_m = state.saddle.divergence(state.now.m, state.begin.m, problem)
    # While η only grows, the steps are too short for the distances to say anything.
    if state.growth < 2.0 and moved_w > 0 and moved_m > 0:
        # Near the optimum the ratio of the two small numbers says little: at most a factor of 10 a time.
        change = float(np.clip(np.sqrt(moved_w / moved_m / state.balance), 0.1, 10.0))
        state.balance *= change
        state.step /= float(np.sqrt(change))
    state.begin = state.now
    state.weight = 0.0
