"""Sums over all outputs of a problem with parts, checked against the list of all outputs."""

import numpy as np
import pytest
from scipy.special import logsumexp, softmax


def scores_and_features(twins, i, w):
    features = np.array([twins.reference.joint_feature(twins.X[i], y) for y in twins.reference.outputs(twins.X[i])])
    return features @ w, features


def check_log_partitions(twins, w):
    expected = [logsumexp(scores_and_features(twins, i, w)[0]) for i in range(len(twins.X))]
    assert twins.problem.log_partitions(w) == pytest.approx(expected, rel=1e-10, abs=1e-9)


def check_expected_features(twins, w):
    """Pushed marginals are E Ψ, and θ scores them as w scores features."""
    problem = twins.problem
    for i in range(len(twins.X)):
        example = np.array([i])
        theta = problem.scores(w, example)
        log_z, marginals = problem.expectations(theta, example)
        found = np.zeros(problem.n_features)
        problem.push(marginals, example, np.ones(1), found)
        scores, features = scores_and_features(twins, i, w)
        rounding = 1e-9 * (1.0 + np.abs(scores).max())
        np.testing.assert_allclose(found, softmax(scores) @ features, atol=1e-9)
        assert theta @ marginals == pytest.approx(w @ found, abs=rounding)
        probabilities = softmax(scores)
        entropy = -np.sum(probabilities * np.log(np.maximum(probabilities, 1e-300)))
        assert problem.entropies(theta, log_z, marginals, example)[0] == pytest.approx(entropy, abs=rounding)


def check_truths(twins):
    """The parts of the truth have its features."""
    problem = twins.problem
    examples = np.arange(problem.n_examples)
    for i, (x, y) in enumerate(zip(twins.X, twins.Y, strict=True)):
        found = np.zeros(problem.n_features)
        problem.push(problem.true_parts(examples[[i]]), examples[[i]], np.ones(1), found)
        np.testing.assert_allclose(found, twins.reference.joint_feature(x, y), atol=1e-12)


def check_log_losses(twins, w):
    """−log P(y | x), and its gradient against finite differences."""
    problem = twins.problem
    scores = [w @ twins.reference.joint_feature(x, y) for x, y in zip(twins.X, twins.Y, strict=True)]
    np.testing.assert_allclose(problem.log_losses(w), problem.log_partitions(w) - scores, atol=1e-8)
    weight = np.linspace(0.5, 2.0, problem.n_examples)
    gradient = np.zeros(problem.n_features)
    problem.log_losses(w, weight, gradient)
    step = 1e-5
    for k in range(problem.n_features):
        change = step * (np.arange(problem.n_features) == k)
        slope = weight @ (problem.log_losses(w + change) - problem.log_losses(w - change)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


def check_samples(twins, w, outputs, n_samples=4000):
    """The share of every output among samples of the first example is its probability; `outputs` names them."""
    (drawn, *_) = twins.problem.samples(w, n_samples, np.random.default_rng(0))
    counts = {tuple(y): 0 for y in outputs}
    for y in drawn:
        counts[tuple(y)] += 1
    probabilities = softmax(scores_and_features(twins, 0, w)[0])
    np.testing.assert_allclose(np.array(list(counts.values())) / n_samples, probabilities, atol=0.04)


def check_same_optimum(model, X, Y, solvers):
    """All solvers of a likelihood end at the same weights."""
    from structlearn import ConditionalRandomField

    fitted = [
        ConditionalRandomField(model, C=5.0, solver=solver, tol=1e-7, max_iter=5000).fit(X, Y) for solver in solvers
    ]
    for crf in fitted[1:]:
        assert crf.objective_ == pytest.approx(fitted[0].objective_, rel=1e-6)
        np.testing.assert_allclose(crf.w_, fitted[0].w_, atol=5e-3)
