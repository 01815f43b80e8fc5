import io
import json
import math
from itertools import chain

import numpy as np
import pytest
from rich.console import Console
from sklearn.metrics import accuracy_score, confusion_matrix, precision_recall_fscore_support
from sklearn.pipeline import make_pipeline

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.data import from_bio
from structlearn.data.tokens.tags import are_tags
from structlearn.data.trees import leaves, parse_tree
from structlearn.evaluation import evaluate
from structlearn.features import TextFeatures
from structlearn.metrics import (
    Measures,
    bootstrap_counts,
    bracket_counts,
    bracket_scores,
    correct_trees,
    crossing_brackets,
    sequence_accuracy,
    span_counts,
    span_scores,
)
from structlearn.models import Chain, Grammar, Multiclass, Segments

WORDS = ("ann", "bob", "the", "dog", "sleeps", "runs", "in", "rome")
TAGS = ("B-NP", "B-NP", "B-NP", "I-NP", "B-VP", "B-VP", "B-PP", "B-NP")


def sentences(n, seed, noise=0.15):
    """Random words with the tags that go with them, and some that do not."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        words = rng.integers(len(WORDS), size=rng.integers(1, 9))
        X.append([WORDS[k] for k in words])
        Y.append([TAGS[k] if rng.random() > noise else "O" for k in words])
    return X, Y


@pytest.fixture(scope="module")
def tagger():
    return make_pipeline(TextFeatures(["word[-1..0]"]), StructuralSVM(Chain())).fit(*sentences(80, seed=0))


def printed(found):
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(found)
    return console.export_text()


def test_scores_of_sequences_are_those_of_the_metrics(tagger):
    X, Y = sentences(60, seed=1)
    found = evaluate(tagger, X, Y)
    predicted = tagger.predict(X)
    assert found.predicted == predicted
    flat, flat_predicted = list(chain(*Y)), list(chain(*predicted))
    assert found.accuracy.estimate == pytest.approx(accuracy_score(flat, flat_predicted))
    assert found.sequence_accuracy.estimate == pytest.approx(sequence_accuracy(Y, predicted))
    scores = span_scores(Y, predicted)
    assert found.f1.estimate == pytest.approx(scores.f1)
    assert found.precision.estimate == pytest.approx(scores.precision)
    assert found.recall.estimate == pytest.approx(scores.recall)
    assert {kind: score.f1.estimate for kind, score in found.spans.items()} == pytest.approx(
        {kind: score.f1 for kind, score in scores.per_class.items()}
    )
    labels = list(found.labels)
    expected = np.array(precision_recall_fscore_support(flat, flat_predicted, labels=labels, zero_division=0.0))
    ours = [(s.precision, s.recall, s.f1.estimate, s.support) for s in found.labels.values()]
    assert np.allclose(ours, expected.T)
    assert (found.confusion.counts == confusion_matrix(flat, flat_predicted, labels=labels)).all()
    assert (found.n_examples, found.n_tokens) == (60, len(flat))


@pytest.mark.parametrize("scheme", ["conlleval", "BIO", "IOB1", "BIOES"])
def test_spans_are_counted_by_the_rule_that_is_named(tagger, scheme):
    X, Y = sentences(60, seed=1)
    found = evaluate(tagger, X, Y, scheme=scheme)
    scores = span_scores(Y, found.predicted, scheme)
    assert (found.scheme, found.f1.estimate) == (scheme, pytest.approx(scores.f1))
    assert found.to_dict()["scheme"] == scheme
    assert f"spans by the rule {scheme}" in printed(found)


def test_a_tag_of_another_scheme_is_refused_by_name(tagger):
    with pytest.raises(ValueError, match=r"Y\[1\]\[0\] is 'S-NP', which is no tag of BIO"):
        evaluate(tagger, [["the"], ["ann"]], [["B-NP"], ["S-NP"]], scheme="BIO")


def test_intervals_are_those_of_the_bootstrap(tagger):
    X, Y = sentences(60, seed=1)
    found = evaluate(tagger, X, Y)
    expected = bootstrap_counts(span_counts(Y, found.predicted), random_state=1)
    assert found.f1.low == pytest.approx(expected.low, abs=0.01)
    assert found.f1.high == pytest.approx(expected.high, abs=0.01)
    right = np.array([[y == p, 1] for y, p in zip(Y, found.predicted, strict=True)])
    expected = bootstrap_counts(right, lambda sums: sums[:, 0] / sums[:, 1], random_state=1)
    assert found.sequence_accuracy.low == pytest.approx(expected.low, abs=0.02)
    assert found.sequence_accuracy.high == pytest.approx(expected.high, abs=0.02)


def test_loss_is_the_mean_of_the_models_own_loss(tagger):
    X, Y = sentences(40, seed=2)
    found = evaluate(tagger, X, Y)
    wrong = [sum(a != b for a, b in zip(y, p, strict=True)) for y, p in zip(Y, found.predicted, strict=True)]
    assert found.losses.tolist() == wrong
    assert found.loss.estimate == pytest.approx(np.mean(wrong))


def test_margin_is_the_difference_of_the_scores():
    X, Y = sentences(30, seed=3, noise=0.4)
    X = [[{"word": word} for word in x] for x in X]
    crf = ConditionalRandomField(Chain(), C=10).fit(X, Y)
    found = evaluate(crf, X, Y)
    expected = crf.predict_log_proba(X, found.predicted) - crf.predict_log_proba(X, Y)
    assert np.allclose(found.margins, expected, atol=1e-9)
    assert (found.margins[found.right] == 0).all()
    assert (found.margins >= 0).all()


def test_a_margin_of_classes_is_the_difference_of_their_scores():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.integers(3, size=60)
    svm = StructuralSVM(Multiclass(), C=1.0, max_iter=2000).fit(X, y)
    found = evaluate(svm, X, y)
    scores = svm.decision_function(X)
    assert np.allclose(found.margins, scores.max(axis=1) - scores[np.arange(60), y])
    assert found.accuracy.estimate == pytest.approx(svm.score(X, y))
    assert found.sequence_accuracy is None
    assert found.f1 is None
    assert "tokens" not in found.to_dict()


def test_labels_never_seen_are_wrong(tagger):
    X = [["the", "dog"], ["ann", "sleeps"]]
    found = evaluate(tagger, X, [["B-NP", "<new>"], ["B-NP", "B-VP"]])
    assert found.accuracy.estimate <= 0.75
    assert found.losses[0] >= 1
    assert math.isnan(found.margins[0])
    assert not math.isnan(found.margins[1])
    assert found.recall.estimate < 1
    assert found.labels["<new>"].recall == 0


def test_a_class_without_a_price_costs_most():
    model = Multiclass(classes=["healthy", "ill"], cost=[[0, 1], [5, 0]])
    svm = StructuralSVM(model, C=10).fit([[0.0, 1.0], [1.0, 0.0]], ["healthy", "ill"])
    found = evaluate(svm, [[0.0, 1.0], [1.0, 0.0]], ["healthy", "unheard of"])
    assert found.losses.tolist() == [0, 5]
    assert found.accuracy.estimate == 0.5


def test_segments_are_scored_as_spans_and_as_tags():
    X, Y = sentences(50, seed=4)
    X = [[{"word": word} for word in x] for x in X]
    segments = [from_bio(y) for y in Y]
    svm = StructuralSVM(Segments()).fit(X, segments)
    found = evaluate(svm, X, segments)
    hits = sum(len(set(y) & set(p) - outside(y)) for y, p in zip(segments, found.predicted, strict=True))
    true = sum(len(set(y) - outside(y)) for y in segments)
    assert found.recall.estimate == pytest.approx(hits / true)
    assert found.loss.estimate == pytest.approx(found.losses.mean())
    assert set(found.labels) <= {"O", *(f"{prefix}-{kind}" for prefix in "BI" for kind in ("NP", "VP", "PP"))}


def outside(segments):
    return {segment for segment in segments if segment[0] == "O"}


def test_segments_longer_than_training_knows_are_wrong():
    X = [[{"word": "a"}, {"word": "b"}, {"word": "c"}]]
    svm = StructuralSVM(Segments(), C=10).fit(X, [[("A", 0, 1), ("B", 1, 2), ("A", 2, 3)]])
    found = evaluate(svm, X, [[("A", 0, 3)]])
    assert found.f1.estimate == 0
    assert math.isnan(found.margins[0])


class Sign:
    """A model of the user's own: is a number positive?"""

    def joint_feature(self, x, y):
        return np.array([x * y])

    def loss(self, y, y_hat):
        return 2.0 * (y != y_hat)

    def outputs(self, x):
        return [-1, 1]


