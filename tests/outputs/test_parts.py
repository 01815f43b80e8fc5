"""Matchings, dependency trees and labelled graphs: kernels as said, and the nearest of all outputs by enumeration."""

from itertools import combinations, product

import numpy as np
import pytest

from structlearn.data import is_projective
from structlearn.data.dependency_trees import tree_fault
from structlearn.data.matchings import PairTable, crowding
from structlearn.outputs import DependencyTreeOutputs, GraphOutputs, MatchingOutputs

RANDOM = np.random.default_rng(0)
FACTOR = RANDOM.normal(size=(3, 3))
SIMILARITY = FACTOR @ FACTOR.T


def nearest_of(outputs, listed, F, places):
    distances = [((F - outputs.targets([y], places)) ** 2).sum() for y in listed]
    return listed[int(np.argmin(distances))]


def matchings(n, m, fertility, unmatched):
    pairs = list(product(range(n), range(m)))
    for size in range(len(pairs) + 1):
        for y in combinations(pairs, size):
            if crowding(y, fertility) is None and (unmatched or len(y) == min(n, m)):
                yield y


@pytest.mark.parametrize("options", [{}, {"unmatched": False}, {"fertility": 2}], ids=["alone", "all", "several"])
def test_the_nearest_matching_is_that_of_enumeration(options):
    outputs = MatchingOutputs(**options).fit([[(0, 0)]])
    shapes = np.array([[3, 3], [2, 4], [3, 1], [2, 0], [0, 3], *[[2, 2]] * 40])
    F = RANDOM.normal(0.5, 0.5, size=(int(shapes.prod(axis=1).sum()), 1))
    found, begin = outputs.nearest(F, shapes), 0
    for i, (n, m) in enumerate(shapes.tolist()):
        listed = list(matchings(n, m, outputs.fertility, outputs.unmatched))
        assert found[i] == nearest_of(outputs, listed, F[begin : begin + n * m], shapes[i : i + 1])
        begin += n * m


def test_matchings_have_the_kernel_of_their_pairs():
    outputs, shape = MatchingOutputs().fit([[(0, 0)]]), np.array([[3, 3]])
    y, z = [outputs.targets([pairs], shape) for pairs in ([(0, 1), (1, 0), (2, 2)], [(0, 1), (2, 2)])]
    assert np.vdot(y, z) == 2
    assert (
        outputs.score([[(0, 1), (1, 0)], [(0, 0)]], [[(0, 1)], [(0, 0)]], np.array([[2, 2], [1, 1]]), np.ones(2)) == 0.8
    )


def trees(n, projective, single_root):
    for heads in product(range(n + 1), repeat=n):
        fits = tree_fault(heads, single_root=single_root) is None
        if fits and (not projective or is_projective(heads)):
            yield list(heads)


@pytest.mark.parametrize("labels", [None, "xy"], ids=["plain", "labelled"])
@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_the_nearest_tree_is_that_of_enumeration(labels, projective, single_root):
    outputs = DependencyTreeOutputs(projective, single_root)
    outputs.fit([[0]] if labels is None else [[(0, "x")], [(0, "y")]])
    lengths = np.array([3, 0, 4, 1])
    F = RANDOM.normal(0.3, 0.5, size=(int((lengths**2).sum()), outputs.n_coordinates()))
    found, begin = outputs.nearest(F, lengths), 0
    for i, n in enumerate(lengths.tolist()):
        listed = list(trees(n, projective, single_root))
        if labels is not None:
            listed = [list(zip(y, names, strict=True)) for y in listed for names in product(labels, repeat=n)]
        assert found[i] == nearest_of(outputs, listed, F[begin : begin + n * n], lengths[i : i + 1])
        begin += n * n


