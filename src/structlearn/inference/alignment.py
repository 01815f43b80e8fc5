"""Alignment of sequences with given scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.matches import ENDS, Ends, Matches, matches_of
from structlearn.data.ragged import Ragged


def align(
    X: Sequence[tuple[Sequence[Any], Sequence[Any]]],
    matrix: Mapping[tuple[Any, Any], float],
    gap: float,
    first: float = 0.0,
    *,
    ends: Ends = "global",
    n_threads: int = 1,
) -> list[tuple[Matches, float]]:
    """The best alignment of every pair of sequences, and its score.

    Parameters
    ----------
    X : pairs of sequences
    matrix : dict
        Scores of pairs of letters; its letters are the alphabet.
    gap, first : float
        Scores of a letter without partner, and of the first one of a gap on top; below zero for costs.
    ends : {"global", "semiglobal", "local"}
        See `structlearn.models.Alignment`.

    Examples
    --------
    >>> from structlearn.data.substitution import BLOSUM62
    >>> align([("HEAGAWGHEE", "PAWHEAE")], BLOSUM62, gap=-8)
    [(((2, 0), (4, 1), (5, 2), (6, 3), (7, 4), (8, 5), (9, 6)), -8.0)]
    """
    if ends not in ENDS:
        raise ValueError(f"ends is {ends!r}; it may be {', '.join(map(repr, ENDS))}")
    pairs = list(X)
    codes = {letter: k for k, letter in enumerate(dict.fromkeys(letter for pair in matrix for letter in pair))}
    scores = np.zeros((len(codes), len(codes)))
    for (a, b), score in matrix.items():
        scores[codes[a], codes[b]] = score
    s, t = (Ragged.of(_coded(pair[side], codes, f"X[{i}][{side}]") for i, pair in enumerate(pairs)) for side in (0, 1))
    # One stream of letters a side; two channels of gaps, those of s and of t, each with a score for the first letter.
    gaps = [(deletion, 0, opening, 0, scores.size + opening) for opening in (0, 1) for deletion in (1, 0)]
    w = np.array([*scores.ravel(), gap, first])
    engine = _core.AlignmentEngine(s.offsets, t.offsets, ENDS.index(ends))
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
