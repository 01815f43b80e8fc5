"""What is known of a matching: pairs that it has, and rows and columns that have no partner."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.known.labels import check_allowed
from structlearn.data.matchings import KnownPair, Pair, crowding, known_pairs
from structlearn.wording import count


def listed_pairs(shapes: IntArray, given: Any, fertility: int, *, name: str = "allowed") -> list[list[KnownPair]]:
    """What is known of each table, pairs (row, column) of which one may be None; refuses what contradicts itself.

    >>> listed_pairs(np.array([[2, 3]]), [[(0, 2), (1, None)]], 1)
    [[(0, 2), (1, None)]]
    """
    if name == "Y" and is_listed(given) and len(given) != len(shapes):
        raise ValueError(f"X has {count(len(shapes), 'table')} but Y has {count(len(given), 'matching')}")
    check_allowed(given, len(shapes), "tables", name=name)
    found = []
    for i, (said, shape) in enumerate(zip(given, shapes.tolist(), strict=True)):
        known = known_pairs(() if said is None else said, shape, f"{name}[{i}]", f"X[{i}]")
        pairs = whole(known)
        if (wrong := crowding(pairs, fertility)) is not None:
            raise ValueError(f"{name}[{i}] has {wrong}")
        for side, what in enumerate(("row", "column")):
            alone = {pair[side] for pair in known if pair[1 - side] is None}
            for pair in pairs:
                if pair[side] in alone:
                    raise ValueError(f"{name}[{i}] has the pair {pair}, and {what} {pair[side]} without partner")
        found.append(known)
    return found


def whole(known: Sequence[KnownPair]) -> list[Pair]:
    """The pairs of which both are known."""
    return [(i, j) for i, j in known if i is not None and j is not None]


def check_agrees(pairs: Sequence[Pair], known: Sequence[KnownPair], i: int) -> None:
    """Refuses a truth that does not have what is known."""
    for row, column in known:
        if row is not None and column is not None:
            if (row, column) not in pairs:
                raise ValueError(f"Y[{i}] lacks the pair {(row, column)}, which allowed[{i}] has")
        elif any(row in (None, pair[0]) and column in (None, pair[1]) for pair in pairs):
            what = f"column {column}" if row is None else f"row {row}"
            raise ValueError(f"Y[{i}] has a partner for {what}, which allowed[{i}] says has none")


def forbidden_parts(
    shapes: IntArray, known: Sequence[Sequence[KnownPair]], *, unmatched: bool, fertility: int, further: bool
) -> Flags:
    """The parts that matchings with what is known do not have; see ``core/matching/structure.hpp`` for their order."""
    found = [np.empty(0, np.bool_)]
    for i, (n, m) in enumerate(shapes.tolist()):
        if not unmatched:
            _check_enough(n, m, known[i], i)
        pairs, rows, columns = (np.zeros(shape, np.bool_) for shape in ((n, m), n, m))
        for row, column in known[i]:
            if row is None or column is None:
                pairs[slice(None) if row is None else row, slice(None) if column is None else column] = True
        for row, column in whole(known[i]):
            pairs[np.arange(n) != row, column] = columns[column] = True
            if fertility == 1:
                pairs[row, np.arange(m) != column] = rows[row] = True
        found += [pairs.ravel(), *((rows, columns) if unmatched else ()), np.zeros(n * further, np.bool_)]
    return np.concatenate(found)


def _check_enough(n: int, m: int, known: Sequence[KnownPair], i: int) -> None:
    """Where as many are matched as can be, all of the smaller side must still have a partner."""
    left = min(n - sum(column is None for _, column in known), m - sum(row is None for row, _ in known))
    if left < min(n, m):
        raise ValueError(
            f"allowed[{i}] leaves {count(left, 'pair')}, but as many are matched as can be, {min(n, m)}; with "
            "unmatched=True rows and columns may stay alone"
        )
