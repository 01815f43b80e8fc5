"""Decoders for alignments of two sequences s and t, on plain arrays of scores, or on letters.

An alignment y is a tuple of matches (i, j), increasing in both. Its score F(y) is the sum of match[i, j] of every
match, of `gap` of every letter without partner, and of `first` of each of those that begins a gap: between two matches
there is at most one gap of letters of s, and one of letters of t. A score of −∞ in `match` forbids. Probabilities are
P(y) = exp F(y) / Z.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray, checked_scores
from structlearn.data.biosequences.matches import ENDS, Ends, Matches, matches_of
from structlearn.data.known.partners import known_partners
from structlearn.data.ragged import Ragged
from structlearn.inference.given import GivenParts, scores_of, table_of
from structlearn.wording import shown

#: One score for all letters, or those of each letter of s and of each letter of t.
GapScores = float | tuple[npt.ArrayLike, npt.ArrayLike]
#: Matches (i, j) that there must be.
Allowed = Collection[tuple[int, int]] | None


def best_alignment(
    match: npt.ArrayLike,
    gap: GapScores = 0.0,
    first: GapScores = 0.0,
    *,
    ends: Ends = "global",
    allowed: Allowed = None,
) -> tuple[Matches, float]:
    """The best alignment and its score (Gotoh 1982).

    Parameters
    ----------
    match : (m, n)
        Of every letter of s with every letter of t.
    gap, first : float, or ((m,), (n,))
        Of a letter without partner, and of the first one of a gap on top; below zero for costs. One number, or one
        for each letter of s and for each letter of t.
    ends : {"global", "semiglobal", "local"}
        Which letters without partner are free, see `structlearn.models.Alignment`.
    allowed : collection of (i, j), optional
        Matches that the alignment must have.

    Examples
    --------
    >>> match = [[2.0, -1.0], [-1.0, -1.0], [-1.0, 2.0]]
    >>> best_alignment(match, gap=-0.5)
    (((0, 0), (2, 1)), 3.5)
    >>> best_alignment(match, gap=([-0.5, -9.0, -0.1], [-0.5, -0.5]))
    (((0, 0), (1, 1)), 0.9)
    >>> best_alignment(match, gap=-0.5, allowed=[(1, 1)])
    (((0, 0), (1, 1)), 0.5)
    """
    partners, score = _given(match, gap, first, ends, allowed).best()
    return matches_of(partners), score


def k_best_alignments(
    match: npt.ArrayLike,
    k: int,
    gap: GapScores = 0.0,
    first: GapScores = 0.0,
    *,
    ends: Ends = "global",
    allowed: Allowed = None,
) -> list[tuple[Matches, float]]:
    """The k best alignments and their scores, best first; fewer if there are not as many.

    Examples
    --------
    >>> k_best_alignments([[1.0, 0.0]], 3, gap=-0.25)
    [(((0, 0),), 0.75), (((0, 1),), -0.25), ((), -0.75)]
    """
    given = _given(match, gap, first, ends, allowed)
    return [(matches_of(partners), score) for partners, score in given.k_best(k)]


@dataclass(frozen=True, slots=True)
class AlignmentMarginals:
    """What the distribution P(y) = exp F(y) / Z over alignments is like.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y).
    matches : (m, n)
        The probability that two letters are partners.
    gaps : (m,), (n,)
        The probability that a letter of s, or of t, scores as one without partner; where ends are free those do not.
    firsts : (m,), (n,)
        The probability that it is the first one of a gap.
    entropy : float
        −Σ_y P(y) log P(y), in nats.
    """

    log_z: float
    matches: FloatArray
    gaps: tuple[FloatArray, FloatArray]
    firsts: tuple[FloatArray, FloatArray]
    entropy: float


def alignment_marginals(
    match: npt.ArrayLike,
    gap: GapScores = 0.0,
    first: GapScores = 0.0,
    *,
    ends: Ends = "global",
    allowed: Allowed = None,
) -> AlignmentMarginals:
    """Sums over all alignments; the arguments are those of `best_alignment`.

    Examples
    --------
    >>> found = alignment_marginals([[1.0, 0.0], [0.0, 1.0]], gap=-1.0)
    >>> found.matches.round(2), round(found.log_z, 2)
    (array([[0.92, 0.02],
           [0.02, 0.92]]), 2.13)

    The alignment with the most true matches in expectation:

    >>> best_alignment(found.matches)[0]
    ((0, 0), (1, 1))
    """
    log_z, entropy, parts = _given(match, gap, first, ends, allowed).sums()
    matches, deleted, _, inserted, _, first_deleted, _, first_inserted, _ = parts
    return AlignmentMarginals(log_z, matches, (deleted, inserted), (first_deleted, first_inserted), entropy)


def sample_alignments(
    match: npt.ArrayLike,
    n_samples: int,
    gap: GapScores = 0.0,
    first: GapScores = 0.0,
    *,
    ends: Ends = "global",
    allowed: Allowed = None,
    random_state: int | np.random.Generator | None = None,
) -> list[Matches]:
    """Alignments drawn from P(y).

    Examples
    --------
    >>> sample_alignments([[1.0, 0.0], [0.0, 1.0]], 2, gap=-1.0, random_state=0)
    [((0, 0), (1, 1)), ((0, 0), (1, 1))]
    """
    given = _given(match, gap, first, ends, allowed)
    return [matches_of(partners) for partners in given.samples(n_samples, random_state)]


def align(
    X: Sequence[tuple[Sequence[Any], Sequence[Any]]],
    matrix: Mapping[tuple[Any, Any], float],
    gap: float,
    first: float = 0.0,
    *,
    ends: Ends = "global",
    allowed: Sequence[Allowed] | None = None,
    n_threads: int = 1,
) -> list[tuple[Matches, float]]:
    """The best alignment of every pair of sequences of letters, and its score.

    Pairs of letters score alike wherever they stand, so that no table of all matches is filled for `best_alignment`.

    Parameters
    ----------
    X : pairs of sequences
    matrix : dict
        Scores of pairs of letters; its letters are the alphabet.
    gap, first : float
        Scores of a letter without partner, and of the first one of a gap on top; below zero for costs.
    ends : {"global", "semiglobal", "local"}
        See `structlearn.models.Alignment`.
    allowed : list, optional
        For each pair the matches that its alignment must have, or None.

    Examples
    --------
    >>> from structlearn.data.biosequences.substitution import BLOSUM62
    >>> align([("HEAGAWGHEE", "PAWHEAE")], BLOSUM62, gap=-8)
    [(((2, 0), (4, 1), (5, 2), (6, 3), (7, 4), (8, 5), (9, 6)), -8.0)]
    """
    pairs = list(X)
    codes = {letter: k for k, letter in enumerate(dict.fromkeys(letter for pair in matrix for letter in pair))}
    scores = np.zeros((len(codes), len(codes)))
    for (a, b), score in matrix.items():
        scores[codes[a], codes[b]] = score
    s, t = (Ragged.of(_coded(pair[side], codes, f"X[{i}][{side}]") for i, pair in enumerate(pairs)) for side in (0, 1))
    # One stream of letters a side; two channels of gaps, those of s and of t, each with a score for the first letter.
    gaps = [(deletion, 0, opening, 0, scores.size + opening) for opening in (0, 1) for deletion in (1, 0)]
    w = np.array([*scores.ravel(), gap, first])
    known = None
    if allowed is not None:
        known = known_partners(s.offsets, t.offsets, allowed)
        for i, partners in enumerate(Ragged(known, s.offsets)):
            _check_possible(scores[np.ix_(s[i], t[i])], partners, f"allowed[{i}]")
    engine = _core.AlignmentEngine(s.offsets, t.offsets, _number_of(ends), known)
    scorer = _core.AlignmentScorer(
        _side(s),
        _side(t),
        np.array([[0, 0, len(codes), 0]]),
        np.array(gaps),
        scores.size,
        np.ones(len(pairs)),
        engine,
        len(w),
    )
    found, values = _core.Alignment(engine, scorer).best(w, np.arange(len(pairs)), n_threads)
    return [(matches_of(partners), value) for partners, value in zip(Ragged(*found), values.tolist(), strict=True)]


def edit_distance(s: Sequence[Any], t: Sequence[Any]) -> int:
    """How many letters must be replaced, removed or added to make t of s (Levenshtein 1966).

    >>> edit_distance("discreet", "discrete")
    2
    """
    if not s or not t:
        return max(len(s), len(t))
    letters = {*s, *t}
    matrix = {(a, b): -float(a != b) for a in letters for b in letters}
    ((_, score),) = align([(s, t)], matrix, gap=-1.0)
    return round(-score)


def _given(match: npt.ArrayLike, gap: GapScores, first: GapScores, ends: Ends, allowed: Allowed) -> GivenParts:
    match = table_of(match, "match", "(m, n)")
    m, n = match.shape
    local = [match]
    for name, given in (("gap", gap), ("first", first)):
        of_s, of_t = _sides(given, m, n, name)
        # Models can also score where in the other sequence a gap is: before each letter, or after the last.
        local += [of_s, np.zeros(n + 1), of_t, np.zeros(m + 1)]
    s, t = np.array([0, m]), np.array([0, n])
    known = None
    if allowed is not None:
        known = known_partners(s, t, [allowed], one="match")
        _check_possible(match, known, "allowed")
    engine = _core.AlignmentEngine(s, t, _number_of(ends), known)
    nothing = "every alignment is forbidden: all scores are -inf"
    return GivenParts(nothing, partial(_core.GivenAlignment, engine), local)


def _check_possible(match: FloatArray, partners: LabelArray, where: str) -> None:
    """Refuses matches that there must be and cannot be: then no alignment is left, which the core relies on."""
    for pair in matches_of(partners):
        if np.isneginf(match[pair]):
            raise ValueError(f"{where} has the match {pair}, which is forbidden: its score is -inf")


def _sides(given: GapScores, m: int, n: int, name: str) -> tuple[FloatArray, FloatArray]:
    if isinstance(given, (tuple, list)) and len(given) == 2:
        sides = scores_of(given[0], f"{name}[0]", (m,)), scores_of(given[1], f"{name}[1]", (n,))
    elif np.ndim(given) == 0:
        score = checked_scores(np.asarray(given, np.float64), name)
        sides = np.full(m, score), np.full(n, score)
    else:
        raise ValueError(
            f"{name} is {shown(given)}; expected a number, or scores of the letters of s and of those of t"
        )
    if any(np.isneginf(side).any() for side in sides):
        raise ValueError(f"{name} holds -inf; only match may forbid")
    return sides


def _number_of(ends: Ends) -> int:
    if ends not in ENDS:
        raise ValueError(f"ends is {ends!r}; it may be {', '.join(map(repr, ENDS))}")
    return ENDS.index(ends)


def _coded(sequence: Sequence[Any], codes: Mapping[Any, int], where: str) -> list[int]:
    if not len(sequence):
        raise ValueError(f"{where} is an empty sequence")
    for at, letter in enumerate(sequence):
        if letter not in codes:
            raise ValueError(f"{where} has the letter {letter!r} at {at}, which has no scores in matrix")
    return [codes[letter] for letter in sequence]


def _side(letters: Ragged) -> _core.AlignmentSide:
    n_letters, n_borders = len(letters.flat), len(letters.flat) + len(letters)
    one_gap, no_border = np.zeros((1, n_letters), np.int32), np.empty((0, n_borders), np.int32)
    return _core.AlignmentSide(letters.offsets, letters.flat[None], one_gap, no_border, np.empty((n_letters, 0)))
