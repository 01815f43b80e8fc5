"""Decoders for matchings of two sides, on a plain matrix of scores.

A matching y gives each row at most one column, and each column to at most one row. Its score F(y) is the sum of
scores[i, j] of its pairs and, where they are given, of the scores of rows and columns without partner. A score of −∞
forbids. Sums over all matchings are permanents, for which there is no fast algorithm; so there are no marginals here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray, checked_scores
from structlearn.data.fields import LARGEST
from structlearn.data.matchings import checked_pairs, pairs_of
from structlearn.data.options import whole_option
from structlearn.inference.given import scores_of
from structlearn.wording import shown

#: One score for all rows and columns without partner, or those of each row and of each column.
UnmatchedScores = float | tuple[npt.ArrayLike, npt.ArrayLike]


class Assignment(NamedTuple):
    """The best matching, with a proof that there is none better.

    Attributes
    ----------
    partners : (n_rows,)
        The column of every row, −1 for none.
    score : float
    row_potentials : (n_rows,)
    column_potentials : (n_columns,)
        u and v with u[i] + v[j] ≥ scores[i, j] for all pairs, and with u[i] and v[j] at least what it scores to have no
        partner; equal for the pairs of the matching and those without partner. So their sum is the score, and no
        matching has more. Where nothing is given for `unmatched`, the potentials of the larger side are at least 0,
        and 0 where it has no partner.
    """

    partners: LabelArray
    score: float
    row_potentials: FloatArray
    column_potentials: FloatArray


def best_assignment(scores: npt.ArrayLike, unmatched: UnmatchedScores | None = None) -> Assignment:
    """The best matching and its score, by shortest augmenting paths (Jonker and Volgenant 1987), in O(n³).

    Parameters
    ----------
    scores : (n_rows, n_columns)
        Of every pair.
    unmatched : float, or ((n_rows,), (n_columns,)), optional
        Of a row or a column without partner, below zero for costs; −∞ where it must have one. If not given, as many
        are matched as can be: all of the smaller side, and the others score nothing.

    Examples
    --------
    >>> scores = [[5.0, 4.0, 1.0], [5.0, 1.0, 1.0]]
    >>> found = best_assignment(scores)
    >>> found.partners, found.score
    (array([1, 0], dtype=int32), 9.0)
    >>> found.row_potentials, found.column_potentials
    (array([1., 1.]), array([4., 3., 0.]))

    The second row rather stays alone than to have less than 2:

    >>> best_assignment([[5.0, 1.0], [5.0, 1.0]], unmatched=([0.0, 2.0], [0.0, 0.0])).partners
    array([ 0, -1], dtype=int32)
    """
    pairs, rows, columns = _read(scores, unmatched)
    partners = np.empty(len(pairs), np.int32)
    u, v = np.empty(len(pairs)), np.empty(pairs.shape[1])
    score = _core.best_matching(pairs, rows, columns, partners, u, v)
    if score == -np.inf:
        stuck = _core.unmatched_in_best(pairs, rows, columns)
        side = f"row {stuck}" if stuck >= 0 else f"column {-2 - stuck}"
        raise ValueError(f"every assignment is forbidden by scores of -inf: no partner is left for {side}")
    return Assignment(partners, score, u, v)


def k_best_assignments(
    scores: npt.ArrayLike, k: int, unmatched: UnmatchedScores | None = None
) -> list[tuple[LabelArray, float]]:
    """The k best matchings and their scores, best first; fewer if there are not as many (Murty 1968).

    The next one takes a search for each row, O(n³) together.

    Examples
    --------
    >>> for partners, score in k_best_assignments([[5.0, 4.0], [5.0, 1.0]], 3):
    ...     print(partners, score)
    [1 0] 9.0
    [0 1] 6.0
    >>> [partners.tolist() for partners, _ in k_best_assignments([[1.0, 3.0]], 3, unmatched=2.0)]
    [[-1], [1], [0]]
    """
    k = whole_option("k", k, 1, LARGEST)
    pairs, rows, columns = _read(scores, unmatched)
    partners, values = _core.k_best_matchings(pairs, rows, columns, k)
    return list(zip(partners.reshape(len(values), len(pairs)), values.tolist(), strict=True))


def largest_matching(
    pairs: Iterable[tuple[int, int]], shape: tuple[int, int], fertility: int = 1
) -> tuple[tuple[int, int], ...]:
    """As many of some pairs as rows with at most `fertility` partners and columns with one can have.

    Examples
    --------
    >>> links = [(0, 0), (0, 1), (1, 1), (1, 2)]
    >>> largest_matching(links, (2, 3)), largest_matching(links, (2, 3), fertility=2)
    (((0, 0), (1, 2)), ((0, 0), (0, 1), (1, 2)))
    """
    fertility = whole_option("fertility", fertility, 1, LARGEST)
    found = checked_pairs(list(pairs), shape, "pairs", "the table")
    n, m = shape
    forbidden = np.ones((n, m), np.uint8)
    # Of equally many those near the diagonal, so that the answer does not depend on how equals are found.
    scores = np.zeros(n * m + n + m)
    for i, j in found:
        forbidden[i, j] = 0
        scores[i * m + j] = 1.0 - abs((i + 0.5) / n - (j + 0.5) / m) / (2.0 * min(n * fertility, m))
    mask = np.concatenate([forbidden.ravel(), np.zeros(n + m, np.uint8)])
    engine = _core.MatchingEngine(np.array([0, n]), np.array([0, m]), True, fertility, False, mask)
    given = _core.GivenMatchings(engine, _core.GivenScores(0, np.array([0, len(scores)])))
    (codes, _), _ = given.best(scores, np.array([0]), 1)
    return pairs_of(codes, fertility)


def _read(
    scores: npt.ArrayLike, unmatched: UnmatchedScores | None
) -> tuple[FloatArray, FloatArray | None, FloatArray | None]:
    pairs = np.ascontiguousarray(scores, np.float64)
    if pairs.ndim != 2:
        raise ValueError(f"scores has shape {pairs.shape}; expected (n_rows, n_columns)")
    # A look at what is almost always so, in a tenth of the time that it takes to say where it is not.
    if not _core.all_scores(pairs):
        checked_scores(pairs, "scores")
    if unmatched is None:
        return pairs, None, None
    if isinstance(unmatched, (tuple, list)) and len(unmatched) == 2:
        sides = zip(unmatched, pairs.shape, strict=True)
        rows, columns = (scores_of(of, f"unmatched[{k}]", (n,)) for k, (of, n) in enumerate(sides))
    elif np.ndim(unmatched) == 0:
        score = checked_scores(np.asarray(unmatched, np.float64), "unmatched")
        rows, columns = (np.full(n, score) for n in pairs.shape)
    else:
        raise ValueError(
            f"unmatched is {shown(unmatched)}; expected a number, or scores of the rows and of the columns"
        )
    return pairs, rows, columns
