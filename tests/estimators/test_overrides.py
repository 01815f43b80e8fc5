"""What a subclass of a built-in model may not override: what its compiled problem never asks."""

import numpy as np
import pytest

import structlearn.models
from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.models import Chain, Model, Multiclass


class TaggerWithMyLoss(Chain):
    def loss(self, y, y_hat):
        return float(list(y) != list(y_hat))


@pytest.mark.parametrize("estimator", [StructuralSVM, ConditionalRandomField, StructuredPerceptron])
def test_a_loss_that_would_be_ignored_is_refused_by_name(estimator):
    with pytest.raises(
        TypeError, match=r"TaggerWithMyLoss overrides loss, which Chain does not ask.*model of your own"
    ):
        estimator(TaggerWithMyLoss()).fit([np.eye(2)], [["a", "b"]])


@pytest.mark.parametrize("name", ["joint_feature", "inference", "loss_augmented_inference", "k_best"])
def test_so_is_any_other_method_of_ones_own_models(name):
    mine = type("Mine", (Multiclass,), {name: lambda self, *arguments: 0})
    derived = type("Derived", (mine,), {})
    with pytest.raises(TypeError, match=f"Mine overrides {name}, which Multiclass does not ask"):
        StructuralSVM(derived()).fit(np.eye(2), [0, 1])


def test_options_of_a_subclass_are_no_overrides():
    mine = type("Mine", (Chain,), {"loss": "zero_one", "loss_in_words": lambda self: "all or nothing"})
    StructuralSVM(mine()).fit([np.eye(2)], [["a", "b"]])


def test_who_binds_for_himself_may_ask_what_he_likes():
    class Mine(Chain):
        def loss(self, y, y_hat): ...

        def bind(self, *arguments, **options): ...

    Mine.check_overrides()


def test_no_model_of_the_library_overrides_what_is_not_asked():
    models = [each for each in vars(structlearn.models).values() if isinstance(each, type) and issubclass(each, Model)]
    for model in models:
        model.check_overrides()
    assert Chain in models
