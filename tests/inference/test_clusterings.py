"""Clusterings on a matrix of scores against all clusterings."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import best_clustering, greedy_clustering, relaxed_clustering
from tests.models.clustering.enumerated_forests import clusterings


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Symmetric scores of a few items; small whole numbers make ties, and some pairs are forbidden."""
    n = draw(st.integers(0, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = random.normal(size=(n, n)) if draw(st.booleans()) else random.integers(-2, 3, (n, n)).astype(float)
    scores *= draw(st.sampled_from([1.0, 1e-8, 1e6]))
    scores[random.uniform(size=(n, n)) < draw(st.sampled_from([0.0, 0.2]))] = -np.inf
    return np.triu(scores, 1) + np.triu(scores, 1).T


def value(scores: Any, labels: Any) -> float:
    return float(sum(scores[i, j] for i, j in combinations(range(len(scores)), 2) if labels[i] == labels[j]))


def best_value(scores: Any) -> float:
    return max(value(scores, labels) for labels in clusterings(len(scores)))


def is_canonical(labels: Any) -> bool:
    return [label for k, label in enumerate(labels) if label not in labels[:k]] == list(range(len(set(labels))))


@given(matrices())
@settings(max_examples=60, deadline=None)
def test_the_best_clustering_agrees_with_enumeration(scores: Any) -> None:
    labels, score = best_clustering(scores)
    assert is_canonical(labels.tolist())
    assert value(scores, labels) == pytest.approx(score)
    assert score == pytest.approx(best_value(scores), rel=1e-6, abs=1e-20)


@given(matrices())
@settings(max_examples=60, deadline=None)
def test_the_linear_program_bounds_the_best_clustering(scores: Any) -> None:
    labels, bound = relaxed_clustering(scores)
    best = best_value(scores)
    slack = 1e-6 * max(best, 1e-20)
    assert best <= bound + slack
    assert -np.inf < value(scores, labels) <= best + slack
    # Relaxations of so few items are mostly whole: then the rounded clustering is the best one.
    if abs(value(scores, labels) - bound) < slack:
        assert value(scores, labels) == pytest.approx(best)


def test_the_program_of_a_cycle_is_fractional_and_rounded() -> None:
    # One item that goes well with three which do not go together: the program gives each one half.
    scores = -np.ones((4, 4))
    scores[0] = scores[:, 0] = 1.0
    labels, bound = relaxed_clustering(scores)
    assert bound == pytest.approx(1.5)
    assert sorted(labels.tolist())[0] == 0
    assert best_clustering(scores)[1] == 1.0


@given(matrices())
def test_the_greedy_clustering_is_no_better_than_the_best_and_cannot_be_improved_by_a_join(scores: Any) -> None:
    labels, score = greedy_clustering(scores)
    assert is_canonical(labels.tolist())
    assert score == pytest.approx(value(scores, labels))
    assert 0.0 <= score <= best_value(scores) * (1 + 1e-9)
    for a, b in combinations(set(labels.tolist()), 2):
        joined = value(scores, np.where(labels == a, b, labels))
        assert joined <= score + 1e-9 * abs(score)


def test_greedy_takes_the_largest_sum_first() -> None:
    # 0 and 1 go best together, and then nobody wants 2: the best clustering would be 0 alone.
    scores = np.array([[0.0, 3.0, -9.0], [3.0, 0.0, 2.0], [-9.0, 2.0, 0.0]])
    assert greedy_clustering(scores)[0].tolist() == [0, 0, 1]
    scores = np.array([[0, 3, 2, -9], [3, 0, -9, 2], [2, -9, 0, -1], [-9, 2, -1, 0]], float)
    assert (greedy_clustering(scores)[1], best_clustering(scores)[1]) == (3.0, 4.0)


@pytest.mark.parametrize("cluster", [best_clustering, greedy_clustering, relaxed_clustering])
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[0.0, 1.0]], "scores have shape (1, 2); expected a symmetric matrix"),
        ([[0.0, 1.0], [2.0, 0.0]], "scores[0, 1] is 1.0 and scores[1, 0] is 2.0; expected symmetry"),
        ([[0.0, np.nan], [np.nan, 0.0]], "scores[0, 1] is nan and scores[1, 0] is nan; expected numbers below +inf"),
        ([[0.0, np.inf], [np.inf, 0.0]], "scores[0, 1] is inf and"),
    ],
)
def test_bad_scores_are_named(cluster: Any, scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        cluster(scores)


@pytest.mark.parametrize("cluster", [best_clustering, relaxed_clustering])
def test_too_many_items_are_refused_by_the_linear_program(cluster: Any) -> None:
    with pytest.raises(ValueError, match=r"there are 101 items; the linear program is for at most 100"):
        cluster(np.zeros((101, 101)))
