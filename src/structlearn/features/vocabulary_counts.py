"""Counting the values of templates in one pass over data without end, under a bound on memory."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import IntArray
from structlearn.features.template_columns import Hashes, Vocabulary, anchored, mix, source_of
from structlearn.features.templates import Field, Template
from structlearn.features.token_columns import TokenColumns

#: About what a text takes in a dictionary that numbers it.
_TEXT_BYTES = 150


@dataclass(frozen=True, slots=True)
class Table:
    """Values of a template with their counts: a hash that tells them apart, and the code of each field, (n, fields)."""

    keys: Hashes
    counts: IntArray
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(cls, keys: Hashes, counts: IntArray, codes: npt.NDArray[np.int32]) -> Table:
        """Equal values once, with their counts together."""
        distinct, first, place = np.unique(keys, return_index=True, return_inverse=True)
        return cls(distinct, np.bincount(place, counts, len(distinct)).astype(np.int64), codes[first])

    @classmethod
    def merged(cls, tables: list[Table]) -> Table:
        joined = (np.concatenate([getattr(table, name) for table in tables]) for name in ("keys", "counts", "codes"))
        return cls.of(*joined)

    def chosen(self, kept: npt.NDArray[np.bool_]) -> Table:
        return Table(self.keys[kept], self.counts[kept], self.codes[kept])

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.counts.nbytes + self.codes.nbytes


@dataclass
class VocabularyCounts:
    """Lossy counting (Manku and Motwani 2002) of the values of templates.

    Where tables take more than `max_memory`, the rarest values are forgotten: all that were counted at most c times,
    with the least c that makes room. `lost` adds up these c. A value of n tokens is then known with a count of at least
    n − `lost`, and never with more than n.
    """

    templates: tuple[Template, ...]
    max_memory: int | None = None
    lost: int = 0
    _texts: dict[Field, dict[str, int]] = field(default_factory=dict)
    #: Of every template: what is merged, and behind it what is not yet, which is less.
    _tables: list[list[Table]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._texts = {source_of(part): {} for template in self.templates for part in template}
        self._tables = [[] for _ in self.templates]

    def add(self, tokens: TokenColumns) -> None:
        coded = {source: self._coded(tokens, source) for source in self._texts}
        for tables, template in zip(self._tables, self.templates, strict=True):
            sources = [coded[source_of(part)] for part in template]
            columns = [tokens.codes(part)[tokens.places + part.offset] for part in template]
            first, counts = _distinct(columns, [len(codes) for codes in sources], len(tokens.places))
            parts = [codes[column[first]] for codes, column in zip(sources, columns, strict=True)]
            rows = np.array(parts, np.int32).reshape(len(template), len(first)).T
            kept = (rows >= 0).all(axis=1)
            tables.append(Table.of(_keys(rows[kept]), counts[kept], rows[kept]))
            if sum(len(table.keys) for table in tables[1:]) >= len(tables[0].keys):
                tables[:] = [Table.merged(tables)]
        if self.max_memory is not None and self.nbytes() > self.max_memory:
            self._forget(0.7 * self.max_memory)

    def nbytes(self) -> int:
        texts = sum(map(len, self._texts.values()))
        return _TEXT_BYTES * texts + sum(table.nbytes for tables in self._tables for table in tables)

    def vocabulary(self, min_count: int) -> Vocabulary:
        """The vocabulary of the values that were counted so often, as `Vocabulary.learn` would have numbered them."""
        self._keep(min_count)
        made = Vocabulary(self.templates, {(source,): texts for source, texts in self._texts.items()})
        rows: dict[Template, list[npt.NDArray[np.int32]]] = {}
        for template, (table,) in zip(self.templates, self._tables, strict=True):
            for length in range(2, len(template) + 1):
                rows.setdefault(anchored(template)[:length], []).append(table.codes[:, :length])
        for template in sorted(rows, key=len):
            made.combinations[template] = np.unique(_pairs(made, template, np.concatenate(rows[template])))
        for template, (table,) in zip(self.templates, self._tables, strict=True):
            kept = np.zeros(made.size(anchored(template)), bool)
            kept[_codes(made, anchored(template), table.codes)] = True
            made.keep(kept)
        return made

    def _coded(self, tokens: TokenColumns, source: Field) -> npt.NDArray[np.int32]:
        """A number for every value of a field, −1 for none."""
        texts = self._texts[source]
        values = tokens.values(source)
        return np.array([-1 if value is None else texts.setdefault(value, len(texts)) for value in values], np.int32)

    def _forget(self, most: float) -> None:
        """Makes room, by the rarest values."""
        before = self.lost
        while self.nbytes() > most:
            self.lost += 1
            self._keep(self.lost - before + 1)

    def _keep(self, least: int) -> None:
        """Keeps what was counted at least so often, and the texts that it is made of, numbered anew."""
        for tables in self._tables:
            whole = Table.merged(tables)
            tables[:] = [whole.chosen(whole.counts >= least)]
        for source, texts in self._texts.items():
            used = np.zeros(len(texts), bool)
            for codes in self._columns(source):
                used[codes] = True
            number = np.cumsum(used, dtype=np.int32) - 1
            for codes in self._columns(source):
                codes[:] = number[codes]
            kept = (text for text, there in zip(texts, used.tolist(), strict=True) if there)
            self._texts[source] = {text: code for code, text in enumerate(kept)}
        self._rekey()

    def _columns(self, source: Field) -> Iterator[npt.NDArray[np.int32]]:
        """The codes of a field in all tables."""
        for template, (table,) in zip(self.templates, self._tables, strict=True):
            for k, part in enumerate(template):
                if source_of(part) == source:
                    yield table.codes[:, k]

    def _rekey(self) -> None:
        self._tables = [[Table.of(_keys(table.codes), table.counts, table.codes)] for (table,) in self._tables]


def _distinct(columns: list[IntArray], sizes: list[int], n_tokens: int) -> tuple[IntArray, IntArray]:
    """A token with each of the combinations of codes that there are, and how many tokens have it.

    Codes of a column are below its size. Where there can be few combinations, they are counted and not sorted.
    """
    most = math.prod(sizes)
    if most >= 2**63:
        numbers: npt.NDArray[Any] = _keys(np.stack(columns, axis=1))
    else:
        numbers = np.zeros(n_tokens, np.int64)
        for column, size in zip(columns, sizes, strict=True):
            numbers = numbers * size + column
    if most > 2 * n_tokens:
        _, first, counts = np.unique(numbers, return_index=True, return_counts=True)
        return first, counts
    all_counts = np.bincount(numbers, minlength=most)
    token = np.zeros(most, np.int64)
    token[numbers] = np.arange(n_tokens)
    present = np.flatnonzero(all_counts)
    return token[present], all_counts[present]


def _keys(rows: npt.NDArray[np.int32]) -> Hashes:
    keys = np.zeros(len(rows), np.uint64)
    for k in range(rows.shape[1]):
        keys = mix(keys ^ (rows[:, k].astype(np.uint64) + np.uint64(1)))
    return keys


def _codes(vocabulary: Vocabulary, template: Template, rows: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """The codes in a vocabulary of values that are given by those of their fields."""
    if len(template) < 2:
        return rows[:, 0] if template else np.zeros(len(rows), np.int64)
    return np.searchsorted(vocabulary.combinations[template], _pairs(vocabulary, template, rows))


def _pairs(vocabulary: Vocabulary, template: Template, rows: npt.NDArray[np.int32]) -> IntArray:
    """The numbers under which `Vocabulary` finds combinations."""
    first = _codes(vocabulary, template[:-1], rows[:, :-1]).astype(np.int64)
    return np.asarray(first * vocabulary.size(anchored(template[-1:])) + rows[:, -1])
