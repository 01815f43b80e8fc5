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
#: Engines that need not end by themselves, and the iterations that they get for one graph.
_ENDLESS, MOST_ROUNDS = ("max_product", "forest_moves"), 200
#: Of one wrong label, for each variable: labels whose score is so near to the bound are good enough for training.
NEAR = 1e-5
#: Iterations of dual ascent with clusters, at least, and by the number of variables: some tenths of a second.
LEAST_TIGHTENED, TIGHTENED = 3, 5000


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
        if self.engine != "auto":
            rounds = MOST_ROUNDS if self.name in _ENDLESS else None
            return best_labelling(graph, self.engine, max_seconds=self.max_seconds, max_iterations=rounds)
        if is_submodular(graph):
            return best_labelling(graph, GraphCut(), max_seconds=self.max_seconds)
        near = NEAR * graph.n_variables
        # Clusters make passes many times dearer, and are seldom needed where training ends.
        tightened = max(LEAST_TIGHTENED, TIGHTENED // max(graph.n_variables, 1))
        for engine, most in ((DualAscent(tighten=False), None), (DualAscent(), tightened)):
            found = best_labelling(
                graph,
                engine,
                max_seconds=self.max_seconds,
                max_iterations=most,
                progress=lambda record: record.bound - record.score <= near,
            )
            if found.bound - found.score <= near:
                break
        return found

    def value(self, found: Labelling) -> float:
        """An upper bound on the best score, or the score found where the engine's bounds are worth nothing."""
        return found.score if self.exactness == "approximate" else found.bound
