import numpy as np
import pytest
import sklearn.metrics as theirs
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse import csr_array

from structlearn.metrics import (
    bootstrap_counts,
    correct_sets,
    exact_match,
    example_f1,
    hamming_loss,
    label_accuracy,
    label_set_measures,
    label_set_report,
    macro_f1,
    micro_f1,
)

tables = st.tuples(st.integers(1, 6), st.integers(2, 4)).flatmap(
    lambda shape: st.tuples(*[hnp.arrays(np.int8, shape, elements=st.integers(0, 1))] * 2)
)
SCORES = [label_accuracy, hamming_loss, exact_match, example_f1, micro_f1, macro_f1]


@given(tables)
def test_tables_are_scored_as_scikit_learn_scores_them(pair):
    Y, Y_pred = pair
    assert hamming_loss(Y, Y_pred) == pytest.approx(theirs.hamming_loss(Y, Y_pred))
    assert label_accuracy(Y, Y_pred) == pytest.approx(1 - theirs.hamming_loss(Y, Y_pred))
    assert exact_match(Y, Y_pred) == pytest.approx(theirs.accuracy_score(Y, Y_pred))
    for average, ours, empty in (("samples", example_f1, 1), ("micro", micro_f1, 0), ("macro", macro_f1, 0)):
        expected = theirs.f1_score(Y, Y_pred, average=average, zero_division=empty)
        assert ours(Y, Y_pred) == pytest.approx(expected)
    found = label_set_report(Y, Y_pred)
    by_label = np.transpose(theirs.precision_recall_fscore_support(Y, Y_pred, zero_division=0))
    np.testing.assert_allclose([(s.precision, s.recall, s.f1, s.support) for s in found.per_class.values()], by_label)
    assert (found.micro.f1, found.macro.f1) == pytest.approx((micro_f1(Y, Y_pred), macro_f1(Y, Y_pred)))


@given(tables)
def test_collections_and_sparse_tables_say_the_same(pair):
    names = "abcd"[: pair[0].shape[1]]
    as_sets = [[{names[k] for k in np.flatnonzero(row)} for row in table] for table in pair]
    as_lists = [[[names[k] for k in np.flatnonzero(row)[::-1]] for row in table] for table in pair]
    sparse = [csr_array(table) for table in pair]
    for score in SCORES:
        expected = score(*pair)
        assert score(*sparse) == expected
        if score in (exact_match, example_f1, micro_f1):
            if pair[0].any() or pair[1].any():
                assert score(*as_sets) == pytest.approx(expected)
        else:
            assert score(*as_sets, labels=list(names)) == expected
            assert score(*as_lists, labels=list(names)) == expected


@given(tables)
def test_measures_are_the_scores_with_sums_of_their_own(pair):
    found = label_set_measures(*pair)
    expected = {score.__name__: score(*pair) for score in (label_accuracy, example_f1, micro_f1, macro_f1)}
    assert found.scores() == pytest.approx(expected)
    np.testing.assert_array_equal(found.right, correct_sets(*pair))
    # Formulas take sums of any number of resamples at once.
    twice = np.stack([found.counts.sum(axis=0)] * 2)
    for name, formula in found.formulas.items():
        np.testing.assert_allclose(formula(twice), [expected[name]] * 2)


def test_intervals_come_from_resampled_sums():
    random = np.random.default_rng(0)
    Y = random.random((60, 4)) < 0.4
    Y_pred = Y ^ (random.random((60, 4)) < 0.1)
    found = label_set_measures(Y, Y_pred, first="macro_f1")
    name, formula = next(iter(found.formulas.items()))
    assert name == "macro_f1"
    interval = bootstrap_counts(found.counts, formula, random_state=0, n_resamples=400)
    drawn = [random.integers(60, size=60) for _ in range(400)]
    low, high = np.quantile([macro_f1(Y[each], Y_pred[each]) for each in drawn], [0.025, 0.975])
    assert interval.estimate == pytest.approx(macro_f1(Y, Y_pred))
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.02)


def test_an_example_without_labels_is_right_if_none_are_predicted():
    assert example_f1([set(), {"a"}], [set(), {"b"}]) == 0.5
    assert correct_sets([set(), {"a"}], [set(), {"b"}]).tolist() == [True, False]


def test_labels_may_be_of_different_types():
    assert exact_match([{1, "a"}, {None}], [{"a", 1}, {1}]) == 0.5


def test_names_of_a_table_are_shown():
    table = np.array([[1, 0]])
    assert list(label_set_report(table, table, labels=["red", "round"]).per_class) == ["red", "round"]


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    ("Y", "Y_pred", "message"),
    [
        ([], [], "Y has no examples"),
        ([{"a"}], [{"a"}, {"b"}], "Y has 1 examples but Y_pred has 2"),
        (np.eye(2), np.ones((2, 3)), "Y has 2 labels but Y_pred has 3"),
        (np.eye(2), [{0}, {1}], "one of Y and Y_pred is a table"),
        (np.eye(2), np.array([[1, 2], [0, 1]]), r"Y_pred\[0, 1\] is 2; expected 0 or 1"),
        (np.array([[np.nan, 1]]), np.ones((1, 2)), r"Y\[0, 0\] is nan"),
        ([{"a"}], ["ab"], r"Y_pred\[0\] is 'ab'; expected a set of labels"),
        ([{"a"}], [1], r"Y_pred\[0\] is 1; expected a set of labels"),
        ([["a", "a"]], [["a"]], r"Y\[0\] is \['a', 'a'\]; a set has each label once"),
        ([set()], [set()], "no example has a label"),
    ],
)
def test_what_cannot_be_compared_is_refused_by_name(score, Y, Y_pred, message):
    with pytest.raises(ValueError, match=message):
        score(Y, Y_pred)


def test_wrong_names_are_refused():
    with pytest.raises(ValueError, match=r"Y\[0\] has 'b', which is not among labels"):
        label_accuracy([{"b"}], [{"a"}], labels=["a"])
    with pytest.raises(ValueError, match="there are 3 names for 2 labels"):
        macro_f1(np.eye(2), np.eye(2), labels=["a", "b", "c"])
    with pytest.raises(ValueError, match="first is 'f1'; it may be 'label_accuracy', 'example_f1'"):
        label_set_measures(np.eye(2), np.eye(2), first="f1")
