import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structlearn.metrics import (
    bootstrap_counts,
    correct_nodes,
    intersection_over_union,
    mean_iou,
    node_accuracy,
    node_measures,
)

images = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda shape: st.tuples(*[hnp.arrays(np.int64, shape, elements=st.integers(0, 3))] * 2)
    ),
    min_size=1,
    max_size=4,
).map(lambda pairs: ([y for y, _ in pairs], [p for _, p in pairs]))


def flat(Y):
    return np.concatenate([np.ravel(y) for y in Y])


@given(images)
def test_pixels_are_scored_as_scikit_learn_scores_them(pair):
    true, predicted = map(flat, pair)
    assert node_accuracy(*pair) == pytest.approx(theirs.accuracy_score(true, predicted))
    labels = sorted({*true.tolist(), *predicted.tolist()})
    found = intersection_over_union(*pair)
    assert list(found) == labels
    np.testing.assert_allclose([*found.values()], theirs.jaccard_score(true, predicted, average=None))
    assert mean_iou(*pair) == pytest.approx(theirs.jaccard_score(true, predicted, average="macro"))


@given(images, st.sets(st.integers(0, 3), min_size=1, max_size=3))
def test_pixels_whose_true_label_is_ignored_count_nowhere(pair, ignore):
    true, predicted = map(flat, pair)
    counted = ~np.isin(true, list(ignore))
    assume(counted.any())
    true, predicted = true[counted], predicted[counted]
    assert correct_nodes(*pair, ignore=ignore).tolist() == (true == predicted).tolist()
    assert node_accuracy(*pair, ignore=ignore) == pytest.approx(theirs.accuracy_score(true, predicted))
    labels = sorted({*true.tolist(), *predicted.tolist()} - ignore)
    found = intersection_over_union(*pair, ignore=ignore)
    assert list(found) == labels
    expected = theirs.jaccard_score(true, predicted, labels=labels, average=None, zero_division=0)
    np.testing.assert_allclose([*found.values()], expected)


@given(images)
def test_measures_are_the_scores_with_sums_of_their_own(pair):
    found = node_measures(*pair)
    expected = {"node_accuracy": node_accuracy(*pair), "mean_iou": mean_iou(*pair)}
    assert found.scores() == pytest.approx(expected)
    np.testing.assert_array_equal(found.right, [np.array_equal(y, p) for y, p in zip(*pair, strict=True)])
    # Each example alone, as a resample may have it.
    for i, row in enumerate(found.counts):
        alone = [pair[0][i]], [pair[1][i]]
        assert found.formulas["mean_iou"](row[None])[0] == pytest.approx(mean_iou(*alone))
        assert found.formulas["node_accuracy"](row[None])[0] == pytest.approx(node_accuracy(*alone))


def test_intervals_come_from_resampled_sums():
    random = np.random.default_rng(0)
    Y = [random.integers(3, size=(3, int(n))) for n in random.integers(2, 9, 40)]
    Y_pred = [np.where(random.random(y.shape) < 0.2, 0, y) for y in Y]
    found = node_measures(Y, Y_pred)
    interval = bootstrap_counts(found.counts, found.formulas["mean_iou"], random_state=0, n_resamples=300)
    drawn = [random.integers(40, size=40) for _ in range(300)]
    resampled = [mean_iou([Y[i] for i in each], [Y_pred[i] for i in each]) for each in drawn]
    assert (interval.low, interval.high) == pytest.approx(np.quantile(resampled, [0.025, 0.975]), abs=0.02)


def test_graphs_are_lists_of_labels_of_any_type():
    Y, Y_pred = [["a", ("b", 1), None], [], np.array(["a"])], [["a", ("b", 2), None], [], ["c"]]
    assert node_accuracy(Y, Y_pred) == 0.5
    assert node_measures(Y, Y_pred).right.tolist() == [False, True, False]
    assert intersection_over_union([["a", 1]], [["a", "1"]]) == {"a": 1.0, 1: 0.0, "1": 0.0}


def test_the_last_example_may_be_empty():
    assert node_measures([["a"], []], [["a"], []]).scores() == {"node_accuracy": 1.0, "mean_iou": 1.0}


def measured(Y, Y_pred):
    return node_measures(Y, Y_pred).scores()


@pytest.mark.parametrize("score", [node_accuracy, mean_iou, intersection_over_union, measured])
@pytest.mark.parametrize(
    ("Y", "Y_pred", "message"),
    [
        ([], [], "Y has no examples"),
        ([[1]], [[1], [2]], "Y has 1 examples but Y_pred has 2"),
        ([np.zeros((2, 3))], [np.zeros((3, 2))], r"Y\[0\] has shape \(2, 3\) but Y_pred\[0\] has \(3, 2\)"),
        ([[1, 2]], [[1, 2, 3]], r"Y\[0\] has shape \(2,\) but Y_pred\[0\] has \(3,\)"),
        ([3], [3], r"Y\[0\] is 3; expected an array of labels"),
        (["ab"], ["ab"], r"Y\[0\] is 'ab'; expected an array of labels"),
        ([[[1, 2], [3]]], [[[1, 2], [3]]], r"Y\[0\] has rows of different lengths"),
        ([[]], [[]], "Y has no labels that count"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(score, Y, Y_pred, message):
    with pytest.raises(ValueError, match=message):
        score(Y, Y_pred)


def test_where_all_is_ignored_there_is_no_score():
    with pytest.raises(ValueError, match="all are ignored"):
        node_accuracy([[0, 0]], [[1, 1]], ignore=[0])
    with pytest.raises(ValueError, match="ignore is 'void'; expected a list of labels"):
        node_accuracy([["void"]], [["a"]], ignore="void")
