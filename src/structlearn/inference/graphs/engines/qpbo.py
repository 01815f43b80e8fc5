"""QPBO: labels that some best labelling has, of graphs of any pairs of variables of two labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import Flags, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.inference.graphs.engines.pairs import check_pairs, check_two_labels


@dataclass(frozen=True)
class Qpbo:
    """Roof duality: a bound, and a part of the labels that some best labelling has (persistency).

    For variables of two labels and pairs of any sign. The bound is that of the linear relaxation, found by one maximum
    flow on a graph of twice the size. Where all pairs are submodular, all labels are found. Variables that get no label
    are given one greedily, in their order: the best beside those that have one. `details` has the mask `labelled` of
    the others, and their share `labelled_share`; variables with one possible label have no place in it.
    """

    name: ClassVar[str] = "qpbo"

    def search(self, graph: FactorGraph) -> QpboSearch:
        check_two_labels(graph, self.name)
        check_pairs(graph, self.name)
        return QpboSearch(graph)


class QpboSearch:
    def __init__(self, graph: FactorGraph):
        self.labels: LabelArray = np.zeros(graph.n_variables, np.int32)
        self.score = -np.inf
        self.bound = np.inf
        self._labelled: Flags = np.zeros(graph.n_variables, bool)
        self._graph = graph

    def step(self) -> bool:
        dual = _core.RoofDual(self._graph.core)
        if not dual.solve(self.labels):
            self.bound = -np.inf
            return False
        self._labelled = self.labels >= 0
        _core.complete_greedily(self._graph.core, self.labels)
        self.score = self._graph.score(self.labels)
        self.bound = dual.bound()
        return False

    def details(self) -> Mapping[str, Any]:
        share = float(self._labelled.mean()) if len(self._labelled) else 1.0
        return {"labelled": self._labelled, "labelled_share": share}
