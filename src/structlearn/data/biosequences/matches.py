"""Matches of two sequences: which letters belong together, and rows of text with gaps."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.examples import is_listed
from structlearn.wording import shown

#: Places (i, j) of letters that belong together, counted from 0 and increasing in both.
Matches = tuple[tuple[int, int], ...]
#: Which letters without partner cost nothing, see `structlearn.models.Alignment`.
Ends = Literal["global", "semiglobal", "local"]
ENDS = get_args(Ends)


def from_gapped(first: Sequence[Any], second: Sequence[Any], gap: str = "-.") -> Matches:
    """The matches of two rows of one alignment; columns in which both have a gap are passed over.

    >>> from_gapped("AC-GT", "A-CGT")
    ((0, 0), (2, 2), (3, 3))
    """
    if len(first) != len(second):
        raise ValueError(f"the rows of an alignment have {len(first)} and {len(second)} columns")
    matches = []
    i = j = 0
    for a, b in zip(first, second, strict=True):
        if a not in gap and b not in gap:
            matches.append((i, j))
        i += a not in gap
        j += b not in gap
    return tuple(matches)


def to_gapped(
    s: Sequence[Any], t: Sequence[Any], matches: Sequence[tuple[int, int]], gap: str = "-"
) -> tuple[str, str]:
    """Two rows of text with partners beneath one another.

    >>> to_gapped("ACGT", "ACGT", ((0, 0), (2, 2), (3, 3)))
    ('AC-GT', 'A-CGT')
    """
    rows = ["", ""]
    i = j = 0
    for next_i, next_j in [*checked_matches(matches, len(s), len(t), "matches", "the pair"), (len(s), len(t))]:
        rows[0] += "".join(map(str, s[i:next_i])) + gap * (next_j - j)
        rows[1] += gap * (next_i - i) + "".join(map(str, t[j:next_j]))
        if next_i < len(s) and next_j < len(t):
            rows[0] += str(s[next_i])
            rows[1] += str(t[next_j])
        i, j = next_i + 1, next_j + 1
    return rows[0], rows[1]


def matches_of(partners: LabelArray) -> Matches:
    """The matches of a sequence of which each letter has the place of its partner, or −1.

    >>> matches_of(np.array([0, -1, 1]))
    ((0, 0), (2, 1))
    """
    places = np.flatnonzero(partners >= 0)
    return tuple(zip(places.tolist(), partners[places].tolist(), strict=True))


def checked_matches(y: Any, m: int, n: int, where: str, pair: str) -> list[tuple[int, int]]:
    """Matches that increase and lie within sequences of m and n letters; names the first that does not."""
    if not is_listed(y):
        raise ValueError(f"{where} is {shown(y)}; expected matches (i, j); from_gapped makes them of aligned texts")
    last = (-1, -1)
    for k, match in enumerate(y):
        if not (is_listed(match) and len(match) == 2 and all(isinstance(p, numbers.Integral) for p in match)):
            raise ValueError(f"{where}[{k}] is {shown(match)}; expected two places (i, j)")
        i, j = map(int, match)
        if not (0 <= i < m and 0 <= j < n):
            raise ValueError(f"{where}[{k}] is {shown((i, j))}, but {pair} has sequences of {m} and {n} letters")
        if i <= last[0] or j <= last[1]:
            raise ValueError(f"{where}[{k}] is {(i, j)}, which does not come after {last} in both sequences")
        last = (i, j)
    return [(int(i), int(j)) for i, j in y]
