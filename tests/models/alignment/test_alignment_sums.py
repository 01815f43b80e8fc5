"""Sums over alignments: as products of numbers that share powers of two, in logarithms where those do not suffice."""

from decimal import Decimal, localcontext

import numpy as np
import pytest

from structlearn import _core
from structlearn.data.biosequences.matches import ENDS

#: Whose lengths are on both sides of the blocks of sixteen columns that share a power of two.
SIZES = [(1, 1), (15, 16), (16, 15), (17, 33), (2, 90), (90, 2)]
#: The deviation of match scores, the score of a gap and of its first letter, the deviation of scores beside gaps.
MODERATE = {"plain": (1, -1, -4, 0), "flat": (0.1, 0, 0, 0), "beside": (3, -2, -8, 0.3), "wide": (10, -5, -10, 2)}
FAR = {"growing": (5, 1, -3, 1), "too wide": (40, -8, -20, 0), "steep": (2, -30, -30, 0)}


def scores(random, m, n, of_match, gap, first, of_beside, forbidden=0.3):
    match = random.normal(0, of_match, (m, n))
    match[random.random((m, n)) < forbidden] = -np.inf
    gaps = []
    for score in (gap, first):
        for own, other in ((m, n), (n, m)):
            gaps += [random.normal(score, 0.1, own), random.normal(0, of_beside, other + 1)]
    return match, gaps


def sums(match, gaps, ends):
    m, n = match.shape
    theta = np.concatenate([match.ravel(), *gaps])
    engine = _core.AlignmentEngine(np.array([0, m]), np.array([0, n]), ENDS.index(ends))
    given = _core.GivenAlignment(engine, _core.GivenScores(0, np.array([0, len(theta)])))
    log_z, expected = np.empty(1), np.full(len(theta), np.nan)
    given.part_sums(theta, np.zeros(1, np.int64), log_z, expected, 1)
    at = np.cumsum([match.size, *map(len, gaps[:-1])])
    return log_z[0], expected[: match.size].reshape(m, n), np.split(expected, at)[1:]


def exact_sums(match, gaps, ends):
    """The recursion once more, cell by cell, in decimals of 30 digits and any exponent: log Z, and P of every match."""
    m, n = match.shape
    zero, one = Decimal(0), Decimal(1)

    def exponential(values):
        return [zero if value == -np.inf else Decimal(float(value)).exp() for value in values]

    factors = [exponential(row) for row in match]
    (d, d_beside, i, i_beside), more = (list(map(exponential, gaps[:4])), list(map(exponential, gaps[4:])))
    firsts = [
        [a * b for a, b in zip(*pair, strict=True)] for pair in zip((d, d_beside, i, i_beside), more, strict=True)
    ]
    free, semiglobal = ends == "local", ends == "semiglobal"

    def deletion(k, j):
        return firsts[0][k] * firsts[1][j], d[k] * d_beside[j]

    def insertion(k, j):
        on = not (semiglobal and k == 0)
        return on * firsts[2][j] * firsts[3][k], on * i[j] * i_beside[k]

    def may_end(k, j):
        """After a match, a deletion, an insertion."""
        whole = (k, j) == (m, n)
        if ends == "global":
            return whole, whole, whole
        return k > 0 and j > 0 and (free or k == m or j == n), False, semiglobal and whole

    M, D, T = ([[zero] * (n + 1) for _ in range(m + 1)] for _ in range(3))
    M[0][0] = zero if free else one
    for k in range(m + 1):
        for j in range(n + 1):
            if k and j:
                before = M[k - 1][j - 1] + D[k - 1][j - 1] + T[k - 1][j - 1] + free
                M[k][j] = (one if semiglobal and 1 in (k, j) else before) * factors[k - 1][j - 1]
            if k:
                first, on = deletion(k - 1, j)
                D[k][j] = M[k - 1][j] * first + D[k - 1][j] * on
            if j:
                first, on = insertion(k, j - 1)
                after_match = zero if semiglobal and k == m else M[k][j - 1]
                T[k][j] = (after_match + D[k][j - 1]) * first + T[k][j - 1] * on
    cells = [(k, j) for k in range(m, -1, -1) for j in range(n, -1, -1)]
    z = sum((sum(a * b[k][j] for a, b in zip(may_end(k, j), (M, D, T), strict=True)) for k, j in cells), zero) + free
    after = {}
    for k, j in cells:
        of_match, of_deletion, of_insertion = map(Decimal, map(int, may_end(k, j)))
        if k < m and j < n and not (semiglobal and 0 in (k, j)):
            step = factors[k][j] * after[k + 1, j + 1][0]
            of_match, of_deletion, of_insertion = of_match + step, of_deletion + step, of_insertion + step
        if j < n:
            first, on = insertion(k, j)
            step = first * after[k, j + 1][2]
            of_match += zero if semiglobal and k == m else step
            of_deletion += step
            of_insertion += on * after[k, j + 1][2]
        if k < m:
            first, on = deletion(k, j)
            of_match += first * after[k + 1, j][1]
            of_deletion += on * after[k + 1, j][1]
        after[k, j] = of_match, of_deletion, of_insertion
    return float(z.ln()), [[float(M[k][j] * after[k, j][0] / z) for j in range(1, n + 1)] for k in range(1, m + 1)]


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("kind", [*MODERATE, *FAR])
def test_sums_are_those_of_exact_arithmetic(ends, kind):
    random = np.random.default_rng(0)
    for m, n in SIZES:
        match, gaps = scores(random, m, n, *(MODERATE | FAR)[kind])
        with localcontext() as context:
            context.prec = 30
            log_z, expected = exact_sums(match, gaps, ends)
        found, matches, _ = sums(match, gaps, ends)
        assert found == pytest.approx(log_z, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(matches, expected, rtol=1e-10 if kind in MODERATE else 1e-4, atol=1e-11)
        assert kind in FAR or not matches[match == -np.inf].any()


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("sizes", [(3, 1500), (700, 4), (150, 140)])
@pytest.mark.parametrize("kind", [*MODERATE, "growing"])
def test_products_and_logarithms_agree_on_long_and_unequal_pairs(ends, sizes, kind):
    """One score of −360 is too small for products, and as good as −∞."""
    random = np.random.default_rng(1)
    match, gaps = scores(random, *sizes, *(MODERATE | FAR)[kind])
    match[0, -1] = -np.inf
    log_z, matches, gap_counts = sums(match, gaps, ends)
    match[0, -1] = -360.0
    other_log_z, other_matches, other_gap_counts = sums(match, gaps, ends)
    assert log_z == pytest.approx(other_log_z, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(matches, other_matches, atol=1e-7)
    for counts, others in zip(gap_counts, other_gap_counts, strict=True):
        np.testing.assert_allclose(counts, others, atol=1e-6, rtol=1e-9)


def test_what_grows_along_a_row_that_no_alignment_ends_in_is_not_lost_beside():
    """Insertions in the last row are worth far more than everything else, but local alignments end with a match."""
    random = np.random.default_rng(0)
    match, gaps = scores(random, 3, 600, 1, 1, -3, 0, forbidden=0.9)
    gaps[3][:] = [0, 0, 0, 6]
    log_z, matches, _ = sums(match, gaps, "local")
    with localcontext() as context:
        context.prec = 30
        expected = exact_sums(match, gaps, "local")
    assert log_z == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(matches, expected[1], atol=1e-9)
