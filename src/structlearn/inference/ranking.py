"""Rankings of documents, on plain arrays of scores: the one that violates most, by what it costs and what it scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.queries import Gain
from structlearn.inference.given import vector_of
from structlearn.losses.rankings import LossName, check_ranking_loss, ranking_loss


class ViolatingRanking(NamedTuple):
    """The ranking ŷ with the largest Δ(y, ŷ) − Σ_j coefficients[j] scores[j], which is the slack.

    Attributes
    ----------
    slack : float
        At least 0, and at least the loss of the ranking by falling scores.
    gradient : (n,)
        Of the slack in the scores: −coefficients.
    ranking : (n,)
        The documents, the first one first.
    loss : float
        Δ(y, ŷ).
    """

    slack: float
    gradient: FloatArray
    ranking: LabelArray
    loss: float


def most_violating_ranking(
    scores: npt.ArrayLike,
    relevance: npt.ArrayLike,
    loss: LossName = "average_precision",
    *,
    k: int | None = None,
    threshold: float = 0.0,
    gain: Gain = "exponential",
) -> ViolatingRanking:
    """Loss-augmented inference for one query: the structured hinge of a loss of rankings, and its gradient.

    Exact. The coefficients of a ranking are those of the documents in Ψ(x, y) − Ψ(x, ŷ), which the loss chooses:
    `structlearn.losses.rankings` has the formulas.

    Parameters
    ----------
    scores : (n,)
        Finite.
    relevance : (n,)
    loss : {"average_precision", "ndcg", "precision_at_k", "recall_at_k", "break_even"}
        Not "roc_area", which orders every pair by itself.
    k, threshold, gain
        As for `Ranking`.

    Examples
    --------
    >>> found = most_violating_ranking([0.5, 0.0, 0.2], [0, 1, 0])
    >>> found.ranking, round(found.slack, 3), found.gradient
    (array([0, 2, 1], dtype=int32), 1.017, array([ 0.5, -1. ,  0.5]))
    """
    check_ranking_loss(loss, k, threshold, gain)
    if loss == "roc_area":
        raise ValueError("loss is 'roc_area', whose slack is the mean of max(0, 1 - scores[i] + scores[j]) over pairs")
    s, y = vector_of(scores, "scores"), vector_of(relevance, "relevance")
    if len(s) != len(y):
        raise ValueError(f"there are {len(s)} scores of documents, but relevance has {len(y)} numbers")
    query, rows, offsets = np.zeros(1, np.int64), np.arange(len(s)), np.array([0, len(s)])
    bound = ranking_loss(loss, y, offsets, k=k, threshold=threshold, gain=gain)
    outputs = bound.most_violating(s, query, rows, offsets, 1)
    coefficients, losses = bound.compare(list(outputs), query, rows, offsets, 1)
    return ViolatingRanking(float(losses[0] - coefficients @ s), -coefficients, outputs[0], float(losses[0]))
