"""How good predicted alignments are: the part of the true matches that were found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import quotient

Matches = Sequence[tuple[int, int]]


def q_scores(
    Y: Sequence[Matches], Y_pred: Sequence[Matches], shift: int = 0, reading: Literal["figure", "text"] = "figure"
) -> FloatArray:
    """(n,): for each alignment, the number of predicted matches that are good, divided by the number of true ones.

    A match (i, j) is good if it is true, or, with a shift m (Q_m of Yu 2011), if (i, v) is true for a v within m of j;
    with ``reading="text"`` if (u, j) is true for a u within m of i. An alignment without true matches scores 1.

    Examples
    --------
    >>> reference, alternative = ((1, 1), (2, 2), (3, 3)), ((0, 0), (2, 2), (3, 4))
    >>> q_scores([reference], [alternative]), q_scores([reference], [alternative], shift=4)
    (array([0.33333333]), array([0.66666667]))
    """
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} alignments but Y_pred has {len(Y_pred)}")
    if reading not in ("figure", "text"):
        raise ValueError(f"reading is {reading!r}; it may be 'figure' or 'text'")
    own = 0 if reading == "figure" else 1
    scores = np.ones(len(Y))
    for k, (y, found) in enumerate(zip(Y, Y_pred, strict=True)):
        truth = {match[own]: match[1 - own] for match in y}
        good = sum(match[own] in truth and abs(truth[match[own]] - match[1 - own]) <= shift for match in found)
        if y:
            scores[k] = good / len(y)
    return scores


def q_score(
    Y: Sequence[Matches], Y_pred: Sequence[Matches], shift: int = 0, reading: Literal["figure", "text"] = "figure"
) -> float:
    """The mean of `q_scores`.

    >>> q_score([((0, 0), (1, 1))], [((0, 0), (1, 2))])
    0.5
    """
    return float(q_scores(Y, Y_pred, shift, reading).mean())


def alignment_measures(
    Y: Sequence[Matches],
    Y_pred: Sequence[Matches],
    shifts: Sequence[int] = (0, 4),
    reading: Literal["figure", "text"] = "figure",
) -> Measures:
    """Mean Q_m of some shifts m, named q, q1, q2 and so on, and the share of predicted matches that are true.

    >>> reference, alternative = ((1, 1), (2, 2), (3, 3)), ((0, 0), (2, 2), (3, 4))
    >>> alignment_measures([reference], [alternative]).scores()
    {'q': 0.3333333333333333, 'q4': 0.6666666666666666, 'precision': 0.3333333333333333}
    """
    true = [{(int(i), int(j)) for i, j in y} for y in Y]
    found = [{(int(i), int(j)) for i, j in y} for y in Y_pred]
    both = zip(true, found, strict=True)
    counts = np.array([(len(y & p), len(p), 1) for y, p in both], np.float64).reshape(-1, 3)
    right = np.array([y == p for y, p in zip(true, found, strict=True)], bool)
    means = [q_scores(Y, Y_pred, shift, reading) for shift in shifts]
    columns = [*(f"q{shift or ''}" for shift in shifts), "true", "predicted", "examples"]
    return Measures(np.column_stack([*means, counts]), _formulas, right, columns)


def _formulas(columns: Columns) -> Formulas:
    return {str(name): quotient(k, -1) for k, name in enumerate(columns[:-3])} | {"precision": quotient(-3, -2)}
