"""Which column of the matrix the value of a template gets: from a vocabulary, or from a hash of the value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import IntArray
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.features.templates import Field, Template, name, parse
from structlearn.features.token_columns import TokenColumns

Columns = npt.NDArray[np.int32]  # (n_tokens, n_templates); −1 where a token has no such feature
Hashes = npt.NDArray[np.uint64]


@dataclass
class Vocabulary:
    """A column for every value of a template that occurs at least `min_count` times in training.

    Values have codes, which are the same at all offsets. The values of a field are numbered by their text. A
    combination is numbered from the left: the code of all but its last field and the code of that field make one
    number, which is looked up in a sorted array of those seen in training. A combination is found once, at whatever
    place its first field stands, so that ``pos[-1]|pos[0]`` and ``pos[0]|pos[1]`` share their codes.
    """

    templates: tuple[Template, ...]
    texts: dict[Template, dict[str, int]] = field(default_factory=dict)
    combinations: dict[Template, IntArray] = field(default_factory=dict)
    columns: list[Columns] = field(default_factory=list)  # of every template: the column of a code, and −1 for code −1
    n_columns: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values, from which `from_dict` makes it again."""
        return {
            "templates": [name(template) for template in self.templates],
            "texts": {name(template): list(texts) for template, texts in self.texts.items()},
            "combinations": {name(template): seen for template, seen in self.combinations.items()},
            "columns": self.columns,
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        def numbered(texts: list[str]) -> dict[str, int]:
            check_distinct("texts", texts)
            return dict(zip(texts, range(len(texts)), strict=True))

        def template(text: str) -> Template:
            return parse([text])[0]

        vocabulary = cls(
            parse(values["templates"]),
            {template(text): numbered(texts) for text, texts in values["texts"].items()},
            {template(text): seen for text, seen in values["combinations"].items()},
            values["columns"],
        )
        vocabulary._check()
        vocabulary.n_columns = sum(int(np.count_nonzero(columns >= 0)) for columns in vocabulary.columns)
        return vocabulary

    def _check(self) -> None:
        """Refuses codes and columns that `learn` could not have given: they are used as indices."""
        for template, texts in self.texts.items():
            check_tuple(f"texts of {name(template)}", tuple(texts), str)
        if not isinstance(self.columns, list) or len(self.columns) != len(self.templates):
            raise ValueError(f"columns is no list of {len(self.templates)} arrays, one a template")
        begin = 0
        for template, columns in zip(self.templates, self.columns, strict=True):
            size = self._checked_size(anchored(template))
            if not isinstance(columns, np.ndarray) or columns.dtype != np.int32 or columns.shape != (size + 1,):
                raise ValueError(f"the columns of {name(template)} are no array of {size + 1} whole numbers")
            kept = columns[columns >= 0]
            if columns.min() < -1 or columns[-1] != -1 or not np.array_equal(kept, begin + np.arange(len(kept))):
                raise ValueError(f"the columns of {name(template)} do not go on from {begin}")
            begin += len(kept)

    def _checked_size(self, template: Template) -> int:
        """How many values a template has, after a look at those of all its beginnings."""
        if len(template) > 1:
            last = anchored(template[-1:])
            seen = self.combinations.get(template)
            if not isinstance(seen, np.ndarray) or seen.dtype != np.int64 or seen.ndim != 1:
                raise ValueError(f"combinations lacks the numbers of {name(template)}")
            most = self._checked_size(template[:-1]) * self._checked_size(last)
            if len(seen) and (seen[0] < 0 or int(seen[-1]) >= most or (seen[1:] <= seen[:-1]).any()):
                raise ValueError(f"the numbers of {name(template)} do not increase from 0 to before {most}")
        elif template and template not in self.texts:
            raise ValueError(f"texts lacks the values of {name(template)}")
        return self.size(template)

    def learn(self, tokens: TokenColumns, min_count: int) -> Columns:
        """Number the values in these tokens, and give the columns of the tokens."""
        return self._find(tokens, min_count)

    def find(self, tokens: TokenColumns) -> Columns:
        return self._find(tokens, None)

    def names(self) -> list[str]:
        """The names of all columns."""
        result = []
        for template, columns in zip(self.templates, self.columns, strict=True):
            begin = f"{name(template)}=" if template else name(template)
            values = self._values(anchored(template))
            result += [begin + values[code] for code in np.flatnonzero(columns[:-1] >= 0).tolist()]
        return result

    def _find(self, tokens: TokenColumns, min_count: int | None) -> Columns:
        found = np.empty((len(tokens.places), len(self.templates)), np.int32)
        codes = _Codes(self, tokens, learn=min_count is not None)
        for k, template in enumerate(self.templates):
            here = codes.of(anchored(template))[tokens.places + (template[0].offset if template else 0)]
            if min_count is not None:
                self.keep(np.bincount(here[here >= 0], minlength=self.size(anchored(template))) >= min_count)
            found[:, k] = self.columns[k][here]
        return found

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Columns for the codes of the next template that are kept."""
        columns = np.full(len(kept) + 1, -1, np.int32)
        columns[:-1][kept] = np.arange(self.n_columns, self.n_columns + kept.sum())
        self.columns.append(columns)
        self.n_columns += int(kept.sum())

    def size(self, template: Template) -> int:
        """How many values a template has that begins at offset 0."""
        if not template:
            return 1
        return len(self.texts[template] if len(template) == 1 else self.combinations[template])

    def _values(self, template: Template) -> list[str]:
        if not template:
            return [""]
        if len(template) == 1:
            return list(self.texts[template])
        last = anchored(template[-1:])
        before, after = self._values(template[:-1]), self._values(last)
        first, second = np.divmod(self.combinations[template], len(after))
        return [f"{before[k]}|{after[m]}" for k, m in zip(first.tolist(), second.tolist(), strict=True)]


class _Codes:
    """The codes of templates at all places of some tokens, each computed once; −1 where there is none."""

    def __init__(self, vocabulary: Vocabulary, tokens: TokenColumns, *, learn: bool):
        self._vocabulary = vocabulary
        self._tokens = tokens
        self._learn = learn
        self._known: dict[Template, IntArray] = {}

    def of(self, template: Template) -> IntArray:
        if template not in self._known:
            make = [self._bias, self._field, self._combination][min(len(template), 2)]
            self._known[template] = make(template)
        return self._known[template]

    def _bias(self, template: Template) -> IntArray:
        return np.zeros(self._tokens.n_places, np.int64)

    def _field(self, template: Template) -> IntArray:
        values = self._tokens.values(template[0])
        if self._learn:
            distinct = dict.fromkeys(value for value in values if value is not None)
            self._vocabulary.texts[template] = dict(zip(distinct, range(len(distinct)), strict=True))
        texts = self._vocabulary.texts[template]
        codes = np.array([-1 if value is None else texts.get(value, -1) for value in values], np.int64)
        return codes[self._tokens.codes(template[0])]

    def _combination(self, template: Template) -> IntArray:
        last = anchored(template[-1:])
        first, second = self.of(template[:-1]), np.roll(self.of(last), -template[-1].offset)
        both = (first >= 0) & (second >= 0)
        pairs = first[both] * self._vocabulary.size(last) + second[both]
        codes = np.full(len(first), -1, np.int64)
        if self._learn:
            self._vocabulary.combinations[template], codes[both] = np.unique(pairs, return_inverse=True)
        else:
            seen = self._vocabulary.combinations[template]
            place = np.searchsorted(seen, pairs)
            known = np.append(seen, -1)[place] == pairs
            codes[both] = np.where(known, place, -1)
        return codes


@dataclass(frozen=True)
class Hashing:
    """Column h(template, values) mod `n_columns`: nothing is learnt, and different features may share a column.

    h is a 64-bit hash of the texts that is the same on every machine and in every process.
    """

    templates: tuple[Template, ...]
    n_columns: int

    def to_dict(self) -> dict[str, Any]:
        return {"templates": [name(template) for template in self.templates], "n_columns": self.n_columns}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        check_whole("n_columns", values["n_columns"], 1)
        return cls(parse(values["templates"]), values["n_columns"])

    def find(self, tokens: TokenColumns) -> Columns:
        hashes = {
            source: _hashed_values(tokens, source) for source in {source_of(f) for t in self.templates for f in t}
        }
        found = np.empty((len(tokens.places), len(self.templates)), np.int32)
        for k, template in enumerate(self.templates):
            result = np.full(len(tokens.places), _hash(name(template)), np.uint64)
            exists = np.ones(len(tokens.places), bool)
            for part in template:
                values, present = hashes[source_of(part)]
                codes = tokens.codes(part)[tokens.places + part.offset]
                result = mix(result ^ values[codes])
                exists &= present[codes]
            found[:, k] = np.where(exists, result % np.uint64(self.n_columns), -1)
        return found


def anchored(template: Template) -> Template:
    """The template moved to where its first field has offset 0."""
    return tuple(replace(part, offset=part.offset - template[0].offset) for part in template)


def source_of(part: Field) -> Field:
    return replace(part, offset=0)


def _hashed_values(tokens: TokenColumns, source: Field) -> tuple[Hashes, npt.NDArray[np.bool_]]:
    """The hash of every value of a field, and whether there is a value."""
    values = tokens.values(source)
    return (
        np.array([0 if value is None else _hash(value) for value in values], np.uint64),
        np.array([value is not None for value in values]),
    )


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def mix(hashes: Hashes) -> Hashes:
    """The last steps of SplitMix64 (Steele, Lea and Flood 2014), a bijection in which every bit depends on all."""
    hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return hashes ^ (hashes >> np.uint64(31))
