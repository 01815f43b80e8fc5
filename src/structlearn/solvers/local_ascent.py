"""Dual ascent on the examples of one part, while others work on theirs: what `ShardedAscent` asks of parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.passes import chunks_in_random_order, drawn_by_gap
from structlearn.solvers.working_sets import has_room
from structlearn.waist.objective import MarginObjective
from structlearn.waist.packed import Packed, add_packed, packed_difference, scaled
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem
from structlearn.waist.sharded import Part, Share

_KEPT = "local ascent"


@dataclass(frozen=True, slots=True)
class Plan:
    """What all parts do before they are next put together.

    Attributes
    ----------
    run : str
        Whose ascent it is: what another run left behind is not gone on with.
    iteration, turn, turns : int
        The oracle is asked for one in `turns` of the examples that are due; where `turns` is 0 there are a few visits
        to planes that are known.
    cached : int
        How many visits to planes that are known there are for each example that the oracle is asked for.
    damping : float
        σ′: how often the change of a part counts against itself, in place of what others change meanwhile.
    chunk_size : int
    idle_passes : int
    room : int
        Bytes for the planes of a part.
    seed : int
    """

    run: str
    iteration: int
    turn: int
    turns: int
    cached: int
    damping: float
    chunk_size: int
    idle_passes: int
    room: int
    seed: int


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a part's last proposal: how much of it was taken, and how many there were."""

    number: int
    kept: float


@dataclass(frozen=True, slots=True)
class Proposal:
    """A point of the dual of a part: how it differs from the part's share of w, its linear part, and what was seen.

    Attributes
    ----------
    change : packed vector
        Σ α a row over the part's examples, less what the part has in w.
    linear : float
        Σ b α − ½ Σ r σ² of it.
    gap : float
        What its examples added to primal − dual when they were last looked at.
    planes : int
    """

    change: Packed
    linear: float
    gap: float
    planes: int


@dataclass(frozen=True, slots=True)
class Price:
    """What a part finds at one w: the violation of every example, and by how much known planes fall short of them."""

    violations: FloatArray
    violation: float
    gap: float