def test_a_model_of_ones_own_has_its_loss_and_whole_outputs():
    svm = StructuralSVM(Sign(), C=1).fit([2.0, -3.0], [1, -1])
    found = evaluate(svm, [2.0, -3.0, 1.0], [1, -1, -1])
    assert found.accuracy.estimate == pytest.approx(2 / 3)
    assert found.loss.estimate == pytest.approx(2 / 3)
    assert found.margins[2] == pytest.approx(2 * svm.w_[0])
    assert (found.labels, found.confusion, found.f1) == ({}, None, None)


TREES = [
    "(S (NP (DT the) (NN dog)) (VP (VBZ barks)))",
    "(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))",
    "(S (NP (PRP it)) (VP (VBZ barks)))",
    "(S (NP (DT a) (NN bone)) (VP (VBZ has) (NP (PRP it))))",
]


def tokens(tree):
    return [(word, tag) for tag, word in leaves(parse_tree(tree))]


@pytest.fixture(scope="module")
def parser():
    return StructuralSVM(Grammar(), C=10).fit([tokens(tree) for tree in TREES], TREES)


def test_trees_have_the_scores_of_their_brackets(parser):
    Y = [*TREES, "(S (NP (PRP it)) (X (VP (VBZ has)) (NP (DT a) (NN bone))))", "(FRAG (ADV twice) (ADV no))"]
    found = evaluate(parser, [tokens(tree) for tree in Y], Y)
    labelled, unlabelled = (bracket_scores(Y, found.predicted, labelled=labelled) for labelled in (True, False))
    for prefix, scores in (("", labelled), ("unlabelled_", unlabelled)):
        for name in ("precision", "recall", "f1"):
            assert found.scores[prefix + name].estimate == pytest.approx(getattr(scores, name))
    assert found.scores["crossing_brackets"].estimate == pytest.approx(crossing_brackets(Y, found.predicted).mean())
    assert found.right.tolist() == correct_trees(Y, found.predicted).tolist() == [True] * 4 + [False] * 2
    expected = bootstrap_counts(bracket_counts(Y, found.predicted), random_state=1)
    assert found.scores["f1"].low == pytest.approx(expected.low, abs=0.05)
    assert found.scores["f1"].high == pytest.approx(expected.high, abs=0.05)
    assert found.to_dict()["unlabelled_f1"] == found.scores["unlabelled_f1"].estimate
    assert found.to_dict()["intervals"]["f1"] == [found.scores["f1"].low, found.scores["f1"].high]


