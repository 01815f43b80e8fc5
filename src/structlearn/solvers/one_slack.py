"""Cutting planes on the whole risk: one slack, one constraint an iteration (Joachims, Finley, Yu 2009)."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import compress
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import EXAMPLE_BYTES, DualSolver
from structlearn.solvers.states import DualState, dual_record
from structlearn.solvers.working_sets import has_room
from structlearn.waist.objective import MarginObjective
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


@dataclass
class OneSlackState(DualState):
    """`iterate` minimises the objective under the present cuts; `cached` holds oracle answers for reuse.

    Where truths may move, `coefficients` has for every cut the factors with which the rows of the examples are in it.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    cuts: _core.SparseSets = field(default_factory=lambda: _core.SparseSets(1, 0))
    cached: _core.WorkingSets = field(default_factory=lambda: _core.SparseSets(0, 0))
    coefficients: list[FloatArray] | None = None
    excess: float = np.inf

    over_weights: ClassVar[tuple[str, ...]] = ("w", "iterate")

    def extend(self, problem: Problem) -> None:
        super().extend(problem)
        if problem.grows:
            self.cuts.grow(problem.n_features)
            self.cached.grow(problem.n_features)

    def point(self) -> None:
        """Puts the iterate where the multipliers of the cuts are."""
        self.iterate[:] = 0.0
        self.cuts.weights(self.iterate)


