import datetime
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, precision_recall_fscore_support

from structlearn.metrics import (
    confusion,
    correct_sequences,
    correct_tokens,
    label_report,
    sequence_accuracy,
    token_accuracy,
)


def truth_and_prediction():
    token = st.tuples(*[st.sampled_from("abcd")] * 2, st.booleans()).map(lambda t: (t[0], t[0] if t[2] else t[1]))
    sequences = st.lists(st.lists(token, min_size=1, max_size=6), min_size=1, max_size=5)
    return sequences.map(lambda Z: ([[a for a, _ in z] for z in Z], [[b for _, b in z] for z in Z]))


def flat(Y):
    return [label for y in Y for label in y]


@given(truth_and_prediction())
def test_labels_are_scored_as_scikit_learn_scores_them_one_after_the_other(pair):
    Y, Y_pred = pair
    true, predicted = flat(Y), flat(Y_pred)
    report, found = label_report(Y, Y_pred), confusion(Y, Y_pred)
    pairs = Counter(zip(true, predicted, strict=True))
    assert found.counts.tolist() == [[pairs[a, b] for b in found.labels] for a in found.labels]
    assert token_accuracy(Y, Y_pred) == pytest.approx(accuracy_score(true, predicted))
    assert report.f1 == pytest.approx(token_accuracy(Y, Y_pred))
    for average, score in (("macro", report.macro), ("weighted", report.weighted)):
        *theirs, _ = precision_recall_fscore_support(true, predicted, average=average, zero_division=0)
        np.testing.assert_allclose([score.precision, score.recall, score.f1], theirs, rtol=1e-12)
    by_label = np.transpose(precision_recall_fscore_support(true, predicted, zero_division=0))
    ours = [(s.precision, s.recall, s.f1, s.support) for s in report.per_class.values()]
    np.testing.assert_allclose(ours, by_label, rtol=1e-12)


@given(truth_and_prediction())
def test_a_sequence_is_right_if_all_its_labels_are(pair):
    Y, Y_pred = pair
    right = [y == p for y, p in zip(Y, Y_pred, strict=True)]
    np.testing.assert_array_equal(correct_sequences(Y, Y_pred), right)
    assert sequence_accuracy(Y, Y_pred) == np.mean(right)


@given(truth_and_prediction())
def test_mistakes_are_all_those_that_are_made_most_frequent_first(pair):
    mistakes = confusion(*pair).mistakes()
    counts = [count for _, _, count in mistakes]
    assert counts == sorted(counts, reverse=True)
    assert all(a != b and count > 0 for a, b, count in mistakes)
    assert sum(counts) == np.sum(~correct_tokens(*pair))


def test_a_label_that_was_never_predicted_or_never_true_is_simply_wrong():
    report = label_report([["a", "new"]], [["a", "odd"]])
    assert (report["new"].recall, report["new"].support) == (0, 1)
    assert (report["odd"].precision, report["odd"].support) == (0, 0)
    assert token_accuracy([["a", "new"]], [["a", "odd"]]) == 0.5


@pytest.mark.parametrize(
    ("a", "b"), [(0, 1), (None, "x"), (("a", 1), ("b", 2)), (datetime.date(2024, 1, 1), datetime.date(2024, 1, 2))]
)
def test_labels_are_of_any_hashable_type(a, b):
    report = label_report([[a, b], [a]], [[a, a], [a]])
    assert report[a].precision == pytest.approx(2 / 3)
    assert report[b].recall == 0
    assert str(b) in str(report)


def test_arrays_are_sequences_of_labels():
    Y, Y_pred = [np.array([0, 1]), np.array([2])], [[0, 1], np.array([1], np.int32)]
    assert token_accuracy(Y, Y_pred) == pytest.approx(2 / 3)
    assert confusion(Y, Y_pred).mistakes() == [(2, 1, 1)]


def test_empty_sequences_are_right_but_have_no_accuracy():
    np.testing.assert_array_equal(correct_sequences([[], ["a"]], [[], ["b"]]), [True, False])
    with pytest.raises(ValueError, match="Y has no labels"):
        token_accuracy([[]], [[]])


@pytest.mark.parametrize("metric", [token_accuracy, sequence_accuracy, label_report, confusion])
@pytest.mark.parametrize(
    ("Y", "Y_pred", "message"),
    [
        ([["a"], ["a", "b"]], [["a"], ["a"]], r"Y\[1\] has 2 labels but Y_pred\[1\] has 1"),
        ([["a"]], [["a"], ["a"]], "Y has 1 sequences but Y_pred has 2"),
        ([], [], "Y has no sequences"),
        (["ab"], [["a", "b"]], r"Y\[0\] is 'ab'; expected a sequence of labels"),
        ([1, 2], [1, 2], r"Y\[0\] is 1; expected a sequence of labels .*sklearn.metrics"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(metric, Y, Y_pred, message):
    with pytest.raises(ValueError, match=message):
        metric(Y, Y_pred)
