"""Iterated conditional modes: the cheapest start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.ragged import reduced


@dataclass(frozen=True)
class Icm:
    """Begins with the best label of each variable alone, and changes one at a time while that raises the score.

    The bound is that of all variables and factors at their own best.
    """

    name: ClassVar[str] = "icm"

    def search(self, graph: FactorGraph) -> IcmSearch:
        return IcmSearch(graph)


class IcmSearch:
    def __init__(self, graph: FactorGraph):
        self._graph = graph
        self._core = _core.LocalSearch(graph.core)
        self.labels: LabelArray = best_unary_labels(graph)
        self.score = graph.score(self.labels)
        self.bound = graph.core.sum_of_maxima()

    def step(self) -> bool:
        changes = self._core.icm(self.labels)
        self.score = self._graph.score(self.labels)
        return changes > 0

    def details(self) -> Mapping[str, Any]:
        return {}


def best_unary_labels(graph: FactorGraph) -> LabelArray:
    """The label of each variable that scores most by itself, the first of them."""
    best = reduced(np.maximum, graph.unaries, graph.unary_offsets)
    places = np.flatnonzero(graph.unaries == np.repeat(best, graph.n_labels))
    first = np.searchsorted(places, graph.unary_offsets[:-1])
    return (places[first] - graph.unary_offsets[:-1]).astype(np.int32)
