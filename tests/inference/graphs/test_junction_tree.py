import numpy as np
import pytest

from structlearn.data import Cardinality, FactorGraph, Potts
from structlearn.inference.graphs import (
    InfeasibleError,
    best_labelling,
    k_best_labellings,
    labelling_marginals,
    sample_labellings,
)
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import MANY, SHAPES, pairwise_graph


@pytest.mark.parametrize("graph", MANY)
def test_best_and_k_best_agree_with_enumeration(graph):
    scores = all_scores(graph)
    if scores.max() == -np.inf:
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            best_labelling(graph, "junction_tree")
        return
    found = best_labelling(graph, "junction_tree")
    assert found.exact
    assert found.score == pytest.approx(scores.max())
    assert graph.score(found.labels) == pytest.approx(scores.max())
    several = k_best_labellings(graph, 20)
    expected = np.sort(scores.ravel())[::-1]
    expected = expected[expected > -np.inf][:20]
    np.testing.assert_allclose([score for _, score in several], expected)
    np.testing.assert_allclose([graph.score(labels) for labels, _ in several], expected)
    assert len({tuple(labels) for labels, _ in several}) == len(several)


@pytest.mark.parametrize("graph", MANY)
def test_sums_agree_with_enumeration(graph):
    scores = all_scores(graph)
    if scores.max() == -np.inf:
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            labelling_marginals(graph, "junction_tree")
        return
    found = labelling_marginals(graph, "junction_tree", factors=True)
    weights = np.exp(scores - scores.max())
    assert found.exact
    assert found.log_z == pytest.approx(np.log(weights.sum()) + scores.max())
    probabilities = weights / weights.sum()
    axes = set(range(graph.n_variables))
    for i in range(graph.n_variables):
        np.testing.assert_allclose(found.nodes[i], probabilities.sum(axis=tuple(axes - {i})), atol=1e-12)
    for f in range(graph.n_factors):
        scope = graph.scope(f)
        expected = probabilities.sum(axis=tuple(axes - set(scope.tolist())))
        expected = np.transpose(expected, np.argsort(np.argsort(scope)))
        np.testing.assert_allclose(found.factors[f].reshape(expected.shape), expected, atol=1e-12)


def test_samples_follow_the_distribution():
    random = np.random.default_rng(1)
    graph = pairwise_graph("cycle", random, n_labels=2, forbidden=0.1)
    scores = all_scores(graph)
    probabilities = np.exp(scores - labelling_marginals(graph).log_z)
    drawn = sample_labellings(graph, 20_000, random_state=0)
    counts = np.zeros_like(probabilities)
    np.add.at(counts, tuple(drawn.T), 1.0)
    np.testing.assert_allclose(counts / len(drawn), probabilities, atol=0.02)


def test_evidence_is_heeded():
    random = np.random.default_rng(2)
    graph = pairwise_graph("complete", random).given({1: 1, 3: 0})
    scores = all_scores(graph)
    assert best_labelling(graph, "junction_tree").score == pytest.approx(scores.max())
    found = labelling_marginals(graph, "junction_tree")
    assert found.log_z == pytest.approx(np.logaddexp.reduce(scores.ravel()))
    assert found.nodes[1].tolist()[:2] == [0.0, 1.0]


def test_a_batch_has_one_value_for_each_graph():
    random = np.random.default_rng(3)
    several = [pairwise_graph(shape, random) for shape in SHAPES]
    batch = FactorGraph.batch(several)
    alone = [labelling_marginals(graph).log_z for graph in several]
    np.testing.assert_allclose(labelling_marginals(batch).log_zs, alone)
    best = best_labelling(batch)
    np.testing.assert_allclose(batch.scores(best.labels), [best_labelling(graph).score for graph in several])


def test_graphs_without_a_labelling_have_no_best_ones():
    impossible = FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], Potts(-np.inf))
    assert k_best_labellings(impossible, 2) == []
    with pytest.raises(InfeasibleError):
        best_labelling(impossible)
    with pytest.raises(InfeasibleError):
        sample_labellings(impossible, 2)
    possible = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1.0))
    assert sample_labellings(possible, 0).shape == (0, 2)
    with pytest.raises(ValueError, match="expected a JunctionTree"):
        k_best_labellings(possible, 2, "junction_tree")


def test_width_and_memory_are_known_beforehand():
    grid = FactorGraph.pairwise(np.zeros((4, 2)), [(0, 1), (1, 2), (2, 3), (3, 0)], Potts(1.0))
    assert best_labelling(grid, "junction_tree").details["width"] == 2
    many = FactorGraph.of([2] * 200, [(range(200), Cardinality(np.arange(201.0)))])
    with pytest.raises(ValueError, match="width of at least 199"):
        best_labelling(many, "junction_tree")