@dataclass
class LocalAscent:
    """The working sets of a part, whose multipliers maximise, with the rest of w as it was at the last merge,

        Σ b α − ⟨w, Δ⟩ − (σ′/2) ‖Δ‖²    with  Δ = Σ α a row − (the part's share of w).

    Multipliers are kept times σ′, that of the last plan: this is then the dual that working sets know, at the point
    w + σ′ Δ.

    Attributes
    ----------
    w : (n_features,)
        That of all parts when they were last put together.
    point : (n_features,)
        w + σ′ Δ.
    lead : packed vector
        Δ when the parts were last put together: what of the last proposal was not taken.
    gaps : (n_examples,)
    number : int
        How many proposals there were.
    due : list of list of array
        The chunks of examples that the oracle is asked for in each turn of a pass.
    damping : float
        σ′.
    """

    sets: Any
    w: FloatArray
    point: FloatArray
    lead: Packed
    gaps: FloatArray
    run: str
    damping: float
    number: int = 0
    due: list[list[IntArray]] = field(default_factory=list)

    @classmethod
    def begun(
        cls, problem: Problem, objective: MarginObjective, plan: Plan, w: FloatArray, share_of_w: Packed
    ) -> LocalAscent:
        """No planes yet; what the part has in w stays there until proposals take its place."""
        u, r = objective.limits
        sets = problem.working_sets()
        sets.set_limits(plan.damping * u, r / plan.damping)
        lead, gaps = scaled(share_of_w, -1.0), np.full(problem.n_examples, np.inf)
        # Arguments may be read-only, or those of other parts as well.
        ascent = cls(sets, w.copy(), w.copy(), lead, gaps, plan.run, plan.damping)
        add_packed(ascent.point, lead, plan.damping)
        return ascent

    def settle(self, merged: Merged, change: Packed, damping: float) -> None:
        """Takes in how w changed, and what became of the last proposal, which is the lead until now."""
        self.sets.scale(damping / self.damping)
        self.damping = damping
        add_packed(self.w, change)
        np.copyto(self.point, self.w)
        if merged.kept < 1.0:
            add_packed(self.point, self.lead, damping * (1.0 - merged.kept))

    def propose(self, problem: Problem, objective: MarginObjective, plan: Plan) -> Proposal:
        random = np.random.default_rng([plan.seed, plan.iteration, plan.turn, plan.turns])
        if plan.turns:
            self._ask(problem, objective, plan, random)
        else:
            self._agree(random)
        self.lead = packed_difference(self.point, self.w, self.damping)
        self.number += 1
        linear = self.sets.linear_part() / self.damping
        return Proposal(self.lead, linear, self._gap(), int(self.sets.sizes().sum()))

    def _gap(self) -> float:
        return float(self.gaps.sum()) if np.isfinite(self.gaps).all() else np.inf

    def _ask(self, problem: Problem, objective: MarginObjective, plan: Plan, random: np.random.Generator) -> None:
        """Oracle and dual steps as in `BlockCoordinate`, for one in `turns` of the examples that are due."""
        if plan.turn == 0 or len(self.due) != plan.turns:
            self.due = self._chunks_due(plan, random)
        steps = self.sets.steps(self.damping * self.gaps, int(random.integers(2**63)), False)
        last = np.empty(0, np.int64)
        for chunk in [*self.due[plan.turn], last]:
            w = steps.begin(last, plan.cached * len(last), chunk, self.point)
            if len(chunk):
                planes = problem.oracle(w, chunk, objective.scaling)
                self.keep(problem, objective, planes)
            self.gaps[last] = steps.end(self.point) / self.damping
            has_room(self.sets, plan.room)
            last = chunk
        if plan.turn + 1 == plan.turns:
            self.sets.count_idle()
            self.sets.drop_idle(plan.idle_passes)
            self.sets.limit_memory(plan.room, self.point, False)

    def keep(self, problem: Problem, objective: MarginObjective, planes: Planes) -> None:
        """What is violated joins the working sets."""
        which = np.flatnonzero(planes.bounds > 0.0)
        a, b = objective.scaling(planes.losses[which])
        problem.keep(self.sets, planes, which, a, b)

    def _chunks_due(self, plan: Plan, random: np.random.Generator) -> list[list[IntArray]]:
        # w changes most at first.
        begins = np.isinf(self.gaps).all()
        size = max(1, plan.chunk_size // 8) if begins else plan.chunk_size
        chunks = list(chunks_in_random_order(self._drawn(random), size, random))
        cuts = np.linspace(0, len(chunks), plan.turns + 1).astype(int)
        return [chunks[a:b] for a, b in pairwise(cuts.tolist())]

    def _agree(self, random: np.random.Generator) -> None:
        """A few visits to planes that are known: enough for the weights that most examples share."""
        n = len(self.gaps)
        which = np.sort(random.choice(n, size=min(n, max(n // 32, 4096)), replace=False))
        self.sets.improve(which, self.point, np.empty(len(which)))

    def _drawn(self, random: np.random.Generator) -> IntArray:
        return drawn_by_gap(self.gaps, random) if np.isfinite(self.gaps).all() else np.arange(len(self.gaps))


def begin(part: Part, plan: Plan, w: FloatArray, own: tuple[Share, Packed]) -> None:
    """A part forgets what it knew and begins with no planes."""
    share, share_of_w = own
    problem = part.problem
    part.kept[_KEPT] = LocalAscent.begun(problem, share.of(problem.n_examples), plan, w, share_of_w)


def propose(part: Part, plan: Plan, change: Packed, own: tuple[Share, Merged | None]) -> Proposal | None:
    """The part's next proposal; None if it does not know the last ones, as after a loss, and has to begin."""
    share, merged = own
    ascent = part.kept.get(_KEPT)
    if ascent is None or ascent.run != plan.run or ascent.number != (0 if merged is None else merged.number):
        return None
    if merged is not None:
        ascent.settle(merged, change, plan.damping)
    proposal: Proposal = ascent.propose(part.problem, share.of(part.problem.n_examples), plan)
    return proposal


def price(part: Part, plan: Plan, w: FloatArray, share: Share) -> Price:
    """An exact pass over the part at w; its planes are kept if the part has working sets of this run."""
    problem = part.problem
    objective = share.of(problem.n_examples)
    ascent = part.kept.get(_KEPT)
    ascent = None if ascent is None or ascent.run != plan.run else ascent
    known, covered = np.zeros(problem.n_examples), np.zeros(problem.n_examples)
    if ascent is not None:
        known, _, covered = ascent.sets.violations(w)
        covered /= ascent.damping
    violations = np.full(problem.n_examples, -np.inf)
    for chunk in problem.chunks():
        planes = problem.oracle(w, chunk, objective.scaling)
        np.maximum.at(violations, planes.examples, planes.bounds)
        if ascent is not None and has_room(ascent.sets, plan.room):
            ascent.keep(problem, objective, planes)
    losses = objective.slack_loss(np.maximum(violations, 0.0))
    gaps = objective.price * objective.sample_weight * losses - covered
    if ascent is not None:
        ascent.gaps = gaps
    return Price(violations, max(0.0, float((violations - known).max(initial=0.0))), float(gaps.sum()))
