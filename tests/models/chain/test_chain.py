from itertools import groupby

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Chain
from structlearn.waist import Scaling
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import bound
from tests.models.instances import chain_instances, chain_twins


def score(twins, i, y, w):
    return twins.reference.joint_feature(twins.X[i], y) @ w


@settings(max_examples=120)
@given(chain_instances())
def test_viterbi_agrees_with_enumeration(instance):
    twins, w = instance
    for i, found in enumerate(twins.problem.predict(w)):
        best = max(score(twins, i, y, w) for y in twins.reference.outputs(twins.X[i]))
        assert score(twins, i, found, w) == pytest.approx(best, abs=1e-9)


@settings(max_examples=200)
@given(chain_instances())
def test_every_oracle_agrees_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=120)
@given(chain_instances(), st.integers(1, 7))
def test_k_best_lists_different_sequences_with_the_highest_scores(instance, k):
    check_k_best(*instance, k)


@settings(max_examples=120)
@given(chain_instances(losses=("hamming", "weighted")))
def test_best_per_loss_level_agrees_with_enumeration(instance):
    twins, w = instance
    for i, y in enumerate(twins.Y):
        outputs = twins.reference.outputs(twins.X[i])
        losses = sorted((round(twins.reference.loss(y, other), 9), score(twins, i, other, w)) for other in outputs)
        best = {loss: max(value for _, value in group) for loss, group in groupby(losses, key=lambda pair: pair[0])}
        levels = twins.problem.best_per_loss_level(w, i)
        assert [round(loss, 9) for loss, _, _ in levels] == list(best)
        assert [value for _, _, value in levels] == pytest.approx(list(best.values()), abs=1e-9)
        for loss, labels, value in levels:
            assert twins.reference.loss(y, labels) == pytest.approx(loss)
            assert score(twins, i, labels, w) == pytest.approx(value, abs=1e-9)


@settings(max_examples=120)
@given(chain_instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, listed in enumerate(twins.listed()):
        rows, losses = twins.problem.differences(np.full(len(listed.outputs), i), listed.outputs)
        for k, expected in enumerate(listed.rows):
            row = np.zeros(twins.problem.n_features)
            rows.add_to(row, np.eye(len(losses))[k])
            np.testing.assert_allclose(row, expected, atol=1e-12)
        np.testing.assert_allclose(losses, listed.losses, rtol=1e-12)


@settings(max_examples=120)
@given(chain_instances())
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    listed = twins.listed()
    np.testing.assert_allclose(twins.problem.max_losses(), [each.losses.max() for each in listed], rtol=1e-12)
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in listed])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


def test_a_chain_with_one_label_has_no_second_best():
    twins = chain_twins(np.random.default_rng(0), n_labels=1)
    planes = twins.problem.oracle(np.zeros(twins.problem.n_features), np.arange(3), Scaling(None, "linear"))
    assert len(planes.examples) == len(planes.outputs) == len(planes.rows) == 0


def test_the_second_best_is_found_where_the_truth_ties_with_others():
    twins = chain_twins(np.random.default_rng(0), lengths=(3,))
    planes = twins.problem.oracle(np.zeros(twins.problem.n_features), np.arange(1), Scaling(None, "linear"))
    assert tuple(planes.outputs[0]) != twins.Y[0]
    assert planes.bounds[0] == 1.0


def test_equal_label_weights_have_loss_levels_whatever_their_value():
    for weight in (1e-5, np.pi):
        twins = chain_twins(np.random.default_rng(0), label_weight=dict.fromkeys(range(3), weight))
        w = np.random.default_rng(1).normal(size=twins.problem.n_features)
        scaling = Scaling("slack", "linear")
        expected = [listed.violations(w, scaling).max() for listed in twins.listed()]
        assert twins.problem.oracle(w, np.arange(3), scaling).bounds == pytest.approx(expected)


@pytest.mark.parametrize("label_weight", [{0: np.pi, 1: 1.0}, {0: 1e-5, 1: 2e-5, 2: 1e-5}, {0: 1.0, 1: 1000.0}])
def test_label_weights_off_every_small_grid_have_no_loss_levels(label_weight):
    twins = chain_twins(np.random.default_rng(0), label_weight=label_weight)
    assert "loss_levels" not in twins.problem.oracles
    assert "256 loss levels" in twins.problem.missing("loss_levels")
    with pytest.raises(ValueError, match="256 loss levels"):
        twins.problem.best_per_loss_level(np.zeros(twins.problem.n_features), 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "f2"}, "loss is 'f2'"),
        ({"balance": -1.0}, "balance is -1.0"),
        ({"balance": np.nan}, "balance is nan"),
        ({"label_weight": {"a": -2.0}}, r"label_weight\['a'\] is -2.0"),
        ({"label_weight": {"a": 2.0}, "loss": "zero_one"}, "label_weight belongs to the Hamming loss"),
        ({"label_weight": {"PERSON": 5}}, "label_weight names 'PERSON', which is not one of the labels: 'a', 'b'"),
        ({"classes": []}, "classes is empty"),
        ({"classes": ["a", "b", "a"]}, "classes has 'a' more than once"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bound(Chain(**options), [np.eye(2)], [["a", "b"]])


def test_a_declared_label_may_have_a_weight_without_having_been_seen():
    bound(Chain(classes=["a", "b", "c"], label_weight={"c": 5}), [np.eye(2)], [["a", "b"]])


def test_a_label_without_a_price_never_counts():
    twins = chain_twins(np.random.default_rng(3), n_labels=2, lengths=(4,), label_weight={0: 0.0})
    wrong = [tuple(1 - label for label in twins.Y[0])]
    assert twins.problem.losses(wrong)[0] == twins.Y[0].count(1)


def test_rows_that_are_not_written_out_act_like_those_that_are():
    random = np.random.default_rng(0)
    problem = chain_twins(random).problem
    examples = np.arange(problem.n_examples)
    planes = problem.oracle(random.normal(size=problem.n_features), examples, Scaling("margin", "linear"))
    rows, written = planes.rows, planes.rows.sparse()
    w, coefficients, which = random.normal(size=problem.n_features), random.normal(size=len(rows)), examples[::-1]
    np.testing.assert_allclose(rows.dot(w), written.dot(w))
    np.testing.assert_allclose(rows.take(which).dot(w), written.take(which).dot(w))
    left, right = w.copy(), w.copy()
    rows.add_to(left, coefficients)
    written.add_to(right, coefficients)
    np.testing.assert_allclose(left, right)
    np.testing.assert_allclose(rows.gram(rows), written.gram(written))
