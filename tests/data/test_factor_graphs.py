import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.data import AtMostOne, Cardinality, FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.data.factor_graphs.reduction import ReducedGraph
from structlearn.inference import best_labelling
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import MANY, mixed_graph


@pytest.mark.parametrize("graph", MANY)
def test_scores_are_those_of_the_tables(graph):
    scores = all_scores(graph)
    random = np.random.default_rng(0)
    for _ in range(20):
        labels = (random.random(graph.n_variables) * graph.n_labels).astype(int)
        assert graph.score(labels) == pytest.approx(scores[tuple(labels)])


def test_compact_factors_score_what_they_say():
    graph = FactorGraph.of(
        [3, 3, 2, 2, 2],
        [([0, 1], Potts(0.7)), ([1, 0], TruncatedLinear(0.5, 0.8)), ([2, 3, 4], Cardinality([0.0, 1.0, 4.0, 9.0]))],
    )
    assert graph.score([1, 1, 0, 0, 0]) == 0.7
    assert graph.score([0, 1, 1, 0, 1]) == -0.5 + 4.0
    assert graph.score([0, 2, 1, 1, 1]) == -0.8 + 9.0
    at_most = FactorGraph.of([2] * 3, [(range(3), AtMostOne())])
    assert [at_most.score(labels) for labels in ([0, 0, 0], [0, 1, 0], [1, 1, 0])] == [0.0, 0.0, -np.inf]


def test_pairs_are_the_same_from_every_source():
    unaries = np.random.default_rng(0).normal(size=(4, 3))
    edges = [(0, 1), (0, 2), (1, 3), (2, 3)]
    table = np.arange(9.0).reshape(3, 3)
    one = FactorGraph.pairwise(unaries, edges, table)
    several = FactorGraph.pairwise(unaries.tolist(), np.array(edges), np.stack([table] * 4))
    listed = FactorGraph.pairwise(list(unaries), edges, [table] * 4)
    dense = np.zeros((4, 4))
    for i, j in edges:
        dense[i, j] = dense[j, i] = 1
    adjacent = [FactorGraph.from_adjacency(unaries, matrix, table) for matrix in (dense, sp.csr_array(dense))]
    for graph in (several, listed, *adjacent):
        np.testing.assert_array_equal(all_scores(graph), all_scores(one))


