"""Exact inference where the tree-width is small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.memory import memory_option
from structlearn.wording import in_bytes


class TooWideError(ValueError):
    """No order of elimination was found whose tables fit."""


@dataclass(frozen=True)
class JunctionTree:
    """Best labels, k best, log Z, marginals and samples, all exact, by elimination of one variable after another.

    The order is the better one of min-fill and min-width, both greedy; leaves are always eliminated first, so that
    forests need no more than their edges. Time and memory grow with the labels of a variable to the power of the
    tree-width, and are known before anything is computed.

    Parameters
    ----------
    max_memory : int or str
        Of the tables, in bytes or as "2GB"; graphs that need more are refused.
    """

    max_memory: int | str = "1GB"
    name: ClassVar[str] = "junction_tree"

    def search(self, graph: FactorGraph) -> JunctionTreeSearch:
        return JunctionTreeSearch(graph, CompiledTree(graph, self.max_memory))

    def sums(self, graph: FactorGraph) -> JunctionTreeSums:
        return JunctionTreeSums(graph, CompiledTree(graph, self.max_memory))


class CompiledTree:
    """The core's junction tree of a graph, refused where it is too large."""

    def __init__(self, graph: FactorGraph, max_memory: int | str | None):
        budget = memory_option("max_memory", max_memory)
        self.core = _core.JunctionTree(graph.core, (budget or 2**62) / 8)
        self.width = self.core.width
        self.nbytes = 8.0 * (np.exp(self.core.log_entries) + 2.0 * np.exp(self.core.log_largest))
        if not self.core.finished or (budget is not None and self.nbytes > budget):
            at_least = "at least " if not self.core.finished else ""
            raise TooWideError(
                f"the junction tree has a width of {at_least}{self.width} and needs {at_least}{self._needed()}, "
                f"more than max_memory={max_memory!r}; give more, or take another engine"
            )

    def _needed(self) -> str:
        return in_bytes(self.nbytes) if self.nbytes < 1e16 else "10,000 TB"

    def details(self) -> Mapping[str, Any]:
        return {"width": self.width, "nbytes": int(self.nbytes)}


class JunctionTreeSearch:
    def __init__(self, graph: FactorGraph, tree: CompiledTree):
        self.labels: LabelArray = np.zeros(graph.n_variables, np.int32)
        self.score = -np.inf
        self.bound = np.inf
        self._graph = graph
        self._tree = tree
        self.details = tree.details

    def step(self) -> bool:
        values = np.empty(self._graph.n_graphs)
        self._tree.core.collect_max(values)
        self.score = self.bound = float(values.sum())
        if self.score > -np.inf:
            self._tree.core.best(self.labels)
        return False

    def k_best(self, k: int) -> tuple[LabelArray, FloatArray]:
        """Rows of labels and their scores, best first."""
        self.step()
        if self.score == -np.inf:
            return np.empty((0, self._graph.n_variables), np.int32), np.empty(0)
        labels, less = self._tree.core.k_best(k)
        return labels.reshape(len(less), -1), self.score - less


class JunctionTreeSums:
    def __init__(self, graph: FactorGraph, tree: CompiledTree):
        self._graph = graph
        self._tree = tree
        self.log_zs: FloatArray = np.full(graph.n_graphs, np.nan)
        self.lower, self.upper = -np.inf, np.inf
        self.details = tree.details

    def step(self) -> bool:
        self._tree.core.collect_sums(self.log_zs)
        self.lower = self.upper = float(self.log_zs.sum())
        return False

    def marginals(self, factors: bool) -> tuple[FloatArray, FloatArray | None]:
        """Of the labels of all variables, and of the joint labels of all factors; after the step."""
        nodes = np.zeros(len(self._graph.unaries))
        offsets = self._graph.factor_offsets if factors else np.zeros(1, np.int64)
        room = np.empty(int(offsets[-1]))
        if self.lower > -np.inf:
            self._tree.core.marginals(nodes, offsets, room)
        return nodes, room if factors else None

    def samples(self, seeds: IntArray) -> LabelArray:
        """Rows of labels; after the step."""
        labels = np.empty((len(seeds), self._graph.n_variables), np.int32)
        self._tree.core.samples(seeds, labels.ravel())
        return labels
