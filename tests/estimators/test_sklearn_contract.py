"""scikit-learn's own checks, and what its users do all day: clone, search, cross-validate, pipe."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from structlearn import (
    BinaryPerceptron,
    ConditionalRandomField,
    KernelStructuralSVM,
    RegularizedRisk,
    StructuralSVM,
    StructuredPerceptron,
)
from structlearn.data import Sequences
from structlearn.datasets import load_digit_sequences
from structlearn.estimators.regularized_risk import L1, L2, Hinge, Huber, Logistic, Squared
from structlearn.features import TokenTransformer
from structlearn.kernels import RBF
from structlearn.models import Chain, Multiclass
from structlearn.solvers import BlockCoordinate

WEIGHTS_AT_THE_OPTIMUM = "weights equal copies at the optimum, so only at a tight tolerance; tested there"

#: Checks that set ``n_components = 1`` where there is such an option.
WITH_ONE_COMPONENT = (
    "check_dict_unchanged",
    "check_fit2d_predict1d",
    "check_methods_subset_invariance",
    "check_methods_sample_order_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_dont_overwrite_parameters",
)


def not_expected(estimator):
    """A check for equal decisions to seven digits asks for the exact optimum of the objective."""
    by_equations = isinstance(estimator, (RegularizedRisk, BinaryPerceptron))
    if by_equations or getattr(estimator, "tol", None) == 1e-11:
        return {}
    reason = (
        WEIGHTS_AT_THE_OPTIMUM
        if isinstance(estimator, (StructuralSVM, ConditionalRandomField))
        else "the perceptron is sequential: a heavy example is one large step, not several"
    )
    expected = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in ("dense", "sparse")}
    if getattr(estimator, "solver", None) == "exact":
        expected |= dict.fromkeys(WITH_ONE_COMPONENT, "exact cuts take all rows, and refuse n_components=1")
    return expected


with warnings.catch_warnings():
    # The contract is kept without its base class, whose import would have to be waited for.
    warnings.filterwarnings("ignore", "Estimator .* does not inherit from", UserWarning)
    CHECKS = parametrize_with_checks(
        [
            StructuralSVM(Multiclass()),
            StructuralSVM(Multiclass(), fit_intercept=True, tol=1e-11),
            StructuralSVM(Multiclass(), solver="one_slack"),
            KernelStructuralSVM(Multiclass()),
            KernelStructuralSVM(Multiclass(), solver="exact"),
            StructuredPerceptron(Multiclass()),
            ConditionalRandomField(Multiclass()),
            ConditionalRandomField(Multiclass(), fit_intercept=True),
            ConditionalRandomField(Multiclass(), solver="lbfgs"),
            RegularizedRisk(Squared(), L2()),
            RegularizedRisk(Huber(), L1()),
            RegularizedRisk(Logistic(), L2()),
            RegularizedRisk(Hinge(), L2(RBF())),
            BinaryPerceptron(max_iter=20),
            BinaryPerceptron(RBF(), max_iter=20),
        ],
        expected_failed_checks=not_expected,
    )


@pytest.mark.sample(5)
@pytest.mark.filterwarnings("ignore:the perceptron still made")
@CHECKS
def test_estimators_of_tables_pass_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def numbers():
    data = load_digit_sequences(n_sequences=40, max_length=6)
    return list(data.X), [list(y) for y in data.Y]


def test_model_options_are_parameters():
    svm = StructuralSVM(Chain(balance=2.0), C=3)
    assert svm.get_params()["model__balance"] == 2.0
    copy = clone(svm.set_params(model__boundaries=False))
    assert copy.model is not svm.model
    assert copy.model.boundaries is False


def test_grid_search_covers_solver_options(numbers):
    solver = BlockCoordinate(tol=0.5)
    search = GridSearchCV(StructuralSVM(Chain(), solver=solver), {"solver__tol": [0.5, 0.05], "C": [10]}, cv=2)
    search.fit(*numbers)
    assert search.best_estimator_.solver.tol == search.best_params_["solver__tol"]
    assert solver.tol == 0.5
    with pytest.raises(ValueError, match="BlockCoordinate has no option 'speed'"):
        StructuralSVM(Chain(), solver=solver).set_params(solver__speed=3)


def test_grid_search_covers_model_options_on_lists_of_label_lists(numbers):
    search = GridSearchCV(StructuralSVM(Chain(), tol=0.1), {"C": [1, 10], "model__boundaries": [True, False]}, cv=3)
    search.fit(*numbers)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.5


def test_only_models_with_one_label_an_example_are_classifiers():
    assert is_classifier(StructuralSVM(Multiclass()))
    assert not is_classifier(StructuralSVM(Chain()))


def test_cross_validation_indexes_a_stacked_matrix(numbers):
    X, Y = numbers
    stacked = Sequences(np.concatenate(X), [len(x) for x in X])
    svm = StructuralSVM(Chain(), C=10, tol=0.1)
    np.testing.assert_array_equal(cross_val_score(svm, stacked, Y, cv=3), cross_val_score(svm, X, Y, cv=3))


def test_transformers_of_tokens_go_into_a_pipeline(numbers):
    X, Y = numbers
    pipeline = make_pipeline(TokenTransformer(StandardScaler()), StructuralSVM(Chain(), C=1, tol=0.05))
    assert pipeline.fit(X, Y).score(X, Y) > 0.9
    assert len(pipeline.predict(X[:2])) == 2


def test_a_fold_that_misses_a_class_works_with_and_without_declaring_it():
    X = [np.eye(3)[[0, 1]], np.eye(3)[[1, 0]], np.eye(3)[[2, 0]]]
    Y = [["a", "b"], ["b", "a"], ["c", "a"]]
    for classes in (None, ["a", "b", "c"]):
        scores = cross_val_score(StructuralSVM(Chain(classes=classes), C=10), X, Y, cv=KFold(3), error_score="raise")
        assert scores[2] == 0.5
    fitted = StructuralSVM(Chain(classes=["a", "b", "c"])).fit(X[:2], Y[:2])
    assert fitted.classes_.tolist() == ["a", "b", "c"]


def test_fitting_again_forgets_the_first_fit():
    X, y = load_iris(return_X_y=True)
    svm = StructuralSVM(Multiclass(), C=100).fit(X[:100], y[:100])
    again = svm.fit(X, y)
    np.testing.assert_array_equal(again.w_, StructuralSVM(Multiclass(), C=100).fit(X, y).w_)
