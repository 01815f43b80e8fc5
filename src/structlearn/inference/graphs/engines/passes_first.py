"""Dual ascent whose clusters wait until passes alone gain nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.inference.graphs.answers import Labelling
from structlearn.inference.graphs.engines.dual_ascent import DualAscent


@dataclass(frozen=True)
class PassesFirst:
    """`DualAscent`, for many graphs of which few need clusters, which make passes many times dearer.

    Parameters
    ----------
    most : int
        Iterations with clusters; 0 adds none.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> triangle = FactorGraph.pairwise([[0.1, 0.0], [0.0, 0.0], [0.0, 0.2]], [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    >>> [round(best_labelling(triangle, PassesFirst(most)).bound, 6) for most in (0, 10)]
    [0.15, -0.7]
    """

    most: int
    name: ClassVar[str] = DualAscent.name

    def search(self, graph: FactorGraph) -> PassesFirstSearch:
        return PassesFirstSearch(graph, self.most)


class PassesFirstSearch:
    def __init__(self, graph: FactorGraph, most: int):
        self._ascent = DualAscent(tighten=False).search(graph)
        self._left = most
        self._take()

    def begin_with(self, start: Labelling) -> None:
        self._ascent.begin_with(start)

    def step(self) -> bool:
        more = self._ascent.step()
        self._take()
        if self._ascent.tighten:
            self._left -= 1
            return more and self._left > 0
        self._ascent.tighten = not more
        return more or self._left > 0

    def details(self) -> Mapping[str, Any]:
        return self._ascent.details()

    def _take(self) -> None:
        self.labels: LabelArray = self._ascent.labels
        self.score, self.bound = self._ascent.score, self._ascent.bound
