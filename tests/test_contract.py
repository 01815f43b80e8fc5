"""What scikit-learn gives those who derive from its base class, and we have without."""

import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from structlearn import StructuralSVM
from structlearn.features import TextFeatures
from structlearn.models import Chain, Multiclass

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.2]])
Y = np.array(["north", "east", "north", "east"])


def test_options_that_were_changed_are_shown():
    svm = StructuralSVM(Chain(order=2), C=3.0)
    assert repr(svm) == "StructuralSVM(C=3.0, model=Chain(order=2))"
    assert repr(make_pipeline(svm)) == f"Pipeline(steps=[('structuralsvm', {svm!r})])"


def test_long_options_are_cut():
    assert len(repr(Chain(classes=list(range(10**5))))) < 300


def test_unknown_options_are_refused_by_name():
    with pytest.raises(ValueError, match="Invalid parameter 'speed' for estimator"):
        StructuralSVM(Chain()).set_params(speed=3)
    with pytest.raises(ValueError, match="Invalid parameter 'speed' for estimator Chain"):
        StructuralSVM(Chain()).set_params(model__speed=3)


def test_metadata_is_routed_to_fit():
    weight = np.array([1.0, 1.0, 0.0, 0.0])
    with sklearn.config_context(enable_metadata_routing=True):
        svm = StructuralSVM(Multiclass()).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        assert clone(svm).get_metadata_routing().fit.requests["sample_weight"] is True
        search = GridSearchCV(svm, {"C": [1.0]}, cv=2).fit(X, Y, sample_weight=np.ones(4))
        pipeline = make_pipeline(svm).fit(X, Y, sample_weight=weight)
    assert search.best_params_ == {"C": 1.0}
    assert np.isnan(pipeline[-1].slacks_).tolist() == [False, False, True, True]


def test_metadata_that_no_method_takes_cannot_be_requested():
    assert not hasattr(StructuralSVM(Multiclass()), "set_transform_request")


def test_methods_that_a_model_lacks_are_not_listed():
    assert "decision_function" in dir(StructuralSVM(Multiclass()))
    assert "decision_function" not in dir(StructuralSVM(Chain()))


def test_an_estimator_that_was_never_fitted_says_so():
    for ask in (lambda: StructuralSVM(Multiclass()).predict(X), lambda: TextFeatures().transform([["a"]])):
        with pytest.raises(NotFittedError, match="is not fitted yet"):
            ask()


def test_fitted_estimators_can_be_pickled():
    svm = StructuralSVM(Multiclass()).fit(X, Y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(svm)).predict(X), svm.predict(X))
