"""How the best labels of graphs are found where that is not by a junction tree."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.options import real_option
from structlearn.inference.graphs import GraphCut, Labelling, LinearProgram, Record, best_labelling
from structlearn.inference.graphs.auto import is_submodular
from structlearn.inference.graphs.engines.passes_first import PassesFirst
from structlearn.inference.graphs.registry import MAP_ENGINES, check_map_engine
from structlearn.inference.graphs.search import MapEngine
from structlearn.waist.problem import Exactness
from structlearn.wording import shown

#: An engine, its name, or several from cheap to exact.
Engines = str | MapEngine | tuple[str | MapEngine, ...]

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
    engine : str, engine, or tuple of these
        "auto" is a cut where all pairs are submodular, and dual ascent otherwise. Of several, from cheap to exact, the
        last one predicts and certifies; planes for training come from the first that finds one that will do.
    max_seconds : float or None
        For one graph.
    """

    engine: Engines = "auto"
    max_seconds: float | None = None

    def check(self) -> None:
        """Refuses options that mean nothing, by name."""
        if isinstance(self.engine, list) or self.engine == ():
            raise ValueError(f"engine is {shown(self.engine)}; several engines are a tuple, from cheap to exact")
        for engine in self._engines:
            check_map_engine(engine)
        if self.max_seconds is not None:
            real_option("max_seconds", self.max_seconds, positive=True)

    @property
    def _engines(self) -> tuple[str | MapEngine, ...]:
        return self.engine if isinstance(self.engine, tuple) else (self.engine,)

    @property
    def name(self) -> str:
        """Of the last engine."""
        return _name(self._engines[-1])

    @property
    def exactness(self) -> Exactness:
        """That of the last engine."""
        return _exactness(self._engines[-1])

    @property
    def has_cheaper_labellings(self) -> bool:
        """Whether `labelling_above` is more than `labelling`."""
        return len(self._engines) > 1 or self.exactness != "approximate"

    def labelling(self, graph: FactorGraph | GridGraph, start: Labelling | None = None) -> Labelling:
        """A labelling of the graph by the last engine, with its bound; `start` is an earlier answer for the graph."""
        # Clusters make passes many times dearer, and are seldom needed where training ends.
        tightened = max(LEAST_TIGHTENED, TIGHTENED // max(graph.n_variables, 1))
        return self._by(self._engines[-1], graph, start, tightened, lambda record: False)

    def labelling_above(self, graph: FactorGraph | GridGraph, enough: float, start: Labelling | None) -> Labelling:
        """A labelling that scores more than `enough`, by the first engine that finds one; the last one's otherwise.

        Exact engines stop where they have one or have proven that there is none. Dual ascent gets no clusters, which
        take most of its time and are for certificates.
        """

        def settled(found: Labelling | Record) -> bool:
            return found.score > enough or found.bound <= enough

        for engine in self._engines:
            # The first labels of moves are poor: with these, training went astray.
            stops = _exactness(engine) != "approximate"
            found = self._by(engine, graph, start, 0, settled if stops else lambda record: False)
            if settled(found):
                break
        return found

    def _by(
        self,
        engine: str | MapEngine,
        graph: FactorGraph | GridGraph,
        start: Labelling | None,
        tightened: int,
        ends: Callable[[Record], bool],
    ) -> Labelling:
        near, rounds = -1.0, MOST_ROUNDS if _name(engine) in _ENDLESS else None
        if engine == "auto" and is_submodular(graph):
            engine = GraphCut()
        elif engine == "auto":
            engine, near = PassesFirst(tightened), NEAR * graph.n_variables
        return best_labelling(
            graph,
            engine,
            max_seconds=self.max_seconds,
            max_iterations=rounds,
            progress=lambda record: record.bound - record.score <= near or ends(record),
            start=start,
        )

    @staticmethod
    def is_start(found: Labelling) -> bool:
        """Whether the next search of the graph can go on from this answer: others are not worth their memory."""
        return "messages" in found.details

    def value(self, found: Labelling) -> float:
        """An upper bound on the best score, or the score found where the engine's bounds are worth nothing."""
        return found.score if self.exactness == "approximate" else found.bound


def _name(engine: str | MapEngine) -> str:
    return engine if isinstance(engine, str) else engine.name


def _exactness(engine: str | MapEngine) -> Exactness:
    name = _name(engine)
    if name == LinearProgram.name:
        return "relaxed"
    own = None if name in MAP_ENGINES else getattr(engine, "exactness", None)
    found: Exactness = own or ("exact" if name in _BOUNDING else "approximate")
    return found
