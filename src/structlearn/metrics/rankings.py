"""How good rankings are: relevant documents, and how far ahead they stand.

All take the relevance of the documents of every query and rankings, row numbers with the best first, as `predict`
returns them, and give a value for each query; the mean of the values is what people report. As in the LETOR benchmarks,
a query without relevant documents has 0 by every measure.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.queries import Gain, gains_of
from structlearn.data.ragged import Ragged
from structlearn.metrics.measures import Columns, Formulas, Measures
from structlearn.metrics.resampled import quotient


def precision_at_k(Y: Sequence[Any], rankings: Sequence[Any], k: int, *, threshold: float = 0.0) -> FloatArray:
    """(n_queries,): relevant documents among the first k, divided by k.

    Parameters
    ----------
    Y : for each query the relevance of its documents
    rankings : for each query all its documents, the best first
    k : int
        May exceed the number of documents; the missing ones count as not relevant.
    threshold : float
        Documents whose relevance is above it are relevant.

    Examples
    --------
    >>> precision_at_k([[0, 1, 2, 0]], [[2, 0, 1, 3]], 2)
    array([0.5])
    """
    k = _checked(k)
    return np.array([np.sum(y[:k] > threshold) / k for y in ranked_relevance(Y, rankings)])


def average_precision(Y: Sequence[Any], rankings: Sequence[Any], *, threshold: float = 0.0) -> FloatArray:
    """(n_queries,): the mean of the precision at the rank of each relevant document; their mean is called MAP.

    >>> average_precision([[0, 1, 2, 0]], [[2, 0, 1, 3]])
    array([0.83333333])
    """
    values = []
    for y in ranked_relevance(Y, rankings):
        relevant = y > threshold
        precision = np.cumsum(relevant) / np.arange(1, len(y) + 1)
        values.append(float(precision[relevant].mean()) if relevant.any() else 0.0)
    return np.array(values)


def reciprocal_rank(Y: Sequence[Any], rankings: Sequence[Any], *, threshold: float = 0.0) -> FloatArray:
    """(n_queries,): one over the rank of the first relevant document.

    >>> reciprocal_rank([[0, 1, 2, 0]], [[0, 3, 2, 1]])
    array([0.33333333])
    """
    relevant = [y > threshold for y in ranked_relevance(Y, rankings)]
    return np.array([1.0 / (1 + np.argmax(hits)) if hits.any() else 0.0 for hits in relevant])


def ndcg(
    Y: Sequence[Any],
    rankings: Sequence[Any],
    k: int | None = None,
    *,
    gain: Gain = "exponential",
) -> FloatArray:
    """(n_queries,): Σ_p g(y_p)/log₂(1 + p) over the ranks p ≤ k, divided by the most that it can be.

    Parameters
    ----------
    Y, rankings
        As for `precision_at_k`; the relevance must not be negative, and no gain above 2⁵³.
    k : int, optional
        None counts all documents.
    gain : {"exponential", "linear"}
        g(y) = 2^y − 1, as in LETOR and most papers on learning to rank, or y, as in scikit-learn's ``ndcg_score``.

    Examples
    --------
    >>> ndcg([[0, 1, 2, 0]], [[2, 0, 1, 3]]).round(4), ndcg([[0, 1, 2, 0]], [[2, 0, 1, 3]], gain="linear").round(4)
    (array([0.9639]), array([0.9502]))
    """
    if gain not in ("exponential", "linear"):
        raise ValueError(f"gain is {gain!r}; it may be 'exponential' or 'linear'")
    k = None if k is None else _checked(k)
    given = Ragged.of(Y, np.float64)
    gained = Ragged(gains_of(given.flat, gain, given.offsets), given.offsets)
    values = []
    for gains in ranked_relevance(gained, rankings):
        discounts = 1.0 / np.log2(np.arange(2, len(gains) + 2))
        ideal = (np.sort(gains)[::-1] * discounts)[:k].sum()
        values.append(float((gains * discounts)[:k].sum() / ideal) if ideal > 0 else 0.0)
    return np.array(values)


def ranked_relevance(Y: Sequence[Any], rankings: Sequence[Any]) -> list[FloatArray]:
    """The relevance of every query's documents in the order of its ranking."""
    if len(Y) != len(rankings):
        raise ValueError(f"Y has {len(Y)} queries but there are {len(rankings)} rankings")
    ordered = []
    for q, (y, ranking) in enumerate(zip(Y, rankings, strict=True)):
        relevance, order = np.asarray(y, np.float64), np.asarray(ranking)
        if len(relevance) != len(order):
            raise ValueError(f"Y[{q}] has {len(relevance)} documents but its ranking has {len(order)}")
        if order.dtype.kind not in "iu" or not np.array_equal(np.sort(order), np.arange(len(order))):
            raise ValueError(f"the ranking of Y[{q}] does not have each of the documents 0 to {len(order) - 1} once")
        ordered.append(relevance[order])
    return ordered


#: A column of those queries of which one has a relevance without a gain.
_WITHOUT_GAIN = "without gain"


def ranking_measures(
    Y: Sequence[Any], rankings: Sequence[Any], threshold: float, k: int | None, first: str = "mean_average_precision"
) -> Measures:
    """Mean precision at 1, 3, 5, 10 and k, MAP, mean reciprocal rank and NDCG at k (or 10) over the queries.

    One of them comes first, as the score to choose settings by; the others follow.

    >>> list(ranking_measures([[0, 1, 2, 0]], [[2, 0, 1, 3]], 0.0, None).scores())[:2]
    ['mean_average_precision', 'precision_at_1']
    """
    values = {
        f"precision_at_{one}": precision_at_k(Y, rankings, one, threshold=threshold)
        for one in sorted({1, 3, 5, 10} | ({k} if k else set()))
    }
    values["mean_average_precision"] = average_precision(Y, rankings, threshold=threshold)
    values["mean_reciprocal_rank"] = reciprocal_rank(Y, rankings, threshold=threshold)
    # Of relevances that have no gain the other measures still say something.
    try:
        values[f"ndcg_at_{k or 10}"] = ndcg(Y, rankings, k or 10)
    except ValueError:
        values[_WITHOUT_GAIN] = np.ones(len(Y))
    right = np.array([bool((np.diff(y) <= 0).all()) for y in ranked_relevance(Y, rankings)])
    columns = ["queries", *values]
    return Measures(np.column_stack([np.ones(len(Y)), *values.values()]), partial(_formulas, first), right, columns)


def _formulas(first: str, columns: Columns) -> Formulas:
    graded = _WITHOUT_GAIN not in columns
    formulas = {
        str(name): quotient(k, 0)
        for k, name in enumerate(columns)
        if name not in ("queries", _WITHOUT_GAIN) and (graded or not str(name).startswith("ndcg"))
    }
    first = first if first in formulas else "mean_average_precision"
    return {first: formulas[first]} | formulas


def _checked(k: int) -> int:
    if k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    return int(k)
