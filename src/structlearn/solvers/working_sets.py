"""The state of solvers that keep a working set of planes for every example."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.states import DualState
from structlearn.waist.objective import MarginObjective
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows
from structlearn.wording import in_bytes


def has_room(sets: _core.WorkingSets, most: int) -> bool:
    """Whether more planes may join working sets that may take so many bytes.

    Where they take more, planes without weight are given up, those that have been idle longest first, but none of those
    that have just joined: in their place others would.
    """
    for idle in (2, 1, 0):
        if not sets.exceeds(most):
            return True
        sets.drop_idle(idle)
    return not sets.exceeds(most)


@dataclass
class WorkingSetState(DualState):
    """`iterate` is Σ α a row over the working sets, where the dual stands; `w` is the point that was priced.

    Where weights must be ≥ 0, both are clipped at zero.

    Attributes
    ----------
    iterate : (n_features,)
    sets : working sets
        Planes and their multipliers, one block an example.
    cuts_from : int
        After how many slow passes over the blocks cutting planes over all of them are tried; fewer where they helped.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    sets: _core.WorkingSets = field(default_factory=lambda: _core.SparseSets(0, 0))
    cuts_from: int = 4

    over_weights: ClassVar[tuple[str, ...]] = ("w", "iterate")

    #: Whether weights that have come into being leave too little room for the planes; no part of a saved state.
    crowded = False

    def extend(self, problem: Problem) -> None:
        super().extend(problem)
        if problem.grows:
            self.sets.grow(problem.n_features)

    @classmethod
    def begin(cls, problem: Problem, objective: MarginObjective, **more: Any) -> Self:
        """No planes yet, w = 0."""
        return cls._over(problem.working_sets(), problem, objective, **more)

    def reopened(self, problem: Problem, objective: MarginObjective, **more: Any) -> Self:
        """The same planes under another C; multipliers beyond a smaller budget are scaled into it."""
        state = self._over(self.sets, problem, objective, **more)
        state.sets.weights(state.iterate)
        state.dual = max(0.0, state.dual_value())
        return state

    def rebased(self, problem: Problem, objective: MarginObjective, shifts: SparseRows, **more: Any) -> Self:
        """The same planes and multipliers after the truths have moved by `shifts`."""
        assert isinstance(self.sets, _core.SparseSets)
        self.sets.rebase(shifts.indptr, shifts.indices, shifts.values)
        return self.reopened(problem, objective, **more)

    def dual_value(self) -> float:
        """The dual objective at the present multipliers."""
        return float(self.sets.linear_part() - 0.5 * self.iterate @ self.iterate)

    def improve(self, examples: IntArray) -> FloatArray:
        """Steps on the blocks of these examples; returns what each added to primal − dual before."""
        gaps = np.empty(len(examples))
        self.sets.improve(examples, self.iterate, gaps)
        self.clip()
        return gaps

    def clip(self) -> None:
        """Where weights must be ≥ 0, the oracle may be asked for the iterate afterwards."""
        if isinstance(self.sets, _core.SparseSets):
            # An oracle that a user wrote may be made for weights ≥ 0 only. Those of models whose planes have a compiled
            # form are made for all, and a look at every weight is not worth its time here.
            self.sets.clip(self.iterate)

    def solve(self, accuracy: float, max_visits: int) -> tuple[float, bool]:
        """Optimises over the working sets; returns the gap that is left there, and whether the dual is unbounded."""
        gap, unbounded, self.cuts_from = self.sets.solve(
            self.iterate, accuracy, max_visits, self.iteration, self.cuts_from
        )
        dual = self.dual_value()
        self.dual = max(self.dual, dual)
        self.restricted_gap = gap / max(dual + gap, 1e-300)
        return gap, unbounded

    def has_room(self, most: int) -> bool:
        """Whether more planes may join where all may take so many bytes; those that are idle go first."""
        return has_room(self.sets, most)

    def limit_memory(self, most: int, problem: Problem) -> None:
        """Gives up planes beyond so many bytes, those without weight first.

        Where weights come into being, room that these have taken does not come back: no plane with weight is given up,
        so that the answer stays as good as it is, and the state is `crowded`.
        """
        short = self.sets.limit_memory(most, self.iterate, problem.grows)
        self.crowded = short and problem.grows
        if short and not problem.grows:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"planes with weight take more than the {in_bytes(most)} of memory that are left for them; some were "
                "given up, and the run may not converge; a larger max_memory would hold them",
                ConvergenceWarning,
                stacklevel=2,
            )

    def ask(
        self, problem: Problem, objective: MarginObjective, w: FloatArray, examples: IntArray, margins: FloatArray
    ) -> Planes:
        """Planes at w, of which those suffice that are violated by so much more than the known ones."""
        with self.timed("oracle_seconds"):
            if not problem.has_cheaper_planes:
                return problem.oracle(w, examples, objective.scaling)
            known = np.array([self.sets.largest_violation(i, w) for i in examples.tolist()])
            return problem.planes_above(w, examples, objective.scaling, known + margins)

    def keep(self, problem: Problem, objective: MarginObjective, planes: Planes, which: IntArray) -> int:
        """Adds the chosen planes to the working sets; returns how many were new."""
        a, b = objective.scaling(planes.losses[which])
        return problem.keep(self.sets, planes, which, a, b)

    @classmethod
    def _over(cls, sets: _core.WorkingSets, problem: Problem, objective: MarginObjective, **more: Any) -> Self:
        sets.set_limits(*objective.limits)
        sets.set_nonnegative(objective.nonnegative)
        zero = np.zeros(problem.n_features)
        return cls(w=zero, iterate=zero.copy(), sets=sets, objective=objective, **more)
