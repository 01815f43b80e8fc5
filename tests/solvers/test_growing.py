"""Problems whose features get numbers when they are first seen: the optimum is that of all features from the start."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.estimators.training import nonnegative_weights
from structlearn.models import Multiclass
from structlearn.solvers import (
    BlockCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    NSlack,
    OneSlack,
    Perceptron,
    Subgradient,
)
from structlearn.waist import MarginObjective, Objective, Problem, SparseRows
from tests.models.enumerated import bound

N_CLASSES, N_WORDS = 3, 60


class WordsAndClasses(Problem):
    """One label for a bag of words; a pair of a word and a class is a feature once an example has asked for it."""

    grows = True
    oracles = frozenset({"best", "loss_augmented"})
    _chunk = 7

    def __init__(self, X, Y):
        self.X, self.Y = X, Y
        self.n_examples = len(X)
        self.numbers = {}

    @property
    def n_features(self):
        return len(self.numbers)

    def scores(self, w, examples):
        assert len(w) == self.n_features
        scores = np.zeros((len(examples), N_CLASSES))
        for k, i in enumerate(examples):
            for word in np.flatnonzero(self.X[i]):
                for y in range(N_CLASSES):
                    known = self.numbers.get((word, y))
                    scores[k, y] += 0.0 if known is None else w[known] * self.X[i, word]
        return scores

    def best(self, w, examples):
        return np.argmax(self.scores(w, examples), axis=1)

    def loss_augmented(self, w, examples):
        return np.argmax(self.scores(w, examples) + (np.arange(N_CLASSES) != self.Y[examples][:, None]), axis=1)

    def differences(self, examples, outputs):
        entries = [self._difference(i, y) for i, y in zip(examples, outputs, strict=True)]
        matrix = sp.lil_array((len(examples), self.n_features))
        for k, row in enumerate(entries):
            for index, value in row.items():
                matrix[k, index] = value
        return SparseRows.from_matrix(sp.csr_array(matrix)), (outputs != self.Y[examples]).astype(float)

    def _difference(self, i, y):
        row = {}
        if y != self.Y[i]:
            for word in np.flatnonzero(self.X[i]):
                for label, sign in ((self.Y[i], 1.0), (y, -1.0)):
                    row[self.numbers.setdefault((word, label), len(self.numbers))] = sign * self.X[i, word]
        return row

    def max_losses(self):
        return np.ones(self.n_examples)

    def radii(self):
        return np.sqrt(2.0) * np.linalg.norm(self.X, axis=1)

    def present(self, outputs):
        return outputs


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = (random.uniform(size=(40, N_WORDS)) < 0.06) * random.uniform(1.0, 2.0, (40, N_WORDS))
    X[:, 0] = 1.0
    return X, np.argmax(X @ random.normal(size=(N_WORDS, N_CLASSES)), axis=1)


def fixed(X, Y):
    """The same with all features from the start."""
    return bound(Multiclass(classes=range(N_CLASSES)), X, Y)


def spread(problem, w):
    """The weights in the places of the fixed problem."""
    full = np.zeros((N_WORDS, N_CLASSES))
    for place, index in problem.numbers.items():
        full[place] = w[index]
    return full.ravel()


CERTIFIED = [
    BlockCoordinate(),
    BlockCoordinate(averaging=True),
    BlockCoordinate(chunk_size=1),
    NSlack(),
    NSlack(update_on="example"),
    OneSlack(),
    OneSlack(cache=0),
]


@pytest.mark.parametrize("solver", CERTIFIED, ids=repr)
def test_the_certified_optimum_is_that_of_the_fixed_problem(solver, data):
    objective = MarginObjective(np.ones(40), 40.0)
    solver = replace(solver, tol=1e-3 if getattr(solver, "averaging", False) else 1e-6)
    problem = WordsAndClasses(*data)
    grown, expected = solver.run(problem, objective), NSlack(tol=1e-8).run(fixed(*data), objective)
    assert grown.converged
    assert grown.w.shape == (len(problem.numbers),)
    assert 0 < problem.n_features < N_WORDS * N_CLASSES
    assert grown.state.primal == pytest.approx(expected.state.primal, rel=2 * solver.tol)
    difference = spread(problem, grown.w) - expected.w
    assert 0.5 * difference @ difference <= 2 * solver.tol * expected.state.primal


def test_weights_are_taken_in_as_they_come(data):
    problem = WordsAndClasses(*data)
    sizes = []
    solution = BlockCoordinate(chunk_size=2).run(
        problem, MarginObjective(np.ones(40), 40.0), observe=lambda state: sizes.append(len(state.w))
    )
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] == len(solution.w) == problem.n_features


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("kind", [Subgradient, Perceptron])
def test_steps_on_the_primal_are_those_of_the_fixed_problem(kind, average, data):
    objective = MarginObjective(np.ones(40), 40.0) if kind is Subgradient else Objective(np.ones(40))
    solver = kind(max_iter=6, average=average)
    problem = WordsAndClasses(*data)
    grown, expected = solver.run(problem, objective), solver.run(fixed(*data), objective)
    assert grown.w.shape == (problem.n_features,)
    np.testing.assert_allclose(spread(problem, grown.w), expected.w, atol=1e-12)


def test_a_run_goes_on_under_another_price(data):
    problem, objective = WordsAndClasses(*data), MarginObjective(np.ones(40), 4.0)
    for solver in (BlockCoordinate(tol=1e-6), NSlack(tol=1e-6), OneSlack(tol=1e-6)):
        state = solver.run(problem, objective).state
        dearer = replace(objective, C=40.0)
        expected = NSlack(tol=1e-8).run(fixed(*data), dearer).state.primal
        assert solver.run(problem, dearer, state=state).state.primal == pytest.approx(expected, rel=2e-6)


@pytest.mark.parametrize("solver", [ExcessiveGap(), ExponentiatedGradient(), Extragradient()], ids=repr)
def test_other_solvers_refuse(solver, data):
    name = type(solver).__name__
    with pytest.raises(ValueError, match=f"{name} is not made for WordsAndClasses, whose weights come into being"):
        solver.run(WordsAndClasses(*data), MarginObjective(np.ones(40)))


def test_weights_that_are_not_there_yet_cannot_be_kept_nonnegative(data):
    with pytest.raises(ValueError, match="the weights of WordsAndClasses come into being later"):
        nonnegative_weights(True, WordsAndClasses(*data))
