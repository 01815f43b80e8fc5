"""Ascent on the dual by distributions over outputs, between calls of the oracle.

An example with thousands of labels is one block of the dual, and planes of whole outputs move it in few directions.
Where a problem has `Mixtures`, the first plane of each block is the mean of a distribution, which climbs part by part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem


def begin_mixtures(state: Any, problem: Problem) -> None:
    """Distributions that have the truth alone, with all of the budget; the truth has a plane with row 0 and b = 0."""
    mixtures = problem.mixtures()
    if mixtures is None:
        return
    assert isinstance(state.sets, _core.SparseSets)
    everything, nothing = np.arange(problem.n_examples), np.zeros(problem.n_examples)
    state.marginals = mixtures.at_truths()
    empty = np.zeros(problem.n_examples + 1, np.int64), np.empty(0, np.int64), np.empty(0)
    state.sets.add(everything, *empty, everything, np.ones(problem.n_examples), nothing)
    state.sets.pin_first()
    budgets = state.objective.limits[0]
    for i in everything.tolist():
        state.sets.set_alpha(i, budgets[i : i + 1])


def restart_mixtures(state: Any, problem: Problem, planes: Planes) -> None:
    """Distributions without weight become what the oracle has just found."""
    mixtures = problem.mixtures()
    if mixtures is None:
        return
    idle = np.flatnonzero([state.sets.alpha(i)[0] == 0.0 for i in planes.examples.tolist()])
    if len(idle):
        examples = planes.examples[idle]
        mixtures.begin(examples, [planes.outputs[k] for k in idle.tolist()], state.marginals)
        _renew(state, examples, *mixtures.planes(examples, state.marginals))


def climb_mixtures(state: Any, problem: Problem) -> None:
    """Improves all distributions that have weight."""
    mixtures = problem.mixtures()
    if mixtures is None:
        return
    masses = np.array([state.sets.alpha(i)[0] for i in range(problem.n_examples)])
    examples = np.flatnonzero(masses > 0.0)
    mixtures.climb(examples, masses[examples], state.marginals, state.iterate, state.iteration)
    _renew(state, examples, *mixtures.planes(examples, state.marginals))
    state.sets.clip(state.iterate)
    state.dual = max(state.dual, state.dual_value())


def _renew(state: Any, examples: IntArray, rows: Any, losses: FloatArray) -> None:
    for k, i in enumerate(examples.tolist()):
        begin, end = rows.indptr[k], rows.indptr[k + 1]
        state.sets.replace_first(i, rows.indices[begin:end], rows.values[begin:end], losses[k])