def test_trees_have_the_kernel_of_their_arcs():
    outputs, length = DependencyTreeOutputs().fit([[(2, "a"), (0, "b")]]), np.array([3])
    one, other = [(2, "a"), (0, "b"), (2, "a")], [(2, "a"), (0, "a"), (2, "a")]
    assert np.vdot(outputs.targets([one], length), outputs.targets([other], length)) == 2
    assert outputs.score([one], [other], length, np.ones(1)) == pytest.approx(2 / 3)
    assert outputs.score([[(2, "a"), (0, "other"), (2, "a")]], [one], length, np.ones(1)) == pytest.approx(2 / 3)


TREE, LOOPS = [(0, 1), (2, 1), (1, 3)], [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]


def networks(outputs, *edges):
    read = outputs.read([(np.ones((4, 1)), each) for each in edges], None)
    return read.places


@pytest.mark.parametrize("edges", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("similarity", [None, SIMILARITY], ids=["unit", "similar"])
def test_the_nearest_labels_of_graphs_are_those_of_enumeration(edges, similarity):
    outputs = GraphOutputs(edges, similarity).fit([["a", "b", "c"]])
    vectors = outputs.targets([["a"], ["b"], ["c"]], outputs.read([([[1.0]], [])] * 3, None).places)[:, :3]
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(3) if similarity is None else similarity, atol=1e-12)
    for graph in (TREE, LOOPS, []) * 5:
        places = networks(outputs, graph)
        F = RANDOM.normal(size=(4, outputs.n_coordinates()))
        found = outputs.preimages(F, places)
        assert found.exact.tolist() == [True]
        distances = []
        listed = list(product(range(3), repeat=4))
        for y in listed:
            far = ((F[:, :3] - vectors[list(y)]) ** 2).sum()
            for i, j in graph if edges else ():
                for here, there in ((i, j), (j, i)):
                    pair = np.sqrt(edges / 2) * np.outer(vectors[y[here]], vectors[y[there]])
                    far += ((F[here, 3:] - pair.ravel()) ** 2).sum()
            distances.append(far)
        assert found.outputs[0] == ["abc"[c] for c in listed[int(np.argmin(distances))]]


def test_a_node_learns_its_label_and_the_mean_of_its_pairs():
    outputs = GraphOutputs(2.0).fit([["a", "b"]])
    rows = outputs.targets([["a", "b", "b", "a"]], networks(outputs, TREE))
    np.testing.assert_allclose(rows[:, :2], [[1, 0], [0, 1], [0, 1], [1, 0]])
    np.testing.assert_allclose(rows[0, 2:], [0, 1, 0, 0])
    np.testing.assert_allclose(rows[1, 2:], [0, 0, 2 / 3, 1 / 3])


def test_an_engine_that_proves_nothing_says_so():
    outputs = GraphOutputs(engine="icm").fit([["a", "b"]])
    found = outputs.preimages(RANDOM.normal(size=(8, 6)), networks(outputs, LOOPS, []))
    assert found.exact.tolist() == [False, True]


TABLE, ARCS = np.ones((2, 2, 1)), np.ones((3, 2, 1))


