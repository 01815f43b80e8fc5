import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.data.biosequences.matches import ENDS
from structlearn.inference import (
    align,
    alignment_marginals,
    best_alignment,
    k_best_alignments,
    sample_alignments,
)


@st.composite
def scores(draw):
    """Gap scores of every letter, moderate scores and large ones, and forbidden matches."""
    m, n = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    shapes = ((m, n), (m,), (n,), (m,), (n,))
    arrays = [draw(st.sampled_from([1.0, 300.0])) * random.uniform(-1, 1, shape) for shape in shapes]
    match, gap_s, gap_t, first_s, first_t = arrays
    match[random.uniform(size=match.shape) < draw(st.sampled_from([0.0, 0.3, 1.0]))] = -np.inf
    return {"match": match, "gap": (gap_s, gap_t), "first": (first_s, first_t), "ends": draw(st.sampled_from(ENDS))}


def alignments(m, n):
    for size in range(min(m, n) + 1):
        for places in itertools.product(itertools.combinations(range(m), size), itertools.combinations(range(n), size)):
            yield tuple(zip(*places, strict=True))


def gaps_of(y, m, n, ends):
    """(sequence, letters) of every gap that is not free."""
    corners = [(-1, -1), *y, (m, n)]
    for k, ((i, j), (next_i, next_j)) in enumerate(itertools.pairwise(corners)):
        gaps = [(0, range(i + 1, next_i)), (1, range(j + 1, next_j))]
        outer = k in (0, len(y))
        alone = not all(letters for _, letters in gaps)
        if outer and (ends == "local" or (ends == "semiglobal" and alone)):
            continue
        yield from ((side, letters) for side, letters in gaps if letters)


def enumerated(match, gap, first, ends):
    return {
        y: sum(match[i, j] for i, j in y)
        + sum(
            gap[side][list(letters)].sum() + first[side][letters[0]] for side, letters in gaps_of(y, *match.shape, ends)
        )
        for y in alignments(*match.shape)
    }


@given(scores())
@settings(max_examples=60)
def test_decoding_and_sums_agree_with_enumeration(given):
    total = enumerated(**given)
    values = np.array(list(total.values()))
    found, top = alignment_marginals(**given), values.max()
    best, score = best_alignment(**given)
    assert score == pytest.approx(top, rel=1e-12, abs=1e-9)
    assert total[best] == pytest.approx(score, rel=1e-12, abs=1e-9)
    several = k_best_alignments(k=5, **given)
    assert len({y for y, _ in several}) == len(several)
    possible = np.sort(values[values > -np.inf])[::-1]
    assert [score for _, score in several] == pytest.approx(possible[:5].tolist(), rel=1e-12, abs=1e-9)
    p = np.exp(values - top) / np.exp(values - top).sum()
    assert found.log_z == pytest.approx(top + np.log(np.exp(values - top).sum()), rel=1e-12, abs=1e-9)
    assert found.entropy == pytest.approx(-np.sum(p[p > 0] * np.log(p[p > 0])), abs=1e-9 * max(1.0, abs(top)))
    match, gaps, firsts = (np.zeros_like(given["match"]), *([np.zeros(n) for n in given["match"].shape] for _ in "gf"))
    for y, probability in zip(total, p, strict=True):
        for place in y:
            match[place] += probability
        for side, letters in gaps_of(y, *match.shape, given["ends"]):
            gaps[side][list(letters)] += probability
            firsts[side][letters[0]] += probability
    np.testing.assert_allclose(found.matches, match, atol=1e-9)
    for side in (0, 1):
        np.testing.assert_allclose(found.gaps[side], gaps[side], atol=1e-9)
        np.testing.assert_allclose(found.firsts[side], firsts[side], atol=1e-9)


@pytest.mark.parametrize("ends", ENDS)
def test_samples_follow_the_distribution(ends):
    random = np.random.default_rng(0)
    given = {
        "match": np.array([[-np.inf, 0.5, 1.0], [-1.0, 2.0, 0.0]]),
        "gap": (random.normal(size=2), random.normal(size=3)),
        "first": (random.normal(size=2), random.normal(size=3)),
        "ends": ends,
    }
    drawn = sample_alignments(n_samples=5000, random_state=0, **given)
    total = enumerated(**given)
    share = np.exp(list(total.values())) / np.exp(list(total.values())).sum()
    assert [drawn.count(y) / 5000 for y in total] == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("ends", ENDS)
def test_letters_and_their_matrix_of_scores_have_the_same_best_alignment(ends):
    random = np.random.default_rng(0)
    matrix = {(a, b): random.normal() for a in "abc" for b in "abc"}
    s, t = ("".join(random.choice(list("abc"), n)) for n in (12, 15))
    match = [[matrix[a, b] for b in t] for a in s]
    ((matches, score),) = align([(s, t)], matrix, -0.3, -0.2, ends=ends)
    found = best_alignment(match, -0.3, -0.2, ends=ends)
    assert found[0] == matches
    assert found[1] == pytest.approx(score)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"match": np.zeros(3)}, r"match has shape \(3,\); expected \(m, n\)"),
        ({"match": np.zeros((0, 3))}, r"match has shape \(0, 3\)"),
        ({"gap": (np.zeros(3), np.zeros(3))}, r"gap\[0\] has shape \(3,\); expected \(2,\)"),
        ({"first": np.zeros(3)}, r"first is array\(\[0., 0., 0.\]\); expected a number, or scores of the letters of s"),
        ({"gap": np.nan}, "NaN"),
        ({"gap": -np.inf}, "gap holds -inf; only match may forbid"),
        ({"ends": "free"}, "ends is 'free'; it may be 'global'"),
    ],
)
def test_scores_that_do_not_fit_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        best_alignment(**{"match": np.zeros((2, 3)), **given})
