"""Dual ascent on the examples of one part, while others work on theirs: what `ShardedAscent` asks of parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.working_sets import has_room
from structlearn.waist.objective import MarginObjective
from structlearn.waist.packed import NOTHING, Packed, add_packed, packed, scaled
from structlearn.waist.problem import Problem
from structlearn.waist.sharded import Part, Share

#: Of the mean gap: examples with at least so much are visited for certain.
SMALL = 0.3
_KEPT = "local ascent"


@dataclass(frozen=True, slots=True)
class Plan:
    """What all parts do before they are next put together.

    Attributes
    ----------
    run : str
        Whose ascent it is: what another run left behind is not gone on with.
    iteration, turn, turns : int
        The oracle is asked for one in `turns` of the examples that are due; where `turns` is 0 nothing but planes that
        are known are gone over.
    passes : int
        Over known planes, where the oracle is not asked.
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
    passes: int
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

    Multipliers are kept times σ′: this is then the dual that working sets know, at the point w + σ′ Δ.

    Attributes
    ----------
    point : (n_features,)
        w + σ′ Δ.
    lead : packed vector
        Δ when the parts were last put together: what of the last proposal was not taken.
    gaps : (n_examples,)
    number : int
        How many proposals there were.
    """

    sets: Any
    point: FloatArray
    lead: Packed
    gaps: FloatArray
    run: str
    number: int = 0
    due: list[IntArray] = field(default_factory=list)

    @classmethod
    def begun(
        cls, problem: Problem, objective: MarginObjective, plan: Plan, w: FloatArray, share_of_w: Packed
    ) -> LocalAscent:
        """No planes yet; what the part has in w stays there until proposals take its place."""
        u, r = objective.limits
        sets = problem.working_sets()
        sets.set_limits(plan.damping * u, r / plan.damping)
        ascent = cls(sets, w.copy(), scaled(share_of_w, -1.0), np.full(problem.n_examples, np.inf), plan.run)
        add_packed(ascent.point, ascent.lead, plan.damping)
        return ascent

    def settle(self, merged: Merged, change: Packed, damping: float) -> None:
        """Takes in how w changed, and what became of the last proposal, which is the lead until now."""
        add_packed(self.point, change)
        add_packed(self.point, self.lead, -damping * merged.kept)
        self.lead = scaled(self.lead, 1.0 - merged.kept) if merged.kept < 1.0 else NOTHING

    def propose(self, problem: Problem, objective: MarginObjective, plan: Plan) -> Proposal:
        before = self.point.copy()
        random = np.random.default_rng([plan.seed, plan.iteration, plan.turn, plan.turns])
        if plan.turns:
            self._ask(problem, objective, plan, random)
        else:
            self._go_over(plan, random)
        before -= self.point
        before /= -plan.damping
        add_packed(before, self.lead)
        self.lead = packed(before)
        self.number += 1
        linear = self.sets.linear_part() / plan.damping
        return Proposal(self.lead, linear, self._gap(plan), int(self.sets.sizes().sum()))

    def _gap(self, plan: Plan) -> float:
        return float(self.gaps.sum()) if np.isfinite(self.gaps).all() else np.inf

    def _ask(self, problem: Problem, objective: MarginObjective, plan: Plan, random: np.random.Generator) -> None:
        """Oracle and dual steps, chunk by chunk, for a share of the examples drawn by their gap."""
        if plan.turn == 0 or len(self.due) != plan.turns:
            drawn = self._drawn(random)
            self.due = np.array_split(runs_in_random_order(drawn, plan.chunk_size, random), plan.turns)
        due = self.due[plan.turn]
        # w changes most at first.
        size = max(1, plan.chunk_size // 8) if np.isinf(self.gaps).all() else plan.chunk_size
        for begin in range(0, len(due), size):
            self._ask_chunk(problem, objective, plan, np.sort(due[begin : begin + size]))

    def _ask_chunk(self, problem: Problem, objective: MarginObjective, plan: Plan, chunk: IntArray) -> None:
        planes = problem.oracle(self.point, chunk, objective.scaling)
        which = np.flatnonzero(planes.bounds > 0.0)
        a, b = objective.scaling(planes.losses[which])
        problem.keep(self.sets, planes, which, a, b)
        self._improve(chunk, plan)
        has_room(self.sets, plan.room)

    def _go_over(self, plan: Plan, random: np.random.Generator) -> None:
        """Passes over planes that are known, of examples that have a part in the gap."""
        for _ in range(plan.passes):
            drawn = self._drawn(random)
            self._improve(runs_in_random_order(drawn, plan.chunk_size, random), plan)
        self.sets.count_idle()
        self.sets.drop_idle(plan.idle_passes)
        self.sets.limit_memory(plan.room, self.point, False)

    def _improve(self, examples: IntArray, plan: Plan) -> None:
        gaps = np.empty(len(examples))
        self.sets.improve(examples, self.point, gaps)
        self.gaps[examples] = gaps / plan.damping

    def _drawn(self, random: np.random.Generator) -> IntArray:
        if not np.isfinite(self.gaps).all():
            return np.arange(len(self.gaps))
        return np.flatnonzero(self.gaps > random.uniform(size=len(self.gaps)) * SMALL * self.gaps.mean())


def runs_in_random_order(examples: IntArray, chunk_size: int, random: np.random.Generator) -> IntArray:
    """Examples in random order as runs of neighbours: memory is read in pieces that way."""
    run = max(1, chunk_size // 32)
    starts = random.permutation(-(-len(examples) // run)) * run
    places = (starts[:, None] + np.arange(run)).ravel()
    chosen: IntArray = examples[places[places < len(examples)]]
    return chosen


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
    violations = np.full(problem.n_examples, -np.inf)
    for chunk in problem.chunks():
        planes = problem.oracle(w, chunk, objective.scaling)
        np.maximum.at(violations, planes.examples, planes.bounds)
        if ascent is not None and has_room(ascent.sets, plan.room):
            which = np.flatnonzero(planes.bounds > 0.0)
            a, b = objective.scaling(planes.losses[which])
            problem.keep(ascent.sets, planes, which, a, b)
    losses = objective.slack_loss(np.maximum(violations, 0.0))
    gaps = objective.price * objective.sample_weight * losses - covered / plan.damping
    if ascent is not None:
        ascent.gaps = gaps
    return Price(violations, max(0.0, float((violations - known).max(initial=0.0))), float(gaps.sum()))
