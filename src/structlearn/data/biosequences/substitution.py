"""Substitution matrices to compare with: BLOSUM62, and log-odds of observed matches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

#: The letters of amino acids, X for an unknown one.
AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYVX"

# Henikoff and Henikoff 1992, in half bits, as distributed by NCBI (BLOSUM62, the 20 amino acids and X).
_BLOSUM62 = """
 4 -1 -2 -2  0 -1 -1  0 -2 -1 -1 -1 -1 -2 -1  1  0 -3 -2  0  0
-1  5  0 -2 -3  1  0 -2  0 -3 -2  2 -1 -3 -2 -1 -1 -3 -2 -3 -1
-2  0  6  1 -3  0  0  0  1 -3 -3  0 -2 -3 -2  1  0 -4 -2 -3 -1
-2 -2  1  6 -3  0  2 -1 -1 -3 -4 -1 -3 -3 -1  0 -1 -4 -3 -3 -1
 0 -3 -3 -3  9 -3 -4 -3 -3 -1 -1 -3 -1 -2 -3 -1 -1 -2 -2 -1 -2
-1  1  0  0 -3  5  2 -2  0 -3 -2  1  0 -3 -1  0 -1 -2 -1 -2 -1
-1  0  0  2 -4  2  5 -2  0 -3 -3  1 -2 -3 -1  0 -1 -3 -2 -2 -1
 0 -2  0 -1 -3 -2 -2  6 -2 -4 -4 -2 -3 -3 -2  0 -2 -2 -3 -3 -1
-2  0  1 -1 -3  0  0 -2  8 -3 -3 -1 -2 -1 -2 -1 -2 -2  2 -3 -1
-1 -3 -3 -3 -1 -3 -3 -4 -3  4  2 -3  1  0 -3 -2 -1 -3 -1  3 -1
-1 -2 -3 -4 -1 -2 -3 -4 -3  2  4 -2  2  0 -3 -2 -1 -2 -1  1 -1
-1  2  0 -1 -3  1  1 -2 -1 -3 -2  5 -1 -3 -1  0 -1 -3 -2 -2 -1
-1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5  0 -2 -1 -1 -1 -1  1 -1
-2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6 -4 -2 -2  1  3 -1 -1
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7 -1 -1 -4 -3 -2 -2
 1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4  1 -3 -2 -2  0
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5 -2 -2  0  0
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11  2 -3 -2
-2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7 -1 -1
 0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4 -1
 0 -1 -1 -1 -2 -1 -1 -1 -1 -1 -1 -1 -1 -1 -2  0  0 -2 -1 -1 -1
"""

#: Scores of pairs of amino acids, in half bits (Henikoff and Henikoff 1992; source: NCBI).
BLOSUM62: dict[tuple[str, str], float] = {
    (a, b): float(score)
    for a, row in zip(AMINO_ACIDS, _BLOSUM62.split("\n")[1:-1], strict=True)
    for b, score in zip(AMINO_ACIDS, row.split(), strict=True)
}


def log_odds(
    X: Sequence[tuple[Sequence[Any], Sequence[Any]]],
    Y: Sequence[Sequence[tuple[int, int]]],
    alphabet: Sequence[Any],
    smoothing: float = 1.0,
    background: Sequence[Sequence[Any]] | None = None,
) -> dict[tuple[Any, Any], float]:
    """log P(a, b) / (P(a) P(b)), the generative substitution matrix of Tsochantaridis et al. (2005, section 5.3).

    P(a, b) is estimated from the matches, P(a) from the letters of all first sequences and P(b) from those of all
    second ones, or both from the sequences of the `background`, each with `smoothing` added to every count.

    Examples
    --------
    >>> matrix = log_odds([("aab", "ab")], [((0, 0), (2, 1))], "ab")
    >>> {pair: round(score, 3) for pair, score in matrix.items()}
    {('a', 'a'): 0.105, ('a', 'b'): -0.588, ('b', 'a'): -0.182, ('b', 'b'): 0.511}
    """
    sides = [[pair[side] for pair in X] if background is None else background for side in (0, 1)]
    letters = [Counter(letter for sequence in side for letter in sequence) for side in sides]
    matched = Counter((s[i], t[j]) for (s, t), y in zip(X, Y, strict=True) for i, j in y)
    K = len(alphabet)

    def logarithm(counts: Counter[Any], key: Any, size: int) -> float:
        return float(np.log((counts[key] + smoothing) / (counts.total() + smoothing * size)))

    return {
        (a, b): logarithm(matched, (a, b), K * K) - logarithm(letters[0], a, K) - logarithm(letters[1], b, K)
        for a in alphabet
        for b in alphabet
    }
