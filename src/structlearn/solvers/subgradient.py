"""Subgradient descent on the primal: batch, mini-batch and stochastic (Iglesias 2013, Algorithms 3.2 and 3.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.options import whole_option
from structlearn.solvers.base import Solver
from structlearn.solvers.states import Record, State
from structlearn.waist.objective import MarginObjective
from structlearn.waist.problem import Problem
from structlearn.wording import shown


@dataclass
class SubgradientState(State):
    """`iterate` is the present point, `w` the averaged one if there is averaging."""

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    steps: int = 0
    random: np.random.Generator = field(default_factory=np.random.default_rng)

    over_weights: ClassVar[tuple[str, ...]] = ("w", "iterate")


@dataclass(frozen=True, kw_only=True)
class Subgradient(Solver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) by w ← w − η_t v_t with an unbiased subgradient estimate v_t.

    For a batch of m examples, drawn without replacement in a pass, v = w − (C/S)(n/m) Σ_i s_i ℓ'(ξ_i) a_i δΨ_i(ŷ_i):
    its mean is the subgradient of the whole objective, whatever n and m are. One iteration is a pass over the data.

    Parameters
    ----------
    batch_size : int, optional
        1 is the stochastic, None the batch form. By default about one hundredth of the data.
    step : {"decaying", "constant"}
        η_t = η/(1 + η t), which is 1/t in the long run as suits a strongly convex objective, or η throughout.
    step_size : float
        η.
    average : bool
        Whether w is the average of the iterates, step t with weight t.
    projection : callable, optional
        Moves a point, in place, to the nearest one that satisfies constraints on w, after every step.
    measure_every : int
        Every so many iterations, and at the end, the objective is measured by an extra oracle pass.
    random_state : int

    Notes
    -----
    There is no dual, so no gap: a run ends after `max_iter` iterations and does not claim to have converged.
    """

    max_iter: int = 50
    batch_size: int | Literal["auto"] | None = "auto"
    step: Literal["decaying", "constant"] = "decaying"
    step_size: float = 0.1
    average: bool = True
    projection: Callable[[FloatArray], None] | None = None
    measure_every: int = 10
    random_state: int = 0

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_latent: ClassVar[bool] = True
    takes_growing: ClassVar[bool] = True
    vectors: ClassVar[int] = 3

    def check(self, problem: Any, objective: Any) -> None:
        super().check(problem, objective)
        whole_option("measure_every", self.measure_every, 1)
        if self.projection is not None and not callable(self.projection):
            raise ValueError(f"projection is {shown(self.projection)}; it must be a function or None")

    def init_state(self, problem: Problem, objective: MarginObjective) -> SubgradientState:
        zero = np.zeros(problem.n_features)
        state = SubgradientState(w=zero, iterate=zero.copy(), random=np.random.default_rng(self.random_state))
        state.record = self._measure(state, problem, objective)
        return state

    def update(self, state: SubgradientState, problem: Problem, objective: MarginObjective) -> SubgradientState:
        with np.errstate(over="ignore", invalid="ignore"):
            self._pass(state, problem, objective)
            if not np.isfinite(state.iterate @ state.iterate + state.w @ state.w):
                raise FloatingPointError(
                    f"w grows without bound in iteration {state.iteration + 1}: step_size={self.step_size:g} is too "
                    f"large for this C and these features (step={self.step!r})"
                )
        last = state.iteration + 1 == self.max_iter
        if last or (state.iteration + 1) % self.measure_every == 0:
            state.record = self._measure(state, problem, objective)
        else:
            state.record = _record(np.nan, certified=False)
        return state

    def finish(self, state: SubgradientState, problem: Problem, objective: MarginObjective) -> None:
        if np.isnan(state.record["primal"]):
            state.record = self._measure(state, problem, objective)

    def _pass(self, state: SubgradientState, problem: Problem, objective: MarginObjective) -> None:
        """A step for every batch."""
        n = problem.n_examples
        size = max(1, n // 100) if self.batch_size == "auto" else self.batch_size or n
        order = state.random.permutation(n)
        for begin in range(0, n, size):
            batch = np.sort(order[begin : begin + size])
            with state.timed("oracle_seconds"):
                planes = problem.oracle(state.iterate, batch, objective.scaling)
            state.extend(problem)
            slope = objective.slack_slope(np.maximum(planes.bounds, 0.0))
            a, _ = objective.scaling(planes.losses)
            weight = objective.price * n / len(batch) * objective.sample_weight[planes.examples]
            eta = self.step_size
            if self.step == "decaying":
                eta /= 1.0 + self.step_size * state.steps
            state.iterate *= 1.0 - eta
            planes.rows.add_to(state.iterate, eta * weight * slope * a)
            if self.projection is not None:
                self.projection(state.iterate)
            state.steps += 1
            if self.average:
                state.w += 2.0 / (state.steps + 1) * (state.iterate - state.w)
            else:
                state.w = state.iterate

    def _measure(self, state: SubgradientState, problem: Problem, objective: MarginObjective) -> Record:
        with state.timed("oracle_seconds"):
            risk = problem.risk(state.w, objective)
        state.extend(problem)
        primal = 0.5 * float(state.w @ state.w) + objective.price * risk.value
        return _record(primal, certified=problem.exactness != "approximate")


def _record(primal: float, *, certified: bool) -> Record:
    return {"primal": primal if certified else np.nan, "certified": certified}
