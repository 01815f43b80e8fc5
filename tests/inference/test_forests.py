"""Forests on a matrix of scores against all forests."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.inference import best_forest, best_spanning_forest
from tests.models.clustering.enumerated_forests import components, forests


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Symmetric scores of a few items; small whole numbers make ties, and some pairs are forbidden."""
    n = draw(st.integers(0, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = random.normal(size=(n, n)) if draw(st.booleans()) else random.integers(-2, 3, (n, n)).astype(float)
    scores[random.uniform(size=(n, n)) < draw(st.sampled_from([0.0, 0.3]))] = -np.inf
    return np.triu(scores, 1) + np.triu(scores, 1).T


def value(scores: Any, links: Any) -> float:
    return float(sum(scores[i, j] for i, j in links))


def allowed(scores: Any) -> list[tuple[int, int]]:
    return [(i, j) for i, j in combinations(range(len(scores)), 2) if scores[i, j] > -np.inf]


@given(matrices())
@settings(max_examples=60)
def test_the_best_forest_agrees_with_enumeration(scores: Any) -> None:
    links, score = best_forest(scores)
    possible = list(forests(len(scores), allowed(scores)))
    assert links in possible
    assert all(scores[link] > 0.0 for link in links)
    assert value(scores, links) == pytest.approx(score)
    assert score == pytest.approx(max(value(scores, h) for h in possible))


@given(matrices())
@settings(max_examples=60)
def test_the_best_spanning_forest_agrees_with_enumeration(scores: Any) -> None:
    links, score = best_spanning_forest(scores)
    connected = components(len(scores), allowed(scores))
    possible = [h for h in forests(len(scores), allowed(scores)) if components(len(scores), h) == connected]
    assert links in possible
    assert value(scores, links) == pytest.approx(score)
    assert score == pytest.approx(max(value(scores, h) for h in possible))


def test_scores_on_the_diagonal_play_no_part() -> None:
    scores = np.array([[np.nan, 1.0], [1.0, np.inf]])
    assert best_forest(scores) == best_spanning_forest(scores) == (((0, 1),), 1.0)


def test_bad_scores_are_named() -> None:
    for decode in (best_forest, best_spanning_forest):
        with pytest.raises(ValueError, match=r"scores\[0, 1\] is nan and"):
            decode([[0.0, np.nan], [np.nan, 0.0]])
