"""Belief propagation on graphs with cycles: sums and maxima."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import real_option


@dataclass(frozen=True)
class BeliefPropagation:
    """Sum-product messages until they no longer change, and Bethe's estimate of log Z; exact on forests.

    Forests are swept once from their leaves and back, in time linear in their size. Elsewhere the factor whose incoming
    messages changed most goes first, and nothing is guaranteed: messages may go on and on, and the estimate may lie on
    either side.

    Parameters
    ----------
    damping : float
        How much of the old message stays in the new one, from 0 to below 1.
    tol : float
        The largest change of a message that ends the run.
    """

    damping: float = 0.3
    tol: float = 1e-9
    name: ClassVar[str] = "belief_propagation"

    def sums(self, graph: FactorGraph) -> PropagatedSums:
        return PropagatedSums(graph, np.ones(graph.n_factors), self.damping, self.tol)


@dataclass(frozen=True)
class MaxProduct:
    """Max-product messages until they no longer change; the labels with the largest beliefs, the best of all sweeps.

    Exact on forests, where the junction tree proves it as well; on graphs with cycles nothing is guaranteed.

    Parameters
    ----------
    damping, tol : float
        As of `BeliefPropagation`.
    """

    damping: float = 0.3
    tol: float = 1e-9
    name: ClassVar[str] = "max_product"

    def search(self, graph: FactorGraph) -> MaxProductSearch:
        return MaxProductSearch(graph, self.damping, self.tol)


class PropagatedSums:
    """Messages of factors that count with weights; see the core's `BeliefPropagation`."""

    def __init__(self, graph: FactorGraph, weights: FloatArray, damping: float, tol: float):
        self.graph = graph
        self.core = _core.SumPropagation(graph.core, weights, _checked_damping(damping))
        self.lower = -np.inf
        self._tol = real_option("tol", tol)
        self._residual = np.inf

    def step(self) -> bool:
        self._residual = self.core.run(max(1, self.graph.n_factors), self._tol)
        return self._residual > self._tol

    @property
    def upper(self) -> float:
        return np.inf

    @property
    def log_zs(self) -> FloatArray:
        return self._sums(False)[1]

    def marginals(self, factors: bool) -> tuple[FloatArray, FloatArray | None]:
        (nodes, joint), _ = self._sums(factors)
        return nodes, joint if factors else None

    def details(self) -> Mapping[str, Any]:
        return {"residual": self._residual}

    def _sums(self, factors: bool) -> tuple[tuple[FloatArray, FloatArray], FloatArray]:
        nodes, log_zs = np.empty(len(self.graph.unaries)), np.empty(self.graph.n_graphs)
        offsets: IntArray = self.graph.factor_offsets if factors else np.zeros(1, np.int64)
        joint = np.empty(int(offsets[-1]))
        self.core.marginals(nodes, offsets, joint, log_zs)
        return (nodes, joint), log_zs


class MaxProductSearch:
    def __init__(self, graph: FactorGraph, damping: float, tol: float):
        self.labels: LabelArray = np.zeros(graph.n_variables, np.int32)
        self.score = -np.inf
        self.bound = graph.core.sum_of_maxima()
        self._graph = graph
        self._core = _core.MaxPropagation(graph.core, np.ones(graph.n_factors), _checked_damping(damping))
        self._tol = real_option("tol", tol)
        self._residual = np.inf

    def step(self) -> bool:
        self._residual = self._core.run(max(1, self._graph.n_factors), self._tol)
        labels = np.empty_like(self.labels)
        self._core.labels(labels)
        score = self._graph.score(labels)
        if score > self.score:
            self.labels, self.score = labels, score
        return self._residual > self._tol

    def details(self) -> Mapping[str, Any]:
        return {"residual": self._residual}


def _checked_damping(damping: float) -> float:
    if real_option("damping", damping) >= 1.0:
        raise ValueError(f"damping is {damping}; it must be below 1")
    return float(damping)
