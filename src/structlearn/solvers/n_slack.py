"""Cutting planes with one slack an example (Tsochantaridis et al. 2005, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from structlearn.solvers.base import EXAMPLE_BYTES, DualSolver
from structlearn.solvers.states import dual_record
from structlearn.solvers.working_sets import WorkingSetState
from structlearn.waist.objective import MarginObjective
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


class InseparableError(ValueError):
    """No weight vector separates the training data, so the hard margin has no solution."""


@dataclass
class NSlackState(WorkingSetState):
    """`planes` counts the constraints that were ever added."""

    planes: int = 0


@dataclass(frozen=True, kw_only=True)
class NSlack(DualSolver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) by n-slack cutting planes, for all seven formulations.

    Every example has a working set of constraints. The oracle looks for a constraint violated by more than `eps`
    beyond the example's present slack; it joins the working set and the dual is optimised again, starting from
    where it was.

    Parameters
    ----------
    update_on : {"pass", "addition", "example"}
        When the dual is optimised. "pass": once after a pass over the data (the batch form, Iglesias 2013,
        Algorithm 3.1). "addition": over all working sets after each new constraint (Algorithm 1, variant a).
        "example": over the example's own working set after each new constraint, and over all of them after the pass
        (variant b).

    Notes
    -----
    Every iteration ends with a solve over the working sets, to a tenth of the gap that is left, and an oracle pass at
    that one w, which gives the certificate. In the sequential forms this pass adds no constraints, it only measures.

    All constraints are kept unless `Problem.max_memory` leaves too little for them: those without weight go then.
    """

    update_on: Literal["pass", "addition", "example"] = "pass"

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared", "hard")
    takes_nonnegative: ClassVar[bool] = True
    takes_growing: ClassVar[bool] = True
    example_bytes: ClassVar[int] = EXAMPLE_BYTES
    #: Hard margins below this part of the feature radius count as none.
    least_margin: ClassVar[float] = 1e-4

    def init_state(self, problem: Problem, objective: MarginObjective) -> NSlackState:
        state = NSlackState.begin(problem, objective)
        self._survey(state, problem, objective)
        return state

    def resume(self, state: NSlackState, problem: Problem, objective: MarginObjective) -> NSlackState:
        self.check_state(state, NSlackState, objective)
        state = state.reopened(problem, objective, planes=state.planes)
        self._survey(state, problem, objective)
        return state

    def rebase(
        self, state: NSlackState, problem: Problem, objective: MarginObjective, shifts: SparseRows
    ) -> NSlackState:
        slacks = np.zeros(problem.n_examples)
        state = state.rebased(problem, objective, shifts, planes=state.planes, slacks=slacks)
        self._solve(state, objective)
        self._survey(state, problem, objective)
        return state

    def update(self, state: NSlackState, problem: Problem, objective: MarginObjective) -> NSlackState:
        if self.update_on != "pass":
            self._sequential_pass(state, problem, objective)
        self._solve(state, objective)
        while problem.has_cheaper_planes and self.update_on == "pass" and self._add_cheaper(state, problem, objective):
            self._solve(state, objective)
        state.limit_memory(self.room_for_planes(problem), problem)
        self._survey(state, problem, objective)
        return state

    def _survey(self, state: NSlackState, problem: Problem, objective: MarginObjective) -> None:
        """One oracle pass at a fixed w: prices it, and in the batch form adds what is violated."""
        slacks, _, _ = state.sets.violations(state.iterate)
        violations = np.full(problem.n_examples, -np.inf)
        for examples in problem.chunks():
            with state.timed("oracle_seconds"):
                planes = problem.oracle(state.iterate, examples, objective.scaling)
            state.extend(problem)
            np.maximum.at(violations, planes.examples, planes.bounds)
            violated = np.flatnonzero(planes.bounds > slacks[planes.examples] + (self.eps or 0.0))
            if self.update_on == "pass" and state.has_room(self.room_for_planes(problem)):
                state.planes += state.keep(problem, objective, planes, violated)
        state.certify(state.iterate, violations, objective)
        excess = float((violations - slacks).max(initial=0.0))
        state.record = dual_record(state, problem, max(excess, 0.0), state.planes)

    def _worth(self, state: NSlackState) -> float:
        """Beyond the known slack: by so much a plane has to be violated that need not be the most violating one."""
        return max(0.5 * float(state.record.get("violation", 0.0)), self.eps or 0.0)

    def _add_cheaper(self, state: NSlackState, problem: Problem, objective: MarginObjective) -> int:
        """Adds planes that are worth it without a certificate; returns how many there were."""
        slacks, _, _ = state.sets.violations(state.iterate)
        worth, added = self._worth(state), 0
        for examples in problem.chunks():
            planes = state.ask(problem, objective, state.iterate, examples, np.full(len(examples), worth))
            state.extend(problem)
            violated = np.flatnonzero(planes.bounds > slacks[planes.examples] + worth)
            added += state.keep(problem, objective, planes, violated)
        state.planes += added
        return added

    def _sequential_pass(self, state: NSlackState, problem: Problem, objective: MarginObjective) -> None:
        for i in range(problem.n_examples):
            planes = state.ask(problem, objective, state.iterate, np.array([i]), np.full(1, self._worth(state)))
            state.extend(problem)
            slack = state.sets.largest_violation(i, state.iterate)
            violated = np.flatnonzero(planes.bounds > slack + (self.eps or 0.0))
            added = state.keep(problem, objective, planes, violated)
            if not added:
                continue
            state.planes += added
            if self.update_on == "addition":
                self._solve(state, objective)
            else:
                with state.timed("dual_seconds"):
                    state.improve(np.array([i]))

    def _solve(self, state: NSlackState, objective: MarginObjective) -> None:
        with state.timed("dual_seconds"):
            _, unbounded = state.solve(self.qp_accuracy(state, objective), 10_000 * len(state.slacks))
        if objective.slack == "hard":
            # A dual value D proves that no margin above 1/√(2D) exists.
            margin = 0.0 if unbounded else 1.0 / np.sqrt(2.0 * state.dual)
            radius = state.sets.radius()
            if margin < self.least_margin * radius or unbounded:
                raise InseparableError(
                    f"the training data cannot be separated: no margin above {margin:.2g} exists, while the features "
                    f"have radius {radius:.3g}; use slack='linear' or slack='squared'"
                )
