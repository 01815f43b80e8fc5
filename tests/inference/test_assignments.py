"""Matchings of two sides against all matchings, and against scipy."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from structlearn.inference import best_assignment, k_best_assignments


@cache
def matchings(n: int, m: int) -> Any:
    """The partners of the rows in all matchings, −1 for none: (n_matchings, n)."""
    found: list[tuple[int, ...]] = [()]
    for _ in range(n):
        found = [(*y, j) for y in found for j in range(-1, m) if j < 0 or j not in y]
    return np.array(found, int).reshape(len(found), n)


def enumerated(scores: Any, unmatched: Any) -> dict[tuple[int, ...], float]:
    """All matchings that are not forbidden, as the partners of the rows, with their scores; from the definition."""
    n, m = scores.shape
    partners = matchings(n, m)
    if unmatched is None:
        partners = partners[(partners >= 0).sum(axis=1) == min(n, m)]
    rows, columns = (np.zeros(n), np.zeros(m)) if unmatched is None else unmatched
    # The score of having no partner stands in a column of its own, which −1 finds.
    values = np.column_stack([scores, rows])[np.arange(n), partners].sum(axis=1)
    values += np.where((partners[:, :, None] == np.arange(m)).any(axis=1), 0.0, columns).sum(axis=1)
    possible = values > -np.inf
    return dict(zip(map(tuple, partners[possible].tolist()), values[possible].tolist(), strict=True))


@st.composite
def problems(draw: st.DrawFn) -> Any:
    """Up to six rows and columns, with ties, forbidden pairs, and some that may, must, or must not be alone."""
    n, m = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    whole, scale = draw(st.booleans()), draw(st.sampled_from([1.0, 1e6]))

    def scores(*shape: int) -> Any:
        drawn = random.integers(-2, 3, shape).astype(float) if whole else scale * random.normal(size=shape)
        drawn[random.uniform(size=shape) < draw(st.sampled_from([0.0, 0.2, 0.6]))] = -np.inf
        return drawn

    return scores(n, m), None if draw(st.booleans()) else (scores(n), scores(m))


@given(problems(), st.integers(1, 40))
@settings(max_examples=200, deadline=None)
def test_the_best_matchings_agree_with_enumeration(problem: Any, k: int) -> None:
    scores, unmatched = problem
    possible = enumerated(scores, unmatched)
    best = sorted(possible.values(), reverse=True)
    found = k_best_assignments(scores, k, unmatched)
    assert [score for _, score in found] == pytest.approx(best[:k], rel=1e-12, abs=1e-9)
    assert len({tuple(partners.tolist()) for partners, _ in found}) == len(found)
    assert all(score == pytest.approx(possible[tuple(partners.tolist())]) for partners, score in found)
    if not possible:
        with pytest.raises(ValueError, match=r"every assignment is forbidden.*: no partner is left for (row|column) "):
            best_assignment(scores, unmatched)
        return
    first = best_assignment(scores, unmatched)
    assert first.score == pytest.approx(best[0], rel=1e-12, abs=1e-9)
    assert possible[tuple(first.partners.tolist())] == pytest.approx(first.score, rel=1e-12, abs=1e-9)


def assert_certified(scores: Any, unmatched: Any, found: Any) -> None:
    """The potentials are a feasible point of the dual program, and as good as the matching."""
    u, v, slack = found.row_potentials, found.column_potentials, 1e-9 * max(1.0, np.abs(found.score))
    assert (u[:, None] + v >= scores - slack).all()
    if unmatched is not None:
        assert (u >= unmatched[0] - slack).all()
        assert (v >= unmatched[1] - slack).all()
    else:
        larger = [u, v][len(v) >= len(u)]
        assert len(u) == len(v) or (larger >= -slack).all()
    assert u.sum() + v.sum() == pytest.approx(found.score, rel=1e-9, abs=slack)


@given(problems())
@settings(max_examples=200, deadline=None)
def test_potentials_prove_that_there_is_no_better_one(problem: Any) -> None:
    if enumerated(*problem):
        assert_certified(*problem, best_assignment(*problem))


@pytest.mark.parametrize("shape", [(60, 60), (40, 90), (90, 40), (200, 200)])
@pytest.mark.parametrize("kind", ["uniform", "few values", "many values", "products"])
def test_larger_ones_agree_with_scipy(shape: Any, kind: str) -> None:
    random = np.random.default_rng(0)
    rows, columns = (random.uniform(size=n) for n in shape)
    scores = {
        "uniform": random.uniform(size=shape),
        "few values": random.integers(0, 5, shape).astype(float),
        "many values": random.integers(0, 10**9, shape).astype(float),
        # Where prices are raised step by step: the machines of Machol and Wien.
        "products": np.outer(rows, columns),
    }[kind]
    found = best_assignment(scores)
    assert found.score == pytest.approx(scores[linear_sum_assignment(scores, maximize=True)].sum(), rel=1e-12)
    assert_certified(scores, None, found)


def test_forbidden_pairs_of_larger_ones_agree_with_scipy() -> None:
    random = np.random.default_rng(1)
    scores = random.normal(size=(80, 80))
    scores[random.uniform(size=scores.shape) < 0.9] = -np.inf
    scores[np.arange(80), random.permutation(80)] = -5.0
    expected = scores[linear_sum_assignment(scores, maximize=True)].sum()
    assert best_assignment(scores).score == pytest.approx(expected, rel=1e-12)


def test_many_of_the_best_come_in_order_and_differ() -> None:
    scores = np.random.default_rng(2).normal(size=(12, 15))
    found = k_best_assignments(scores, 300)
    values = [score for _, score in found]
    assert len({tuple(partners) for partners, _ in found}) == 300
    assert values == sorted(values, reverse=True)
    assert all(scores[np.arange(12), partners].sum() == pytest.approx(value) for partners, value in found)


def test_whom_nobody_is_left_for_is_named() -> None:
    inf = np.inf
    with pytest.raises(ValueError, match=r"no partner is left for row [02]"):
        best_assignment([[1.0, -inf, -inf], [0.0, 0.0, 0.0], [1.0, -inf, -inf]])
    with pytest.raises(ValueError, match="no partner is left for column 1"):
        best_assignment([[1.0, -inf], [1.0, -inf], [1.0, -inf]])
    with pytest.raises(ValueError, match="no partner is left for column 0"):
        best_assignment([[-inf, 1.0]], unmatched=([0.0], [-inf, 0.0]))
    assert k_best_assignments([[-inf]], 2) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scores": np.zeros(3)}, r"scores has shape \(3,\); expected \(n_rows, n_columns\)"),
        ({"scores": [[0.0, 1.0], [np.nan, 0.0]]}, r"scores\[1, 0\] is nan; a score must not be NaN or \+inf"),
        ({"scores": [[0.0, np.inf]]}, r"scores\[0, 1\] is inf"),
        ({"unmatched": np.nan}, "unmatched is nan"),
        ({"unmatched": ([0.0], [0.0, 0.0])}, r"unmatched\[0\] has shape \(1,\); expected \(2,\)"),
        ({"unmatched": [0.0, 0.0, 0.0]}, "expected a number, or scores of the rows and of the columns"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        best_assignment(**{"scores": np.zeros((2, 2)), **given})


def test_k_is_at_least_one() -> None:
    with pytest.raises(ValueError, match="k is 0"):
        k_best_assignments(np.zeros((2, 2)), 0)