@dataclass(frozen=True, kw_only=True)
class OneSlack(DualSolver):
    """min_w ½‖w‖² + C ξ with ξ ≥ c_t − ⟨w, g_t⟩ for cuts t: linearisations of the risk (Yu 2011, Algorithm 3.2).

    A cut is the sum of one plane an example, Σ_i (s_i/S) ℓ'(ξ_i) plane_i, so the quadratic program has one variable an
    iteration, whatever the number of examples.

    Parameters
    ----------
    cache : int
        Oracle answers are kept for that many looks without use. As long as the best of them give a cut that is
        violated at least half as much as the last exact one, the oracle is not asked. 0 keeps none.
    idle_cuts : int
        Cuts that had no weight in that many quadratic programs in a row are dropped.
    """

    cache: int = 10
    idle_cuts: int = 50

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_nonnegative: ClassVar[bool] = True
    takes_growing: ClassVar[bool] = True
    takes_sharded: ClassVar[bool] = True
    vectors: ClassVar[int] = 7
    example_bytes: ClassVar[int] = EXAMPLE_BYTES

    def expected_nbytes(self, problem: Problem) -> int:
        # Cuts over all examples have many entries at first and few later: eight with all of them, measured.
        return super().expected_nbytes(problem) + 8 * 16 * problem.n_features

    def init_state(self, problem: Problem, objective: MarginObjective) -> OneSlackState:
        state = OneSlackState(
            w=np.zeros(problem.n_features),
            iterate=np.zeros(problem.n_features),
            cuts=_core.SparseSets(1, problem.n_features),
            cached=problem.working_sets(),
            coefficients=[] if problem.truths_move else None,
            objective=objective,
        )
        state.cuts.set_nonnegative(objective.nonnegative)
        self._survey(state, problem, objective)
        return state

    def resume(self, state: OneSlackState, problem: Problem, objective: MarginObjective) -> OneSlackState:
        self.check_state(state, OneSlackState, objective)
        assert state.objective is not None
        if not np.allclose(_share(state.objective), _share(objective), rtol=1e-12, atol=0.0):
            raise ValueError("the earlier run had other sample weights; its cuts do not serve these")
        fresh = OneSlackState(
            w=np.zeros(problem.n_features),
            iterate=np.zeros(problem.n_features),
            cuts=state.cuts,
            cached=state.cached,
            coefficients=state.coefficients,
            objective=objective,
        )
        self._solve(fresh, objective)
        self._survey(fresh, problem, objective)
        return fresh

    def rebase(
        self, state: OneSlackState, problem: Problem, objective: MarginObjective, shifts: SparseRows
    ) -> OneSlackState:
        assert isinstance(state.cached, _core.SparseSets)
        state.cached.rebase(shifts.indptr, shifts.indices, shifts.values)
        fresh = OneSlackState(
            w=np.zeros(problem.n_features),
            iterate=np.zeros(problem.n_features),
            cuts=_moved(state, shifts, problem.n_features),
            cached=state.cached,
            coefficients=state.coefficients,
            objective=objective,
            excess=state.excess,
        )
        self._solve(fresh, objective)
        self._cut_on(fresh, problem, objective)
        return fresh

    def update(self, state: OneSlackState, problem: Problem, objective: MarginObjective) -> OneSlackState:
        self._solve(state, objective)
        self._limit_memory(state, problem)
        self._cut_on(state, problem, objective)
        return state

    def _limit_memory(self, state: OneSlackState, problem: Problem) -> None:
        """Cuts come first; of the cached planes, those that were of no use for longest are given up."""
        room = self.room_for_planes(problem)
        idle = self.idle_cuts
        while state.cuts.nbytes() > room and idle:
            idle //= 2
            self._drop_idle_cuts(state, idle)
        state.cached.limit_memory(max(0, room - state.cuts.nbytes()), state.iterate, False)

    @staticmethod
    def _drop_idle_cuts(state: OneSlackState, idle: int) -> None:
        if state.coefficients:
            state.coefficients = list(compress(state.coefficients, state.cuts.idle(0) <= idle))
        state.cuts.drop_idle(idle)

    def _cut_on(self, state: OneSlackState, problem: Problem, objective: MarginObjective) -> None:
        """Cuts from cached planes, and cheaper ones, as long as they are good ones, then one from the oracle."""
        while self.cache and (
            self._cut_from_cache(state, objective) or self._cut_from_cheaper(state, problem, objective)
        ):
            self._solve(state, objective)
        self._survey(state, problem, objective)

    def _solve(self, state: OneSlackState, objective: MarginObjective) -> None:
        """The quadratic program over the cuts; leaves the iterate and raises the dual bound."""
        with state.timed("dual_seconds"):
            state.cuts.set_limits(np.array([objective.C]), np.zeros(1))
            state.cuts.set_nonnegative(objective.nonnegative)
            gap = self._best_cuts(state, objective)
            self._drop_idle_cuts(state, self.idle_cuts)
            state.point()
            dual = float(state.cuts.linear_part() - 0.5 * state.iterate @ state.iterate)
            state.dual = max(state.dual, dual)
            state.restricted_gap = gap / max(dual + gap, 1e-300)

    def _best_cuts(self, state: OneSlackState, objective: MarginObjective) -> float:
        """Maximises the dual over the cuts and returns the gap that is left."""
        accuracy = self.qp_accuracy(state, objective)
        if not len(objective.nonnegative):
            return state.cuts.solve_alone(0, accuracy, 1000)
        # Which weights are at zero changes the curvature, so that the inner products of the cuts are not enough.
        state.point()
        return state.cuts.solve(state.iterate, accuracy, 1000, 0)[0]

    def _cut_from_cache(self, state: OneSlackState, objective: MarginObjective) -> bool:
        """Adds the cut that the cached planes give, if it is violated enough to be worth a quadratic program."""
        with state.timed("dual_seconds"):
            violations, which, _ = state.cached.violations(state.iterate)
            state.cached.mark_used(which)
            gradient = np.zeros_like(state.iterate)
            coefficients = np.zeros_like(violations)
            weights = _share(objective) * objective.slack_slope(violations)
            offset = state.cached.cut(which, weights, gradient, coefficients)
            offset = _tangent(offset, violations, objective)
            excess = offset - gradient @ state.iterate - state.cuts.largest_violation(0, state.iterate)
            worth_it = excess > max(0.5 * state.excess, self.eps or 0.0)
            return bool(worth_it and _add(state, gradient, offset, coefficients))

    def _cut_from_cheaper(self, state: OneSlackState, problem: Problem, objective: MarginObjective) -> bool:
        """The same after planes have joined the cached ones that need not be the most violating."""
        if not problem.has_cheaper_planes:
            return False
        known, _, _ = state.cached.violations(state.iterate)
        for examples in problem.chunks():
            with state.timed("oracle_seconds"):
                enough = known[examples] + 0.5 * state.excess
                planes = problem.planes_above(state.iterate, examples, objective.scaling, enough)
            self._cache(state, problem, objective, planes)
        return self._cut_from_cache(state, objective)

    def _cache(self, state: OneSlackState, problem: Problem, objective: MarginObjective, planes: Planes) -> None:
        state.extend(problem)
        room = max(0, self.room_for_planes(problem) - state.cuts.nbytes())
        if self.cache and has_room(state.cached, room):
            a, b = objective.scaling(planes.losses)
            problem.keep(state.cached, planes, np.arange(len(planes.examples)), a, b)

    def _survey(self, state: OneSlackState, problem: Problem, objective: MarginObjective) -> None:
        """An oracle pass at the iterate: its exact price, and the cut there."""

        with state.timed("oracle_seconds"):
            risk = problem.risk(state.iterate, objective, lambda planes: self._cache(state, problem, objective, planes))
        if self.cache:
            state.cached.drop_idle(self.cache)
        total = float(objective.sample_weight.sum())
        gradient, offset = -risk.gradient / total, risk.offset / total
        known = state.cuts.largest_violation(0, state.iterate)
        state.excess = max(0.0, float(offset - gradient @ state.iterate) - known)
        state.certify(state.iterate, risk.losses, objective)
        _add(state, gradient, offset, risk.coefficients / total)
        state.record = dual_record(state, problem, state.excess, int(state.cuts.sizes()[0]))


