"""Which engine suits a graph."""

from __future__ import annotations

import numpy as np

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.inference.graphs.engines.belief_propagation import BeliefPropagation
from structlearn.inference.graphs.engines.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.engines.dual_ascent import DualAscent
from structlearn.inference.graphs.engines.graph_cut import GraphCut, check_submodular
from structlearn.inference.graphs.engines.junction_tree import CompiledTree, JunctionTree, TooWideError
from structlearn.inference.graphs.engines.search_first import SearchFirst
from structlearn.inference.graphs.engines.tree_reweighted import MOST_JOINT, TreeReweighted
from structlearn.inference.graphs.search import MapEngine
from structlearn.inference.graphs.sums import SumEngine

#: Bytes that a junction tree may take before a cut is tried, and after.
CHEAP, DEAR = 50_000_000, 1_000_000_000
#: For each of so many bytes of a junction tree, a search has a second before it: less than the tree takes.
SPEED = 1_000_000_000
#: Graphs with cycles and more factors have no small tree-width worth looking for, and are too large to search.
MANY = 200_000


def map_engine(graph: FactorGraph | GridGraph) -> MapEngine:
    """The first of these that serves: a cheap junction tree, a cut, exact search before or without a tree, a bound."""
    if isinstance(graph, GridGraph):
        return GraphCut() if is_submodular(graph) else map_engine(graph.factor_graph)
    size = _tree_size(graph)
    if size <= CHEAP:
        return JunctionTree()
    if is_submodular(graph):
        return GraphCut()
    if size <= DEAR:
        return SearchFirst(size / SPEED, DEAR)
    return DualAscent() if graph.n_factors > MANY else BranchAndBound()


def sum_engine(graph: FactorGraph) -> SumEngine:
    """A junction tree if it fits, an upper bound otherwise, and an estimate where factors are too large for that."""
    if _tree_size(graph) <= DEAR:
        return JunctionTree(DEAR)
    return TreeReweighted() if np.diff(graph.factor_offsets).max(initial=0) <= MOST_JOINT else BeliefPropagation()


def _tree_size(graph: FactorGraph) -> float:
    """Bytes of the junction tree, infinite if they are too many."""
    if graph.n_factors > max(MANY, graph.n_variables):
        return np.inf
    try:
        return float(CompiledTree(graph, DEAR).nbytes)
    except TooWideError:
        return np.inf


def is_submodular(graph: FactorGraph | GridGraph) -> bool:
    """Whether a cut finds the best labels."""
    if isinstance(graph, GridGraph):
        graph = FactorGraph.pairwise(np.zeros((2, graph.n_labels)), [(0, 1)], graph.table)
    try:
        check_submodular(graph, GraphCut.name)
    except ValueError:
        return False
    return True
