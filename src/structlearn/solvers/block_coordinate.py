"""Block-coordinate ascent in the dual over per-example working sets of cached planes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.base import EXAMPLE_BYTES, DualSolver
from structlearn.solvers.mixtures import MixtureState
from structlearn.solvers.passes import BESIDE, SMALL, chunks_in_random_order, default_chunk_size, drawn_by_gap
from structlearn.solvers.states import Record, dual_record
from structlearn.waist.objective import MarginObjective
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


@dataclass
class BlockCoordinateState(MixtureState):
    """A run of block-coordinate ascent.

    Attributes
    ----------
    gaps : (n_examples,)
        What each example added to primal − dual when it was last looked at.
    average : (n_features,), optional
        The weighted mean of the points so far, and `average_linear` that of their dual's linear parts.
    priced : (n_features,), optional
        The best point of all certificates, with its objective `priced_primal` and its `priced_slacks`; `w` is the last
        one.
    cached_passes : int
        How often the cached planes are gone over next: so many visits for each example that the oracle is asked for.
    certified : float
        The relative gap of the last certificate.
    bias : float
        That gap over the estimate of it: the estimate is the sum of what examples showed while others still moved.
    """

    gaps: FloatArray = field(default_factory=lambda: np.empty(0))
    average: FloatArray | None = None
    average_linear: float = 0.0
    priced: FloatArray | None = None
    priced_slacks: FloatArray = field(default_factory=lambda: np.empty(0))
    priced_primal: float = np.inf
    cached_passes: int = 4
    certified: float = 1.0
    bias: float = 1.0
    random: np.random.Generator = field(default_factory=np.random.default_rng)

    over_weights: ClassVar[tuple[str, ...]] = ("w", "iterate", "average", "priced")

    #: Seconds that the oracle would have taken in the last pass with one thread, and those of the steps; no part of a
    #: saved state.
    pace = 0.0, 0.0

    @contextmanager
    def stepping(self, problem: Problem, objective: MarginObjective) -> Iterator[_core.Steps]:
        """The steps of a pass. If that takes less time they have a thread beside the oracle, which has the others."""
        n_threads, oracle, steps = problem.n_threads, *self.pace
        one_for_steps = max(oracle / max(n_threads - 1, 1), steps) < oracle / n_threads + steps
        # Where weights come into being or are clipped, w changes in other ways; a user's oracle has processes.
        plain = not (problem.grows or problem.user_oracles or len(objective.nonnegative))
        beside = n_threads > 1 and plain and one_for_steps
        known = self.oracle_seconds
        stepping = self.sets.steps(self.gaps, self.iteration, beside)
        if beside:
            problem.n_threads = n_threads - 1
        try:
            yield stepping
            self.pace = (self.oracle_seconds - known) * problem.n_threads, stepping.seconds
        finally:
            stepping.wait()
            problem.n_threads = n_threads


@dataclass(frozen=True, kw_only=True)
class BlockCoordinate(DualSolver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) by dual ascent on one example after another.

    The oracle answers for a chunk of examples; its planes join the examples' working sets, whose multipliers are
    improved while the oracle is asked for the next chunk, at the w that there was before. In between the cached planes
    of other examples are gone over in turn. This is block-coordinate Frank-Wolfe (Lacoste-Julien et al. 2013) with
    pairwise steps and cached planes. Where that gets slow, or `eps` is given, the cached planes are gone over after the
    pass as well, until they hold little of the gap that is left; where steps on one example undo those on another,
    cutting planes over all examples take over there.

    Parameters
    ----------
    chunk_size : int, optional
        Examples for which the oracle is asked at once; by default a hundredth of the data and at most 512; of few data
        a sixteenth, between 4 and 64. In the first pass, when w changes most, chunks are an eighth of that.
    idle_passes : int
        Planes without weight after that many passes in a row are dropped.
    averaging : bool
        Whether the answer is the average of the points after each iteration, the k-th with weight k, instead of the
        last one. It predicts better when a run is stopped early, and is certified like any other point.
    random_state : int
        Seed of the order of the examples.

    Notes
    -----
    An example's gap is its part of primal − dual. In each pass an example is visited with a probability that grows with
    the gap it last showed, and is certain from 0.3 of the mean gap on; one that has converged is left out. The gaps add
    up to an estimate; whenever it has halved, where it meets the tolerance, and at the end of a run, an exact pass over
    all examples at one fixed w certifies, and finds those again that were left out too early. Records in between have
    no primal and no gap. With `eps` every iteration is certified.

    Where planes take more than `Problem.max_memory` leaves for them, the least useful ones are dropped early: those
    without weight first, then those with the least. A bound too tight for the planes with weight costs convergence; a
    warning says so.

    With several threads the steps have one of them, beside the oracle, unless the oracle takes so much longer that it
    is better off with all. w does not depend on that.

    How often the cached planes are gone over depends on the gap they hold, never on the clock, so that a run can be
    repeated exactly.
    """

    chunk_size: int | None = None
    idle_passes: int = 3
    averaging: bool = False
    random_state: int = 0

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_nonnegative: ClassVar[bool] = True
    takes_growing: ClassVar[bool] = True
    vectors: ClassVar[int] = 5
    example_bytes: ClassVar[int] = EXAMPLE_BYTES

    def nbytes(self, problem: Problem) -> int:
        # With several threads the oracle may have a copy of w; what planes have room for must not depend on that.
        return super().nbytes(problem) + (0 if problem.grows else 8 * problem.n_features)

    def init_state(self, problem: Problem, objective: MarginObjective) -> BlockCoordinateState:
        random = np.random.default_rng(self.random_state)
        state = BlockCoordinateState.begin(problem, objective, random=random)
        state.begin_mixtures(problem)
        # The planes at w = 0 are the worst there are: not worth keeping.
        self._certify(state, problem, objective, keep=False)
        return state

    def resume(self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective) -> BlockCoordinateState:
        self.check_state(state, BlockCoordinateState, objective)
        state = state.reopened(problem, objective, random=state.random, marginals=state.marginals)
        self._certify(state, problem, objective)
        return state

    def rebase(
        self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective, shifts: SparseRows
    ) -> BlockCoordinateState:
        state = state.rebased(
            problem,
            objective,
            shifts,
            random=state.random,
            slacks=np.zeros(problem.n_examples),
            marginals=state.marginals,
        )
        # The planes that are known may well be all that is needed.
        with state.timed("dual_seconds"):
            state.solve(max(0.1 * self.tolerance, 1e-13), 100 * problem.n_examples)
        self._certify(state, problem, objective)
        return state

    def update(self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective) -> BlockCoordinateState:
        earlier = float(state.gaps.sum())
        asked = self._pass(state, problem, objective)
        estimate = float(state.gaps.sum())
        with state.timed("dual_seconds"):
            dual = state.dual_value()
            remaining = estimate / max(dual + estimate, 1e-300)
            if state.cached_passes > BESIDE or self.eps is not None:
                gap, _ = state.solve(max(0.1 * remaining, 1e-13), state.cached_passes * asked)
                # Where the cached planes still hold most of the gap, asking for more planes would not help.
                slow = gap > 0.5 * estimate
            else:
                state.dual = max(state.dual, dual)
                state.sets.count_idle()
                slow = estimate > 0.8 * earlier
            state.sets.drop_idle(self.idle_passes, problem.n_threads)
            state.limit_memory(self.room_for_planes(problem), problem)
            state.climb_mixtures(problem)
            if self.averaging:
                self._average(state)
        # The bound is for features so large that their squares overflow and nothing moves.
        if slow:
            state.cached_passes = min(2 * state.cached_passes, 2**16)
        elif estimate < 0.5 * earlier:
            state.cached_passes = max(state.cached_passes // 2, 2)
        due = state.bias * remaining <= max(self.tolerance, 0.5 * state.certified)
        if due or self.eps is not None or state.iteration + 1 >= self.max_iter:
            self._certify(state, problem, objective)
            state.bias = float(np.clip(state.certified / remaining, 0.25, 4.0)) if remaining > 0.0 else 1.0
        else:
            state.w = self._answer(state).copy()
            state.primal = np.inf
            state.record = self._record(state, problem, np.nan)
        return state

    def finish(self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective) -> None:
        if np.isinf(state.primal):
            self._certify(state, problem, objective)

    def conclude(self, state: BlockCoordinateState) -> None:
        if state.priced is not None and state.priced_primal < state.primal:
            state.w, state.primal, state.slacks = state.priced, state.priced_primal, state.priced_slacks

    def template(self, problem: Problem, objective: MarginObjective) -> BlockCoordinateState:
        state = self.init_state(problem, objective)
        state.average = np.zeros(problem.n_features)
        return state

    def _pass(self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective) -> int:
        """Oracle and dual steps, chunk by chunk, for examples drawn by their gap; returns how many there were."""
        chosen = drawn_by_gap(state.gaps, state.random)
        size = self.chunk_size or default_chunk_size(problem.n_examples)
        if state.iteration == 0:
            size = max(1, size // 8)
        # What has less of the gap than this is mostly left out: as much is enough to be worth a plane.
        margins = SMALL * state.gaps.mean() / (objective.price * objective.sample_weight)
        with state.stepping(problem, objective) as steps:
            last, full = chosen[:0], False
            for chunk in [*chunks_in_random_order(chosen, size, state.random), chosen[:0]]:
                with state.timed("dual_seconds"):
                    w = steps.begin(last, min(state.cached_passes, BESIDE) * len(last), chunk, state.iterate)
                if len(chunk):
                    planes = state.ask(problem, objective, w, chunk, margins[chunk])
                    state.extend(problem)
                    state.restart_mixtures(problem, planes)
                    self._keep(state, problem, objective, planes)
                with state.timed("dual_seconds"):
                    steps.help()
                    state.gaps[last] = steps.end(state.iterate)
                    state.clip()
                    # Planes with weight stay until the pass is over: many lose it to others.
                    room = self.room_for_planes(problem)
                    if not full and state.sets.exceeds(room):
                        steps.settle()
                        full = not state.has_room(room)
                last = chunk
        state.sets.clip(state.iterate)
        return len(chosen)

    def _certify(
        self, state: BlockCoordinateState, problem: Problem, objective: MarginObjective, *, keep: bool = True
    ) -> None:
        """An exact pass over all examples at one w."""
        w = self._answer(state)
        with state.timed("dual_seconds"):
            known, _, covered = state.sets.violations(w, problem.n_threads)
        violations = np.full(problem.n_examples, -np.inf)
        for chunk in problem.chunks():
            planes = self._ask(state, problem, objective, chunk, w)
            w = problem.extend(w)
            np.maximum.at(violations, planes.examples, planes.bounds)
            # Most examples have a new plane at a new w: more than there may be room for.
            keep = keep and state.has_room(self.room_for_planes(problem))
            if keep:
                self._keep(state, problem, objective, planes)
        slacks, primal = np.maximum(violations, 0.0), objective.primal(w, violations)
        state.gaps = objective.price * objective.sample_weight * objective.slack_loss(slacks) - covered
        state.w, state.primal, state.slacks = w.copy(), primal, slacks
        if state.priced is None or primal <= state.priced_primal:
            state.priced, state.priced_primal, state.priced_slacks = state.w, primal, slacks
        state.certified = state.relative_gap
        state.record = self._record(state, problem, max(0.0, float((violations - known).max(initial=0.0))))

    @staticmethod
    def _average(state: BlockCoordinateState) -> None:
        if state.average is None:
            state.average = np.zeros_like(state.iterate)
        share = 2.0 / (state.iteration + 2.0)
        state.average += share * (state.iterate - state.average)
        state.average_linear += share * (state.sets.linear_part() - state.average_linear)
        # The dual is concave: the mean multipliers are worth at least this.
        state.dual = max(state.dual, float(state.average_linear - 0.5 * state.average @ state.average))

    @staticmethod
    def _answer(state: BlockCoordinateState) -> FloatArray:
        return state.iterate if state.average is None else state.average

    @staticmethod
    def _ask(
        state: BlockCoordinateState, problem: Problem, objective: MarginObjective, examples: IntArray, w: FloatArray
    ) -> Planes:
        with state.timed("oracle_seconds"):
            planes = problem.oracle(w, examples, objective.scaling)
        state.extend(problem)
        return planes

    @staticmethod
    def _keep(state: BlockCoordinateState, problem: Problem, objective: MarginObjective, planes: Planes) -> None:
        """What is violated joins the working sets."""
        with state.timed("dual_seconds"):
            state.keep(problem, objective, planes, np.flatnonzero(planes.bounds > 0.0))

    @staticmethod
    def _record(state: BlockCoordinateState, problem: Problem, violation: float) -> Record:
        record = dual_record(state, problem, violation, int(state.sets.sizes().sum()))
        if np.isinf(state.primal):
            record |= {"primal": np.nan, "gap": np.nan, "certified": False}
        return record
