"""Sums over all labellings of a factor graph, by the engine of one's choice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.factor_graphs.reduction import InfeasibleError, ReducedGraph
from structlearn.inference.graphs.answers import LabellingMarginals
from structlearn.inference.graphs.limits import Limits
from structlearn.inference.graphs.refusals import refused_by_number
from structlearn.inference.graphs.registry import graph_of, sum_engine_of
from structlearn.inference.graphs.sums import SumEngine


def labelling_marginals(
    graph: FactorGraph | GridGraph,
    engine: str | SumEngine = "auto",
    *,
    factors: bool = False,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> LabellingMarginals:
    """log Z and the probabilities of labels under P(y) = exp F(y) / Z.

    Parameters
    ----------
    graph : FactorGraph or GridGraph
    engine : str or engine
        "auto" is the junction tree where it fits and tree-reweighted belief propagation otherwise; the answer says
        what was chosen.
    factors : bool
        Whether the probabilities of joint labels of factors are wanted, too.
    max_seconds, max_iterations : optional
        When to stop, after the first iteration in any case.
    progress : callable, optional
        Is told seconds and log Z after each iteration; ends the run by returning True.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4], [1.0, 0.0]], [(0, 1), (1, 2)], Potts(0.5))
    >>> found = labelling_marginals(graph)
    >>> round(found.log_z, 3), found.nodes[1].round(2), found.exact
    (4.069, array([0.51, 0.49]), True)
    """
    reduced = ReducedGraph.of(graph_of(graph))
    chosen = sum_engine_of(engine, reduced.graph)
    limits = Limits(max_seconds, max_iterations)
    with refused_by_number(reduced):
        sums = chosen.sums(reduced.graph)
    offset = float(reduced.constants.sum())

    def after(seconds: float) -> bool:
        return progress is not None and progress(seconds, float(sums.log_zs.sum()) + offset) is True

    ended = limits.run(sums.step, after)
    if sums.upper == -np.inf:
        raise InfeasibleError("every labelling is forbidden: whatever the labels, a factor scores -inf")
    nodes, joint = sums.marginals(factors)
    exact = sums.lower == sums.upper
    log_zs = sums.log_zs + reduced.constants
    return LabellingMarginals(
        float(log_zs.sum()),
        sums.lower + offset,
        sums.upper + offset,
        reduced.whole_nodes(nodes),
        None if joint is None else reduced.whole_factors(nodes, joint),
        log_zs,
        exact,
        chosen.name,
        ended.reason or ("exact" if exact else getattr(sums, "ended", "converged")),
        ended.iterations,
        limits.elapsed,
        sums.details(),
    )
