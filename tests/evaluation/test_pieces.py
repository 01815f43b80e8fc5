"""Evaluation piece by piece: what is found is, to the last bit, what is found at once."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from structlearn import HiddenMarkov, LatentStructuralSVM, StructuralSVM, VectorValuedRidge
from structlearn.data import from_bio
from structlearn.estimators.generative import Discrete
from structlearn.evaluation import evaluate, evaluate_piece, evaluation_of
from structlearn.features import TextFeatures
from structlearn.kernels import RBF
from structlearn.metrics import Measures
from structlearn.models import (
    Chain,
    DependencyTree,
    LatentChain,
    LatentForest,
    Motif,
    Multiclass,
    MultiLabel,
    PrecisionAtK,
    Ranking,
    Segments,
)
from structlearn.outputs import LabelOutputs, LabelSequenceOutputs, LabelSetOutputs
from tests.abilities.structures import structures
from tests.evaluation.test_evaluation import Sign, sentences

STRUCTURES = {row.name: row for row in structures()}
RANDOM = np.random.default_rng(0)
ROWS = RANDOM.normal(size=(12, 3))


def mistaken(model, X, Y):
    """A fitted estimator with weights by which it is often wrong."""
    latent = isinstance(model, (LatentChain, LatentForest, Motif, PrecisionAtK)) or any(y is None for y in Y)
    learner = LatentStructuralSVM(model, C=10, tol=0.9) if latent else StructuralSVM(model, C=10, max_iter=1, tol=0.9)
    fitted = learner.fit(X, Y)
    fitted.w_ = np.random.default_rng(3).normal(size=len(fitted.w_))
    return fitted


def check(estimator, X, Y, cuts):
    """Evaluates all at once and in pieces that travel; all that is found must be equal."""
    whole = evaluate(estimator, X, Y)
    edges = [0, *cuts, len(Y)]
    pieces = [pickle.loads(pickle.dumps(evaluate_piece(estimator, X[a:b], Y[a:b]))) for a, b in pairwise(edges)]
    found = evaluation_of(pieces)
    assert found.to_dict() == whole.to_dict()
    assert str(found) == str(whole)
    for name in ("labels", "spans", "scores", "resampled"):
        assert list(getattr(found, name)) == list(getattr(whole, name))
    for name, drawn in whole.resampled.items():
        np.testing.assert_array_equal(found.resampled[name], drawn)
    for name in ("right", "losses", "margins"):
        np.testing.assert_array_equal(getattr(found, name), getattr(whole, name))
    assert (found.confusion is None) == (whole.confusion is None)
    if whole.confusion is not None:
        assert found.confusion.labels == whole.confusion.labels
        np.testing.assert_array_equal(found.confusion.counts, whole.confusion.counts)
    assert len(found.predicted) == len(found.truths) == len(found.guesses) == 0 < len(whole.predicted)
    return whole


@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure_is_evaluated_alike(name):
    row = STRUCTURES[name]
    X, Y = [*row.X] * 3, [*row.Y] * 3
    if name == "MultiLabel":
        Y = np.array(Y)
    found = check(mistaken(row.model, X, Y), X, Y, [1, 1, 4])
    assert found.n_examples == len(X)


@pytest.mark.parametrize("name", ["Multiclass", "Chain", "Chain(order=2)"])
def test_truths_that_are_known_in_part_somewhere(name):
    row = STRUCTURES[name]
    X, Y = [*row.X] * 3, [*row.Y, *row.partial, *row.Y]
    found = check(mistaken(row.model, X, [*row.Y] * 3), X, Y, [2, len(row.Y), 2 * len(row.Y), 2 * len(row.Y) + 1])
    whole = [*range(len(row.Y)), *range(2 * len(row.Y), len(Y))]
    assert np.isfinite(found.margins[whole]).all()
    assert np.isnan(found.margins[[y is None for y in Y]]).all()


@pytest.mark.parametrize("name", ["Grid", "TypedGraph"])
def test_nodes_that_nobody_has_labelled(name):
    row = STRUCTURES[name]
    X, Y = [*row.X] * 3, [*row.Y, *row.partial, *row.Y]
    check(mistaken(row.model, X, Y), X, Y, [1, len(row.Y), len(row.Y) + 1])


def test_tags_with_pieces_that_lack_labels_and_spans():
    X, Y = sentences(60, seed=1)
    tagger = make_pipeline(TextFeatures(["word[-1..0]"]), StructuralSVM(Chain())).fit(X, Y)
    X, Y = [["in"], *X, ["in", "rome"]], [["O"], *Y, ["<new>", "B-NEW"]]
    found = check(tagger, X, Y, [1, 1, 2, 30, 61])
    assert {"NP", "NEW"} <= set(found.spans)
    assert found.f1.low < found.f1.estimate < found.f1.high
    check(tagger, [["in"], ["in"]], [["O"], ["O"]], [1])
    # Nowhere are spans counted where some tags are not known.
    assert check(tagger, X, [*Y[:-1], ["B-PP", None]], [61]).f1 is None


def test_labels_that_have_no_order_come_as_they_do_at_once():
    X, Y = [np.eye(2)] * 5, [["a", "b"]] * 5
    crf = StructuralSVM(Chain()).fit(X, Y)
    found = check(crf, X, [["z", "y"], ["b", "x"], [1, "z"], [("t", 0), 2.5], ["a", "b"]], [1, 3])
    assert list(found.labels) == ["a", "b", "z", "y", "x", 1, ("t", 0), 2.5]


def test_segments_that_training_never_saw():
    X, Y = sentences(40, seed=4)
    X, segments = [[{"word": word} for word in x] for x in X], [from_bio(y) for y in Y]
    svm = StructuralSVM(Segments()).fit(X[:30], segments[:30])
    new = [[("B", t, t + 1) for t in range(len(x) - 1)] + [("LONG", len(x) - 1, len(x))] for x in X[:3]]
    check(svm, X, [*new, *segments[3:]], [1, 10, 39])


def test_classes_without_a_price():
    model = Multiclass(classes=["a", "b"], cost=[[0, 1], [5, 0]])
    svm = StructuralSVM(model, C=10).fit(ROWS, list("ab") * 6)
    assert check(svm, ROWS, list("ab") * 4 + ["new", "a", None, "b"], [3, 9]).losses[8] == 5


def test_a_hidden_markov_model_and_outputs_as_vectors():
    X, Y = [list("abab"), list("ba"), list("aab")] * 3, [list("xyxy"), list("yx"), list("xxy")] * 3
    check(HiddenMarkov(Discrete()).fit(X, Y), X, [list("yyxy"), *Y[1:8], list("x?y")], [1, 1, 5])
    sets = [{"x"} if row[0] > 0 else {"y", "z"} for row in ROWS]
    for outputs, X, Y in (
        (LabelSequenceOutputs(0.5), [ROWS[k : k + 3] for k in range(0, 12, 3)], [list("aba"), list("bba")] * 2),
        (LabelOutputs(), ROWS, list("aab") * 4),
        (LabelSetOutputs(), ROWS, sets),
    ):
        check(VectorValuedRidge(outputs, RBF(0.3), lam=5.0).fit(X, Y), X, Y, [1, 1, 3])


def test_trees_without_labels():
    X = [[("the", "DT"), ("dog", "NN")], [("it", "PRP"), ("barks", "VB")], [("a", "DT"), ("cat", "NN")]]
    heads = [[2, 0], [2, 0], [0, 1]]
    parser = StructuralSVM(DependencyTree(columns=["word", "tag"]), C=10).fit(X, heads)
    assert "las" not in check(parser, X, heads, [1, 2]).scores


def test_relevance_without_a_gain_anywhere_leaves_out_its_score():
    X, Y = [ROWS[:4], ROWS[4:8], ROWS[8:]], [[0, 1, 2, 0], [0, 1, 0, 0], [1, 0, 2, 0]]
    svm = StructuralSVM(Ranking("average_precision")).fit(X, Y)
    assert "ndcg_at_10" in check(svm, X, Y, [1]).scores
    for place in range(3):
        negative = [y if i != place else [-1, 1, 2, 0] for i, y in enumerate(Y)]
        assert "ndcg_at_10" not in check(svm, X, negative, [1, 2]).scores


def test_sets_of_labels_of_which_pieces_have_few():
    Y = [{"h", "g"}, set(), {"b", "f"}, {"c", "a"}, {"e"}, {"d", "a", "g"}] * 2
    found = check(mistaken(MultiLabel(), ROWS, Y), ROWS, [{"h"}, set(), set(), *Y[3:]], [1, 2, 3, 8])
    assert 0 < found.scores["label_accuracy"].estimate < 1


class Measured(Sign):
    """Scores of one's own; `named` ones have a column for each output that is true."""

    def __init__(self, named=True):
        self.named = named

    def measures(self, X, Y, predicted):
        kinds = list(dict.fromkeys(Y))
        counts = [[(y == kind) * abs(x) for kind in kinds] for x, y in zip(X, Y, strict=True)]
        if self.named:
            return Measures(counts, sizes, np.equal(Y, predicted), columns=kinds)
        return Measures(counts, sizes(kinds), np.equal(Y, predicted))


