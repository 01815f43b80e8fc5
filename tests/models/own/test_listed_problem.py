"""Likelihoods of models that list their outputs, against the same written out in NumPy and minimised by SciPy."""

from itertools import permutations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import PythonModel
from structlearn.models.own import listed_problem
from structlearn.solvers import (
    LBFGS,
    BlockCoordinate,
    DualCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
)
from structlearn.testing import ModelError, check_model
from structlearn.waist import MarginObjective
from tests.models.enumerated import bound


class Matching:
    """x[i, j] are the features of giving job j to worker i; y[i] is the job of worker i."""

    def joint_feature(self, x, y):
        return x[np.arange(len(y)), np.asarray(y)].sum(axis=0)

    def loss(self, y, y_hat):
        return float(np.sum(np.asarray(y) != np.asarray(y_hat)))

    def outputs(self, x):
        return [np.array(y) for y in permutations(range(len(x)))]


@pytest.fixture
def data():
    random = np.random.default_rng(0)
    X = [random.random((n, n, 3)) for n in (2, 3, 3, 4)]
    return X, [random.permutation(len(x)) for x in X]


def features(x):
    return np.array([Matching().joint_feature(x, y) for y in permutations(range(len(x)))])


def log_likelihoods(w, X, Y):
    return np.array(
        [Matching().joint_feature(x, y) @ w - logsumexp(features(x) @ w) for x, y in zip(X, Y, strict=True)]
    )


def least(X, Y, C):
    def value(w):
        return 0.5 * w @ w - C / len(X) * log_likelihoods(w, X, Y).sum()

    return minimize(value, np.zeros(3), method="BFGS", options={"gtol": 1e-9})


@pytest.mark.parametrize(
    "solver",
    [
        LBFGS(tol=1e-9),
        DualCoordinate(tol=1e-9, max_iter=500),
        ExponentiatedGradient(tol=1e-9),
        ExponentiatedGradient(tol=1e-8, online=False),
        IterativeScaling(tol=1e-6, max_iter=3000),
    ],
)
def test_every_solver_finds_the_minimum_that_scipy_finds(solver, data):
    expected = least(*data, C=10.0)
    crf = ConditionalRandomField(Matching(), C=10.0, solver=solver).fit(*data)
    assert crf.converged_
    assert crf.objective_ == pytest.approx(expected.fun, rel=1e-6)
    np.testing.assert_allclose(crf.w_, expected.x, atol=5e-3)


def test_probabilities_partitions_and_entropies_are_those_of_all_outputs(data):
    X, Y = data
    crf = ConditionalRandomField(Matching(), C=20.0).fit(X, Y)
    np.testing.assert_allclose(crf.predict_log_proba(X, Y), log_likelihoods(crf.w_, X, Y), atol=1e-10)
    for x, p, entropy, best in zip(X, crf.predict_marginals(X), crf.entropy(X), crf.k_best(X, 100), strict=True):
        scores = features(x) @ crf.w_
        expected = np.exp(scores - logsumexp(scores))
        np.testing.assert_allclose(p, expected, atol=1e-12)
        assert entropy == pytest.approx(-expected @ np.log(expected))
        assert [log_p for _, log_p in best] == pytest.approx(sorted(np.log(expected), reverse=True))
    problem = crf.model_.bind(crf.spec_, X)
    np.testing.assert_allclose(problem.log_partitions(crf.w_), [logsumexp(features(x) @ crf.w_) for x in X])
    assert [tuple(y) for y in crf.predict(X)] == [tuple(best[0][0]) for best in crf.k_best(X, 1)]
    assert 0.0 <= crf.score(X, Y) <= 1.0


def test_samples_come_as_often_as_their_probability_says(data):
    X, Y = data
    crf = ConditionalRandomField(Matching(), C=20.0).fit(X, Y)
    (drawn,) = crf.sample(X[1:2], 4000, random_state=0)
    outputs = list(permutations(range(3)))
    often = np.bincount([outputs.index(tuple(y)) for y in drawn], minlength=6) / 4000
    np.testing.assert_allclose(often, crf.predict_marginals(X[1:2])[0], atol=0.03)


