import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings

from structlearn.models import Multiclass, Taxonomy
from structlearn.waist import Scaling
from tests.models.decoders import check_k_best, check_most_violating
from tests.models.enumerated import bound
from tests.models.instances import multiclass_instances


@settings(max_examples=120)
@given(multiclass_instances())
def test_every_oracle_agrees_with_enumeration(instance):
    check_most_violating(*instance)


@settings(max_examples=40)
@given(multiclass_instances())
def test_differences_and_losses_are_those_of_the_definition(instance):
    twins, _ = instance
    for i, listed in enumerate(twins.listed()):
        outputs = np.array(listed.outputs, np.int32)
        rows, losses = twins.problem.differences(np.full(len(outputs), i), outputs)
        np.testing.assert_allclose(rows.dot(np.ones(twins.problem.n_features)), listed.rows.sum(axis=1), atol=1e-12)
        for k, expected in enumerate(listed.rows):
            row = np.zeros(twins.problem.n_features)
            rows.add_to(row, np.eye(len(outputs))[k])
            np.testing.assert_allclose(row, expected, atol=1e-12)
        np.testing.assert_array_equal(losses, listed.losses)


@settings(max_examples=40)
@given(multiclass_instances())
def test_largest_losses_are_exact_and_radii_are_upper_bounds(instance):
    twins, _ = instance
    listed = twins.listed()
    np.testing.assert_array_equal(twins.problem.max_losses(), [each.losses.max() for each in listed])
    radii = np.array([np.linalg.norm(each.rows, axis=1).max() for each in listed])
    assert np.all(twins.problem.radii() >= radii - 1e-12)


@settings(max_examples=30)
@given(multiclass_instances())
def test_k_best_lists_the_highest_scores_in_order(instance):
    check_k_best(*instance, 3)


def test_a_radius_survives_output_features_of_opposite_sign():
    features = Taxonomy({"a": "root", "b": "root"}, weights={"root": 3.0})
    problem = bound(Multiclass(output_features=features), [[2.0], [1.0]], ["a", "b"])
    np.testing.assert_allclose(problem.radii(), [2 * np.sqrt(2), np.sqrt(2)])


def test_a_radius_counts_a_feature_that_is_stored_twice():
    twice = sp.csr_array((np.array([1.0, 1.0]), np.array([0, 0]), np.array([0, 2])), shape=(1, 1))
    problem = bound(Multiclass(classes=[0, 1]), twice, [0])
    assert problem.radii()[0] == pytest.approx(2 * np.sqrt(2))
    assert twice.nnz == 2


def test_declared_classes_win_over_observed_ones():
    problem = bound(Multiclass(classes=["c", "b", "a"]), [[1.0], [2.0]], ["a", "b"])
    assert problem.n_features == 3
    np.testing.assert_array_equal(problem.present(np.array([0, 2])), ["c", "a"])


def test_a_label_that_was_not_declared_is_named_with_its_place():
    with pytest.raises(ValueError, match=r"Y\[1\] is 'z', which is not among the 2 classes \('a', 'b'\)"):
        bound(Multiclass(classes=["a", "b"]), [[1.0], [2.0]], ["a", "z"])


def test_an_unknown_label_counts_as_always_wrong_where_it_is_allowed():
    model = Multiclass()
    spec = model.specify([[1.0], [2.0]], ["a", "b"])
    problem = model.bind(spec, [[1.0]], ["z"], allow_unknown=True)
    np.testing.assert_array_equal(problem.losses(np.array([0])), [1.0])
    np.testing.assert_array_equal(problem.max_losses(), [1.0])


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], r"cost has shape \(3, 3\) but there are 2 classes"),
        ([[0, 1], [1, 2]], r"cost\[1, 1\] is 2"),
        ([[0, -1], [1, 0]], r"least entry is -1"),
        ("hamming", r"cost is 'hamming'"),
        ("tree", r"may be 'zero_one', a Taxonomy or a matrix"),
    ],
)
def test_an_impossible_cost_is_refused(cost, message):
    with pytest.raises(ValueError, match=message):
        bound(Multiclass(classes=["a", "b"], cost=cost), [[1.0], [2.0]], ["a", "b"])


def test_a_cost_matrix_for_other_classes_is_refused():
    with pytest.raises(ValueError, match="cost is for 3 classes but Y has 2 different labels; declare `classes`"):
        bound(Multiclass(cost=1 - np.eye(3)), [[1.0], [2.0]], ["a", "b"])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[np.nan], [1.0]], ["a", "b"], "X contains NaN"),
        ([[np.inf], [1.0]], ["a", "b"], "X contains infinity"),
        ([[0.0], [1.0]], ["a"], "X has 2 rows but Y has 1 labels"),
        ([[0.0], [1.0]], [[0], [1, 2]], "for sequences of labels use Chain"),
        ([[0.0], [1.0]], [0.0, np.nan], r"Y\[1\] is nan"),
        ([[0.0], [1.0]], None, "target y is None"),
    ],
)
def test_bad_examples_are_refused(X, Y, message):
    with pytest.raises(ValueError, match=message):
        bound(Multiclass(), X, Y)


def test_another_number_of_features_is_refused():
    model = Multiclass()
    with pytest.raises(ValueError, match="X has 1 features but training had 2"):
        model.bind(model.specify([[0.0, 1.0], [1.0, 0.0]], [0, 1]), [[1.0]])


def test_a_fingerprint_tells_output_features_and_empty_columns_apart():
    X, Y = [[1.0, 0.0], [2.0, 0.0]], ["a", "b"]
    plain = bound(Multiclass(), X, Y)
    tree = bound(Multiclass(output_features=Taxonomy({"a": "r", "b": "r"})), X, Y)
    narrow = bound(Multiclass(), [[1.0], [2.0]], Y)
    assert len({problem.fingerprint() for problem in (plain, tree, narrow)}) == 3
    assert plain.fingerprint() == bound(Multiclass(), X, Y).fingerprint()


def test_the_truth_is_the_answer_where_nothing_is_violated():
    problem = bound(Multiclass(), [[1.0], [-1.0]], [0, 1])
    planes = problem.oracle(np.array([5.0, -5.0]), np.arange(2), Scaling("margin", "linear"))
    np.testing.assert_array_equal(planes.outputs, [0, 1])
    np.testing.assert_array_equal(planes.losses, [0.0, 0.0])
    np.testing.assert_array_equal(planes.bounds, [0.0, 0.0])
