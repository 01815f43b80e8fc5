"""Features of pairs of mentions in a text, for coreference."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin

from structlearn.data.arrays import IntArray
from structlearn.data.documents import Document
from structlearn.data.item_pairs import ItemPairs
from structlearn.data.options import whole_option
from structlearn.data.ragged import offsets_of
from structlearn.features.mentions import ARTICLES, GENDERS, PRONOUN, PRONOUNS, TYPES, mention_traits

KINDS = (*PRONOUNS, *(f"{gender} (noun)" for gender in GENDERS))
WORDS = ("nothing in common", "same text", "same head", "head of one in the other", "a word in common")
SENTENCES = ("0", "1", "2", "3-4", "5-8", "9-16", "17+")
MENTIONS = ("1", "2", "3", "4-5", "6-9", "10-19", "20-49", "50+")
BETWEEN = ("far", "one within the other", "comma", "is", "and", "beside")
QUOTES = ("neither", "first", "second", "both", "same")
_IS = ("is", "was", "are", "were", "be", "been", "am", "'s", "became", "named", "called")

#: What a pair of mentions is asked, with all possible answers; those of both mentions end with 1 and 2.
QUESTIONS: dict[str, tuple[str, ...]] = {
    "type1": TYPES,
    "type2": TYPES,
    "kind1": KINDS,
    "kind2": KINDS,
    "article1": ARTICLES,
    "article2": ARTICLES,
    "leads1": ("no", "yes"),
    "words": WORDS,
    "sentences": SENTENCES,
    "mentions": MENTIONS,
    "between": BETWEEN,
    "quotes": QUOTES,
}
#: A feature for every combination of answers to these questions.
FEATURES: tuple[tuple[str, ...], ...] = (
    ("type1", "type2", "words"),
    ("type1", "type2", "sentences"),
    ("type1", "type2", "mentions"),
    ("type1", "type2", "between"),
    ("type1", "type2", "quotes"),
    ("type1", "type2", "article1"),
    ("type1", "type2", "article2"),
    ("type1", "type2", "leads1"),
    ("words", "sentences"),
    ("words", "kind1", "kind2"),
    ("kind1", "kind2", "sentences"),
    ("kind1", "kind2", "quotes"),
    ("article2", "words"),
)


class MentionPairs(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Documents as `ItemPairs`: the mentions of each, with indicators of what two of them have in common.

    In the spirit of Ng and Cardie (2002), from words alone: what kind of pronoun, name or noun phrase both are, of
    which gender and number, as far as short lists of English words tell; whether text, head or a word agree; how many
    sentences and mentions lie between, or a comma or a form of "be"; articles; and quotation marks. A feature is one
    combination of answers, see `FEATURES`.

    Parameters
    ----------
    window : int, optional
        How many mentions before it one may be linked to; None for all. With a window the memory grows with the
        number of mentions, not with its square, but mentions whose entity pauses for longer are not linked.

    Examples
    --------
    >>> from structlearn.data import Document, Mention
    >>> text = (("Ann", "saw", "her", "dog", "."), ("She", "laughed", "."))
    >>> document = Document(text, (Mention(0, 0, 1), Mention(0, 2, 4), Mention(0, 2, 3), Mention(1, 0, 1)))
    >>> (pairs,) = MentionPairs().transform([document])
    >>> pairs.n_items, len(pairs.kinds)
    (4, 6)
    >>> names = MentionPairs().get_feature_names_out()
    >>> names[pairs.features[[pairs.kinds[5]]].indices][:2].tolist()
    ['type1=pronoun type2=pronoun words=nothing in common', 'type1=pronoun type2=pronoun sentences=1']
    """

    def __init__(self, window: int | None = None):
        self.window = window

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learnt: the features are always the same."""
        self.check_options()
        return self

    def transform(self, X: Any) -> list[ItemPairs]:
        self.check_options()
        return [self._pairs(document, i) for i, document in enumerate(X)]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        names = []
        for questions in FEATURES:
            for answers in np.ndindex(*(len(QUESTIONS[q]) for q in questions)):
                parts = (f"{q}={QUESTIONS[q][a]}" for q, a in zip(questions, answers, strict=True))
                names.append(" ".join(parts))
        return np.array(names, object)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def _pairs(self, document: Any, i: int) -> ItemPairs:
        if not isinstance(document, Document):
            raise ValueError(f"X[{i}] is a {type(document).__name__}; expected a Document")
        n = len(document.mentions)
        first, second = np.triu_indices(n, 1)
        if self.window is not None and self.window < n:
            near = second - first <= self.window
            first, second = first[near], second[near]
        codes, kinds = np.unique(_codes(_described(document), first, second), return_inverse=True)
        answers = np.unravel_index(codes, _SIZES)
        by_question = dict(zip(QUESTIONS, answers, strict=True))
        columns, begin = [], 0
        for questions in FEATURES:
            sizes = [len(QUESTIONS[q]) for q in questions]
            columns.append(begin + np.ravel_multi_index([by_question[q] for q in questions], sizes))
            begin += int(np.prod(sizes))
        indices = np.stack(columns, axis=1).ravel()
        indptr = np.arange(0, len(indices) + 1, len(FEATURES))
        features = sp.csr_array((np.ones(len(indices), np.float32), indices, indptr), shape=(len(codes), begin))
        return ItemPairs(n, features, np.stack([first, second], axis=1), kinds.astype(np.int32))

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name."""
        if self.window is not None:
            whole_option("window", self.window, 1)


