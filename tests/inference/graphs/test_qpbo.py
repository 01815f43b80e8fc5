from contextlib import suppress

import numpy as np
import pytest

from structlearn.data import AtMostOne, FactorGraph, GridGraph, Potts
from structlearn.inference.graphs import best_labelling
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import SHAPES, edges_of, pairwise_graph


def random_graphs():
    random = np.random.default_rng(0)
    return [
        pytest.param(
            pairwise_graph(shape, random, n_labels=2, scale=scale, forbidden=forbidden),
            id=f"{shape}-{scale}-{forbidden}-{k}",
        )
        for shape in SHAPES
        for scale in (0.5, 2.0)
        for forbidden in (0.0, 0.2)
        for k in range(6)
    ]


@pytest.mark.parametrize("graph", random_graphs())
def test_labels_are_persistent_and_the_bound_is_one(graph):
    scores = all_scores(graph)
    highest = scores.max()
    if highest == -np.inf:
        # The relaxation need not see that nothing is possible.
        with suppress(ValueError):
            assert best_labelling(graph, "qpbo").score == -np.inf
        return
    found = best_labelling(graph, "qpbo")
    assert found.bound >= highest - 1e-9 * abs(highest)
    assert found.score == pytest.approx(graph.score(found.labels))
    if (graph.values > -np.inf).all():
        # With nothing forbidden no variable has gone before, and the mask is that of the whole graph.
        labelled = found.details["labelled"]
        assert found.details["labelled_share"] == pytest.approx(labelled.mean())
        part = scores[
            tuple(label if known else slice(None) for label, known in zip(found.labels, labelled, strict=True))
        ]
        assert part.max() == pytest.approx(highest)
        assert not labelled.all() or found.exact


def test_ties_are_labelled_persistently():
    random = np.random.default_rng(2)
    for shape in SHAPES:
        for _ in range(40):
            n, edges = edges_of(shape, random)
            tables = random.integers(-1, 2, (len(edges), 2, 2)).astype(float)
            graph = FactorGraph.pairwise(random.integers(-1, 2, (n, 2)).astype(float), edges, tables)
            scores = all_scores(graph)
            found = best_labelling(graph, "qpbo")
            known = zip(found.labels, found.details["labelled"], strict=True)
            assert scores[tuple(label if one else slice(None) for label, one in known)].max() == scores.max()


def test_clauses_of_two_literals_are_satisfied_where_they_can_be():
    random = np.random.default_rng(3)
    satisfied = 0
    for _ in range(200):
        pairs = [random.permutation(9)[:2] for _ in range(9)]
        factors = [
            (pair.tolist(), np.where(np.arange(4) == random.integers(4), -np.inf, 0.0).reshape(2, 2)) for pair in pairs
        ]
        graph = FactorGraph.of(np.full(9, 2), factors)
        if all_scores(graph).max() == 0.0:
            found = best_labelling(graph, "qpbo")
            assert (found.score, found.exact) == (0.0, True)
            satisfied += 1
    assert satisfied > 50


def test_trees_are_labelled_whole():
    random = np.random.default_rng(1)
    for _ in range(20):
        found = best_labelling(pairwise_graph("tree", random, n_labels=2, scale=3.0), "qpbo")
        assert found.exact
        assert found.details["labelled"].all()


def test_a_frustrated_cycle_has_no_labels_and_half_a_bound_more():
    edges = [(0, 1), (1, 2), (2, 0)]
    found = best_labelling(FactorGraph.pairwise(np.zeros((3, 2)), edges, Potts(-1.0)), "qpbo")
    assert found.details["labelled_share"] == 0.0
    assert (found.score, found.bound, found.exact) == (-1.0, 0.0, False)


def test_ties_of_submodular_graphs_are_labelled():
    grid = GridGraph(np.zeros((4, 4, 2)), Potts(1.0))
    found = best_labelling(grid, "qpbo")
    assert found.details["labelled"].all()
    assert found.score == 24.0


def test_at_most_one_of_two():
    graph = FactorGraph.of([2, 2], [([0], [0.0, 1.0]), ([1], [0.0, 2.0]), ([0, 1], AtMostOne())])
    found = best_labelling(graph, "qpbo")
    assert found.labels.tolist() == [0, 1]
    assert found.exact
