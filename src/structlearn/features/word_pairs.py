"""Features of pairs of words in a sentence and its translation, for word alignment."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.fields import check_distinct, check_tuple
from structlearn.data.matchings import SentencePair
from structlearn.features.association import associations
from structlearn.wording import shown

MEASURES = ("dice", "p(second | first)", "p(first | second)")
#: What a pair of words is described by.
FEATURES = (
    *MEASURES,
    "product of both p",
    *(f"{measure} of the words before" for measure in MEASURES[:1]),
    *(f"{measure} of the words after" for measure in MEASURES[:1]),
    *("best of the row", "best of the column", "best of both"),
    *("same word", "same first 4 letters", "punctuation", "punctuation and word", "same number"),
    *("distance from the diagonal", "its square", "difference of lengths"),
)
_LETTERS = 4


class WordPairs(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Pairs of sentences as tables (n_words, n_words, n_features) for a `Matching`.

    Words are described by how often they come together (Dice's coefficient, and the probabilities of IBM model 1 in
    both directions), whether these are the largest of the row and the column, those of the words before and after,
    by letters that they share, punctuation, and places relative to the lengths of the sentences; in the spirit of
    Taskar, Lacoste-Julien and Klein (2005). What comes together is counted in the sentences of training, without
    looking at links, and in further ones.

    Parameters
    ----------
    bitext : path or sequence of SentencePair, optional
        Further sentences to count in; a file has a pair a line, ``the house ||| la maison``.

    Examples
    --------
    >>> text = [SentencePair(("the", "house"), ("la", "maison")), SentencePair(("a", "house"), ("une", "maison"))]
    >>> words = WordPairs().fit(text)
    >>> table = words.transform([text[0]])[0]
    >>> table.shape, dict(zip(words.get_feature_names_out(), table[1, 1].round(2)))["dice"]
    ((2, 2, 17), np.float64(1.0))
    """

    words_: tuple[tuple[str, ...], tuple[str, ...]]
    codes_: IntArray
    values_: FloatArray

    def __init__(self, bitext: str | PathLike[str] | Sequence[SentencePair] | None = None):
        self.bitext = bitext

    def fit(self, X: Any, y: Any = None) -> Self:
        """Counts words that come together."""
        found = associations([*_checked(X), *_bitext(self.bitext)])
        self.words_, self.codes_, self.values_ = found
        return self

    def transform(self, X: Any) -> list[FloatArray]:
        places = [{word: k for k, word in enumerate(known)} for known in self.words_]
        return [self._table(x, places) for x in _checked(X)]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        return np.array(FEATURES, object)

    def check_options(self) -> None:
        """Nothing to refuse: a file that is missing is named when it is read."""

    def check_learnt(self) -> None:
        """Refuses what no text can have taught; a file may say anything."""
        check_tuple("words_", self.words_, tuple)
        if len(self.words_) != 2:
            raise ValueError(f"words_ has {len(self.words_)} lists of words; expected two")
        for known in self.words_:
            check_tuple("words_", known, str)
            check_distinct("words_", known)
        codes, values = self.codes_, self.values_
        size = len(self.words_[0]) * len(self.words_[1])
        if not (isinstance(codes, np.ndarray) and codes.ndim == 1 and codes.dtype.kind == "i"):
            raise ValueError("codes_ of WordPairs are no list of whole numbers")
        if len(codes) and not (codes[0] >= 0 and codes[-1] < size and (np.diff(codes) > 0).all()):
            raise ValueError(f"codes_ of WordPairs do not increase from 0 to at most {size - 1}")
        shape = (len(codes), len(MEASURES))
        if not (isinstance(values, np.ndarray) and values.shape == shape and values.dtype.kind == "f"):
            raise ValueError(f"values_ of WordPairs are no numbers of the shape {shape}")
        if not np.isfinite(values).all():
            raise ValueError("values_ of WordPairs are not all finite")

    def _table(self, x: SentencePair, places: list[dict[str, int]]) -> FloatArray:
        source, target = ([word.lower() for word in side] for side in x)
        n, m = len(source), len(target)
        if not n * m:
            return np.zeros((n, m, len(FEATURES)))
        values = self._associated(source, target, places)
        dice = values[..., 0]
        both = np.sqrt(values[..., 1] * values[..., 2])
        score = both + dice
        row, column = ((score == score.max(axis=axis, keepdims=True)) & (score > 0) for axis in (1, 0))
        padded = np.pad(dice, 1)
        i, j = (np.arange(n)[:, None] + 0.5) / n, (np.arange(m)[None, :] + 0.5) / m
        distance = np.abs(i - j)
        lengths = np.abs(np.array([len(word) for word in source])[:, None] - np.array([len(word) for word in target]))
        features = [
            *np.moveaxis(values, -1, 0),
            both,
            padded[:-2, :-2],
            padded[2:, 2:],
            row,
            column,
            row & column,
            *_spelling(source, target),
            distance,
            distance**2,
            lengths / 10.0,
        ]
        return np.stack([np.asarray(feature, np.float64) for feature in features], axis=-1)

    def _associated(self, source: list[str], target: list[str], places: list[dict[str, int]]) -> FloatArray:
        """The measures of all pairs of words; 0 for words that never came together."""
        first, second = (
            np.array([place.get(word, -1) for word in side], np.int64)
            for side, place in zip((source, target), places, strict=True)
        )
        codes = first[:, None] * len(places[1]) + second
        at = np.minimum(np.searchsorted(self.codes_, codes), max(len(self.codes_) - 1, 0))
        known = (first[:, None] >= 0) & (second >= 0)
        if not len(self.codes_):
            return np.zeros((*codes.shape, len(MEASURES)))
        known &= self.codes_[at] == codes
        return np.asarray(np.where(known[..., None], self.values_[at], 0.0))


def _spelling(source: list[str], target: list[str]) -> list[npt.NDArray[Any]]:
    """What letters say: the same word, the same beginning, punctuation on both sides or on one, the same number."""
    a, b = np.array(source, object)[:, None], np.array(target, object)[None, :]
    same = a == b
    begins = [
        np.array([word[:_LETTERS] if len(word) >= _LETTERS else "" for word in side]) for side in (source, target)
    ]
    alike = (begins[0][:, None] == begins[1]) & (begins[0][:, None] != "")
    signs = [np.array([not any(map(str.isalnum, word)) for word in side]) for side in (source, target)]
    numbers = np.array([any(map(str.isdigit, word)) for word in source])[:, None]
    return [same, alike, signs[0][:, None] & signs[1], signs[0][:, None] ^ signs[1], same & numbers]


def _checked(X: Any, name: str = "X") -> list[SentencePair]:
    if hasattr(X, "X"):
        raise ValueError(f"{name} is a data set, {type(X).__name__}; its sentences are meant, .X")
    check_examples(name, X)
    found = []
    for i, x in enumerate(X):
        if not (is_listed(x) and len(x) == 2 and all(map(_is_sentence, x))):
            raise ValueError(f"{name}[{i}] is {shown(x)}; expected two lists of words, a SentencePair")
        found.append(SentencePair(tuple(x[0]), tuple(x[1])))
    return found


def _is_sentence(side: Any) -> bool:
    return is_listed(side) and all(isinstance(word, str) for word in side)


def _bitext(given: Any) -> list[SentencePair]:
    if given is None:
        return []
    if not isinstance(given, (str, PathLike)):
        return _checked(given, "bitext")
    from structlearn.io.formats import read_examples

    _, examples = read_examples(given, "word_alignments")
    return [example.x for example in examples]