def _share(objective: MarginObjective) -> FloatArray:
    return objective.sample_weight / float(objective.sample_weight.sum())


def _tangent(offset: float, slacks: FloatArray, objective: MarginObjective) -> float:
    """The offset of the linearised risk: Σ ℓ'(ξ) b less what the curvature of ℓ takes, Σ (ξ ℓ'(ξ) − ℓ(ξ))."""
    bend = slacks * objective.slack_slope(slacks) - objective.slack_loss(slacks)
    return offset - float(_share(objective) @ bend)


def _add(state: OneSlackState, gradient: FloatArray, offset: float, coefficients: FloatArray) -> bool:
    indices = np.flatnonzero(gradient)
    added = state.cuts.add(
        np.zeros(1, np.int64),
        np.array([0, len(indices)], np.int64),
        indices,
        gradient[indices],
        np.zeros(1, np.int64),
        np.ones(1),
        np.array([offset]),
    )
    if added and state.coefficients is not None:
        state.coefficients.append(coefficients)
    return bool(added)


def _moved(state: OneSlackState, shifts: SparseRows, n_features: int) -> _core.SparseSets:
    """The cuts, with their multipliers, after the truths have moved: a cut moves as the examples in it do."""
    saved = state.cuts.save()
    coefficients = sp.csr_array(np.reshape(state.coefficients or [], (-1, len(shifts))))
    rows = SparseRows(saved["indptr"], saved["indices"], saved["values"]).matrix(n_features)
    moved = SparseRows.from_matrix(sp.csr_array(rows + coefficients @ shifts.matrix(n_features)))
    cuts = _core.SparseSets(1, n_features)
    cuts.restore(
        saved
        | {"indptr": moved.indptr, "indices": moved.indices, "values": moved.values}
        | {"known": np.zeros(1, np.int64), "products": np.empty(0), "beta": np.empty(0)}
    )
    return cuts
