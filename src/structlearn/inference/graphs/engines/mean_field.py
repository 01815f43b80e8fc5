"""Mean field: a lower bound on log Z."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import real_option
from structlearn.data.ragged import owners_of, reduced
from structlearn.inference.graphs.engines.belief_propagation import MaxProduct

#: Of max-product, in search of labels that are not forbidden.
_SWEEPS = 200


@dataclass(frozen=True)
class MeanField:
    """The independent labels that come nearest to the distribution: E_q F + H(q) ≤ log Z, at a local maximum.

    Where a graph has forbidden joint labels and the run ends with some weight on them, which makes the bound −∞, it is
    begun again with the labels that max-product finds; if those are forbidden as well, −∞ remains.

    Parameters
    ----------
    tol : float
        The largest change of a probability that ends the run.
    random_state : int
        Of the start, which is near what the unary scores alone say; exactly there a symmetric graph would be stuck.
    """

    tol: float = 1e-9
    random_state: int = 0
    name: ClassVar[str] = "mean_field"

    def sums(self, graph: FactorGraph) -> MeanFieldSums:
        return MeanFieldSums(graph, real_option("tol", self.tol), np.random.default_rng(self.random_state))


class MeanFieldSums:
    def __init__(self, graph: FactorGraph, tol: float, random: np.random.Generator):
        start = graph.unaries + 0.01 * random.normal(size=len(graph.unaries))
        owners = owners_of(graph.unary_offsets)
        weights = np.exp(start - reduced(np.maximum, start, graph.unary_offsets)[owners])
        weights /= reduced(np.add, weights, graph.unary_offsets)[owners]
        self.log_zs: FloatArray = np.full(graph.n_graphs, -np.inf)
        self.lower, self.upper = -np.inf, np.inf
        self._graph = graph
        self._core = _core.MeanField(graph.core, weights)
        self._tol = tol
        self._again = (graph.values == -np.inf).any()

    def step(self) -> bool:
        change = self._core.sweep()
        self._core.values(self.log_zs)
        self.lower = float(self.log_zs.sum())
        if change <= self._tol and self.lower == -np.inf and self._again:
            self._again = False
            return self._begin_again()
        return change > self._tol

    def _begin_again(self) -> bool:
        """From labels that are not forbidden, if there are any to be found."""
        search = MaxProduct().search(self._graph)
        for _ in range(_SWEEPS):
            if not search.step() or search.score > -np.inf:
                break
        if search.score == -np.inf:
            return False
        start = np.zeros(len(self._graph.unaries))
        start[self._graph.unary_offsets[:-1] + search.labels] = 1.0
        self._core = _core.MeanField(self._graph.core, start)
        return True

    def marginals(self, factors: bool) -> tuple[FloatArray, FloatArray | None]:
        nodes = self._core.probabilities()
        if not factors:
            return nodes, None
        graph = self._graph
        joint = np.ones(int(graph.factor_offsets[-1]))
        for f, begin in enumerate(graph.factor_offsets[:-1].tolist()):
            product = np.ones(())
            for i in graph.scope(f):
                product = np.multiply.outer(product, nodes[graph.unary_offsets[i] : graph.unary_offsets[i + 1]])
            joint[begin : begin + product.size] = product.ravel()
        return nodes, joint

    def details(self) -> Mapping[str, Any]:
        return {}
