"""What a certificate means: oracles that contradict each other, and duals that are no bound, get none."""

from dataclasses import dataclass

import numpy as np
import pytest

from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.models import Multiclass
from structlearn.solvers import BlockCoordinate
from tests.solvers.latent_toy import OneOfSeveral, several


class Rows:
    """Which row of x is meant."""

    def joint_feature(self, x, y):
        return x[y]

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w):
        return int(np.argmax(x @ w))

    def loss_augmented_inference(self, x, y, w):
        return int(np.argmax(x @ w + (np.arange(len(x)) != y)))


class ReturnsTheTruth(Rows):
    def loss_augmented_inference(self, x, y, w):
        return y


class MinimisesTheScore(Rows):
    def loss_augmented_inference(self, x, y, w):
        return int(np.argmax(-x @ w + (np.arange(len(x)) != y)))


class MinimisesTheLoss(Rows):
    def loss_augmented_inference(self, x, y, w):
        return int(np.argmax(x @ w - (np.arange(len(x)) != y)))


class ForgetsTheLoss(Rows):
    """Agrees with itself at every w; only what it returns at another one shows that it is wrong."""

    def loss_augmented_inference(self, x, y, w):
        return self.inference(x, w)


class LooksAtTwo(Rows):
    """Finds the worse of the truth and one other output; only those that it lists show that it is wrong."""

    def loss_augmented_inference(self, x, y, w):
        other = (y + 1) % len(x)
        return other if (x[other] - x[y]) @ w + 1.0 > 0.0 else y

    def inference(self, x, w):
        raise NotImplementedError

    def outputs(self, x):
        return range(len(x))


class PredictsTheWorst(Rows):
    def inference(self, x, w):
        return int(np.argmin(x @ w))


class WrongForSome(Rows):
    """Returns the truth for about half of the examples, none of which the look before training meets."""

    def loss_augmented_inference(self, x, y, w):
        return y if self.is_odd(x) else super().loss_augmented_inference(x, y, w)

    def is_odd(self, x):
        return any(np.array_equal(x, one) for one in self.odd)


class ChangesTheWeights(Rows):
    def loss_augmented_inference(self, x, y, w):
        w *= 0.5
        return super().loss_augmented_inference(x, y, w)


class BlamesTheTruth(Rows):
    def loss(self, y, y_hat):
        return 1.0 + (y != y_hat)


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = [random.normal(size=(4, 3)) for _ in range(20)]
    return X, [Rows().inference(x, np.array([1.0, -1.0, 0.0])) for x in X]


WRONG = [ReturnsTheTruth(), MinimisesTheScore(), MinimisesTheLoss(), ForgetsTheLoss(), LooksAtTwo()]


@pytest.mark.parametrize("model", WRONG, ids=lambda model: type(model).__name__)
def test_a_wrong_oracle_is_named_and_certifies_nothing(model, rows):
    with pytest.warns(RuntimeWarning) as caught:
        svm = StructuralSVM(model).fit(*rows)
    assert any("loss_augmented_inference(X[" in str(each.message) for each in caught)
    assert not svm.converged_
    assert np.isnan(svm.duality_gap_)


def test_a_prediction_below_the_truth_is_named(rows):
    with pytest.warns(RuntimeWarning, match=r"inference\(X\[0\], w\) returns .* with score"):
        StructuralSVM(PredictsTheWorst()).fit(*rows)


@pytest.mark.filterwarnings("error")
def test_right_oracles_and_approximate_ones_that_say_so_are_left_in_peace(rows):
    assert StructuralSVM(Rows()).fit(*rows).converged_
    approximate = type("Approximate", (MinimisesTheScore,), {"exactness": "approximate"})
    assert np.isnan(StructuralSVM(approximate()).fit(*rows).duality_gap_)


def test_what_fails_at_the_weights_of_the_check_alone_does_not_stop_training(rows):
    class NonnegativeOnly(Rows):
        def inference(self, x, w):
            raise ValueError("w is negative")

    assert StructuralSVM(NonnegativeOnly()).fit(*rows).converged_


def test_a_wrong_oracle_of_a_model_with_latent_parts_is_named():
    class ReturnsTheTruth(OneOfSeveral):
        def loss_augmented_inference(self, x, y, w):
            return y, self.complete(x, y, w)

    X, Y = several(np.random.default_rng(0))
    wrong = ReturnsTheTruth(3, 4)
    with pytest.warns(RuntimeWarning, match="loss_augmented_inference"):
        LatentStructuralSVM(wrong).fit(X, Y)


def test_weights_that_are_all_zero_are_suspicious(rows):
    class NothingCosts(Rows):
        def loss(self, y, y_hat):
            return 0.0

        def loss_augmented_inference(self, x, y, w):
            return self.inference(x, w)

    with pytest.warns(RuntimeWarning, match="the best weights are all zero"):
        StructuralSVM(NothingCosts()).fit(*rows)


@dataclass(frozen=True, kw_only=True)
class Boasts(BlockCoordinate):
    """Claims a lower bound that is none."""

    def update(self, state, problem, objective):
        state = super().update(state, problem, objective)
        state.dual = 2.0 * state.primal
        state.record |= {"dual": state.dual, "gap": state.primal - state.dual}
        return state


@dataclass(frozen=True, kw_only=True)
class Diverges(BlockCoordinate):
    def update(self, state, problem, objective):
        state = super().update(state, problem, objective)
        state.w = np.full_like(state.w, np.nan)
        return state


def test_a_gap_below_zero_is_no_convergence():
    with pytest.warns(RuntimeWarning, match="below zero"):
        svm = StructuralSVM(Multiclass(), solver=Boasts()).fit(np.eye(2), ["a", "b"])
    assert svm.duality_gap_ < 0
    assert not svm.converged_


def test_weights_that_are_not_finite_are_refused():
    svm = StructuralSVM(Multiclass(), solver=Diverges())
    with pytest.raises(
        FloatingPointError, match="‖w‖² is nan after 1 iterations of Diverges; scale the features or lower C"
    ):
        svm.fit(np.eye(2), ["a", "b"])
    assert not hasattr(svm, "w_")


def test_an_oracle_that_is_wrong_for_some_examples_is_found_at_the_end(rows):
    X, Y = rows
    model = WrongForSome()
    model.odd = X[1:9]
    with pytest.warns(
        RuntimeWarning, match=r"loss_augmented_inference\(X\[\d\], Y\[\d\], w\) returns .* nothing is certified"
    ):
        svm = StructuralSVM(model, C=0.1 * len(X), tol=1e-3).fit(X, Y)
    assert not svm.converged_
    assert np.isnan([svm.objective_, svm.duality_gap_]).all()


def test_an_oracle_that_changes_the_weights_is_refused(rows):
    with pytest.raises(ValueError, match="changes the weights w that it is given"):
        StructuralSVM(ChangesTheWeights()).fit(*rows)


def test_a_truth_with_a_loss_certifies_nothing(rows):
    with pytest.warns(RuntimeWarning, match=r"loss\(Y\[0\], Y\[0\]\) is 1, but the truth has no loss"):
        assert not StructuralSVM(BlamesTheTruth()).fit(*rows).converged_
