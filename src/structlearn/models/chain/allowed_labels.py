"""Labels that are known in part or forbidden: which there are, and whether any labelling is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.labels import check_label, known_labels, observed_classes
from structlearn.data.ragged import locate
from structlearn.models.chain.transitions import TransitionMask
from structlearn.wording import shown


def labels_in(Y: Any) -> tuple[Any, ...]:
    """All labels that partly labelled sequences name, alone or among several."""
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError("Y is empty; training needs at least one sequence")
    found: dict[Any, None] = {}
    for i, y in enumerate(Y):
        if y is None:
            continue
        if not is_listed(y):
            raise ValueError(f"Y[{i}] is {shown(y)}; expected a sequence of labels")
        for t, entry in enumerate(y.tolist() if isinstance(y, np.ndarray) else y):
            for label in known_labels(entry):
                check_label(label, f"Y[{i}][{t}]")
                found[label] = None
    return observed_classes(found)


def check_truth(
    codes: LabelArray, classes: Sequence[Any], offsets: IntArray, labels: Flags | None, moves: TransitionMask | None
) -> None:
    """Refuses training labels that the constraints forbid, naming the first."""
    if labels is not None:
        _refuse(~labels[np.arange(len(codes)), codes], codes, classes, offsets, "is not allowed there")
    if moves is None:
        return
    first, last = offsets[:-1], offsets[1:] - 1
    barred = np.zeros(len(codes), bool)
    barred[first] = ~moves.start[codes[first]]
    _refuse(barred, codes, classes, offsets, "is not allowed at the beginning")
    barred = np.zeros(len(codes), bool)
    barred[1:] = ~moves.moves[codes[:-1], codes[1:]]
    barred[first] = False
    _refuse(barred, codes, classes, offsets, "is not allowed after {before!r}")
    barred = np.zeros(len(codes), bool)
    barred[last] = ~moves.stop[codes[last]]
    _refuse(barred, codes, classes, offsets, "is not allowed at the end")


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


def _refuse(barred: Flags, codes: LabelArray, classes: Sequence[Any], offsets: IntArray, why: str) -> None:
    if not barred.any():
        return
    token = int(np.argmax(barred))
    i, t = locate(offsets, token)
    before = classes[codes[token - 1]] if token else None
    raise ValueError(f"Y[{i}][{t}] is {classes[codes[token]]!r}, which {why.format(before=before)}")
