"""Sentences as arrays: every column of the tokens as codes of its distinct values, with room at the borders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from structlearn.data.arrays import IntArray
from structlearn.data.examples import is_listed
from structlearn.features.templates import Field
from structlearn.features.word_attributes import attribute
from structlearn.wording import shown


@dataclass(frozen=True, slots=True)
class Column:
    """Values at all places, those beyond the borders included."""

    values: list[str]  # each once
    codes: IntArray  # of every place: 0 … len(symbols) − 1 for boundary symbols, then the values


class TokenColumns:
    """The tokens of all sequences at their places on one line, with `margin` empty places on both sides of a sequence.

    The value at such a place is a boundary symbol, that of CRF++: ``_B-1`` just before the sequence, ``_B+1`` just
    after it, ``_B-2`` and ``_B+2`` one further out.

    Parameters
    ----------
    X : list of sequences of strings, or of tuples with a string for each column
    names : of the columns
    margin : how far beyond a border templates look
    boundary : bool
        Whether the symbols are values; if not, there is nothing beyond a border.
    """

    def __init__(self, X: Any, names: Sequence[str], margin: int, boundary: bool):
        sequences = [_tokens(x, i) for i, x in enumerate(_sequences(X))]
        self.lengths = np.array([len(x) for x in sequences])
        number = np.arange(len(sequences))
        self.places = np.arange(self.lengths.sum()) + np.repeat(margin * (2 * number + 1), self.lengths)
        self.n_places = len(self.places) + 2 * margin * len(sequences)
        self._symbols = [f"_B-{k}" for k in range(margin, 0, -1)] + [f"_B+{k}" for k in range(1, margin + 1)]
        self._boundary = boundary
        ends = np.cumsum(self.lengths) + margin * (2 * number + 1)
        borders = ((ends - self.lengths)[:, None] - np.arange(margin, 0, -1), ends[:, None] + np.arange(margin))
        self._columns: dict[str, Column] = {}
        for name, values in zip(names, _split(sequences, names), strict=True):
            distinct = _distinct(values, sequences, name if len(names) > 1 else None)
            index = dict(zip(distinct, range(2 * margin, 2 * margin + len(distinct)), strict=True))
            codes = np.empty(self.n_places, np.int64)
            codes[self.places] = np.fromiter(map(index.__getitem__, values), np.int64, count=len(values))
            for side, border in enumerate(borders):
                codes[border] = margin * side + np.arange(margin)
            self._columns[name] = Column(distinct, codes)

    def values(self, field: Field) -> list[str | None]:
        """The value of a field for every code of its column, None where it has none."""
        words = self._columns[field.column].values
        symbols = self._symbols if self._boundary else [None] * len(self._symbols)
        return [*symbols, *(map(attribute(field.attribute), words) if field.attribute else words)]

    def codes(self, field: Field) -> IntArray:
        """The codes of a field's column at all places; the offset is left to the reader."""
        return self._columns[field.column].codes


def _sequences(X: Any) -> Any:
    if not is_listed(X):
        raise ValueError(f"X must be a list of sequences of words, not {type(X).__name__}")
    if len(X) == 0:
        raise ValueError("X is empty; at least one sequence is needed")
    return X


def _tokens(x: Any, i: int) -> Sequence[Any]:
    if hasattr(x, "to_numpy"):
        x = x.to_numpy()
    if isinstance(x, np.ndarray):
        x = x.tolist()
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            f"X[{i}] is {shown(x)}; a sequence is a list of words, or of tuples with a string for each column"
        )
    return x


def _split(sequences: list[Sequence[Any]], names: Sequence[str]) -> list[list[Any]]:
    """The values of every column, of all tokens one after another."""
    tokens = list(chain.from_iterable(sequences))
    if len(names) == 1 and not (tokens and isinstance(tokens[0], (tuple, list))):
        return [tokens]
    listed = all(issubclass(kind, (tuple, list)) for kind in {*map(type, tokens)})
    if not listed or {*map(len, tokens)} - {len(names)}:
        i, t, token = next(
            (i, t, token)
            for i, x in enumerate(sequences)
            for t, token in enumerate(x)
            if not (isinstance(token, (tuple, list)) and len(token) == len(names))
        )
        raise ValueError(f"X[{i}][{t}] is {shown(token)}, but the columns are named {', '.join(names)}")
    return [list(map(itemgetter(k), tokens)) for k in range(len(names))]


def _distinct(values: list[Any], sequences: list[Sequence[Any]], name: str | None) -> list[str]:
    """The different values of a column, in the order of first appearance."""
    try:
        distinct = list(dict.fromkeys(values))
    except TypeError:
        distinct = [None]
    if all(isinstance(value, str) for value in distinct):
        return distinct
    bad = next(k for k, value in enumerate(values) if not isinstance(value, str))
    ends = np.cumsum([len(x) for x in sequences])
    i = int(np.searchsorted(ends, bad, side="right"))
    place = f"X[{i}][{bad - int(ends[i]) + len(sequences[i])}]"
    raise ValueError(f"{f'column {shown(name)} of ' if name else ''}{place} is {shown(values[bad])}; expected a string")