@pytest.mark.parametrize("solver", [ExponentiatedGradient, Extragradient, ExcessiveGap])
def test_margins_are_trained_on_distributions_over_the_list_as_well(solver, data):
    problem = bound(PythonModel(Matching()), *data)
    objective = MarginObjective(np.ones(4), 5.0)
    expected = BlockCoordinate(tol=1e-9).run(problem, objective).history[-1]["primal"]
    found = solver(tol=1e-2, max_iter=3000).run(problem, objective)
    assert found.converged
    assert expected - 1e-6 <= found.history[-1]["primal"] <= 1.02 * expected


def test_truths_may_be_an_array():
    random = np.random.default_rng(0)
    X, Y = random.random((6, 3, 3, 2)), np.array([random.permutation(3) for _ in range(6)])
    found = [ConditionalRandomField(Matching(), C=5.0, tol=1e-8).fit(X, y).objective_ for y in (Y, list(Y))]
    assert found[0] == found[1]


def test_examples_in_any_order_have_the_same_parts(data):
    problem = bound(PythonModel(Matching()), *data)
    w = np.array([1.0, -2.0, 0.5])
    mixed = np.array([3, 0, 2])
    np.testing.assert_array_equal(
        problem.scores(w, mixed), np.concatenate([problem.scores(w, mixed[[k]]) for k in range(3)])
    )
    out = np.zeros((2, 3))
    problem.push(problem.true_parts(mixed), mixed, np.arange(3.0), out[0])
    for k in range(3):
        problem.push(problem.true_parts(mixed[[k]]), mixed[[k]], np.array([float(k)]), out[1])
    np.testing.assert_allclose(out[0], out[1])


def test_a_truth_that_is_not_listed_is_refused_in_training_and_impossible_afterwards(data):
    X, Y = data
    with pytest.raises(ValueError, match=r"Y\[2\] is \[0, 0, 1\], which outputs\(X\[2\]\) does not list"):
        ConditionalRandomField(Matching()).fit(X, [*Y[:2], [0, 0, 1], Y[3]])
    crf = ConditionalRandomField(Matching()).fit(X, Y)
    assert crf.predict_log_proba(X[2:3], [[0, 0, 1]]).tolist() == [-np.inf]


def test_lists_that_do_not_fit_into_memory_are_refused_with_numbers(data, monkeypatch):
    monkeypatch.setattr(listed_problem, "MAX_BYTES", 600)
    with pytest.raises(ValueError, match=r"the 14 outputs of the first 3 of 4 examples have features of .* GB"):
        ConditionalRandomField(Matching()).fit(*data)
    assert StructuralSVM(Matching()).fit(*data).converged_


def test_nothing_listed_and_negative_features_are_refused_by_name(data):
    class Nothing(Matching):
        def outputs(self, x):
            return []

    X, Y = data
    with pytest.raises(ValueError, match=r"outputs\(X\[0\]\) lists nothing"):
        ConditionalRandomField(Nothing()).fit(X, Y)
    X[1] = X[1] - 5.0
    with pytest.raises(ValueError, match=r"joint_feature of example 1 holds -1[0-9.]*; iterative scaling"):
        ConditionalRandomField(Matching(), solver="iterative_scaling").fit(X, Y)


def test_a_random_field_of_ones_own_is_saved_and_loaded(data, tmp_path):
    crf = ConditionalRandomField(Matching()).fit(*data)
    crf.save(tmp_path / "matching.slm")
    loaded = structlearn.load(tmp_path / "matching.slm", model=Matching())
    np.testing.assert_array_equal(loaded.predict_log_proba(*data), crf.predict_log_proba(*data))


def test_check_model_tells_of_an_output_that_is_listed_twice(data):
    class Doubled(Matching):
        def outputs(self, x):
            return [*super().outputs(x), np.arange(len(x))]

    with pytest.raises(ModelError, match=r"outputs\(X\[0\]\) lists array\(\[0, 1\]\) twice, which doubles"):
        check_model(Doubled(), *data)
