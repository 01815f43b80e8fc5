"""Dual ascent on parts of the examples at the same time, put together so that the dual never falls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers import local_ascent
from structlearn.solvers.base import EXAMPLE_BYTES, PLANE_BYTES, GapSolver
from structlearn.solvers.local_ascent import Merged, Plan, Price, Proposal
from structlearn.solvers.passes import default_chunk_size
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import MarginObjective
from structlearn.waist.packed import NOTHING, Packed, add_packed, dot_packed, packed, set_zero
from structlearn.waist.sharded import ShardedProblem

#: After so many iterations there is a certificate, whatever is estimated: gaps of examples that are left out grow old.
MOST_UNCERTIFIED = 4
#: How often in a pass of the oracle parts are put together at most, and known planes gone over before they are.
MOST_EXCHANGES = 8
MOST_CACHED = 4


@dataclass
class ShardedAscentState(DualState):
    """A run of dual ascent on parts. It holds all that the certificate is made of; parts hold nothing but planes.

    Attributes
    ----------
    shares : (n_parts, n_features)
        What each part has in w: a mixture of points of its dual, so a point of it as well.
    linear : (n_parts,)
        Lower bounds on their linear parts.
    point : (n_features,)
        The sum of the shares.
    estimate : float
        What the examples of all parts added to primal − dual when they were last looked at.
    certified, bias : float
        The relative gap of the last certificate, and that over its estimate.
    cached : int
        How often known planes are gone over next: so many visits for each example that the oracle is asked for.
    exchanges : int
        How often parts are put together next while the oracle goes once over their examples.
    """

    shares: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    linear: FloatArray = field(default_factory=lambda: np.empty(0))
    point: FloatArray = field(default_factory=lambda: np.empty(0))
    estimate: float = np.inf
    certified: float = 1.0
    bias: float = 1.0
    planes: int = 0
    cached: int = 4
    exchanges: int = 2

    def __post_init__(self) -> None:
        # No part of a saved state: which ascent the parts are in, what became of their last proposals, and how many had
        # to begin anew since the last line of the history.
        self.run = uuid4().hex
        self.merged: list[Merged | None] = [None] * len(self.linear)
        self.change: Packed = NOTHING
        self.restarted = 0


@dataclass(frozen=True, kw_only=True)
class ShardedAscent(GapSolver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) by dual ascent on parts of the examples at the same time.

    Each part improves the multipliers of its own examples from the w of all, as `BlockCoordinate` does, and proposes a
    change of w. Changes are put together with the factors t ∈ [0, 1]^K that maximise the dual,

        D(t) = Σ_k (l_k + t_k l'_k) − ½ ‖w + Σ_k t_k Δ_k‖²,

    a quadratic program of one variable a part: a mixture of two points of a part's dual is one, so that D is a bound
    for every t, and never falls. So the certificate holds whatever becomes of the parts: one that is lost begins with
    no planes, while its share of w stays until its proposals are better.

    What parts change in weights of rare features hardly concerns the others; those of frequent ones they all change in
    the same direction, each by all that is needed, and together by too much. So after every such exchange there is a
    short one in which the change of a part counts K times against itself, in place of what the others change meanwhile
    (Ma et al. 2015, CoCoA⁺). It takes few visits to known planes to set right what all examples share.

    The primal is taken over all examples at the mean of the points of an iteration, where what is left of that evens
    out.

    Parameters
    ----------
    exchanges : int, optional
        How often parts are put together while the oracle goes once over their examples, each time with a short exchange
        after it; by default as often as there are parts, from 2 to 8 times, and more often where that gets slow.
    chunk_size : int, optional
        Examples of a part for which the oracle is asked at once, as in `BlockCoordinate`.
    idle_passes : int
        Planes without weight after that many passes in a row are dropped.
    random_state : int
        Seed of the order of the examples.
    """

    exchanges: int | None = None
    chunk_size: int | None = None
    idle_passes: int = 3
    random_state: int = 0

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_sharded: ClassVar[bool] = True
    vectors: ClassVar[int] = 6

    def check(self, problem: Any, objective: Any) -> None:
        super().check(problem, objective)
        if not isinstance(problem, ShardedProblem):
            raise ValueError("ShardedAscent is for data in parts, see structlearn.distributed: use BlockCoordinate")

    def nbytes(self, problem: Any) -> int:
        # Shares, proposals and what was merged of them.
        return super().nbytes(problem) + 16 * len(problem.begins) * int(problem.n_features)

    def init_state(self, problem: ShardedProblem, objective: MarginObjective) -> ShardedAscentState:
        n_parts = len(problem.begins) - 1
        state = ShardedAscentState(
            w=np.zeros(problem.n_features),
            point=np.zeros(problem.n_features),
            shares=np.zeros((n_parts, problem.n_features)),
            linear=np.zeros(n_parts),
            exchanges=min(max(n_parts, 2), MOST_EXCHANGES),
            objective=objective,
        )
        self._certify(state, problem, objective, state.point)
        return state

    def resume(self, state: ShardedAscentState, problem: ShardedProblem, objective: MarginObjective) -> Any:
        raise ValueError("ShardedAscent cannot go on from a run with another objective")

    def update(
        self, state: ShardedAscentState, problem: ShardedProblem, objective: MarginObjective
    ) -> ShardedAscentState:
        state.restarted = 0
        earlier = state.estimate
        mean = np.zeros_like(state.point)
        exchanges = self.exchanges or state.exchanges
        for turn in range(exchanges):
            for turns in (exchanges, 0):
                self._exchange(state, problem, objective, turn, turns)
                mean += state.point
        mean /= 2 * exchanges
        if state.estimate > 0.8 * earlier:
            if state.cached == MOST_CACHED:
                state.exchanges = min(2 * state.exchanges, MOST_EXCHANGES)
            state.cached = min(2 * state.cached, MOST_CACHED)
        elif state.estimate < 0.5 * earlier:
            state.cached = max(state.cached // 2, 2)
        remaining = state.estimate / max(self._dual(state) + state.estimate, 1e-300)
        due = state.bias * remaining <= max(self.tolerance, 0.5 * state.certified)
        if due or (state.iteration + 1) % MOST_UNCERTIFIED == 0 or state.iteration + 1 >= self.max_iter:
            self._certify(state, problem, objective, mean)
            state.bias = float(np.clip(state.certified / remaining, 0.25, 16.0)) if remaining > 0.0 else 1.0
        else:
            state.record = dual_record(state, problem, planes=state.planes)
        state.record["restarted"] = state.restarted
        return state

    def plan(self, state: ShardedAscentState, problem: ShardedProblem, turn: int, turns: int) -> Plan:
        """What is asked of the parts."""
        most = int(np.diff(problem.begins).max())
        known = 32 * problem.n_features + EXAMPLE_BYTES * most
        room = PLANE_BYTES if problem.max_memory is None else max(0, problem.max_memory - known)
        return Plan(
            run=state.run,
            iteration=state.iteration,
            turn=turn,
            turns=turns,
            cached=state.cached,
            damping=1.0 if turns else float(len(problem.begins) - 1),
            chunk_size=self.chunk_size or default_chunk_size(problem.n_examples),
            idle_passes=self.idle_passes,
            room=room,
            seed=self.random_state,
        )

    def _exchange(
        self, state: ShardedAscentState, problem: ShardedProblem, objective: MarginObjective, turn: int, turns: int
    ) -> None:
        """Proposals of all parts at the present point, put together."""
        plan = self.plan(state, problem, turn, turns)
        with state.timed("oracle_seconds" if turns else "dual_seconds"):
            proposals = self._proposals(state, problem, objective, plan)
        with state.timed("dual_seconds"):
            _merge(state, proposals)

    def _proposals(
        self, state: ShardedAscentState, problem: ShardedProblem, objective: MarginObjective, plan: Plan
    ) -> list[Proposal]:
        """One of each part; those that know nothing of this run, or not the last merge, begin anew."""
        shares = problem.shares(objective)
        found: list[Proposal | None] = problem.on_parts(
            local_ascent.propose, plan, state.change, own=list(zip(shares, state.merged, strict=True))
        )
        while lost := [k for k, proposal in enumerate(found) if proposal is None]:
            own = [(shares[k], packed(state.shares[k])) for k in lost]
            problem.on_parts(local_ascent.begin, plan, state.point, own=own, which=lost)
            state.restarted += len(lost) if state.iteration or plan.turn else 0
            again = problem.on_parts(
                local_ascent.propose, plan, NOTHING, own=[(shares[k], None) for k in lost], which=lost
            )
            for k, proposal in zip(lost, again, strict=True):
                # Its own count of proposals begins anew.
                state.merged[k] = None
                found[k] = proposal
        return [proposal for proposal in found if proposal is not None]

    def _certify(
        self, state: ShardedAscentState, problem: ShardedProblem, objective: MarginObjective, w: FloatArray
    ) -> None:
        """An exact pass over all examples of all parts at one w."""
        with state.timed("oracle_seconds"):
            plan = self.plan(state, problem, 0, 0)
            found: list[Price] = problem.on_parts(local_ascent.price, plan, w, own=problem.shares(objective))
        for k, (size, each) in enumerate(zip(np.diff(problem.begins), found, strict=True)):
            if len(each.violations) != size:
                raise ValueError(f"part {k} has {size} examples, but {len(each.violations)} were priced")
        violations = np.concatenate([each.violations for each in found])
        state.estimate = sum(each.gap for each in found)
        primal, dual = objective.primal(w, violations), self._dual(state)
        state.certified = max(0.0, primal - dual) / primal if primal > 0.0 else 0.0
        state.certify(w, violations, objective)
        state.record = dual_record(state, problem, max(each.violation for each in found), state.planes)

    @staticmethod
    def _dual(state: ShardedAscentState) -> float:
        return float(state.linear.sum() - 0.5 * state.point @ state.point)


def _merge(state: ShardedAscentState, proposals: list[Proposal]) -> None:
    """Takes as much of each proposal as makes the dual largest."""
    gains = np.array([proposal.linear for proposal in proposals]) - state.linear
    products = np.empty((len(proposals), len(proposals)))
    row = np.zeros_like(state.point)
    for k, proposal in enumerate(proposals):
        gains[k] -= dot_packed(proposal.change, state.point)
        add_packed(row, proposal.change)
        for j, other in enumerate(proposals[: k + 1]):
            products[k, j] = products[j, k] = dot_packed(other.change, row)
        set_zero(row, proposal.change)
    factors = best_factors(products, gains)
    change = row
    for k, (t, proposal) in enumerate(zip(factors.tolist(), proposals, strict=True)):
        add_packed(change, proposal.change, t)
        add_packed(state.shares[k], proposal.change, t)
        state.linear[k] += t * (proposal.linear - state.linear[k])
    for k, t in enumerate(factors.tolist()):
        earlier = state.merged[k]
        state.merged[k] = Merged(1 if earlier is None else earlier.number + 1, t)
    state.change = packed(change)
    # Summed anew, so that rounding does not add up.
    np.sum(state.shares, axis=0, out=state.point)
    state.dual = max(state.dual, float(state.linear.sum() - 0.5 * state.point @ state.point))
    state.estimate = sum(proposal.gap for proposal in proposals)
    state.planes = sum(proposal.planes for proposal in proposals)


def best_factors(products: FloatArray, gains: FloatArray) -> FloatArray:
    """argmax over t ∈ [0, 1]^K of ⟨gains, t⟩ − ½ tᵀ products t, by one variable after another from t = 1.

    >>> best_factors(np.array([[1.0, 1.0], [1.0, 1.0]]), np.array([1.0, 1.0])).sum().round(6)
    np.float64(1.0)
    """
    t = np.ones(len(gains))
    for _ in range(1000):
        before = t.copy()
        for k in range(len(t)):
            if products[k, k] > 0.0:
                t[k] = np.clip(t[k] + (gains[k] - products[k] @ t) / products[k, k], 0.0, 1.0)
        if np.abs(t - before).max(initial=0.0) <= 1e-12:
            break
    return t
