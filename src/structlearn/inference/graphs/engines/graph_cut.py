"""Graph cuts: the best labels, and max-marginals, of graphs of submodular pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.factor_graphs.reduction import InfeasibleError, ReducedGraph
from structlearn.inference.graphs.engines.fusion import grid_fusion
from structlearn.inference.graphs.engines.pairs import check_pairs, check_two_labels
from structlearn.inference.graphs.refusals import NotSubmodularError
from structlearn.inference.graphs.search import Search


@dataclass(frozen=True)
class GraphCut:
    """The best labels as a least cut: exact, for variables of two labels and submodular pairs.

    A pair is submodular if θ(0,0) + θ(1,1) ≥ θ(0,1) + θ(1,0): agreement is liked at least as much as disagreement.
    Every factor has to be, each on its own; others are refused, and so are factors of more than two variables.
    Forbidden pairs are infinite capacities. The maximum flow is found by incremental breadth-first search; stopped
    before its end, the answer has the best unaries for labels, and what has flowed so far for a bound.
    """

    name: ClassVar[str] = "graph_cut"

    def search(self, graph: FactorGraph) -> Search:
        return CutSearch(graph)

    def search_grid(self, grid: GridGraph) -> Search:
        check_submodular(FactorGraph.pairwise(np.zeros((2, grid.n_labels)), [(0, 1)], grid.table), self.name)
        return GridCutSearch(grid) if np.isfinite(grid.table).all() else CutSearch(grid.factor_graph)


class CutSearch:
    def __init__(self, graph: FactorGraph):
        check_submodular(graph, GraphCut.name)
        self.labels = graph.unaries.reshape(-1, 2).argmax(axis=1).astype(np.int32)
        self.score = graph.score(self.labels)
        self.bound = np.inf
        self._graph = graph
        self._cut = _core.Cut(graph.core)

    def step(self) -> bool:
        more = self._cut.advance()
        self.bound = self._cut.bound()
        if not more:
            possible = self._cut.solve(self.labels)
            self.score = self.bound = self._graph.score(self.labels) if possible else -np.inf
        return more

    def details(self) -> Mapping[str, Any]:
        return {}


class GridCutSearch:
    def __init__(self, grid: GridGraph):
        self._grid = grid
        self._fusion = grid_fusion(grid)
        self._fusion.begin_cut()
        self.labels = self._fusion.labels()
        self.score = -self._fusion.total
        self.bound = np.inf

    def step(self) -> bool:
        more = self._fusion.advance()
        self.bound = -self._fusion.bound()
        if not more:
            self._fusion.cut()
            self.labels = self._fusion.labels()
            self.score = self.bound = -self._fusion.total
        return more

    def details(self) -> Mapping[str, Any]:
        return {}


class CutSolver:
    """The best labels of one graph for unaries that change: as exact as `GraphCut`, and faster from the second time on.

    Flow and search trees are kept from call to call, so that a call costs what its changes touch.

    Parameters
    ----------
    graph : FactorGraph
        As for `GraphCut`; no unary is −∞.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> solver = CutSolver(FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4]], [(0, 1)], Potts(0.5)))
    >>> solver.best()
    (array([0, 0], dtype=int32), 1.5)
    >>> solver.best([[1.0, 0.0], [0.0, 4.0]])
    (array([0, 1], dtype=int32), 5.0)
    """

    def __init__(self, graph: FactorGraph):
        check_submodular(graph, "CutSolver")
        self._graph = replace(graph, unaries=_checked_unaries(graph, graph.unaries))
        self._cut = _core.Cut(graph.core)

    def best(self, unaries: npt.ArrayLike | None = None) -> tuple[LabelArray, float]:
        """Labels and their score F(y), for unaries (n_variables, 2), or for those of the call before."""
        if unaries is not None:
            self._graph = replace(self._graph, unaries=_checked_unaries(self._graph, unaries))
            self._cut.set_unaries(self._graph.unaries)
        labels = np.zeros(self._graph.n_variables, np.int32)
        if not self._cut.solve(labels):
            raise ValueError("every labelling is forbidden: whatever the labels, a factor scores -inf")
        return labels, self._graph.score(labels)


def max_marginals(graph: FactorGraph) -> FloatArray:
    """max F(y) over all y with y_i = a, for each variable i and label a, (n_variables, 2).

    Exact, for graphs as `GraphCut` takes them: a cut for the best labels, and one for each variable that starts from
    the flow of the last. What one loses by another label says how sure the best one is.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> max_marginals(FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4]], [(0, 1)], Potts(0.5)))
    array([[1.5, 0.9],
           [1.5, 1.4]])
    """
    check_submodular(graph, "max_marginals")
    reduced = ReducedGraph.of(graph)
    cut = _core.Cut(reduced.graph.core)
    best = np.zeros(reduced.graph.n_variables, np.int32)
    if not cut.solve(best):
        raise InfeasibleError("every labelling is forbidden: whatever the labels, a factor scores -inf")
    highest = reduced.graph.score(best)
    free = np.empty(2 * len(best))
    cut.max_marginals(best, highest, free)
    found = np.full(len(graph.unaries), -np.inf)
    found[np.arange(0, len(found), 2) + reduced.whole_labels(best)] = highest
    found.reshape(-1, 2)[reduced.variables] = free.reshape(-1, 2)
    return np.asarray(found.reshape(-1, 2) + reduced.constants.sum())


def check_submodular(graph: FactorGraph, engine: str) -> None:
    """Refuses what a cut cannot pay, naming the factor."""
    check_two_labels(graph, engine)
    check_pairs(graph, engine)
    f = _core.first_not_submodular(graph.core)
    if f >= 0:
        (agree, first), (second, both) = graph.table(f).tolist()
        raise NotSubmodularError(
            "factor {factor}, of variables {variables[0]} and {variables[1]}, is not submodular: "
            f"θ(0,0) + θ(1,1) = {agree + both:g} is less than θ(0,1) + θ(1,0) = {first + second:g}; "
            f"{engine} needs all factors to be",
            f,
            graph.scope(f).tolist(),
        )


def _checked_unaries(graph: FactorGraph, given: npt.ArrayLike) -> FloatArray:
    unaries = np.ascontiguousarray(given, np.float64)
    if unaries.shape not in ((graph.n_variables, 2), (2 * graph.n_variables,)):
        raise ValueError(f"unaries has shape {unaries.shape}; expected ({graph.n_variables}, 2)")
    bad = np.flatnonzero(~np.isfinite(unaries.ravel()))
    if len(bad):
        i, a = divmod(int(bad[0]), 2)
        raise ValueError(f"unaries[{i}, {a}] is {unaries.ravel()[bad[0]]}; CutSolver takes finite ones")
    return unaries.ravel()
