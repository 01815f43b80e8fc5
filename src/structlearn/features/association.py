"""How often words of a sentence and of its translation come together: Dice's coefficient and IBM model 1."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.matchings import SentencePair
from structlearn.metrics.scores import ratio

#: Passes of expectation maximisation, and below which value of all measures two words are not kept.
N_PASSES, LEAST = 5, 0.02


class Associations(NamedTuple):
    """Measures of pairs of words, each from 0 to 1.

    Attributes
    ----------
    words : tuple of two tuples
        Of the sentences and of their translations, in small letters.
    codes : (n_pairs,)
        Increasing: the place of the first word times the number of second ones, and the place of the second.
    values : (n_pairs, 3)
        Dice's coefficient of the sentences that have the words; P(second | first), P(first | second).
    """

    words: tuple[tuple[str, ...], tuple[str, ...]]
    codes: IntArray
    values: FloatArray


def associations(pairs: Sequence[SentencePair]) -> Associations:
    """Measures of all words that come together, by counts and by IBM model 1 (Brown et al. 1993) with an empty word.

    >>> text = [SentencePair(("the", "house"), ("la", "maison")), SentencePair(("the", "cat"), ("le", "chat"))]
    >>> found = associations([*text, SentencePair(("house",), ("maison",))])
    >>> found.words[0]
    ('cat', 'house', 'the')
    >>> found.values[found.codes == 1 * 4 + 3].round(2)
    array([[1.  , 0.8 , 0.95]])
    """
    sides = [[[word.lower() for word in pair[side]] for pair in pairs] for side in (0, 1)]
    words = tuple(sorted({word for sentence in side for word in sentence}) for side in sides)
    places = [{word: k for k, word in enumerate(known)} for known in words]
    coded = [
        [np.array([place[word] for word in sentence], np.int64) for sentence in side]
        for side, place in zip(sides, places, strict=True)
    ]
    m = len(words[1])
    codes, dice = _dice(coded[0], coded[1], len(words[0]), m)
    forward = _model_1(coded[0], coded[1], m)
    backward = _model_1(coded[1], coded[0], len(words[0]))
    # The second table has the words the other way round.
    back = backward[0] % len(words[0]) * m + backward[0] // len(words[0]) if len(backward[0]) else backward[0]
    values = np.column_stack([dice, _looked_up(codes, *forward), _looked_up(codes, back, backward[1])])
    kept = (values >= LEAST).any(axis=1)
    return Associations((tuple(words[0]), tuple(words[1])), codes[kept], values[kept])


def _dice(first: list[IntArray], second: list[IntArray], n: int, m: int) -> tuple[IntArray, FloatArray]:
    """2 C(a, b) / (C(a) + C(b)), counted in sentences."""
    once = [[np.unique(sentence) for sentence in side] for side in (first, second)]
    together = [(a[:, None] * m + b).ravel() for a, b in zip(*once, strict=True)]
    codes, counts = np.unique(_joined(together), return_counts=True)
    of_first, of_second = (np.bincount(_joined(side), minlength=size) for side, size in zip(once, (n, m), strict=True))
    whole = of_first[codes // max(m, 1)] + of_second[codes % max(m, 1)]
    return codes, ratio(2.0 * counts, whole)


def _model_1(given: list[IntArray], made: list[IntArray], m: int) -> tuple[IntArray, FloatArray]:
    """P(made word | given word) by the codes of both, after a few passes; given sentences have an empty word too."""
    rows = [(np.append(a, -1)[None, :] * m + b[:, None]).ravel() for a, b in zip(given, made, strict=True)]
    # Words that are made, one after another, each as often as there are words that may have made it.
    sizes = [np.full(len(b), len(a) + 1) for a, b in zip(given, made, strict=True)]
    owner = np.repeat(np.arange(int(sum(map(len, made)))), _joined(sizes))
    codes, entry = np.unique(_joined(rows), return_inverse=True)
    source = np.unique(codes // max(m, 1), return_inverse=True)[1]
    p: FloatArray = np.ones(len(codes))
    for _ in range(N_PASSES):
        share = p[entry] / np.bincount(owner, p[entry])[owner] if len(owner) else p[entry]
        counts = np.bincount(entry, share, minlength=len(codes))
        p = np.asarray(counts / np.bincount(source, counts)[source] if len(codes) else counts, np.float64)
    real = codes >= 0
    return codes[real], p[real]


def _joined(arrays: Iterable[IntArray]) -> IntArray:
    return np.concatenate([np.empty(0, np.int64), *arrays])


def _looked_up(codes: IntArray, known: IntArray, values: FloatArray) -> FloatArray:
    """The values of codes, all of which are known."""
    order = np.argsort(known)
    return np.asarray(values[order][np.searchsorted(known[order], codes)])
