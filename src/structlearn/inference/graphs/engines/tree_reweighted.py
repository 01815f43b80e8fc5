"""Tree-reweighted belief propagation: an upper bound on log Z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.factor_graphs.factors import Kind
from structlearn.data.options import whole_option
from structlearn.data.ragged import places_of
from structlearn.inference.graphs.engines.belief_propagation import PropagatedSums
from structlearn.inference.graphs.refusals import UnsuitedGraphError

#: Joint labels of a factor: more do not become a table.
MOST_JOINT = 2**20


@dataclass(frozen=True)
class TreeReweighted:
    """Sum-product messages weighted by random forests of factors, and an upper bound on log Z (Wainwright et al. 2005).

    log Z is convex in the scores, so that it is at most the mean of log Z of forests whose scores have the graph's
    scores as their mean. Messages move scores between the forests to make that mean small; it is a bound whatever they
    are, and is computed from the forests themselves, by junction trees.

    Parameters
    ----------
    n_forests : int
        At least so many, and as many as it takes for each factor to stand in one.
    damping, tol : float
        As of `BeliefPropagation`.
    random_state : int
    """

    n_forests: int = 8
    damping: float = 0.3
    tol: float = 1e-9
    random_state: int = 0
    name: ClassVar[str] = "tree_reweighted"

    def sums(self, graph: FactorGraph) -> ReweightedSums:
        sizes = np.diff(graph.factor_offsets)
        if (sizes > MOST_JOINT).any():
            f = int(sizes.argmax())
            raise UnsuitedGraphError(
                f"factor {{factor}} has {sizes[f]} joint labels; tree_reweighted takes up to {MOST_JOINT}", f
            )
        random = np.random.default_rng(self.random_state)
        forests = random_forests(graph, whole_option("n_forests", self.n_forests, 1), random)
        return ReweightedSums(graph, forests, self.damping, self.tol)


class ReweightedSums(PropagatedSums):
    def __init__(self, graph: FactorGraph, forests: list[IntArray], damping: float, tol: float):
        counts = np.bincount(np.concatenate([*forests, np.empty(0, np.int64)]), minlength=graph.n_factors)
        super().__init__(graph, counts / len(forests), damping, tol)
        self._offsets = graph.factor_offsets
        self._unaries = np.empty(len(graph.unaries))
        self._values = np.empty(int(self._offsets[-1]))
        self._forests = [self._forest(factors) for factors in forests]
        self._bounds: FloatArray | None = None

    def step(self) -> bool:
        self._bounds = None
        return super().step()

    @property
    def upper(self) -> float:
        return float(self.log_zs.sum())

    @property
    def log_zs(self) -> FloatArray:
        """The bounds by the messages as they are."""
        if self._bounds is None:
            self.core.reparametrised(self._unaries, self._offsets, self._values)
            values = np.empty((len(self._forests), self.graph.n_graphs))
            for row, (_, tree) in zip(values, self._forests, strict=True):
                tree.collect_sums(row)
            self._bounds = values.mean(axis=0)
        return self._bounds

    def _forest(self, factors: IntArray) -> tuple[FactorGraph, _core.JunctionTree]:
        """The graph with these factors only, on the scores that the messages leave; all forests share their arrays."""
        graph = self.graph
        places, scope_offsets = places_of(graph.scope_offsets, factors)
        forest = FactorGraph(
            graph.constants,
            graph.variable_offsets,
            graph.n_labels,
            self._unaries,
            scope_offsets,
            graph.scopes[places],
            np.full(len(factors), Kind.TABLE, np.uint8),
            self._offsets[factors],
            self._values,
        )
        return forest, _core.JunctionTree(forest.core, 2.0**40)


def random_forests(graph: FactorGraph, least: int, random: np.random.Generator) -> list[IntArray]:
    """Sets of factors without cycles, each as large as can be; together they have all factors."""
    count = np.zeros(graph.n_factors, np.int64)
    forests: list[IntArray] = []
    while len(forests) < least or (count == 0).any():
        order = np.lexsort((random.random(graph.n_factors), count))
        forests.append(_core.acyclic_factors(graph.core, order))
        count[forests[-1]] += 1
    return forests