def test_a_tree_that_the_rules_do_not_derive_has_no_margin(parser):
    Y = [TREES[0], "(S (NP (PRP it)) (NEW (VBZ has)))", "(S (FW zut) (FW alors))"]
    found = evaluate(parser, [tokens(tree) for tree in Y], Y)
    assert np.isnan(found.margins).tolist() == [False, True, True]
    assert found.predicted[2] == ("ROOT", ("FW", "zut"), ("FW", "alors"))
    assert found.losses.tolist() == [0, 2, 1]


def test_a_model_of_ones_own_may_measure():
    class Measured(Sign):
        def measures(self, X, Y, predicted):
            sizes = np.abs(X)
            right = np.equal(Y, predicted)
            return Measures(
                np.column_stack([sizes * right, sizes]), {"weighted_share": lambda sums: sums[..., 0] / sums[..., 1]}
            )

    svm = StructuralSVM(Measured(), C=1).fit([2.0, -3.0], [1, -1])
    found = evaluate(svm, [2.0, -3.0, 1.0], [1, -1, -1])
    assert found.scores["weighted_share"].estimate == pytest.approx(5 / 6)
    assert "weighted share" in printed(found)


@pytest.mark.parametrize(
    ("counts", "name", "message"),
    [
        (np.ones((2, 1)), "share", "measures has counts of 2 examples, but there are 3"),
        (np.ones((3, 1)), "accuracy", "measures has a score 'accuracy', which every evaluation has"),
        (np.ones(3), "share", r"counts has shape \(3,\)"),
        ([[1.0], [np.nan], [0.0]], "share", r"counts\[1, 0\] is nan"),
    ],
)
def test_measures_that_do_not_fit_are_refused(counts, name, message):
    class Measured(Sign):
        def measures(self, X, Y, predicted):
            return Measures(counts, {name: lambda sums: sums[..., 0]})

    svm = StructuralSVM(Measured(), C=1).fit([2.0, -3.0], [1, -1])
    with pytest.raises(ValueError, match=message):
        evaluate(svm, [2.0, -3.0, 1.0], [1, -1, -1])


