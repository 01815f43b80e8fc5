"""The best labelling of a factor graph, by the engine of one's choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.factor_graphs.reduction import InfeasibleError, ReducedGraph
from structlearn.inference.graphs.answers import Labelling, Record
from structlearn.inference.graphs.limits import Limits
from structlearn.inference.graphs.refusals import refused_by_number
from structlearn.inference.graphs.registry import MAP_ENGINES, GridEngine, graph_of, map_engine_of
from structlearn.inference.graphs.search import MapEngine, WarmSearch, checked, run
from structlearn.wording import shown


def best_labelling(
    graph: FactorGraph | GridGraph,
    engine: str | MapEngine = "auto",
    *,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    progress: Callable[[Record], object] | None = None,
    start: Labelling | None = None,
) -> Labelling:
    """argmax_y F(y), or a labelling near it, with an upper bound and whether it is proven to be best.

    Ctrl-C ends an engine that goes on and on, and the best so far is returned.

    Parameters
    ----------
    graph : FactorGraph or GridGraph
    engine : str or engine
        "auto" looks at the graph; the answer says what was chosen. The docs have the table of all.
    max_seconds, max_iterations : optional
        When to stop, after the first iteration in any case.
    progress : callable, optional
        Is told seconds, score and bound after each iteration; ends the run by returning True.
    start : Labelling, optional
        An answer for a graph of the same variables and factors with other scores, from which dual ascent goes on: the
        nearer the scores, the sooner it ends. Other engines begin anew.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4], [1.0, 0.0]], [(0, 1), (1, 2)], Potts(0.5))
    >>> found = best_labelling(graph)
    >>> found.labels, found.score, found.exact
    (array([0, 0, 0], dtype=int32), 3.0, True)
    """
    limits = Limits(max_seconds, max_iterations)
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is {shown(progress)}; expected a function, which is told how far the search is")
    if isinstance(graph, GridGraph) and np.isfinite(graph.unaries).all():
        chosen = map_engine_of(engine, graph)
        if isinstance(chosen, GridEngine):
            search = chosen.search_grid(graph)
            # Those of the library are right, and faster than a look at their labels.
            search = search if type(chosen) in MAP_ENGINES.values() else checked(search, graph, chosen.name)
            found = run(search, chosen.name, limits, progress)
            return replace(found, labels=found.labels.reshape(graph.shape))
    reduced = ReducedGraph.of(graph_of(graph))
    chosen = map_engine_of(engine, reduced.graph)
    offset = float(reduced.constants.sum())
    with refused_by_number(reduced):
        search = chosen.search(reduced.graph)
    if start is not None and isinstance(search, WarmSearch):
        search.begin_with(start)
    found = run(checked(search, reduced.graph, chosen.name), chosen.name, limits, progress, offset)
    engine_at_work = getattr(search, "name", chosen.name)
    if found.score == found.bound == -np.inf:
        raise InfeasibleError("every labelling is forbidden: whatever the labels, a factor scores -inf")
    labels = reduced.whole_labels(found.labels)
    score = reduced.whole.score(labels)
    return replace(
        found,
        engine=engine_at_work,
        labels=labels.reshape(graph.shape) if isinstance(graph, GridGraph) else labels,
        score=score,
        bound=score if found.exact else max(score, found.bound),
    )
