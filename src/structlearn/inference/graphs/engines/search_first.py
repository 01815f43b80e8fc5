"""What "auto" takes where a junction tree is possible and dear."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.inference.graphs.engines.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.engines.junction_tree import JunctionTree
from structlearn.inference.graphs.search import Search


@dataclass(frozen=True)
class SearchFirst:
    """Branch and bound for some seconds, and a junction tree where these prove nothing.

    The search is often 30 to 100 times faster, and sometimes without end; how long the tree takes is known.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4]], [(0, 1)], Potts(0.5))
    >>> best_labelling(graph, SearchFirst(1.0, 10**9)).engine, best_labelling(graph, SearchFirst(0.0, 10**9)).engine
    ('branch_and_bound', 'junction_tree')
    """

    seconds: float
    max_memory: int
    name: ClassVar[str] = BranchAndBound.name

    def search(self, graph: FactorGraph) -> SearchFirstSearch:
        return SearchFirstSearch(graph, self)


class SearchFirstSearch:
    """`name` is that of the engine at work."""

    def __init__(self, graph: FactorGraph, options: SearchFirst):
        self._graph = graph
        self._tree = JunctionTree(options.max_memory)
        self._until = time.perf_counter() + options.seconds
        self._at_work: Search = BranchAndBound().search(graph)
        self.name = BranchAndBound.name
        self._take()

    def step(self) -> bool:
        if self.name == BranchAndBound.name and time.perf_counter() >= self._until:
            self._at_work, self.name = self._tree.search(self._graph), JunctionTree.name
        more = self._at_work.step()
        self._take()
        return more

    def details(self) -> Mapping[str, Any]:
        return self._at_work.details()

    def _take(self) -> None:
        self.labels: LabelArray = self._at_work.labels
        self.score, self.bound = self._at_work.score, self._at_work.bound
