"""Alignment of sequences with given scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.models.alignment import Alignment, Matches
from structlearn.models.alignment_features import AlignmentSpec
from structlearn.models.alignment_problem import Ends


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
    >>> from structlearn.models.substitution import BLOSUM62
    >>> align([("HEAGAWGHEE", "PAWHEAE")], BLOSUM62, gap=-8)
    [(((2, 0), (4, 1), (5, 2), (6, 3), (7, 4), (8, 5), (9, 6)), -8.0)]
    """
    alphabet = tuple(dict.fromkeys(letter for pair in matrix for letter in pair))
    model = Alignment(alphabet, ends=ends, gaps="affine")
    spec = AlignmentSpec(alphabet)
    problem = model.bind(spec, X)
    problem.n_threads = n_threads
    found, scores = problem.best(model.weights(spec, matrix, gap, first), np.arange(problem.n_examples))
    return list(zip(problem.present(found), scores.tolist(), strict=True))


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
