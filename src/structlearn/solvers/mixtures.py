"""Ascent on the dual by distributions over outputs, between calls of the oracle.

An example with thousands of labels is one block of the dual, and planes of whole outputs move it in few directions.
Where a problem has `Mixtures`, the first plane of each block is the mean of a distribution, which climbs part by part.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.working_sets import WorkingSetState
from structlearn.waist.mixtures import Mixtures
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem


@dataclass
class MixtureState(WorkingSetState):
    """Working sets whose first planes are those of distributions, where the problem has these.

    Attributes
    ----------
    marginals : (n_marginals,)
        Those of the examples' `Mixtures`; empty where there are none.
    """

    marginals: FloatArray = field(default_factory=lambda: np.empty(0))

    def begin_mixtures(self, problem: Problem) -> None:
        """Distributions that have the truth alone, with all of the budget; its plane has row 0 and b = 0."""
        mixtures = problem.mixtures()
        if mixtures is None:
            return
        everything, nothing = np.arange(problem.n_examples), np.zeros(problem.n_examples)
        empty = np.zeros(problem.n_examples + 1, np.int64), np.empty(0, np.int64), np.empty(0)
        self.marginals = mixtures.at_truths()
        sets = self._rows()
        sets.add(everything, *empty, everything, np.ones(problem.n_examples), nothing)
        sets.pin_first()
        budgets = self.objective.limits[0]
        for i in everything.tolist():
            sets.set_alpha(i, budgets[i : i + 1])

    def restart_mixtures(self, problem: Problem, planes: Planes) -> None:
        """Distributions without weight become what the oracle has just found."""
        mixtures = problem.mixtures()
        if mixtures is None:
            return
        idle = np.flatnonzero([self.sets.alpha(i)[0] == 0.0 for i in planes.examples.tolist()])
        if len(idle):
            examples = planes.examples[idle]
            mixtures.begin(examples, [planes.outputs[k] for k in idle.tolist()], self.marginals)
            self._renew(mixtures, examples)

    def climb_mixtures(self, problem: Problem) -> None:
        """Improves all distributions that have weight."""
        mixtures = problem.mixtures()
        if mixtures is None:
            return
        masses = np.array([self.sets.alpha(i)[0] for i in range(problem.n_examples)])
        examples = np.flatnonzero(masses > 0.0)
        mixtures.climb(examples, masses[examples], self.marginals, self.iterate, self.iteration)
        self._renew(mixtures, examples)
        self.sets.clip(self.iterate)
        self.dual = max(self.dual, self.dual_value())

    def _renew(self, mixtures: Mixtures, examples: IntArray) -> None:
        rows, losses = mixtures.planes(examples, self.marginals)
        sets = self._rows()
        for k, i in enumerate(examples.tolist()):
            begin, end = rows.indptr[k], rows.indptr[k + 1]
            sets.replace_first(i, rows.indices[begin:end], rows.values[begin:end], losses[k])

    def _rows(self) -> _core.SparseSets:
        """Means have no compact form: problems with mixtures keep rows."""
        assert isinstance(self.sets, _core.SparseSets)
        return self.sets
