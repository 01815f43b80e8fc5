"""How good predicted matchings are: pairs that were found, and the alignment error rate of sure and possible links."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import quotient
from structlearn.metrics.scores import ratio

Pairs = Iterable[tuple[int, int]]


def pair_counts(Y: Sequence[Pairs], Y_pred: Sequence[Pairs]) -> IntArray:
    """(n, 4): predicted pairs that are sure, those that are possible, all predicted, all sure ones of each example.

    Truths of `structlearn.data.Links` have possible pairs beside the sure ones; of others all pairs are sure.

    Examples
    --------
    >>> from structlearn.data import Links
    >>> pair_counts([Links([(0, 0)], possible=[(1, 1)])], [[(0, 0), (1, 1), (2, 1)]])
    array([[1, 2, 3, 1]])
    """
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} matchings but Y_pred has {len(Y_pred)}")
    counts = []
    for y, found in zip(Y, Y_pred, strict=True):
        sure, predicted = ({(int(i), int(j)) for i, j in pairs} for pairs in (y, found))
        possible = sure | set(getattr(y, "possible", ()))
        counts.append((len(predicted & sure), len(predicted & possible), len(predicted), len(sure)))
    return np.array(counts, np.int64).reshape(-1, 4)


def alignment_error_rate(Y: Sequence[Pairs], Y_pred: Sequence[Pairs]) -> float:
    """AER = ``1 − (|A ∩ S| + |A ∩ P|) / (|A| + |S|)`` of predicted pairs A, sure ones S and possible ones P ⊇ S.

    Summed over all examples; 1 − F1 where there are no possible pairs. (Och and Ney 2003.)

    Examples
    --------
    >>> from structlearn.data import Links
    >>> alignment_error_rate([Links([(0, 0), (1, 2)], possible=[(1, 1)])], [[(0, 0), (1, 1)]])
    0.25
    """
    return float(_error_rate(pair_counts(Y, Y_pred).sum(axis=0)))


def matching_measures(Y: Sequence[Pairs], Y_pred: Sequence[Pairs]) -> Measures:
    """F1, precision and recall of the pairs, and the alignment error rate.

    Precision is the share of predicted pairs that are possible, recall that of sure ones that were found.

    >>> matching_measures([[(0, 0), (1, 1)]], [[(0, 0)]]).scores()
    {'f1': 0.6666666666666666, 'precision': 1.0, 'recall': 0.5, 'alignment_error_rate': 0.33333333333333337}
    """
    right = np.array([set(map(tuple, y)) == set(map(tuple, found)) for y, found in zip(Y, Y_pred, strict=True)], bool)
    return Measures(pair_counts(Y, Y_pred), _formulas, right)


def _formulas(columns: Columns) -> Formulas:
    precision, recall = quotient(1, 2), quotient(0, 3)

    def f1(sums: FloatArray) -> FloatArray:
        return ratio(2.0 * precision(sums) * recall(sums), precision(sums) + recall(sums))

    return {"f1": f1, "precision": precision, "recall": recall, "alignment_error_rate": _error_rate}


def _error_rate(sums: FloatArray | IntArray) -> FloatArray:
    given = np.asarray(sums[..., 2] + sums[..., 3], np.float64)
    return np.asarray(np.where(given > 0, 1.0 - ratio(sums[..., 0] + sums[..., 1], given), 0.0))
