"""Exact search on the bounds of dual ascent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import flag_option

#: Of one iteration.
SECONDS = 0.1


@dataclass(frozen=True)
class BranchAndBound:
    """Proves the best labels by a tree of cases, of which those that the bound of `DualAscent` rules out are cut off.

    A node of the tree says y_i = a or y_i ≠ a of a variable where decoded labels lose most against the bound, begins
    with the messages of its parent, and drops all labels that cannot be in anything better than the best so far. Depth
    first for a while, then from the open node with the largest bound (hybrid best-first search, Allouche et al. 2015):
    labels and bound both get better while it runs. How long that takes depends on the gap at the root, and may be
    exponential in the number of variables.

    The answer's details are `nodes`, `open` (those that are left) and `clusters` (of three variables).

    Parameters
    ----------
    tighten : bool
        Whether to add clusters at the root.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> triangle = FactorGraph.pairwise([[0.1, 0.0], [0.0, 0.1], [0.0, 0.2]], [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    >>> found = best_labelling(triangle, BranchAndBound())
    >>> found.labels.tolist(), round(found.score, 6), found.exact
    ([0, 1, 1], -0.6, True)
    """

    name: ClassVar[str] = "branch_and_bound"
    tighten: bool = True

    def search(self, graph: FactorGraph) -> BranchAndBoundSearch:
        return BranchAndBoundSearch(graph, tighten=flag_option("tighten", self.tighten))


class BranchAndBoundSearch:
    def __init__(self, graph: FactorGraph, *, tighten: bool):
        self._search = _core.BranchAndBound(graph.core, tighten)
        self.labels = self._search.labels()
        self.score = self._search.score
        self.bound = np.inf

    def step(self) -> bool:
        more = self._search.step(SECONDS)
        self.labels, self.score = self._search.labels(), self._search.score
        self.bound = min(self.bound, self._search.bound)
        return more

    def details(self) -> Mapping[str, Any]:
        found = self._search
        return {
            "nodes": found.n_nodes,
            "open": found.n_open,
            "clusters": found.n_clusters,
        }
