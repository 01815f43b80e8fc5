"""Engines that sum: exact on forests, bounds on the right side, estimates near enough."""

from itertools import pairwise

import numpy as np
import pytest

from structlearn.data import Cardinality, FactorGraph, Potts
from structlearn.inference.graphs import Gibbs, TreeReweighted, best_labelling, labelling_marginals
from structlearn.inference.graphs.engines.enumeration import all_scores
from structlearn.inference.graphs.engines.gibbs import effective_sample_size, r_hat
from tests.inference.graphs.random_graphs import MANY, mixed_graph, pairwise_graph

FORESTS = ("empty", "single", "chain", "tree")


def enumerated(graph):
    """log Z and the probabilities of all labellings."""
    scores = all_scores(graph)
    log_z = np.logaddexp.reduce(scores.ravel())
    return log_z, np.exp(scores - log_z)


def node_marginals(graph, probabilities):
    axes = set(range(graph.n_variables))
    return [probabilities.sum(axis=tuple(axes - {i})) for i in range(graph.n_variables)]


def feasible(graph):
    return all_scores(graph).max() > -np.inf


@pytest.mark.parametrize("engine", ["belief_propagation", "tree_reweighted"])
@pytest.mark.parametrize("shape", FORESTS)
@pytest.mark.parametrize("forbidden", [0.0, 0.2])
def test_propagation_is_exact_on_forests(engine, shape, forbidden):
    random = np.random.default_rng(5)
    for _ in range(5):
        graph = pairwise_graph(shape, random, forbidden=forbidden)
        if not feasible(graph):
            continue
        log_z, probabilities = enumerated(graph)
        found = labelling_marginals(graph, engine, factors=True)
        assert found.stopped == "converged"
        assert found.log_z == pytest.approx(log_z)
        for i, expected in enumerate(node_marginals(graph, probabilities)):
            np.testing.assert_allclose(found.nodes[i], expected, atol=1e-7)
        exact = labelling_marginals(graph, "junction_tree", factors=True)
        np.testing.assert_allclose(found.factors.flat, exact.factors.flat, atol=1e-7)


def test_a_factor_of_three_variables_is_exact_on_a_forest_of_factors():
    random = np.random.default_rng(6)
    unaries = [([i], random.normal(size=2)) for i in range(6)]
    graph = FactorGraph.of([2] * 6, [*unaries, ([0, 1, 2], random.normal(size=(2, 2, 2))), ([2, 3], Potts(0.5))])
    assert labelling_marginals(graph, "belief_propagation").log_z == pytest.approx(enumerated(graph)[0])


def test_a_cardinality_factor_needs_no_table():
    random = np.random.default_rng(7)
    unaries = [([i], random.normal(size=2)) for i in range(8)]
    graph = FactorGraph.of([2] * 8, [*unaries, (range(8), Cardinality(random.normal(size=9)))])
    log_z, probabilities = enumerated(graph)
    found = labelling_marginals(graph, "belief_propagation")
    assert found.log_z == pytest.approx(log_z)
    np.testing.assert_allclose(found.nodes.flat, np.concatenate(node_marginals(graph, probabilities)), atol=1e-7)
    many = FactorGraph.of([2] * 60, [(range(60), Cardinality(np.linspace(0.0, 1.0, 61)))])
    # Σ_c binomial(60, c) exp(c / 60) is (1 + exp(1/60))^60.
    assert labelling_marginals(many, "belief_propagation").log_z == pytest.approx(60 * np.log1p(np.exp(1 / 60)))


@pytest.mark.parametrize("graph", MANY)
def test_bounds_are_bounds(graph):
    if not feasible(graph):
        pytest.skip("no labelling is possible")
    log_z, _ = enumerated(graph)
    for iterations in (1, 2, 300):
        upper = labelling_marginals(graph, "tree_reweighted", max_iterations=iterations).upper
        assert upper >= log_z - 1e-9 * abs(log_z) - 1e-9
        lower = labelling_marginals(graph, "mean_field", max_iterations=iterations).lower
        assert lower <= log_z + 1e-9 * abs(log_z) + 1e-9


def test_the_reweighted_bound_falls_to_the_value_of_the_messages():
    random = np.random.default_rng(8)
    graph = pairwise_graph("complete", random)
    found = labelling_marginals(graph, TreeReweighted(tol=1e-12))
    assert found.stopped == "converged"
    assert found.upper == found.log_z
    first = labelling_marginals(graph, "tree_reweighted", max_iterations=1)
    assert found.upper < first.upper


