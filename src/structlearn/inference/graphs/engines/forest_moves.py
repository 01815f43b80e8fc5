"""Local search by forests: many variables change at once, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import whole_option

#: Labels that one iteration looks at, once for each of their factors; some 15 ns each.
WORK = 2 * 10**6


@dataclass(frozen=True)
class ForestMoves:
    """Good labels for graphs with cycles, without a bound: random forests get their best labels given all others.

    A move draws new labels for up to 400 variables around a random one, gives random forests among them the best labels
    given the rest, by dynamic programming, a few times over (as Hamze and de Freitas 2004 do for samples), and is taken
    back if it loses. After a long time without gain it begins anew, and the best labels are kept. It goes on until a
    limit or Ctrl-C stops it; `BranchAndBound` does the same beside its bounds.

    Parameters
    ----------
    random_state : int

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> triangle = FactorGraph.pairwise([[0.1, 0.0], [0.0, 0.1], [0.0, 0.2]], [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    >>> found = best_labelling(triangle, ForestMoves(), max_iterations=1)
    >>> found.labels.tolist(), found.bound, found.stopped
    ([0, 1, 1], inf, 'max_iterations')
    """

    name: ClassVar[str] = "forest_moves"
    random_state: int = 0

    def search(self, graph: FactorGraph) -> ForestMovesSearch:
        return ForestMovesSearch(graph, whole_option("random_state", self.random_state, 0))


class ForestMovesSearch:
    def __init__(self, graph: FactorGraph, seed: int):
        self._graph = graph
        self._moves = _core.ForestMoves(graph.core, seed)
        self.labels = self._moves.labels()
        self.score = graph.score(self.labels)
        self.bound = np.inf

    def step(self) -> bool:
        if self._moves.run(WORK):
            self.labels = self._moves.labels()
            self.score = self._graph.score(self.labels)
        return self._graph.n_variables > 0

    def details(self) -> Mapping[str, Any]:
        return {}
