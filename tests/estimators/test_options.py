"""Options that are flags in the place of numbers, texts in the place of flags, or no numbers, are refused by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import (
    ConditionalRandomField,
    LatentConditionalRandomField,
    LatentStructuralSVM,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.models import Chain, LatentChain, Multiclass
from structlearn.solvers import BlockCoordinate

X = [np.eye(2), np.ones((1, 2))]
Y = [["a", "b"], ["b"]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("C", value) for value in (True, np.nan, np.inf, "1", 1j, 0)),
        *((name, value) for name in ("tol", "eps") for value in (True, "1", np.nan, np.inf)),
        *(("max_iter", value) for value in (True, "3", 2.0, -1)),
        *((name, "no") for name in ("fit_intercept", "track_loss", "warm_start")),
        *(("n_iter_no_change", value) for value in (True, "3", 0)),
        *(("n_jobs", value) for value in (True, "2", 1.5, 0)),
        ("solver", ["n_slack"]),
        ("slack", np.array([1.0, 2.0])),
    ],
)
def test_an_option_of_another_kind_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=f"^{name} is "):
        StructuralSVM(Chain(), **{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [True, "x", np.nan, 1.5, np.array([1.0, 2.0])])
def test_the_share_of_the_l1_penalty_is_a_number(value):
    with pytest.raises(ValueError, match=r"^l1_ratio is "):
        ConditionalRandomField(Chain(), l1_ratio=value).fit(X, Y)


@pytest.mark.parametrize("option", [{"tol": True}, {"eps": "x"}, {"max_iter": True}, {"tol": np.nan}])
def test_options_of_a_solver_object_are_checked_as_well(option):
    with pytest.raises(ValueError, match=f"^{next(iter(option))} is "):
        StructuralSVM(Chain(), solver=BlockCoordinate(**option)).fit(X, Y)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"balance": True}, "balance is True"),
        ({"balance": "x"}, "balance is 'x'"),
        ({"boundaries": "no"}, "boundaries is 'no'"),
        ({"observed_only": "no"}, "observed_only is 'no'"),
        ({"order": True}, "order is True"),
        ({"label_weight": [1]}, r"label_weight is \[1\]"),
        ({"label_weight": {"a": "x"}}, r"label_weight\['a'\] is 'x'"),
        ({"pair_features": [True]}, "pair_features holds True"),
        ({"classes": 5}, "classes is 5"),
        ({"classes": ["a", np.nan]}, r"classes\[1\] is nan"),
    ],
)
def test_options_of_a_chain_are_refused_by_name_and_value(option, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(Chain(**option)).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (LatentStructuralSVM(LatentChain(), n_init=True), "n_init is True"),
        (LatentConditionalRandomField(LatentChain(), n_init=0), "n_init is 0"),
        (LatentConditionalRandomField(Chain(), init="best"), "init is 'best'"),
        (LatentConditionalRandomField(Chain(), l1_ratio=2), "l1_ratio is 2"),
        (LatentStructuralSVM(LatentChain(), init=5), "init is 5"),
        (LatentStructuralSVM(LatentChain(states=True)), "states is True"),
        (
            LatentStructuralSVM(LatentChain(states=10**12)),
            "states is 1000000000000; it must be a whole number from 1 to 1000",
        ),
        (LatentStructuralSVM(LatentChain(balance=np.nan)), "balance is nan"),
    ],
)
def test_options_of_a_latent_chain_are_refused_by_name_and_value(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, Y)


@pytest.mark.parametrize("entry", [np.nan, {"b", np.nan}, [["b"]], {}])
def test_what_can_be_no_label_of_a_latent_chain_is_refused_by_place(entry):
    with pytest.raises(ValueError, match=r"Y\[0\]\[1\] is"):
        LatentStructuralSVM(LatentChain()).fit(X, [["a", entry], ["b"]])


@pytest.mark.parametrize("weight", [[1j, 1], np.array([1j, 1]), ["1", "2"], np.array(["2020", "2021"], "M8[Y]")])
def test_weights_of_examples_are_real_numbers(weight):
    with pytest.raises(ValueError, match=r"sample_weight (holds|is not)"):
        StructuralSVM(Chain()).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize("learner", [StructuralSVM, ConditionalRandomField, StructuredPerceptron])
@pytest.mark.parametrize(
    ("model", "X", "place"),
    [
        (Multiclass(), np.array([[1.0, 0.0], [-1e200, 1.0]]), r"X\[1, 0\] is -1e\+200"),
        (Multiclass(), sp.csr_array([[1.0, 0.0], [0.0, 1e200]]), r"X\[1, 1\] is 1e\+200"),
        (Chain(), [np.eye(2), np.array([[0.0, 1.0], [1.0, 1e200]])], r"X\[1\]\[1, 1\] is 1e\+200"),
        (Chain(), [[{"a": 1.0}], [{"b": 1e200}]], r"X\[1\]\[0, 1\] is 1e\+200"),
    ],
)
def test_features_whose_squares_overflow_are_named(learner, model, X, place):
    Y = ["a", "b"] if isinstance(model, Multiclass) else [["a", "b"][: len(x)] for x in X]
    with pytest.raises(ValueError, match=f"{place}, whose square is too large to train with; scale the features"):
        learner(model).fit(X, Y)


def test_a_solver_by_name_stops_at_the_default_tolerance_and_an_object_at_its_own():
    assert StructuralSVM(Chain())._solver().tolerance == 0.03
    assert StructuralSVM(Chain(), solver="one_slack")._solver().tolerance == 0.03
    assert StructuralSVM(Chain(), solver=BlockCoordinate())._solver().tolerance == 0.001
    # Then the violation alone ends a run.
    assert StructuralSVM(Chain(), eps=0.1)._solver().tol is None
