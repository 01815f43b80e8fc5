"""All labellings of a small graph, one by one: the referee of the other engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph

#: Labellings that one call may go through.
MOST_LABELLINGS = 10**7


def all_scores(graph: FactorGraph) -> FloatArray:
    """F(y) of all labellings, an axis a variable.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> all_scores(FactorGraph.pairwise([[0.0, 1.0], [0.0, 0.0]], [(0, 1)], Potts(2.0)))
    array([[2., 0.],
           [1., 3.]])
    """
    sizes = graph.n_labels.tolist()
    if prod(sizes) > MOST_LABELLINGS:
        raise ValueError(f"the graph has more than {MOST_LABELLINGS:,} labellings, too many to enumerate")
    scores = np.full(sizes, graph.constants.sum())
    for i in range(graph.n_variables):
        scores += graph.unary(i).reshape([-1 if k == i else 1 for k in range(len(sizes))])
    for f in range(graph.n_factors):
        scope = graph.scope(f)
        table = np.transpose(graph.table(f), np.argsort(scope))
        scores += table.reshape([sizes[k] if k in scope else 1 for k in range(len(sizes))])
    return scores


@dataclass(frozen=True)
class Enumeration:
    """Looks at all labellings, at most 10⁷ of them."""

    name: ClassVar[str] = "enumeration"

    def search(self, graph: FactorGraph) -> EnumerationSearch:
        return EnumerationSearch(graph)


class EnumerationSearch:
    def __init__(self, graph: FactorGraph):
        self.labels: LabelArray = np.zeros(graph.n_variables, np.int32)
        self.score = -np.inf
        self.bound = np.inf
        self._graph = graph

    def step(self) -> bool:
        scores = all_scores(self._graph)
        place = np.unravel_index(int(scores.argmax()), scores.shape) if scores.ndim else ()
        self.labels = np.array(place, np.int32)
        self.score = self.bound = float(scores.max())
        return False

    def details(self) -> Mapping[str, Any]:
        return {}
