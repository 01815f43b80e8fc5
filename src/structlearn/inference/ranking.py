"""Rankings of documents, on plain arrays of scores: the one that violates most, by what it costs and what it scores."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from structlearn.data.queries import Gain
from structlearn.inference.given import Violation, vector_of
from structlearn.losses.rankings import LossName, check_ranking_loss, ranking_loss


def most_violating_ranking(
    scores: npt.ArrayLike,
    relevance: npt.ArrayLike,
    loss: LossName = "average_precision",
    *,
    k: int | None = None,
    threshold: float = 0.0,
    gain: Gain = "exponential",
) -> Violation:
    """Loss-augmented inference for one query: the structured hinge of a loss of rankings, and its gradient.

    Exact. What a ranking scores depends on the loss, which chooses the coefficients of documents in Ψ(x, ŷ):
    `structlearn.losses.rankings` has the formulas. The output is the ranking, the first document first.

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
    >>> found.output, round(found.slack, 3), found.gradient
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
    return Violation(float(losses[0] - coefficients @ s), -coefficients, outputs[0], float(losses[0]))