@pytest.mark.parametrize(
    ("outputs", "X", "Y", "message"),
    [
        (MatchingOutputs(), [TABLE], [[(0, 0), (0, 1)]], r"Y\[0\] has row 0 in 2 pairs, with columns \[0, 1\]"),
        (
            MatchingOutputs(),
            [TABLE, TABLE],
            [[(0, 0)], [(2, 0)]],
            r"Y\[1\] has the pair \(2, 0\), but X\[1\]",
        ),
        (MatchingOutputs(), [TABLE, TABLE], [[(0, 0)]], "X has 2 tables but Y has 1 matchings"),
        (MatchingOutputs(), [TABLE], [[]], "no matching of y has a pair"),
        (MatchingOutputs(), [TABLE], None, "requires y to be passed"),
        (MatchingOutputs(), [TABLE], [3], r"Y\[0\] is 3; expected pairs"),
        (MatchingOutputs(), [TABLE, TABLE], [[(0, 0)], 3], r"Y\[1\] is 3; expected pairs"),
        (MatchingOutputs(unmatched=False), [TABLE], [[(0, 0)]], r"Y\[0\] has 1 of the 2 pairs that X\[0\] can have"),
        (MatchingOutputs(), [np.ones((2, 0, 1))], [[(0, 0)]], "no table of X has a pair"),
        (MatchingOutputs(), [np.ones((2, 2))], [[(0, 0)]], r"X\[0\] has 2 dimensions; a table of pairs"),
        (
            MatchingOutputs(),
            [PairTable(TABLE, rows=np.ones((2, 1)))],
            [[(0, 0)]],
            r"X\[0\] has features of rows",
        ),
        (DependencyTreeOutputs(), [ARCS, TABLE], [[2, 0], [2, 0]], r"X\[1\] has 2 rows and 2 columns; a table of arcs"),
        (DependencyTreeOutputs(), [ARCS, ARCS], [[2, 0], [2, 1]], r"Y\[1\] is no tree"),
        (DependencyTreeOutputs(), [ARCS, ARCS], [[2, 0], [0, 0]], r"Y\[1\] is no tree: token 2 has the head 0, as"),
        (DependencyTreeOutputs(), [ARCS, ARCS], [[2, 0], [0]], r"Y\[1\] has 1 entries but X\[1\] has 2 tokens"),
        (DependencyTreeOutputs(), [ARCS], None, "requires y to be passed"),
        (GraphOutputs(), [(TABLE[0], [(0, 1)])], [["a", "a"]], "all nodes of Y have one label, 'a'; two are needed"),
        (GraphOutputs(), [(TABLE[0], [(0, 2)])], [["a", "b"]], r"edge 0 of X\[0\]"),
        (GraphOutputs(), [(TABLE[0], [(0, 1)])], [["a", "b", "a"]], r"Y\[0\] has 3 labels but X\[0\] has 2 nodes"),
        (GraphOutputs(), [(TABLE[0], [(0, 1)], [[1.0]])], [["a", "b"]], r"X\[0\] has features of edges"),
        (GraphOutputs(similarity=np.eye(3)), [(TABLE[0], [])], [["a", "b"]], "expected a matrix of 2 × 2 labels"),
    ],
)
def test_what_cannot_be_is_refused_by_the_name_of_the_example(outputs, X, Y, message):
    def targets():
        places = outputs.read(X, None).places
        return outputs.fit(Y).targets(Y, places)

    with pytest.raises(ValueError, match=message):
        targets()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (MatchingOutputs(unmatched="no"), "unmatched is 'no'"),
        (MatchingOutputs(fertility=0), "fertility is 0"),
        (MatchingOutputs(unmatched=False, fertility=2), "fertility=2 needs unmatched=True"),
        (DependencyTreeOutputs(projective=2), "projective is 2"),
        (DependencyTreeOutputs(single_root=None), "single_root is None"),
        (GraphOutputs(edges=-1), "edges is -1"),
        (GraphOutputs(engine="best"), "engine is 'best'"),
    ],
)
def test_options_that_mean_nothing_are_refused(outputs, message):
    with pytest.raises(ValueError, match=message):
        outputs.check_options()


def test_labels_that_training_had_not_are_named():
    parser = DependencyTreeOutputs().fit([[(0, "a")]])
    with pytest.raises(ValueError, match=r"the label of Y\[0\]\[1\] is 'b', which is not among the 1 classes"):
        parser.targets([[(2, "a"), (0, "b")]], np.array([2]))
    with pytest.raises(ValueError, match="Y has no labels of arcs, but training had some"):
        parser.targets([[2, 0]], np.array([2]))
    graph = GraphOutputs().fit([["a", "b"]])
    with pytest.raises(ValueError, match=r"Y\[0\]\[3\] is 'c', which is not among the 2 classes"):
        graph.targets([["a", "b", "b", "c"]], networks(graph, TREE))
