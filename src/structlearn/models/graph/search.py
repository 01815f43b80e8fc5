"""How the best labels of graphs are found where that is not by a junction tree."""

from __future__ import annotations

from dataclasses import dataclass

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.options import real_option
from structlearn.inference.graphs import DualAscent, GraphCut, Labelling, LinearProgram, best_labelling
from structlearn.inference.graphs.auto import is_submodular
from structlearn.inference.graphs.registry import MAP_ENGINES, check_map_engine
from structlearn.inference.graphs.search import MapEngine
from structlearn.waist.problem import Exactness

#: Engines whose bounds are worth a certificate: they end at the best labels, or near the bound of the linear program.
_BOUNDING = ("auto", "junction_tree", "graph_cut", "branch_and_bound", "dual_ascent", "integer_program", "enumeration")


@dataclass(frozen=True)
class Search:
    """How the labels of one graph are found.

    Attributes
    ----------
    engine : str or engine
        "auto" is a cut where all pairs are submodular, and dual ascent otherwise.
    max_seconds : float or None
        For one graph.
    """

    engine: str | MapEngine = "auto"
    max_seconds: float | None = None

    def check(self) -> None:
        """Refuses options that mean nothing, by name."""
        check_map_engine(self.engine)
        if self.max_seconds is not None:
            real_option("max_seconds", self.max_seconds, positive=True)

    @property
    def name(self) -> str:
        return self.engine if isinstance(self.engine, str) else self.engine.name

    @property
    def exactness(self) -> Exactness:
        if self.name == LinearProgram.name:
            return "relaxed"
        own = None if self.name in MAP_ENGINES else getattr(self.engine, "exactness", None)
        found: Exactness = own or ("exact" if self.name in _BOUNDING else "approximate")
        return found

    def labelling(self, graph: FactorGraph | GridGraph) -> Labelling:
        """A labelling of the graph, with its bound."""
        engine = self.engine
        if engine == "auto":
            engine = GraphCut() if is_submodular(graph) else DualAscent()
        return best_labelling(graph, engine, max_seconds=self.max_seconds)

    def value(self, found: Labelling) -> float:
        """An upper bound on the best score, or the score found where the engine's bounds are worth nothing."""
        return found.score if self.exactness == "approximate" else found.bound