def test_mean_field_is_exact_without_factors_and_never_falls():
    random = np.random.default_rng(9)
    graph = pairwise_graph("empty", random)
    assert labelling_marginals(graph, "mean_field").lower == pytest.approx(enumerated(graph)[0])
    graph = pairwise_graph("complete", random)
    values = [labelling_marginals(graph, "mean_field", max_iterations=k).lower for k in range(1, 20)]
    assert all(after >= before - 1e-12 for before, after in pairwise(values))


def test_gibbs_sampling_comes_near():
    graph = pairwise_graph("complete", np.random.default_rng(10))
    _, probabilities = enumerated(graph)
    found = labelling_marginals(graph, Gibbs(n_sweeps=5000))
    np.testing.assert_allclose(found.nodes.flat, np.concatenate(node_marginals(graph, probabilities)), atol=0.03)
    assert np.isnan(found.log_z)
    assert found.details["r_hat"] < 1.05
    assert 100 < found.details["effective_sample_size"] <= 20_000


def test_chains_that_disagree_are_told():
    random = np.random.default_rng(11)
    steps = random.normal(size=(4, 2000))
    assert r_hat(steps + np.arange(4)[:, None]) > 1.5
    slow = np.zeros_like(steps)
    for t in range(1, steps.shape[1]):
        slow[:, t] = 0.9 * slow[:, t - 1] + steps[:, t]
    # An autoregression with 0.9 is worth (1 − 0.9)/(1 + 0.9) of its length.
    assert effective_sample_size(slow) == pytest.approx(8000 / 19, rel=0.3)


@pytest.mark.parametrize("shape", FORESTS)
def test_max_product_is_best_on_forests(shape):
    random = np.random.default_rng(12)
    for _ in range(5):
        graph = pairwise_graph(shape, random)
        found = best_labelling(graph, "max_product")
        assert found.score == pytest.approx(all_scores(graph).max())


@pytest.mark.parametrize("graph", MANY)
def test_icm_ends_where_no_single_label_is_better(graph):
    if not feasible(graph):
        pytest.skip("no labelling is possible")
    found = best_labelling(graph, "icm")
    scores = all_scores(graph)
    assert found.bound >= scores.max() - 1e-9
    for i in range(graph.n_variables):
        line = list(found.labels)
        line[i] = slice(None)
        assert scores[tuple(line)].max() <= found.score + 1e-9


def test_mean_field_finds_a_bound_where_pairs_are_forbidden():
    # Neighbours must differ: whatever is not sure puts weight on two equal labels.
    graph = FactorGraph.pairwise(np.zeros((4, 2)), [(0, 1), (1, 2), (2, 3)], Potts(-np.inf))
    found = labelling_marginals(graph, "mean_field")
    assert found.lower == pytest.approx(0.0)
    assert enumerated(graph)[0] == pytest.approx(np.log(2.0))


@pytest.mark.parametrize("engine", ["belief_propagation", "tree_reweighted"])
def test_forests_take_one_sweep(engine):
    random = np.random.default_rng(8)
    trees = [FactorGraph.of([2] * 9, [([0, 1, 2], random.normal(size=(2, 2, 2))), ([2, 3], Potts(1.0))])]
    for n in (500, 400):
        edges = [(int(random.integers(i)), i) for i in range(1, n)]
        trees.append(FactorGraph.pairwise(random.normal(size=(n, 3)), edges, random.normal(size=(n - 1, 3, 3))))
    forest = FactorGraph.batch(trees)
    found, exact = labelling_marginals(forest, engine), labelling_marginals(forest, "junction_tree")
    assert found.iterations == 1
    assert found.log_z == pytest.approx(exact.log_z)
    np.testing.assert_allclose(found.nodes.flat, exact.nodes.flat, atol=1e-12)
    assert best_labelling(forest, "max_product").score == pytest.approx(best_labelling(forest).score)


def test_chains_of_gibbs_sampling_count_the_same_in_any_number_of_threads():
    graph = mixed_graph(np.random.default_rng(0))
    one, three = (labelling_marginals(graph, Gibbs(n_sweeps=50, n_jobs=n)) for n in (None, 3))
    np.testing.assert_array_equal(one.nodes.flat, three.nodes.flat)
    assert one.details == three.details