def test_networkx_graphs_are_read():
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_node("a", score=[0.0, 1.0])
    graph.add_node("b", score=[0.5, 0.0])
    graph.add_edge("b", "a", table=[[0.0, 1.0], [2.0, 0.0]])
    read = FactorGraph.from_networkx(graph, "score", "table")
    # networkx gives the edge as it first met its ends: a, then b.
    assert all_scores(read).shape == (2, 2)
    assert FactorGraph.from_networkx(graph, "score", Potts(3.0)).score([1, 1]) == 4.0
    with pytest.raises(ValueError, match="node 'a' has no attribute 'unary'"):
        FactorGraph.from_networkx(graph, "unary", Potts(1.0))
    with pytest.raises(ValueError, match="undirected"):
        FactorGraph.from_networkx(networkx.DiGraph(graph), "score", Potts(1.0))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 2)], Potts(1.0)), "edges[0] names variable 2"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1), (1, 1)], Potts(1.0)), "joins variable 1 to itself"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1), (1, 0)], Potts(1.0)), "edges[1] joins the variables"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 0.5)], Potts(1.0)), "whole numbers"),
        (lambda: FactorGraph.pairwise([[0.0, np.nan], [0.0, 0.0]], [], Potts(1.0)), "unaries[0][1] is nan"),
        (lambda: FactorGraph.pairwise([[0.0], []], [], Potts(1.0)), "unaries[1] has shape (0,)"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], np.full((2, 2), np.inf)), "pairwise[0, 0] is inf"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], np.zeros((3, 3))), "expected (2, 2) or (1, 2, 2)"),
        (lambda: FactorGraph.pairwise([[0.0], [0.0, 1.0]], [(0, 1)], Potts(1.0)), "variables of 1 and 2 labels"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(np.nan)), "Potts.score is nan"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts([1.0, 2.0])), "one for each of 1 edges"),
        (lambda: FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], TruncatedLinear(-1.0, 1.0)), "slope is -1.0"),
        (
            lambda: FactorGraph.from_adjacency(np.zeros((2, 2)), [[0, 1], [0, 0]], Potts(1.0)),
            "adjacency[1, 0] is zero but adjacency[0, 1] is not",
        ),
        (lambda: FactorGraph.from_adjacency(np.zeros((2, 2)), [[1, 0], [0, 0]], Potts(1.0)), "adjacency[0, 0]"),
        (lambda: FactorGraph.of([2, 2], [([0, 0], np.zeros((2, 2)))]), "factors[0] has the scope (0, 0)"),
        (lambda: FactorGraph.of([2, 2], [([0, 5], np.zeros((2, 2)))]), "factors[0] names variable 5"),
        (lambda: FactorGraph.of([2, 2], [([0, 1], np.zeros((2, 3)))]), "factors[0] is a table of shape (2, 3)"),
        (lambda: FactorGraph.of([2, 3], [([0, 1], AtMostOne())]), "factors[0] is AtMostOne"),
        (lambda: FactorGraph.of([2, 2], [([0, 1], Cardinality([0.0, 1.0]))]), "for 0 to 2 ones"),
        (lambda: FactorGraph.of([2, 0], []), "n_labels[1] is 0"),
        (lambda: FactorGraph.of([2, 2], [[0, 1]]), "factors[0] has the scope 0"),
        (lambda: FactorGraph.batch([]), "at least one FactorGraph"),
        (lambda: GridGraph(np.zeros((2, 2)), Potts(1.0)), "unaries has shape (2, 2)"),
        (lambda: GridGraph(np.zeros((0, 2, 2)), Potts(1.0)), "unaries has shape (0, 2, 2)"),
        (lambda: GridGraph(np.zeros((2, 2, 2)), Potts(1.0), neighbours=6), "neighbours is 6"),
        (lambda: GridGraph(np.zeros((2, 2, 2)), np.zeros((3, 3))), "pairwise has shape (3, 3)"),
        (lambda: GridGraph(np.zeros((2, 2, 2)), Potts(1.0), [np.ones((2, 2))]), "weights has 1 array; expected 2"),
        (
            lambda: GridGraph(np.zeros((2, 2, 2)), Potts(1.0), [np.ones((2, 1)), -np.ones((1, 2))]),
            "weights[1][0, 0] is -1",
        ),
    ],
)
def test_bad_graphs_are_refused_by_name(make, message):
    with pytest.raises(ValueError) as refused:
        make()
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({0: 2}, "label 2 of variable 0"),
        ({3: 0}, "the variable 3"),
        ({0: -1}, "label -1"),
        ({"a": 0}, "the variable 'a'"),
    ],
)
def test_bad_evidence_is_refused_by_name(evidence, message):
    graph = FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1)], Potts(1.0))
    with pytest.raises(ValueError, match=message):
        graph.given(evidence)


def test_grids_are_restricted_as_their_lists_of_edges():
    random = np.random.default_rng(2)
    grid = GridGraph(random.normal(size=(2, 3, 3)), Potts(0.5))
    known, less = grid.given({(0, 1): 2, (1, 2): 0}), grid.forbid([(0, 0, 1), [1, 1, 2]])
    np.testing.assert_array_equal(known.factor_graph.unaries, grid.factor_graph.given({1: 2, 5: 0}).unaries)
    np.testing.assert_array_equal(less.factor_graph.unaries, grid.factor_graph.forbid([(0, 1), (4, 2)]).unaries)
    assert np.isfinite(grid.unaries).all()
    assert best_labelling(known).score == pytest.approx(all_scores(known.factor_graph).max())
    weighted = GridGraph(grid.unaries, Potts(0.5), [np.ones((2, 2)), np.ones((1, 3))]).forbid([(0, 0, 0)])
    assert weighted.weights is not None


