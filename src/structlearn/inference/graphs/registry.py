"""The engines by the names that users type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.inference.graphs import auto
from structlearn.inference.graphs.engines.belief_propagation import BeliefPropagation, MaxProduct
from structlearn.inference.graphs.engines.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.engines.dual_ascent import DualAscent
from structlearn.inference.graphs.engines.enumeration import Enumeration
from structlearn.inference.graphs.engines.forest_moves import ForestMoves
from structlearn.inference.graphs.engines.gibbs import Gibbs
from structlearn.inference.graphs.engines.graph_cut import GraphCut
from structlearn.inference.graphs.engines.icm import Icm
from structlearn.inference.graphs.engines.junction_tree import JunctionTree
from structlearn.inference.graphs.engines.linear_program import IntegerProgram, LinearProgram
from structlearn.inference.graphs.engines.mean_field import MeanField
from structlearn.inference.graphs.engines.moves import AlphaBetaSwap, AlphaExpansion
from structlearn.inference.graphs.engines.qpbo import Qpbo
from structlearn.inference.graphs.engines.tree_reweighted import TreeReweighted
from structlearn.inference.graphs.search import MapEngine, Search
from structlearn.inference.graphs.sums import SumEngine
from structlearn.wording import shown

MAP_ENGINES: dict[str, type[MapEngine]] = {
    engine.name: engine
    for engine in (
        JunctionTree,
        GraphCut,
        Qpbo,
        AlphaExpansion,
        AlphaBetaSwap,
        DualAscent,
        BranchAndBound,
        LinearProgram,
        IntegerProgram,
        ForestMoves,
        MaxProduct,
        Icm,
        Enumeration,
    )
}
SUM_ENGINES: dict[str, type[SumEngine]] = {
    engine.name: engine for engine in (JunctionTree, BeliefPropagation, TreeReweighted, MeanField, Gibbs)
}


@runtime_checkable
class GridEngine(Protocol):
    """An engine that needs no list of the edges of a grid."""

    def search_grid(self, grid: GridGraph) -> Search:
        """As `MapEngine.search`; labels are flat, row after row. No unary score is −∞."""


def map_engine_of(engine: str | MapEngine, graph: FactorGraph | GridGraph) -> MapEngine:
    """An engine by its name, or as it is; "auto" looks at the graph."""
    if isinstance(engine, str) and engine == "auto":
        return auto.map_engine(graph)
    found: MapEngine = _named(engine, MAP_ENGINES, "search")
    return found


def check_map_engine(engine: Any) -> None:
    """Refuses what is neither "auto" nor the name of an engine nor an engine."""
    if not (isinstance(engine, str) and engine == "auto"):
        _named(engine, MAP_ENGINES, "search")


def sum_engine_of(engine: str | SumEngine, graph: FactorGraph) -> SumEngine:
    """The same for sums."""
    if isinstance(engine, str) and engine == "auto":
        return auto.sum_engine(graph)
    found: SumEngine = _named(engine, SUM_ENGINES, "sums")
    return found


def graph_of(graph: Any) -> FactorGraph:
    """A graph with a list of its factors."""
    if isinstance(graph, GridGraph):
        return graph.factor_graph
    if not isinstance(graph, FactorGraph):
        raise ValueError(f"graph is {shown(graph)}; expected a FactorGraph or a GridGraph")
    return graph


def _named(engine: Any, engines: Mapping[str, Any], method: str) -> Any:
    if isinstance(engine, str) and engine in engines:
        return engines[engine]()
    if isinstance(engine, type) and engine in engines.values():
        raise ValueError(f"engine is the class {engine.__name__}; give an engine, {engine.__name__}(), or its name")
    if isinstance(engine, (str, type)) or not callable(getattr(engine, method, None)):
        raise ValueError(f"engine is {shown(engine)}; it may be {', '.join(map(repr, ['auto', *engines]))}")
    return engine