def test_one_example_has_no_interval(tagger):
    found = evaluate(tagger, [["the", "dog"]], [["B-NP", "I-NP"]])
    assert math.isnan(found.accuracy.low)
    assert found.to_dict()["intervals"]["accuracy"] is None


def test_the_dict_is_json_even_for_labels_that_are_not(tagger):
    X = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]]
    perceptron = StructuredPerceptron(Chain()).fit(X, [[(0, 1), "a"], ["a"]])
    values = evaluate(perceptron, X, [[(0, 1), 7], ["a"]]).to_dict()
    again = json.loads(json.dumps(values, allow_nan=False))
    assert [score["label"] for score in again["labels"]] == ["(0, 1)", "a", 7]
    assert {"loss", "accuracy", "sequence_accuracy", "examples", "tokens"} <= set(again)
    spans = evaluate(tagger, *sentences(10, seed=5)).to_dict()
    assert {"f1", "precision", "recall", "spans"} <= set(json.loads(json.dumps(spans, allow_nan=False)))


def test_the_terminal_shows_labels_as_they_are():
    X = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]]
    Y = [["[bold]a", "b"], ["b"]]
    shown = printed(evaluate(StructuredPerceptron(Chain()).fit(X, Y), X, Y))
    assert "[bold]a" in shown
    assert "2 examples with 3 tokens" in shown
    assert "sequence accuracy  1.0000" in shown


def test_the_same_seed_gives_the_same_intervals(tagger):
    X, Y = sentences(30, seed=6)
    assert evaluate(tagger, X, Y).to_dict() == evaluate(tagger, X, Y).to_dict()
    assert evaluate(tagger, X, Y, random_state=1).f1 != evaluate(tagger, X, Y).f1


def test_what_is_no_estimator_is_refused():
    with pytest.raises(TypeError, match="estimator is a TextFeatures; expected a StructuralSVM"):
        evaluate(make_pipeline(TextFeatures()), [["a"]], [["b"]])


def test_single_letters_are_tags_only_where_all_are():
    assert are_tags(["B", "I", "O"])
    assert not are_tags(["A", "B", "I"])
    assert not are_tags([1, 2])


def test_many_labels_print_as_the_most_frequent_ones():
    labels = np.repeat(np.arange(200), [3] * 100 + [1] * 100)
    svm = StructuredPerceptron(Multiclass(), max_iter=1).fit(np.eye(200)[labels], labels)
    found = evaluate(svm, np.eye(200)[labels], labels)
    assert len(found.labels) == 200
    for text in (str(found), printed(found)):
        assert len(text) < 5000
        assert "and 170 labels more, less frequent ones" in text
    rows = [line.split() for line in str(found).splitlines()]
    assert {row[-1] for row in rows if len(row) == 5 and row[0].isdecimal()} == {"3"}
    assert repr(found) == f"<Evaluation of 400 examples: accuracy {found.accuracy.estimate:.4f}>"


def test_the_score_to_look_at_first_has_one_place_for_all_structures(tagger):
    X, Y = sentences(20, seed=3)
    tags = evaluate(tagger, X, Y)
    assert tags.headline == ("f1", tags.f1)
    spans = StructuralSVM(Segments()).fit([np.eye(2)], [[("A", 0, 2)]])
    assert evaluate(spans, [np.eye(2)], [[("A", 0, 2)]]).headline[0] == "f1"
    parser = StructuralSVM(Grammar()).fit([["DT", "NN"]], ["(S (NP (DT the) (NN dog)))"])
    trees = evaluate(parser, [["DT", "NN"]], ["(S (NP (DT the) (NN dog)))"])
    assert trees.headline == ("f1", trees.intervals["f1"])
    rows = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    assert evaluate(rows, np.eye(2), ["a", "b"]).headline[0] == "accuracy"
