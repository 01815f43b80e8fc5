"""Improved iterative scaling for likelihoods (Della Pietra et al. 1997; Lafferty et al. 2001, Algorithm S)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import GapSolver
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import LikelihoodObjective, Objective
from structlearn.waist.parts import PartProblem


@dataclass
class IterativeScalingState(DualState):
    """`observed` is (C/S) Σ_i s_i Ψ(x_i, y_i), `expected` the same under P(· | x_i; w), `total` the largest Σ_k Ψ_k."""

    observed: FloatArray = field(default_factory=lambda: np.empty(0))
    expected: FloatArray = field(default_factory=lambda: np.empty(0))
    total: float = 0.0


@dataclass(frozen=True, kw_only=True)
class IterativeScaling(GapSolver):
    """min_w ½‖w‖² − (C/S) Σ_i s_i log P(y_i | x_i) by improved iterative scaling.

    Features must not be negative; with T the largest sum of features of any output, every weight moves by the root of

        observed_k − expected_k exp(T δ_k) − (w_k + δ_k) = 0,

    which never raises the objective. Steps shrink with T, so it needs many iterations on long sequences: it is here
    because the literature compares with it.
    """

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective,)
    vectors: ClassVar[int] = 10
    part_vectors: ClassVar[int] = 1

    def check(self, problem: PartProblem, objective: LikelihoodObjective) -> None:
        super().check(problem, objective)
        if objective.l1_ratio:
            raise ValueError(f"IterativeScaling has no form for l1_ratio={objective.l1_ratio:g}; use solver='lbfgs'")
        if not hasattr(problem, "feature_totals"):
            raise ValueError(
                f"IterativeScaling needs the largest sum of the features of an output, which {type(problem).__name__} "
                "does not tell; use solver='lbfgs'"
            )
        problem.feature_totals()

    def oracle(self, objective: LikelihoodObjective) -> str:
        return "sums"

    def init_state(self, problem: PartProblem, objective: LikelihoodObjective) -> IterativeScalingState:
        observed = np.zeros(problem.n_features)
        examples = np.arange(problem.n_examples)
        problem.push(problem.true_parts(examples), examples, objective.price * objective.sample_weight, observed)
        state = IterativeScalingState(
            w=np.zeros(problem.n_features),
            observed=observed,
            total=float(problem.feature_totals().max(initial=0.0)),  # type: ignore[attr-defined]
            objective=objective,
        )
        self._look(state, state.w, problem, objective)
        return state

    def update(
        self, state: IterativeScalingState, problem: PartProblem, objective: LikelihoodObjective
    ) -> IterativeScalingState:
        with state.timed("dual_seconds"):
            step = _roots(state.observed - state.w, np.maximum(state.expected, 0.0), max(state.total, 1e-300))
        self._look(state, state.w + step, problem, objective)
        return state

    @staticmethod
    def _look(
        state: IterativeScalingState, w: FloatArray, problem: PartProblem, objective: LikelihoodObjective
    ) -> None:
        with state.timed("oracle_seconds"):
            risk = problem.risk(w, objective)
        state.certify(w, risk.losses, objective)
        slope = objective.price * risk.gradient
        state.dual = max(state.dual, objective.dual(-slope, risk.offset))
        state.expected = state.observed + slope
        state.record = dual_record(state, problem)


def _roots(a: FloatArray, b: FloatArray, total: float) -> FloatArray:
    """δ with a − b exp(total δ) − δ = 0, for b ≥ 0.

    The left side falls and is concave, so that Newton's method, begun to the right of the root, comes down to it.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        delta = np.where(a > b, np.minimum(a, np.log(a / b) / total), 0.0)
    for _ in range(100):
        grown = b * np.exp(total * delta)
        change = (a - grown - delta) / (total * grown + 1.0)
        delta += change
        if np.abs(change).max(initial=0.0) <= 1e-15 * (1.0 + np.abs(delta).max(initial=0.0)):
            break
    return np.asarray(delta)