_SIZES = tuple(len(answers) for answers in QUESTIONS.values())


class _Described(NamedTuple):
    """What is known of every mention, an array each."""

    type: IntArray
    kind: IntArray
    article: IntArray
    leads: IntArray
    text: IntArray
    head: IntArray
    sentence: IntArray
    begin: IntArray
    end: IntArray
    quote: IntArray
    words: sp.csr_array
    heads: sp.csr_array
    after: npt.NDArray[np.object_]


def _described(document: Document) -> _Described:
    traits = [mention_traits(document, mention) for mention in document.mentions]
    starts = offsets_of([len(s) for s in document.sentences])
    sentence, begin, end = np.array(document.mentions, np.int64).reshape(-1, 3).T
    tokens = np.array([*(word.lower() for s in document.sentences for word in s), "", ""], object)
    known = {word: k for k, word in enumerate(sorted({w for t in traits for w in (*t.words, t.head)}))}
    texts = {text: k for k, text in enumerate(sorted({t.text for t in traits}))}
    return _Described(
        np.array([t.type for t in traits], np.int64),
        np.array([t.kind for t in traits], np.int64),
        np.array([t.article for t in traits], np.int64),
        np.diff(sentence, prepend=-1).astype(bool).astype(np.int64),
        np.array([texts[t.text] for t in traits], np.int64),
        np.array([known[t.head] for t in traits], np.int64),
        sentence,
        starts[sentence] + begin,
        starts[sentence] + end,
        _quotations(tokens)[starts[sentence] + begin],
        _incidence([[known[w] for w in sorted(t.words)] for t in traits], len(known)),
        _incidence([[known[t.head]] if t.type != PRONOUN else [] for t in traits], len(known)),
        tokens,
    )


def _codes(d: _Described, first: IntArray, second: IntArray) -> IntArray:
    """The answers to all questions about each pair, as one number."""
    same_sentence = d.sentence[first] == d.sentence[second]
    gap = d.begin[second] - d.end[first]
    next_word = d.after[np.minimum(d.end[first], len(d.after) - 1)]
    close = same_sentence & (gap == 1)
    between = np.select(
        [
            gap < 0,
            close & (next_word == ","),
            same_sentence & (gap >= 1) & (gap <= 2) & np.isin(next_word.astype(str), _IS),
            close & np.isin(next_word.astype(str), ("and", "or")),
            gap <= 1,
        ],
        [1, 2, 3, 4, 5],
        0,
    )
    q1, q2 = d.quote[first], d.quote[second]
    quotes = np.where((q1 == q2) & (q1 > 0), 4, (q1 > 0) + 2 * (q2 > 0))
    answers = (
        d.type[first],
        d.type[second],
        d.kind[first],
        d.kind[second],
        d.article[first],
        d.article[second],
        d.leads[first],
        _agreement(d, first, second),
        np.digitize(d.sentence[second] - d.sentence[first], [1, 2, 3, 5, 9, 17]),
        np.digitize(second - first, [2, 3, 4, 6, 10, 20, 50]),
        between,
        quotes,
    )
    return np.asarray(np.ravel_multi_index(answers, _SIZES), np.int64)


def _agreement(d: _Described, first: IntArray, second: IntArray) -> IntArray:
    nouns = (d.type[first] != PRONOUN) & (d.type[second] != PRONOUN)
    in_other = (_entries(d.heads @ d.words.T, first, second) > 0) | (_entries(d.words @ d.heads.T, first, second) > 0)
    return np.select(
        [
            d.text[first] == d.text[second],
            nouns & (d.head[first] == d.head[second]),
            nouns & in_other,
            nouns & (_entries(d.words @ d.words.T, first, second) > 0),
        ],
        [1, 2, 3, 4],
        0,
    )


def _entries(matrix: Any, first: IntArray, second: IntArray) -> npt.NDArray[Any]:
    return np.asarray(sp.csr_matrix(matrix)[first, second]).ravel() if len(first) else np.empty(0)


def _incidence(columns: list[list[int]], n_columns: int) -> sp.csr_array:
    indptr = offsets_of([len(row) for row in columns])
    indices = np.array([k for row in columns for k in row], np.int64)
    return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(columns), n_columns))


def _quotations(tokens: npt.NDArray[np.object_]) -> IntArray:
    """For every word the number of the quotation that it is in, from 1, or 0."""
    number, inside = 0, False
    found = []
    for token in tokens:
        if token in ('"', "''", "``", "“", "”", "“‘"):
            opens = token in ("“", "``", "“‘") or (token == '"' and not inside)
            number += opens
            inside = opens
        found.append(number if inside else 0)
    return np.array(found, np.int64)
