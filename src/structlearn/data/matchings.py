"""Matchings of two sides: tables of pairs with features, and outputs as pairs (row, column)."""

from __future__ import annotations

import numbers
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.examples import Words, check_examples, is_listed
from structlearn.data.matrices import checked_numbers
from structlearn.data.ragged import offsets_of
from structlearn.data.tokens.sequences import NamedColumns, Sequences, read_sequences, stack
from structlearn.wording import count, shown

Pair = tuple[int, int]
#: What is known of a pair: a row and its column, or either without partner, the other being None.
KnownPair = tuple[int | None, int | None]
#: Stands for the partners of a truth that no matching has.
NEVER = -2

_PAIRS = Words("table", "pairs", "a pair", "a table of pairs is an array (rows, columns, features)")
_ALONE = Words("table", "rows", "a row or column", "features of rows or columns are a matrix")


class PairTable(NamedTuple):
    """The input of a matching, where rows or columns without partner have features as well as pairs.

    Attributes
    ----------
    pairs : (n_rows, n_columns, n_features) array, or a list of rows, each a list of dicts
    rows : (n_rows, n_features) array or list of dicts, optional
        Features of every row, for where it has no partner.
    columns : (n_columns, n_features) array or list of dicts, optional

    Examples
    --------
    >>> x = PairTable([[{"same": 1}, {}]], rows=[{"length": 3}])
    >>> x.columns is None
    True
    """

    pairs: Any
    rows: Any = None
    columns: Any = None


class SentencePair(NamedTuple):
    """A sentence and its translation, as words; `structlearn.features.WordPairs` makes a table of them.

    >>> SentencePair(("the", "house"), ("la", "maison")).target[1]
    'maison'
    """

    source: tuple[str, ...]
    target: tuple[str, ...]


class Links(tuple[Pair, ...]):
    """Pairs that are sure, and others that may be there as well: `possible` holds both.

    A tuple of the sure ones, so that it stands wherever a matching does. (Och and Ney 2003.)

    >>> y = Links([(0, 0), (1, 2)], possible=[(1, 1)])
    >>> y, sorted(y.possible)
    (((0, 0), (1, 2)), [(0, 0), (1, 1), (1, 2)])
    """

    possible: frozenset[Pair]

    def __new__(cls, sure: Iterable[Pair] = (), possible: Iterable[Pair] = ()) -> Links:
        made = super().__new__(cls, sure)
        made.possible = frozenset(possible) | frozenset(made)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return Links, (tuple(self), self.possible)


@dataclass(frozen=True, slots=True)
class PairTables:
    """The tables of all examples: their pairs row by row, and what rows and columns without partner have.

    Attributes
    ----------
    shapes : (n_examples, 2)
        How many rows and columns there are.
    pairs : Sequences
    alone : tuple of Sequences or None
        Of rows and of columns; None where there are no features.
    """

    shapes: IntArray
    pairs: Sequences
    alone: tuple[Sequences | None, Sequences | None]

    def __len__(self) -> int:
        return len(self.shapes)

    @property
    def offsets(self) -> tuple[IntArray, IntArray]:
        """Where the rows and the columns of the examples begin."""
        return offsets_of(self.shapes[:, 0]), offsets_of(self.shapes[:, 1])


def read_tables(X: Any) -> PairTables:
    """Tables in all the forms in which users have them: `PairTable`, arrays, or lists of rows of dicts.

    >>> tables = read_tables([np.ones((2, 3, 4)), np.ones((1, 0, 4))])
    >>> tables.shapes.tolist(), tables.pairs.tokens.shape
    ([[2, 3], [1, 0]], (6, 4))
    """
    if isinstance(X, PairTables):
        return X
    check_examples("X", X)
    if len(X) == 0:
        raise ValueError("X is empty; at least one table is needed")
    tables = [x if isinstance(x, PairTable) else PairTable(x) for x in X]
    listed = [_listed_pairs(table.pairs, i) for i, table in enumerate(tables)]
    shapes = np.array([shape for _, shape in listed], np.int64).reshape(-1, 2)

    def place(i: int, pair: int) -> tuple[int, ...]:
        return divmod(pair, int(shapes[i, 1]))

    pairs = _read([pairs for pairs, _ in listed], _PAIRS, "X", "", place)
    alone = [_read_alone([table[1 + side] for table in tables], shapes[:, side], side) for side in (0, 1)]
    return PairTables(shapes, pairs, (alone[0], alone[1]))


