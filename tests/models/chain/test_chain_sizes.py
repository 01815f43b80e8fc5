"""Chains with any number of labels, and very long ones."""

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import StructuralSVM
from structlearn.data import Sequences
from structlearn.models import Chain
from structlearn.waist import Scaling

MARGIN = Scaling("margin", "linear")


def instance(n_labels, length, n_inputs=7, seed=0):
    """Integer weights and inputs, so that scores are exact and ties are real."""
    random = np.random.default_rng(seed)
    X = [random.integers(-2, 3, size=(length, n_inputs)).astype(float)]
    Y = [random.integers(n_labels, size=length).tolist()]
    chain = Chain(classes=list(range(n_labels)))
    problem = chain.bind(chain.specify(X, Y), X, Y)
    return X[0], Y[0], problem, random.integers(-5, 6, size=problem.n_features).astype(float)


def best_by_definition(emission, transition, start, stop):
    """The best score by dynamic programming over numpy arrays."""
    message = start + emission[0]
    for here in emission[1:]:
        message = (message[:, None] + transition).max(axis=0) + here
    return (message + stop).max()


def parts_of(w, n_inputs, L):
    emission, rest = w[: n_inputs * L].reshape(n_inputs, L), w[n_inputs * L :]
    return emission, rest[: L * L].reshape(L, L), rest[L * L : -L], rest[-L:]


@pytest.mark.parametrize("n_labels", [*range(1, 37), 64, 100, 257, 300])
def test_any_number_of_labels_is_decoded(n_labels):
    x, y, problem, w = instance(n_labels, length=6)
    emission, transition, start, stop = parts_of(w, x.shape[1], n_labels)
    scores = x @ emission
    (found,) = problem.predict(w)

    def score(labels, scores):
        moves = transition[labels[:-1], labels[1:]].sum()
        return start[labels[0]] + stop[labels[-1]] + scores[np.arange(len(labels)), labels].sum() + moves

    assert score(found, scores) == best_by_definition(scores, transition, start, stop)
    planes = problem.oracle(w, np.array([0]), MARGIN)
    augmented = scores + (np.arange(n_labels) != np.array(y)[:, None])
    expected = best_by_definition(augmented, transition, start, stop) - score(np.array(y), scores)
    assert planes.bounds[0] == expected
    assert planes.losses[0] == np.sum(planes.outputs[0] != y)
    assert planes.losses[0] - planes.rows.dot(w)[0] == expected


def long_chain(length=100_000, n_labels=5):
    random = np.random.default_rng(0)
    y = random.integers(n_labels, size=length)
    seen = (y + (random.uniform(size=length) < 0.2)) % n_labels
    X = sp.csr_array((np.ones(length), (np.arange(length), seen)), shape=(length, n_labels))
    return Sequences(X, [length]), [y.tolist()]


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_positions_is_learnt():
    X, Y = long_chain()
    svm = StructuralSVM(Chain(), C=1e-3, tol=0.01).fit(X, Y)
    assert svm.duality_gap_ <= 0.01
    assert svm.score(X, Y) > 0.75


def test_loss_levels_of_a_long_chain_are_refused_by_name():
    X, Y = long_chain()
    with pytest.raises(ValueError, match=r"X\[0\] has 100000 tokens"):
        StructuralSVM(Chain(), rescaling="slack").fit(X, Y)
