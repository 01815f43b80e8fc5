"""The best labelling of a factor graph, by the engine of one's choice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.factor_graphs.reduction import ReducedGraph
from structlearn.inference.graphs.answers import Labelling, Record
from structlearn.inference.graphs.engines import GridEngine, engine_of
from structlearn.inference.graphs.search import MapEngine, run
from structlearn.wording import shown


def best_labelling(
    graph: FactorGraph | GridGraph,
    engine: str | MapEngine = "auto",
    *,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    progress: Callable[[Record], object] | None = None,
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
        Is told seconds, score and bound after each iteration.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4], [1.0, 0.0]], [(0, 1), (1, 2)], Potts(0.5))
    >>> found = best_labelling(graph)
    >>> found.labels, found.score, found.exact
    (array([0, 0, 0], dtype=int32), 3.0, True)
    """
    chosen = engine_of(engine)
    limits = {"max_seconds": max_seconds, "max_iterations": max_iterations}
    if isinstance(graph, GridGraph):
        if isinstance(chosen, GridEngine) and np.isfinite(graph.unaries).all():
            found = run(lambda: chosen.search_grid(graph), chosen.name, progress=progress, **limits)
        else:
            found = best_labelling(graph.factor_graph, chosen, progress=progress, **limits)
        return replace(found, labels=found.labels.reshape(graph.shape))
    if not isinstance(graph, FactorGraph):
        raise ValueError(f"graph is {shown(graph)}; expected a FactorGraph or a GridGraph")
    reduced = ReducedGraph.of(graph)
    found = run(lambda: chosen.search(reduced.graph), chosen.name, progress=progress, **limits)
    if found.score == found.bound == -np.inf:
        raise ValueError("every labelling is forbidden: whatever the labels, a factor scores -inf")
    return replace(found, labels=reduced.whole_labels(found.labels))
