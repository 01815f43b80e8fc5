"""More than one labelling: the k best, and samples."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.factor_graphs.reduction import InfeasibleError, ReducedGraph
from structlearn.data.fields import LARGEST
from structlearn.data.options import whole_option
from structlearn.inference.graphs.engines.junction_tree import JunctionTree
from structlearn.inference.graphs.registry import graph_of
from structlearn.wording import shown

_DEFAULT = JunctionTree()


def k_best_labellings(
    graph: FactorGraph | GridGraph, k: int, engine: JunctionTree = _DEFAULT
) -> list[tuple[LabelArray, float]]:
    """The k best labellings and their scores, best first; fewer if there are not as many.

    By a junction tree, so that the graph must have a small tree-width; it is refused otherwise.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> graph = FactorGraph.pairwise([[1.0, 0.0], [0.0, 0.4]], [(0, 1)], Potts(0.5))
    >>> [(labels.tolist(), round(score, 6)) for labels, score in k_best_labellings(graph, 3)]
    [([0, 0], 1.5), ([0, 1], 1.4), ([1, 1], 0.9)]
    """
    k = whole_option("k", k, 1, LARGEST)
    _check_tree(engine)
    reduced = ReducedGraph.of(graph_of(graph))
    labels, scores = engine.search(reduced.graph).k_best(k)
    found = _shaped(graph, reduced.whole_labels(labels))
    return list(zip(found, (scores + reduced.constants.sum()).tolist(), strict=True))


def sample_labellings(
    graph: FactorGraph | GridGraph,
    n_samples: int,
    engine: JunctionTree = _DEFAULT,
    random_state: int | np.random.Generator | None = None,
) -> LabelArray:
    """Labellings drawn independently from P(y) = exp F(y) / Z, one a row.

    By a junction tree, so that the graph must have a small tree-width; for others, see `Gibbs`.

    Examples
    --------
    >>> graph = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], [[-np.inf, 0.0], [-np.inf, -np.inf]])
    >>> sample_labellings(graph, 2, random_state=0)
    array([[0, 1],
           [0, 1]], dtype=int32)
    """
    n_samples = whole_option("n_samples", n_samples, 0, LARGEST)
    _check_tree(engine)
    reduced = ReducedGraph.of(graph_of(graph))
    sums = engine.sums(reduced.graph)
    sums.step()
    if sums.upper == -np.inf:
        raise InfeasibleError("every labelling is forbidden: whatever the labels, a factor scores -inf")
    seeds = np.random.default_rng(random_state).integers(2**63 - 1, size=n_samples)
    return _shaped(graph, reduced.whole_labels(sums.samples(seeds)))


def _shaped(graph: FactorGraph | GridGraph, labels: LabelArray) -> LabelArray:
    """Rows of labels, each in rows and columns if the graph is a grid."""
    return labels.reshape(-1, *graph.shape) if isinstance(graph, GridGraph) else labels


def _check_tree(engine: object) -> None:
    if not isinstance(engine, JunctionTree):
        raise ValueError(f"engine is {shown(engine)}; expected a JunctionTree, with its max_memory")