@pytest.mark.parametrize(
    ("restrict", "message"),
    [
        (lambda grid: grid.given({(0, 0): 2}), "evidence has the label 2 at (0, 0); there are 2"),
        (lambda grid: grid.given({(2, 0): 0}), "evidence has the row 2; there are 2"),
        (lambda grid: grid.given({(0, -1): 0}), "evidence has the column -1; there are 3"),
        (lambda grid: grid.given({3: 0}), "evidence has 3; expected (row, column)"),
        (lambda grid: grid.given({(0, 0): "a"}), "evidence has the label 'a'; expected a whole number"),
        (lambda grid: grid.given([0]), "evidence is [0]; expected a dict"),
        (lambda grid: grid.forbid([(0, 0)]), "forbid has (0, 0); expected (row, column, label)"),
        (lambda grid: grid.forbid([(0, True, 0)]), "forbid has the column True; expected a whole number"),
    ],
)
def test_bad_restrictions_of_grids_are_refused_by_name(restrict, message):
    with pytest.raises(ValueError) as refused:
        restrict(GridGraph(np.zeros((2, 3, 2)), Potts(1.0)))
    assert message in str(refused.value)


@pytest.mark.parametrize("labels", [[0, 0], [0, 0, 2], [0, 0, -1], [0.0, 0.0, 0.0], [[0, 0, 0]]])
def test_labels_that_are_none_are_refused(labels):
    with pytest.raises(ValueError, match="labels"):
        FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1)], Potts(1.0)).score(labels)


def test_what_is_left_scores_as_before():
    random = np.random.default_rng(4)
    for _ in range(50):
        graph = mixed_graph(random, forbidden=0.3)
        graph = graph.given({int(random.integers(4)): 1}).forbid([(4, int(random.integers(3)))])
        scores = all_scores(graph)
        if scores.max() == -np.inf:
            continue
        reduced = ReducedGraph.of(graph)
        left = all_scores(reduced.graph) + reduced.constants.sum()
        assert left.max() == pytest.approx(scores.max())
        # Whatever is possible in the whole graph is possible in what is left.
        assert (left > -np.inf).sum() == (scores > -np.inf).sum()
        for labels in np.argwhere(left > -np.inf)[:20]:
            whole = reduced.whole_labels(labels.astype(np.int32))
            assert left[tuple(labels)] == pytest.approx(scores[tuple(whole)])


def test_variables_of_one_label_are_no_variables():
    graph = FactorGraph.of([1, 2, 1], [([0, 1], [[1.0, 2.0]]), ([0, 1, 2], np.array([[[3.0], [4.0]]]))])
    reduced = ReducedGraph.of(graph)
    assert reduced.graph.n_variables == 1
    np.testing.assert_array_equal(all_scores(reduced.graph), [-2.0, 0.0])
    assert reduced.constants.tolist() == [6.0]


def test_a_variable_without_labels_is_named():
    graph = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1.0)).forbid([(1, 0), (1, 1)])
    with pytest.raises(ValueError, match="no label of variable 1 is possible"):
        ReducedGraph.of(graph)


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize(
    "pairwise", [Potts(0.7), TruncatedLinear(0.4, 0.6), np.arange(9.0).reshape(3, 3)], ids=["potts", "linear", "table"]
)
def test_grids_score_as_their_lists_of_edges(neighbours, pairwise):
    random = np.random.default_rng(1)
    shapes = [(3, 3), (2, 4), (2, 3), (2, 3)][: neighbours // 2]
    for weights in (None, [random.random(shape) for shape in shapes]):
        grid = GridGraph(random.normal(size=(3, 4, 3)), pairwise, weights, neighbours)
        for _ in range(10):
            labels = random.integers(3, size=(3, 4))
            assert grid.score(labels) == pytest.approx(grid.factor_graph.score(labels.ravel()))


def test_a_batch_is_its_graphs_one_after_another():
    random = np.random.default_rng(2)
    several = [mixed_graph(random) for _ in range(3)]
    batch = FactorGraph.batch([FactorGraph.batch(several[:2]), several[2]])
    labels = [(random.random(graph.n_variables) * graph.n_labels).astype(int) for graph in several]
    np.testing.assert_allclose(
        batch.scores(np.concatenate(labels)), [graph.score(one) for graph, one in zip(several, labels, strict=True)]
    )
    for one, part in zip(labels, batch.split(np.concatenate(labels)), strict=True):
        np.testing.assert_array_equal(one, part)
