"""Refusals in the words of graphs: nodes, edges and examples."""

import re

import numpy as np
import pytest

from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data import Network
from structlearn.inference.graphs import DualAscent
from structlearn.models import Graph, Grid

PAIR = (np.eye(2), [(0, 1)])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([PAIR] * 2, [["a", "b"]], "X has 2 graphs but Y has 1"),
        ([PAIR, (np.ones((2, 3)), [])], [["a", "b"]] * 2, "X[1] has 3 features a node but X[0] has 2"),
        ([(np.zeros(3), [])], [["a"] * 3], "the nodes of a graph are a matrix with a row a node"),
        ([PAIR], [], "Y is empty; training needs at least one graph"),
        ([(*PAIR, [[1.0, 2.0]]), (*PAIR, [[1.0]])], [["a", "b"]] * 2, "X[1] has 1 features an edge but X[0] has 2"),
    ],
)
@pytest.mark.parametrize("estimator", [StructuralSVM, LatentStructuralSVM])
def test_data_are_refused_in_the_words_of_graphs(estimator, X, Y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        estimator(Graph()).fit(X, Y)


def test_restrictions_and_features_are_refused_in_the_words_of_graphs():
    svm = StructuralSVM(Graph()).fit([PAIR] * 2, [["a", "b"]] * 2)
    with pytest.raises(ValueError, match="X has 3 features a node but training had 2"):
        svm.predict([(np.ones((2, 3)), [(0, 1)])])
    for allowed, message in (
        ([["a"]], "allowed[0] has 1 entries but X[0] has 2 nodes"),
        ([], "allowed must say something about each of the 1 graphs"),
        ([7], "allowed[0] is 7; expected None or an entry for each node"),
    ):
        with pytest.raises(ValueError, match=re.escape(message)):
            svm.predict([PAIR], allowed=allowed)
    with pytest.raises(ValueError, match="node 0 has the feature -1"):
        ConditionalRandomField(Graph(), solver="iterative_scaling").fit([(-np.eye(2), [(0, 1)])], [["a", "b"]])


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ([[0, 0], [1, 0]], "adjacency[0, 1] is zero but adjacency[1, 0] is not"),
        ([[0, 1, 1], [1, 0, 1]], "adjacency has shape (2, 3); expected a row and a column for each node"),
        ([[1, 0], [0, 1]], "adjacency[0, 0] is not zero: a node is no neighbour of itself"),
        ([[0, np.nan], [np.nan, 0]], "adjacency[0, 1] is nan; 0 says that two nodes are no neighbours"),
        (3, "adjacency is 3; expected a matrix with a row and a column for each node"),
        ([[0]], "adjacency has 1 row but there are 2 nodes"),
    ],
)
def test_a_bad_adjacency_is_refused_in_the_words_of_graphs(adjacency, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Network.from_adjacency(np.eye(2), adjacency)


def chessboards(n_labels):
    """Neighbours always differ."""
    random = np.random.default_rng(0)
    Y = [np.indices((6, 6)).sum(axis=0) % n_labels] * 3
    X = [random.normal(size=(6, 6, 2)) for _ in Y]
    rings = [(x[0], [(i, (i + 1) % 6) for i in range(6)]) for x in X]
    return (Grid, X, Y), (Graph, rings, [y[0].tolist() for y in Y])


def test_a_cut_that_is_refused_names_the_example_and_what_would_help():
    for model, X, Y in chessboards(2):
        for estimator in (StructuralSVM, LatentStructuralSVM):
            with pytest.raises(ValueError, match=r"^X\[\d\]: factor .* not submodular.*nonnegative='pairs'"):
                estimator(model(pairwise="potts", engine="graph_cut"), C=100.0).fit(X, Y)
        for estimator in (StructuralSVM, LatentStructuralSVM):
            estimator(model(pairwise="potts", engine="graph_cut"), nonnegative="pairs", tol=0.2).fit(X, Y)
    for model, X, Y in chessboards(3):
        with pytest.raises(ValueError, match=r"^X\[0\]: variable 0 has 3 labels.*engine='auto'"):
            StructuralSVM(model(pairwise="potts", engine="graph_cut")).fit(X, Y)


def test_f_measures_ask_for_the_label_that_does_not_count():
    with pytest.raises(ValueError, match=r"which is none of the labels, 'a', 'b': give loss=LabelF1\(negative=…\)"):
        StructuralSVM(Graph(loss="f1")).fit([PAIR], [["a", "b"]])


def test_a_model_with_an_engine_object_says_how_it_can_be_saved(tmp_path):
    svm = StructuralSVM(Graph(engine=DualAscent(tighten=False))).fit([PAIR], [["a", "b"]])
    with pytest.raises(TypeError, match="set the engine of model and model_ to a name, such as 'auto'"):
        svm.save(tmp_path / "graph.slm")
    svm.model.engine = svm.model_.engine = "auto"
    svm.save(tmp_path / "graph.slm")
