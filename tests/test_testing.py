"""Ten seeded mistakes, each of which `check_model` must find."""

import itertools

import numpy as np
import pytest

import structlearn.testing
from structlearn.testing import ModelError, check_model
from tests.solvers.latent_toy import OneOfSeveral, several


class Pairs:
    """Multi-label with pair features: y ⊆ {0, 1, 2} as a tuple of flags; correct in all oracles."""

    flags = 3

    def joint_feature(self, x, y):
        y = np.asarray(y)
        return np.concatenate([np.outer(y, x).ravel(), [y[a] * y[b] for a, b in itertools.combinations(range(3), 2)]])

    def loss(self, y, y_hat):
        return float(np.sum(np.asarray(y) != np.asarray(y_hat)))

    def outputs(self, x):
        return list(itertools.product((0, 1), repeat=self.flags))

    def score(self, x, y, w):
        return float(self.joint_feature(x, y) @ w)

    def inference(self, x, w):
        return max(self.outputs(x), key=lambda y: self.score(x, y, w))

    def loss_augmented_inference(self, x, y, w):
        return max(self.outputs(x), key=lambda z: self.score(x, z, w) + self.loss(y, z))

    def k_best(self, x, w, k):
        return sorted(self.outputs(x), key=lambda y: -self.score(x, y, w))[:k]

    def best_per_loss_level(self, x, y, w):
        levels = {}
        for z in sorted(self.outputs(x), key=lambda z: self.score(x, z, w)):
            levels[self.loss(y, z)] = z
        return list(levels.values())


class Unlisted(Pairs):
    """The same without a public list of outputs, so that the check has to sample."""

    outputs = None

    def __init__(self):
        self._all = list(itertools.product((0, 1), repeat=self.flags))

    def inference(self, x, w):
        return max(self._all, key=lambda y: self.score(x, y, w))

    def loss_augmented_inference(self, x, y, w):
        return max(self._all, key=lambda z: self.score(x, z, w) + self.loss(y, z))

    k_best = best_per_loss_level = None

    def __getattribute__(self, name):
        if name in ("outputs", "k_best", "best_per_loss_level"):
            raise AttributeError(name)
        return super().__getattribute__(name)


X = [np.array([1.0, -0.5]), np.array([0.3, 2.0])]
Y = [(0, 1, 1), (1, 0, 0)]


@pytest.mark.parametrize("model", [Pairs, Unlisted])
def test_a_correct_model_passes(model):
    check_model(model(), X, Y)


class MinimisesInstead(Pairs):
    def inference(self, x, w):
        return min(self.outputs(x), key=lambda y: self.score(x, y, w))


class ForgetsTheLoss(Pairs):
    def loss_augmented_inference(self, x, y, w):
        return self.inference(x, w)


class SubtractsTheLoss(Unlisted):
    def loss_augmented_inference(self, x, y, w):
        return max(self._all, key=lambda z: self.score(x, z, w) - self.loss(y, z))


class LossOnTheTruth(Pairs):
    def loss(self, y, y_hat):
        return super().loss(y, y_hat) + 0.5


class NegativeLoss(Pairs):
    def loss(self, y, y_hat):
        return float(np.sum(y_hat) - np.sum(y))


class LossNotFinite(Pairs):
    def loss(self, y, y_hat):
        return np.inf if sum(y_hat) == 3 else super().loss(y, y_hat)


class SizeFollowsTheOutput(Pairs):
    def joint_feature(self, x, y):
        return np.concatenate([super().joint_feature(x, y), np.ones(int(sum(y) == 3))])


class ChangesTheWeights(Pairs):
    def inference(self, x, w):
        best = super().inference(x, w)
        w += 1.0
        return best


class SameOutputTwice(Pairs):
    def k_best(self, x, w, k):
        return [self.inference(x, w)] * k


class WrongLevel(Pairs):
    def best_per_loss_level(self, x, y, w):
        return [z for z in super().best_per_loss_level(x, y, w) if self.loss(y, z) != 2]


class TruthNotListed(Pairs):
    def outputs(self, x):
        return [y for y in super().outputs(x) if y != (0, 1, 1)]


