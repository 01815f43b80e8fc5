"""The engines by the names that users type."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from structlearn.data.factor_graphs import GridGraph
from structlearn.inference.graphs.enumeration import Enumeration
from structlearn.inference.graphs.search import MapEngine, Search
from structlearn.wording import shown

MAP_ENGINES: dict[str, type[MapEngine]] = {engine.name: engine for engine in (Enumeration,)}


@runtime_checkable
class GridEngine(Protocol):
    """An engine that needs no list of the edges of a grid."""

    def search_grid(self, grid: GridGraph) -> Search:
        """As `MapEngine.search`; labels are flat, row after row. No unary score is −∞."""


def engine_of(engine: str | MapEngine) -> MapEngine:
    """An engine by its name, or as it is."""
    if isinstance(engine, str):
        if engine not in MAP_ENGINES:
            raise ValueError(f"engine is {engine!r}; it may be {', '.join(map(repr, MAP_ENGINES))}")
        return MAP_ENGINES[engine]()
    if not callable(getattr(engine, "search", None)):
        raise ValueError(f"engine is {shown(engine)}; expected the name of an engine, or one of its own")
    return engine
