"""The structured perceptron (Collins 2002), plain and averaged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import Solver
from structlearn.solvers.states import State
from structlearn.waist.objective import Objective
from structlearn.waist.problem import Problem


@dataclass
class PerceptronState(State):
    """`iterate` is the present point; `moments` is Σ_t t·(change at step t), from which the average follows."""

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    moments: FloatArray = field(default_factory=lambda: np.empty(0))
    steps: int = 0
    mistakes: int = -1
    random: np.random.Generator = field(default_factory=np.random.default_rng)

    over_weights: ClassVar[tuple[str, ...]] = ("w", "iterate", "moments")


@dataclass(frozen=True, kw_only=True)
class Perceptron(Solver):
    """w ← w + s_i (Ψ(x_i, y_i) − Ψ(x_i, ŷ)) for every example whose prediction ŷ has a loss.

    There is no objective, so the history has no primal and no dual; `mistakes` counts the updates of a pass. A run
    ends when a pass makes no mistake, or after `max_iter` passes.

    Parameters
    ----------
    average : bool
        Whether w is the average over all steps, which generalises better, or the last point.
    random_state : int
        Seed of the order of the examples, drawn anew for every pass.
    """

    max_iter: int = 20
    average: bool = True
    random_state: int = 0

    objectives: ClassVar[tuple[type[Objective], ...]] = (Objective,)
    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard")
    takes_growing: ClassVar[bool] = True

    def oracle(self, objective: Objective) -> str:
        return "best"

    def init_state(self, problem: Problem, objective: Objective) -> PerceptronState:
        zero = np.zeros(problem.n_features)
        state = PerceptronState(
            w=zero,
            iterate=zero.copy(),
            moments=zero.copy(),
            random=np.random.default_rng(self.random_state),
        )
        state.record = _record(state)
        return state

    def update(self, state: PerceptronState, problem: Problem, objective: Objective) -> PerceptronState:
        state.mistakes = 0
        for i in state.random.permutation(problem.n_examples):
            example = np.array([i])
            with state.timed("oracle_seconds"):
                rows, losses = problem.differences(example, problem.best(state.iterate, example))
            state.extend(problem)
            if losses[0] > 0.0:
                weight = objective.sample_weight[example]
                rows.add_to(state.iterate, weight)
                rows.add_to(state.moments, state.steps * weight)
                state.mistakes += 1
            state.steps += 1
        state.w = state.iterate.copy()
        if self.average:
            # The mean of the points after each step: w_T − Σ_t (t/T)·change_t, t counted from 0.
            state.w -= state.moments / state.steps
        state.record = _record(state)
        return state

    def done(self, state: Any) -> bool:
        return bool(state.mistakes == 0)


def _record(state: PerceptronState) -> dict[str, Any]:
    return {"primal": np.nan, "mistakes": max(state.mistakes, 0)}