class FeaturesNotFinite(Pairs):
    def joint_feature(self, x, y):
        feature = super().joint_feature(x, y)
        return feature / (0.0 if tuple(y) == (1, 1, 1) else 1.0) if np.any(feature) else feature


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("model", "words"),
    [
        (MinimisesInstead, r"inference\(X\[0\], w\) returns .* but"),
        (ForgetsTheLoss, r"loss_augmented_inference\(X\[\d\], Y\[\d\], w\) returns"),
        (SubtractsTheLoss, r"loss_augmented_inference\(X\[\d\], Y\[\d\], w\) returns"),
        (LossOnTheTruth, r"loss\(Y\[0\], Y\[0\]\) is 0.5, not zero"),
        (NegativeLoss, r"loss\(Y\[\d\], .*\) is -\d"),
        (LossNotFinite, r"is inf; it must be finite"),
        (SizeFollowsTheOutput, r"joint_feature\(X\[0\], \(1, 1, 1\)\) has shape \(10,\)"),
        (ChangesTheWeights, "inference changes its arguments"),
        (SameOutputTwice, r"k_best\(X\[0\], w, 2\) returns .* twice"),
        (WrongLevel, r"has nothing at loss 2"),
        (TruthNotListed, r"outputs\(X\[0\]\) does not list the truth"),
        (FeaturesNotFinite, r"holds"),
    ],
)
def test_every_seeded_mistake_is_found(model, words):
    with pytest.raises(ModelError, match=words):
        check_model(model(), X, Y)


def test_all_findings_come_at_once():
    class TwoMistakes(ForgetsTheLoss, SameOutputTwice):
        pass

    with pytest.raises(ModelError) as caught:
        check_model(TwoMistakes(), X, Y)
    assert len(caught.value.findings) == 2


def latent_examples():
    return several(np.random.default_rng(0), 5)


def test_a_right_model_with_latent_variables_passes():
    check_model(OneOfSeveral(3, 4), *latent_examples())


@pytest.mark.parametrize(
    ("name", "method", "finding"),
    [
        ("complete", lambda self, x, y, w: 0, r"complete\(X\[\d\], Y\[\d\], w\) returns 0 with score .*, but \d has"),
        ("inference", lambda self, x, w: (0, 0), r"inference\(X\[0\], w\) returns \(0, 0\) with score"),
        ("loss", lambda self, y, y_hat, h: 1.0, r"loss\(Y\[0\], Y\[0\]\) is 1.0, not zero"),
        ("loss", lambda self, y, y_hat, h: -1.0 * (y != y_hat), "is -1.0; it must be finite and not negative"),
        ("joint_feature", lambda self, x, y, h: np.full(12, np.nan), "holds nan"),
        ("loss_augmented_inference", lambda self, x, y, w: (y, 0), "with score \\+ loss"),
    ],
)
def test_mistakes_of_models_with_latent_variables_are_told(name, method, finding):
    wrong = type("Wrong", (OneOfSeveral,), {name: method})
    with pytest.raises(ModelError, match=finding):
        check_model(wrong(3, 4), *latent_examples())


def test_what_is_no_number_counts_as_unchanged():
    X, Y = latent_examples()
    X[0] = X[0].copy()
    X[0][0, 0] = np.nan
    with pytest.raises(ModelError) as error:
        check_model(OneOfSeveral(3, 4), X, Y)
    assert not any("changes its arguments" in finding for finding in error.value.findings)


class Sign:
    """y is -1 or 1, and on a tie np.sign says 0."""

    def joint_feature(self, x, y):
        return np.array([x * y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w):
        return np.sign(x * w[0])

    def loss_augmented_inference(self, x, y, w):
        return -y if -2.0 * y * x * w[0] + 1.0 >= 0.0 else y


def test_a_tie_may_be_answered_with_neither():
    check_model(Sign(), [0.5, 0.0], [1, -1])


class WorksAboveZero(Sign):
    def inference(self, x, w):
        return 1 if x > 0 else -1


def test_weights_come_from_where_the_oracles_work():
    with pytest.raises(ModelError, match="inference"):
        check_model(WorksAboveZero(), [0.5, -2.0], [1, -1])
    check_model(WorksAboveZero(), [0.5, -2.0], [1, -1], weights="nonnegative")
    check_model(WorksAboveZero(), [0.5, -2.0], [1, -1], weights=lambda random, size: random.uniform(1, 2, size))


def test_weights_of_another_kind_are_refused():
    with pytest.raises(ValueError, match="weights is 'positive'"):
        check_model(Sign(), [0.5], [1], weights="positive")
    with pytest.raises(ValueError, match=r"shape \(2,\), but there are 1 weights"):
        check_model(Sign(), [0.5], [1], weights=lambda random, size: np.ones(2))


def test_a_declared_approximation_need_not_find_the_best_but_an_output():
    approximate = type("Approximate", (WorksAboveZero,), {"exactness": "approximate"})
    check_model(approximate(), [0.5, -2.0], [1, -1])
    nothing = type("Nothing", (approximate,), {"inference": lambda self, x, w: None})
    with pytest.raises(ModelError, match="None is no output"):
        check_model(nothing(), [0.5, -2.0], [1, -1])


def test_only_what_is_public_is_listed():
    assert dir(structlearn.testing) == ["ModelError", "check_loss", "check_model"]
