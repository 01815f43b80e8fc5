"""The letters that score highest as the site of a motif, and what others in their places would score."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.biosequences.dna import BASES


class BestWord(NamedTuple):
    """A pattern in one line.

    Attributes
    ----------
    letters : str
    score : float
        F(x, +, h) − F(x, −) if these letters are the site, on average over the letters before it.
    changes : (width, 4)
        By how much the score changes with A, C, G or T in a place: 0 for its own letter, and nowhere above.
    """

    letters: str
    score: float
    changes: FloatArray


def best_word(pattern: FloatArray, background: FloatArray) -> BestWord:
    """argmax over words of Σ_j pattern[j, x_j] − Σ_j background[…, x_{j−1}, x_j], by dynamic programming.

    Parameters
    ----------
    pattern : (width, 4)
    background : (4,) * (order + 1)
        Where letters before the word have a part, their mean is taken.

    Examples
    --------
    >>> pattern = np.array([[1.0, 0, 0, 0], [0, 1, 0, 0.5]])
    >>> best_word(pattern, np.zeros(4))
    BestWord(letters='AC', score=2.0, changes=array([[ 0. , -1. , -1. , -1. ],
           [-1. ,  0. , -1. , -0.5]]))
    """
    order = background.ndim - 1
    # By the last letters of a word so far, at most `order` of them.
    best: FloatArray = np.zeros(())
    before = []
    for j, weights in enumerate(pattern):
        scores = best[..., None] + weights - _known(background, j)
        if j >= order:
            before.append(scores.argmax(axis=0))
            scores = scores.max(axis=0)
        best = scores
    letters = [int(letter) for letter in np.unravel_index(best.argmax(), best.shape)]
    for choice in reversed(before):
        letters.insert(0, int(choice[tuple(letters[:order])]))
    score = _score(letters, pattern, background)
    changes = np.array(
        [
            [_score([*letters[:j], base, *letters[j + 1 :]], pattern, background) - score for base in range(len(BASES))]
            for j in range(len(pattern))
        ]
    )
    return BestWord("".join(BASES[letter] for letter in letters), score, changes)


def _known(background: FloatArray, j: int) -> FloatArray:
    """The background of the letter at place j of a word: the mean over the letters before the word."""
    unknown = max(background.ndim - 1 - j, 0)
    mean: FloatArray = background.mean(axis=tuple(range(unknown)))
    return mean


def _score(letters: list[int], pattern: FloatArray, background: FloatArray) -> float:
    order = background.ndim - 1
    return float(
        sum(
            pattern[j, letter] - _known(background, j)[tuple(letters[max(j - order, 0) : j + 1])]
            for j, letter in enumerate(letters)
        )
    )
