"""Block-coordinate ascent in the dual over per-example working sets of cached planes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.objective import Objective
from structlearn.problem import FloatArray, IntArray, Problem
from structlearn.solvers.base import DualSolver, Record, dual_record
from structlearn.solvers.working_sets import WorkingSetState


@dataclass
class BlockCoordinateState(WorkingSetState):
    """`cached_passes` is how often the cached planes are gone over next, `certified_at` the estimate last certified."""

    cached_passes: int = 3
    certified_at: float = 1.0
    random: np.random.Generator = field(default_factory=np.random.default_rng)


@dataclass(frozen=True, kw_only=True)
class BlockCoordinate(DualSolver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) by dual ascent on one example after another.

    The oracle answers for a chunk of examples at the present w; its planes join the examples' working sets, whose
    multipliers are improved at once, so that the next chunk sees a better w. After each pass over the data the cached
    planes are gone over again, without the oracle, until they hold little of the gap that is left. This is
    block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) with pairwise steps and cached planes.

    Parameters
    ----------
    chunk_size : int, optional
        Examples for which the oracle is asked at once; by default a hundredth of the data, between 16 and 512.
    idle_passes : int
        Planes without weight after that many passes in a row are dropped.
    random_state : int
        Seed of the order of the examples.

    Notes
    -----
    The gap that each example shows when it is visited adds up to an estimate. Whenever the estimate has halved, where
    it meets the tolerance, and at the end of a run, an exact pass at one fixed w certifies; records in between have no
    primal and no gap. With `eps` every iteration is certified.
    """

    chunk_size: int | None = None
    idle_passes: int = 10
    random_state: int = 0

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")

    def init_state(self, problem: Problem, objective: Objective) -> BlockCoordinateState:
        random = np.random.default_rng(self.random_state)
        state = BlockCoordinateState.begin(problem, objective, random=random)
        self._certify(state, problem, objective)
        return state

    def resume(self, state: BlockCoordinateState, problem: Problem, objective: Objective) -> BlockCoordinateState:
        self.check_state(state, BlockCoordinateState, objective)
        state = state.reopened(problem, objective, random=state.random)
        self._certify(state, problem, objective)
        return state

    def update(self, state: BlockCoordinateState, problem: Problem, objective: Objective) -> BlockCoordinateState:
        estimate = self._pass(state, problem, objective)
        with state.timed("dual_seconds"):
            remaining = estimate / max(state.dual_value() + estimate, 1e-300)
            gap, _ = state.solve(max(0.1 * remaining, 1e-13), state.cached_passes)
            state.sets.drop_idle(self.idle_passes)
        # Where the cached planes still hold most of the gap, asking for more planes would not help.
        state.cached_passes = 2 * state.cached_passes if gap > 0.5 * estimate else max(3, state.cached_passes // 2)
        halved = remaining <= max(self.tolerance, 0.5 * state.certified_at)
        if halved or self.eps is not None or state.iteration + 1 >= self.max_iter:
            state.certified_at = remaining
            self._certify(state, problem, objective)
        else:
            state.w = state.iterate.copy()
            state.primal = np.inf
            state.record = self._record(state, problem, np.nan)
        return state

    def _pass(self, state: BlockCoordinateState, problem: Problem, objective: Objective) -> float:
        """Oracle and dual steps, chunk by chunk; returns the sum of the examples' gaps as they were seen."""
        n = problem.n_examples
        size = self.chunk_size or int(np.clip(n // 100, 16, 512))
        order = state.random.permutation(n)
        estimate = 0.0
        for begin in range(0, n, size):
            chunk = np.sort(order[begin : begin + size])
            self._ask(state, problem, objective, chunk)
            with state.timed("dual_seconds"):
                gaps = np.empty(len(chunk))
                state.sets.improve(chunk, state.iterate, gaps)
                estimate += float(gaps.sum())
        return estimate

    def _ask(
        self, state: BlockCoordinateState, problem: Problem, objective: Objective, examples: IntArray
    ) -> tuple[IntArray, FloatArray]:
        """The oracle at the iterate; what is violated joins the working sets."""
        with state.timed("oracle_seconds"):
            planes = problem.oracle(state.iterate, examples, objective.scaling)
            state.keep(problem, objective, planes, np.flatnonzero(planes.bounds > 0.0))
        return planes.examples, planes.bounds

    def _certify(self, state: BlockCoordinateState, problem: Problem, objective: Objective) -> None:
        """An exact pass over all examples at one w."""
        known, _ = state.sets.violations(state.iterate)
        violations = np.full(problem.n_examples, -np.inf)
        for chunk in problem.chunks():
            examples, bounds = self._ask(state, problem, objective, chunk)
            np.maximum.at(violations, examples, bounds)
        state.primal = np.inf
        state.certify(state.iterate, violations, objective)
        state.record = self._record(state, problem, max(0.0, float((violations - known).max(initial=0.0))))

    @staticmethod
    def _record(state: BlockCoordinateState, problem: Problem, violation: float) -> Record:
        record = dual_record(state, problem, violation, int(state.sets.sizes().sum()))
        if np.isinf(state.primal):
            record |= {"primal": np.nan, "gap": np.nan, "certified": False}
        return record
