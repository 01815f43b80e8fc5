"""Labels and transitions that are forbidden: whether the truth has any, and whether a labelling is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.known.labels import check_allowed_truth, refuse_labels
from structlearn.models.chain.transitions import TransitionMask


def check_truth(
    codes: LabelArray, classes: Sequence[Any], offsets: IntArray, labels: Flags | None, moves: TransitionMask | None
) -> None:
    """Refuses training labels that the constraints forbid, naming the first."""
    check_allowed_truth(codes, classes, offsets, labels)
    if moves is None:
        return
    first, last = offsets[:-1], offsets[1:] - 1
    barred = np.zeros(len(codes), bool)
    barred[first] = ~moves.start[codes[first]]
    refuse_labels(barred, codes, classes, offsets, "is not allowed at the beginning")
    barred = np.zeros(len(codes), bool)
    barred[1:] = ~moves.moves[codes[:-1], codes[1:]]
    barred[first] = False
    refuse_labels(barred, codes, classes, offsets, "is not allowed after {before!r}")
    barred = np.zeros(len(codes), bool)
    barred[last] = ~moves.stop[codes[last]]
    refuse_labels(barred, codes, classes, offsets, "is not allowed at the end")


def first_impossible(offsets: IntArray, labels: Flags | None, moves: TransitionMask | None) -> int | None:
    """The first sequence that no labelling satisfies."""
    if moves is None:
        return None
    if labels is None:
        lengths, where = np.unique(np.diff(offsets), return_index=True)
        reach: Flags = moves.start.copy()
        for t in range(1, int(lengths.max(initial=0)) + 1):
            if t in lengths and not (reach & moves.stop).any():
                return int(where[np.searchsorted(lengths, t)])
            reach = np.asarray(moves.moves[reach].any(axis=0))
        return None
    for i in np.flatnonzero(np.diff(offsets)).tolist():
        rows = labels[offsets[i] : offsets[i + 1]]
        reach = moves.start & rows[0]
        for row in rows[1:]:
            reach = np.asarray(moves.moves[reach].any(axis=0)) & row
        if not (reach & moves.stop).any():
            return int(i)
    return None
