"""`check_loss`, and what `fit` itself sees of a loss of one's own."""

import re

import numpy as np
import pytest

from structlearn import StructuralSVM
from structlearn.losses import AdditiveLoss, CountedLoss
from structlearn.models import Chain, DependencyTree, Multiclass
from structlearn.testing import ModelError, check_loss, check_model

WORDS, TAGS = [[{"w": "a"}, {"w": "b"}], [{"w": "b"}, {"w": "b"}, {"w": "a"}]], [["x", "y"], ["y", "y", "x"]]


def hamming(y, y_hat):
    return sum(a != b for a, b in zip(y, y_hat, strict=True))


class Mine(AdditiveLoss):
    def parts(self, truth, local):
        return np.array([[float(label != true) for label in local.labels] for true in truth])


class Nothing(AdditiveLoss):
    """A number for every part, of which those of the truth are taken off."""

    def parts(self, truth, local):
        return np.ones(local.shape)


class Below(Mine):
    def parts(self, truth, local):
        return -super().parts(truth, local)


class Count(CountedLoss):
    def counts(self, truth, local):
        return np.broadcast_to(np.array(local.labels) == "x", (1, *local.shape)).astype(int)

    def value(self, counts, true_counts):
        return np.abs(counts[:, 0] - true_counts[0]).astype(float)


def test_a_loss_that_is_what_the_function_says_passes():
    check_loss(Chain(loss=Mine()), WORDS, TAGS, hamming)
    check_loss(Chain(loss=Count()), WORDS, TAGS, lambda y, y_hat: abs(y.count("x") - y_hat.count("x")))
    check_loss(Multiclass(), np.eye(2), ["a", "b"], lambda y, y_hat: y != y_hat)


@pytest.mark.parametrize(
    ("loss", "function", "words"),
    [
        (Mine(), lambda y, y_hat: 2 * hamming(y, y_hat), "but the function says"),
        (Mine(), lambda y, y_hat: 1 + hamming(y, y_hat), "the function of (Y[0], Y[0]) is 1, not zero"),
        (Below(), None, "it must not be negative"),
        (Count(), hamming, "but the function says"),
    ],
)
def test_a_loss_that_is_another_one_is_told(loss, function, words):
    with pytest.raises(ModelError, match=re.escape(words)):
        check_loss(Chain(loss=loss), WORDS, TAGS, function)


def test_a_loss_that_nothing_has_is_warned_of_by_fit_as_well():
    with pytest.warns(UserWarning, match="zero for every output"):
        check_loss(Chain(loss=Nothing()), WORDS, TAGS)
    with pytest.warns(RuntimeWarning, match="Nothing is zero for every output of every example"):
        StructuralSVM(Chain(loss=Nothing())).fit(WORDS, TAGS)


def test_fit_refuses_a_loss_below_zero():
    with pytest.raises(ValueError, match=r"Below of example \d is -\d for the output .*; a loss must not be negative"):
        StructuralSVM(Chain(loss=Below())).fit(WORDS, TAGS)


@pytest.mark.filterwarnings("error")
def test_fit_leaves_right_losses_in_peace():
    for loss in (Mine(), Count()):
        rescaling = "margin" if isinstance(loss, AdditiveLoss) else "slack"
        assert StructuralSVM(Chain(loss=loss), rescaling=rescaling).fit(WORDS, TAGS).converged_


def test_each_check_names_the_other():
    trees = [[{"form": "a"}]], [[0]]
    with pytest.raises(TypeError, match=r"and DependencyTree has compiled decoders .* check_loss\(model, X, Y\)"):
        check_model(DependencyTree(), *trees)
    with pytest.raises(TypeError, match="check_model checks the loss of"):
        check_loss(object(), *trees)