def stacked(given: Sequences, n_inputs: int, vocabulary: Sequence[str] | None) -> Any:
    """What was read as one matrix of the columns that training had."""
    if vocabulary is None and given.names is not None and len(given.tokens.shape) and given.tokens.shape[0]:
        raise ValueError("X has features by name, but training had columns of numbers")
    return stack(given, None if vocabulary is None else NamedColumns(vocabulary), n_inputs, _PAIRS)[0]


def checked_pairs(y: Any, shape: Sequence[int], where: str, x: str, *, fertility: int | None = None) -> list[Pair]:
    """Pairs within a table, in order; refuses, by name, one that is there twice or leads out.

    With a fertility, rows have no more partners than that and columns one; `x` is what messages call the table.

    >>> checked_pairs([(1, 0), (0, 2)], (2, 3), "Y[0]", "X[0]", fertility=1)
    [(0, 2), (1, 0)]
    """
    found = sorted((i, j) for i, j in known_pairs(y, shape, where, x) if i is not None and j is not None)
    if len(found) < len(_entries(y, where)):
        raise ValueError(f"{where} has pairs with None, which stands only where outputs are known in part")
    if fertility is not None and (wrong := crowding(found, fertility)) is not None:
        raise ValueError(f"{where} has {wrong}")
    return found


def crowding(pairs: Sequence[Pair], fertility: int) -> str | None:
    """Which row has more partners than the fertility, or which column more than one; None if none has.

    >>> crowding([(0, 1), (2, 1)], 1)
    'column 1 in 2 pairs, with rows [0, 2], but it can have 1 partner'
    """
    for side, (name, other, most) in enumerate((("row", "columns", fertility), ("column", "rows", 1))):
        times = Counter(pair[side] for pair in pairs)
        crowded = next((place for place in times if times[place] > most), None)
        if crowded is not None:
            partners = [pair[1 - side] for pair in pairs if pair[side] == crowded]
            paired = f"{name} {crowded} in {len(partners)} pairs, with {other} {shown(partners)}"
            return f"{paired}, but it can have {count(most, 'partner')}"
    return None


def known_pairs(y: Any, shape: Sequence[int], where: str, x: str) -> list[KnownPair]:
    """The same where either of a pair may be None: that row, or that column, is known to have no partner."""
    found: list[KnownPair] = []
    for pair in _entries(y, where):
        if not (is_listed(pair) and len(pair) == 2 and all(_is_place(place) for place in pair)):
            raise ValueError(f"{where} has {shown(pair)}; expected pairs (row, column)")
        known = (None if pair[0] is None else int(pair[0]), None if pair[1] is None else int(pair[1]))
        if known == (None, None):
            raise ValueError(f"{where} has {shown(pair)}, which says nothing")
        if not all(place is None or 0 <= place < size for place, size in zip(known, shape, strict=True)):
            raise ValueError(f"{where} has the pair {known}, but {x} has {_sizes(shape)}")
        found.append(known)
    twice = next((pair for pair, times in Counter(found).items() if times > 1), None)
    if twice is not None:
        raise ValueError(f"{where} has the pair {twice} twice")
    return found


def partner_codes(pairs: Sequence[Pair], n_rows: int, fertility: int) -> LabelArray:
    """The columns of every row, `fertility` of them, increasing and then −1; see ``core/matching/structure.hpp``.

    >>> partner_codes([(0, 1), (0, 2), (2, 0)], 3, 2).tolist()
    [1, 2, -1, -1, 0, -1]
    """
    codes = np.full((n_rows, fertility), -1, np.int32)
    taken = [0] * n_rows
    for i, j in pairs:
        codes[i, taken[i]] = j
        taken[i] += 1
    return codes.ravel()