class Size:
    def __init__(self, k):
        self.k = k

    def __call__(self, sums):
        return sums[..., self.k]


def sizes(columns):
    return {f"size_of_{name}": Size(k) for k, name in enumerate(columns)}


def test_measures_of_ones_own_with_columns_that_depend_on_the_examples():
    X, Y = [2.0, -3.0, 1.0, 0.1], [1, -1, -1, 1]
    check(StructuralSVM(Measured(), C=1).fit(X, Y), X, Y, [1, 3])
    unnamed = StructuralSVM(Measured(named=False), C=1).fit(X, Y)
    check(unnamed, X, Y, [4, 4])
    with pytest.raises(ValueError, match="measures has other columns or scores in piece 1 than in piece 0"):
        check(unnamed, X, Y, [1])


def test_pieces_that_do_not_belong_together_and_none_are_refused():
    X, Y = [np.eye(2)] * 2, [["a", "b"]] * 2
    svm, other = StructuralSVM(Chain()).fit(X, Y), StructuralSVM(Chain()).fit(X, [["a", "c"]] * 2)
    with pytest.raises(ValueError, match="piece 1 is of another estimator, or of another scheme"):
        evaluation_of([evaluate_piece(svm, X, Y), evaluate_piece(other, X, Y)])
    with pytest.raises(ValueError, match="there are no examples to evaluate"):
        evaluation_of([evaluate_piece(svm, [], [])])
    with pytest.raises(ValueError, match="X is empty"):
        evaluate_piece(svm, [], Y)
    assert repr(evaluate_piece(svm, X, Y)) == "<Piece of an evaluation: 2 sequences>"
