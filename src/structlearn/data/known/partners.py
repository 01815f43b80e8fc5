"""Matches of two sequences as partners of the letters of the first: all of an alignment, or those that are known."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.biosequences.matches import checked_matches
from structlearn.data.examples import is_listed
from structlearn.data.known.labels import called, check_allowed


def partners_of(
    s_offsets: IntArray, t_offsets: IntArray, Y: Any, *, name: str = "Y", one: str | None = None
) -> LabelArray:
    """For every letter of s the place of its partner, −1 for none; `name` and `one` are for messages, see `called`."""
    if len(Y) != len(s_offsets) - 1:
        raise ValueError(f"X has {len(s_offsets) - 1} pairs of sequences but Y has {len(Y)} alignments")
    codes = np.full(int(s_offsets[-1]), -1, np.int32)
    for k, y in enumerate(Y):
        m, n = int(s_offsets[k + 1] - s_offsets[k]), int(t_offsets[k + 1] - t_offsets[k])
        for i, j in checked_matches(y, m, n, *called(name, k, one)):
            codes[s_offsets[k] + i] = j
    return codes


def known_partners(
    s_offsets: IntArray, t_offsets: IntArray, given: Any, *, name: str = "allowed", one: str | None = None
) -> LabelArray:
    """The same of what is known: None for nothing, or matches in any order."""
    check_allowed(given, len(s_offsets) - 1, "pairs of sequences", name=name)
    ordered = [() if matches is None else _in_order(matches) for matches in given]
    return partners_of(s_offsets, t_offsets, ordered, name=name, one=one)


def _in_order(matches: Any) -> Any:
    """Matches in their order; what are none are left as they are, to be named."""
    if not (isinstance(matches, Set) or is_listed(matches)):
        return matches
    listed = list(map(tuple, matches)) if isinstance(matches, np.ndarray) and matches.ndim == 2 else list(matches)
    try:
        return sorted(listed)
    except (TypeError, ValueError):
        return listed
