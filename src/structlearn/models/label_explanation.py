"""Why one of several labels scores higher than another, where all have the same features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, FloatArray
from structlearn.models.explanation import Contribution, Explanation

#: Where a part of the score comes from, the size of the feature, and its weight for every label, (n_labels,).
LabelTerm = tuple[str | int, float, FloatArray]


def explain_label(
    terms: Sequence[LabelTerm],
    classes: Sequence[Any],
    possible: Flags,
    predicted: int,
    label: Any,
    against: Any,
    position: int | None,
) -> Explanation:
    """The predicted label, or the given one, against another, or the best of the others that are possible."""
    code = predicted if label is None else _code(label, "label", classes, possible)
    if against is not None:
        other = _code(against, "against", classes, possible)
        if other == code:
            raise ValueError(f"label and against are both {against!r}; give two different labels")
    else:
        others = possible & (np.arange(len(classes)) != code)
        if not others.any():
            raise ValueError(f"only {classes[code]!r} is possible here: there is nothing to compare it with")
        scores = np.sum([value * row for _, value, row in terms], axis=0)
        other = int(np.argmax(np.where(others, scores, -np.inf)))
    found = [
        Contribution(source, value, float(row[code]), float(row[other]), value * float(row[code] - row[other]))
        for source, value, row in terms
    ]
    found.sort(key=lambda each: -abs(each.amount))
    return Explanation(classes[code], classes[other], position, tuple(found))


def _code(label: Any, option: str, classes: Sequence[Any], possible: Flags) -> int:
    if label not in classes:
        raise ValueError(f"{option} is {label!r}, which is not one of the labels")
    code = classes.index(label)
    if not possible[code]:
        raise ValueError(f"{option} is {label!r}, which the model does not allow beside the labels around it")
    return code