def pairs_of(codes: LabelArray, fertility: int) -> tuple[Pair, ...]:
    """The pairs that codes stand for.

    >>> pairs_of(np.array([1, 2, -1, -1, 0, -1]), 2)
    ((0, 1), (0, 2), (2, 0))
    """
    places = np.flatnonzero(codes >= 0)
    return tuple(zip((places // fertility).tolist(), codes[places].tolist(), strict=True))


def _entries(y: Any, where: str) -> list[Any]:
    if not (isinstance(y, Set) or is_listed(y)):
        raise ValueError(f"{where} is {shown(y)}; expected pairs (row, column)")
    return list(y)


def _is_place(place: Any) -> bool:
    return place is None or (isinstance(place, numbers.Integral) and not isinstance(place, bool))


def _sizes(shape: Sequence[int]) -> str:
    return f"{count(int(shape[0]), 'row')} and {count(int(shape[1]), 'column')}"


def _listed_pairs(pairs: Any, i: int) -> tuple[Any, tuple[int, int]]:
    """The pairs of a table one after another, as a matrix or as a list of dicts, and its shape."""
    if not is_listed(pairs):
        raise ValueError(f"X[{i}] is {shown(pairs)}; {_PAIRS.matrix}")
    rows = None if isinstance(pairs, np.ndarray) else list(pairs)
    if rows is not None and all(is_listed(row) for row in rows):
        m = len(rows[0]) if rows else 0
        for k, row in enumerate(rows):
            if len(row) != m:
                raise ValueError(f"X[{i}][{k}] has {count(len(row), 'pair')}, but X[{i}][0] has {m}")
        flat = [pair for row in rows for pair in row]
        if not flat or any(isinstance(pair, Mapping) or (is_listed(pair) and _is_named(pair)) for pair in flat):
            return flat, (len(rows), m)
    array = checked_numbers(pairs, f"X[{i}]")
    if array.ndim != 3:
        raise ValueError(f"X[{i}] has {array.ndim} dimensions; {_PAIRS.matrix}")
    n, m, d = array.shape
    return np.asarray(array, np.float64).reshape(n * m, d), (n, m)


def _is_named(pair: Any) -> bool:
    return len(pair) > 0 and isinstance(pair[0], str)


def _read_alone(given: list[Any], sizes: IntArray, side: int) -> Sequences | None:
    """The features of rows or columns without partner, which all tables have or none."""
    name = ("rows", "columns")[side]
    there = [k for k, features in enumerate(given) if features is not None]
    if not there:
        return None
    for i, features in enumerate(given):
        if features is None:
            raise ValueError(f"X[{i}] has no features of {name}, but X[{there[0]}] has")
        if not is_listed(features) or len(features) != sizes[i]:
            size = f"is {shown(features)}" if not is_listed(features) else f"has {len(features)} entries"
            raise ValueError(f"X[{i}].{name} {size}, but there are {sizes[i]} {name}")
    return _read(
        [list(features) if isinstance(features, tuple) else features for features in given], _ALONE, "X", f".{name}"
    )


def _read(
    given: list[Any], words: Words, x: str, part: str, place: Callable[[int, int], tuple[int, ...]] | None = None
) -> Sequences:
    """What was given as one matrix; messages name places in the table, and not in the list of its pairs."""
    if not any(map(len, given)):
        widths = [features.shape[1] for features in given if isinstance(features, np.ndarray) and features.ndim == 2]
        return Sequences(np.empty((0, max(widths, default=0))), [0] * len(given))
    try:
        return read_sequences(given, empty=True, words=words)
    except ValueError as error:

        def renamed(found: re.Match[str]) -> str:
            i, t = int(found[1]), int(found[2])
            within = (t,) if place is None else place(i, t)
            comma = found[3] == ","
            return f"{x}[{i}]{part}" + (
                f"[{', '.join(map(str, within))}," if comma else "".join(f"[{k}]" for k in within)
            )

        raise ValueError(re.sub(r"X\[(\d+)\]\[(\d+)([\],])", renamed, str(error))) from None
