"""A kernel by its name: its width is found from the training data, once."""

import numpy as np
import pytest

import structlearn
from structlearn import BinaryPerceptron, BinarySVM, RegularizedRisk
from structlearn.estimators.regularized_risk import L2, Hinge
from structlearn.kernels import RBF, kernel_for

X = np.random.default_rng(0).normal(size=(40, 3)) * 5
Y = np.where((X**2).sum(axis=1) > 60, "far", "near")
LEARNERS = {
    "svm": lambda kernel: BinarySVM(kernel),
    "perceptron": lambda kernel: BinaryPerceptron(kernel),
    "risk": lambda kernel: RegularizedRisk(Hinge(), L2(kernel)),
}


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("learner", LEARNERS)
def test_gamma_is_that_of_the_training_data(learner, kernel, tmp_path):
    named = LEARNERS[learner](kernel).fit(X, Y)
    expected = kernel_for(kernel, X)
    assert named.kernel_.gamma == expected.gamma != 1.0
    given = LEARNERS[learner](expected).fit(X, Y)
    np.testing.assert_array_equal(named.decision_function(X[:9] + 1), given.decision_function(X[:9] + 1))
    named.save(tmp_path / "f.slm")
    loaded = structlearn.load(tmp_path / "f.slm")
    np.testing.assert_array_equal(loaded.decision_function(X[:9] + 1), named.decision_function(X[:9] + 1))


@pytest.mark.parametrize("learner", LEARNERS)
def test_another_option_does_not_change_what_was_learnt(learner):
    kernel = RBF(0.1)
    fitted = LEARNERS[learner](kernel).fit(X, Y)
    before = fitted.decision_function(X)
    kernel.gamma = 5.0
    np.testing.assert_array_equal(fitted.decision_function(X), before)
