"""Partly known outputs on small random instances, and everything that is asked of them by listing all outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.special import logsumexp

from structlearn.models.partial import PartialProblem
from structlearn.waist import Scaling

MARGINS = [
    Scaling(None, "linear"),
    Scaling(None, "squared"),
    Scaling("margin", "linear"),
    Scaling("margin", "squared"),
    Scaling("slack", "linear"),
    Scaling("slack", "squared"),
]


class PartialTwins(NamedTuple):
    """A bound problem, and per example all outputs in the user's terms with their features and their Δ(Y_i, ŷ)."""

    problem: PartialProblem
    outputs: list[list[Any]]
    features: list[np.ndarray]
    losses: list[np.ndarray]
    agree: list[np.ndarray]


def twins(
    problem: PartialProblem,
    reference: Any,
    X: Any,
    Y: Any,
    loss: Callable[[Any, Any], float],
    agrees: Callable[[Any, Any], bool],
) -> PartialTwins:
    outputs = [list(reference.outputs(x)) for x in X]
    return PartialTwins(
        problem,
        outputs,
        [np.array([reference.joint_feature(x, y) for y in ys]) for x, ys in zip(X, outputs, strict=True)],
        [np.array([loss(said, y) for y in ys]) for said, ys in zip(Y, outputs, strict=True)],
        [np.array([agrees(said, y) for y in ys]) for said, ys in zip(Y, outputs, strict=True)],
    )


def check_decoders(twins: PartialTwins, w: np.ndarray, scaling: Scaling) -> None:
    """The completion is the best output that agrees; no output violates more than the one that is found."""
    problem, everything = twins.problem, np.arange(len(twins.outputs))
    completed = problem.complete(w, everything)
    violations = problem.oracle(w, everything, scaling).violations(len(everything))
    for i in everything:
        scores, agree, losses = twins.features[i] @ w, twins.agree[i], twins.losses[i]
        assert np.all(losses[agree] == 0.0)
        true_score = scores[agree].max()
        mine = problem.between(everything[[i]], [completed[i]], [problem.best(w, everything[[i]])[0]]).dot(w)
        assert mine[0] == pytest.approx(true_score - scores.max(), abs=1e-9)
        a, b = scaling(losses)
        violation = b - a * (true_score - scores)
        wanted = violation[losses > 0.0] if scaling.rescaling is None else violation
        assert violations[i] == pytest.approx(wanted.max(initial=-np.inf), abs=1e-9)


def check_likelihood(twins: PartialTwins, w: np.ndarray) -> None:
    """−log P(Y | x) against the list of outputs, its gradient against finite differences."""
    problem = twins.problem
    expected = []
    for features, agree in zip(twins.features, twins.agree, strict=True):
        scores = features @ w
        expected.append(logsumexp(scores) - logsumexp(scores[agree]))
    np.testing.assert_allclose(problem.log_losses(w), expected, atol=1e-9)
    weight = np.linspace(0.5, 2.0, problem.n_examples)
    gradient = np.zeros(problem.n_features)
    problem.log_losses(w, weight, gradient)
    step = 1e-5
    for k in range(problem.n_features):
        change = step * (np.arange(problem.n_features) == k)
        slope = weight @ (problem.log_losses(w + change) - problem.log_losses(w - change)) / (2 * step)
        assert gradient[k] == pytest.approx(slope, abs=1e-6)


def check_expected_truths(twins: PartialTwins, w: np.ndarray, elsewhere: np.ndarray) -> None:
    """With the latent parts distributed as at w, the loss lies above the true one and touches it at w."""
    problem = twins.problem
    bound = problem.expected(w)
    assert bound.truth_entropies is not None
    np.testing.assert_allclose(bound.log_losses(w) - bound.truth_entropies, problem.log_losses(w), atol=1e-9)
    assert np.all(bound.log_losses(elsewhere) - bound.truth_entropies >= problem.log_losses(elsewhere) - 1e-9)
    slopes = np.zeros((2, problem.n_features))
    ones = np.ones(problem.n_examples)
    problem.log_losses(w, ones, slopes[0])
    bound.log_losses(w, ones, slopes[1])
    np.testing.assert_allclose(slopes[0], slopes[1], atol=1e-9)


def check_all(twins: PartialTwins, random: np.random.Generator) -> None:
    w, elsewhere = random.normal(size=(2, twins.problem.n_features))
    for scaling in MARGINS:
        if scaling.oracle in twins.problem.oracles:
            check_decoders(twins, w, scaling)
    check_likelihood(twins, w)
    check_expected_truths(twins, w, elsewhere)
    assert np.all(twins.problem.max_losses() >= [losses.max() - 1e-12 for losses in twins.losses])
