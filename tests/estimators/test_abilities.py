"""No method where there is no such ability, and every method where there is."""

import numpy as np
import pytest

from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.models import (
    Alignment,
    Chain,
    CorrelationClustering,
    DependencyTree,
    LatentChain,
    Model,
    Motif,
    Multiclass,
    MultivariateBinary,
    PythonLatentModel,
    PythonModel,
    Ranking,
    Segments,
)
from structlearn.waist.problem import Problem
from tests.models.enumerated import EnumeratedMulticlass, bound
from tests.solvers.latent_toy import OneOfSeveral

PROBABILITIES = ("predict_marginals", "predict_proba", "predict_log_proba", "sample", "entropy")


class Bare:
    def joint_feature(self, x, y): ...

    def loss(self, y, y_hat): ...


@pytest.mark.parametrize(
    "model",
    [
        Chain(order=2),
        Segments(),
        DependencyTree(projective=False),
        CorrelationClustering(),
        MultivariateBinary(),
        Ranking(),
        Bare(),
        Alignment(features="sum"),
    ],
)
@pytest.mark.parametrize("estimator", [StructuralSVM, StructuredPerceptron, ConditionalRandomField])
def test_what_a_model_cannot_do_is_no_method(estimator, model):
    adapted = model if isinstance(model, Model) else PythonModel(model)
    for name in ("k_best", "explain"):
        assert hasattr(estimator(model), name) == (name in adapted.abilities)


@pytest.mark.parametrize("model", [Motif(), LatentChain(), OneOfSeveral(2, 3)])
def test_models_with_latent_parts_are_explained_but_have_no_list_of_the_best(model):
    assert hasattr(LatentStructuralSVM(model), "explain")
    assert not hasattr(LatentStructuralSVM(model), "k_best")


@pytest.mark.parametrize("model", [Chain(), Multiclass()])
def test_chains_and_classes_have_all(model):
    for name in ("k_best", "top_weights", "explain", *PROBABILITIES):
        assert hasattr(ConditionalRandomField(model), name)


def test_probabilities_are_for_models_that_sum():
    for name in PROBABILITIES:
        assert not hasattr(ConditionalRandomField(Ranking()), name)
        assert hasattr(ConditionalRandomField(Segments()), name)


@pytest.mark.parametrize("estimator", [StructuralSVM, StructuredPerceptron, LatentStructuralSVM])
def test_scores_are_no_probabilities(estimator):
    for name in PROBABILITIES:
        assert not hasattr(estimator(Chain()), name)
        with pytest.raises(AttributeError, match=f"has scores and no probabilities, and so no {name}; Conditional"):
            getattr(estimator(Chain()), name)


def test_the_error_says_why_and_what_to_do():
    with pytest.raises(AttributeError, match="has no attribute 'k_best'") as told:
        _ = StructuralSVM(Bare()).k_best
    assert str(told.value.__cause__) == (
        "Bare cannot find the k best outputs; in a model of your own write k_best(x, w, k) or outputs(x)"
    )


def test_a_model_of_ones_own_that_lists_its_outputs_has_the_best_of_them():
    rows = [np.array([0.0, 1.0]), np.array([1.0, 0.0])]
    svm = StructuralSVM(EnumeratedMulticlass(1 - np.eye(2)), C=10).fit(rows, [0, 1])
    assert [y for y, _ in svm.k_best(rows, 2)[0]] == [0, 1]


def test_a_bound_problem_has_k_best_where_its_model_says_so():
    assert not hasattr(Problem, "k_best")
    X, Y = [np.eye(2)], [["a", "b"]]
    assert hasattr(bound(Chain(), X, Y), "k_best")
    assert not hasattr(bound(Ranking(), [np.eye(2)], [[0, 1]]), "k_best")
    listed = PythonLatentModel(OneOfSeveral(2, 3))
    assert hasattr(bound(listed, [np.ones((2, 3))], [0]), "k_best") == ("k_best" in listed.abilities)


def test_samples_and_labels_by_themselves_are_abilities_of_their_own():
    models = [Chain(), Multiclass(), Segments(), Alignment(), Ranking()]
    assert [{"samples", "posterior"} & model.abilities for model in models] == [
        {"samples", "posterior"},
        {"samples", "posterior"},
        {"samples"},
        {"samples", "posterior"},
        set(),
    ]
    bound_segments = bound(Segments(), [np.eye(2)], [[("a", 0, 1), ("b", 1, 2)]])
    assert hasattr(bound_segments, "samples")
    assert not hasattr(bound_segments, "most_probable_labels")
