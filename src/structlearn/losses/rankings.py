"""Losses of whole rankings, each with the joint features for which its most violating ranking is found exactly.

Every Ψ is a sum of a query's documents with coefficients that depend on the ranking. Relevance and coefficients of all
queries lie in flat arrays; `rows` are the documents of the queries that are asked about, `offsets` where each begins.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.fields import LARGEST
from structlearn.data.options import choice_option, whole_option
from structlearn.data.queries import Gain, gains_of, grades_of, ranked
from structlearn.data.ragged import Ragged, owners_of, ranks_of, summed

LossName = Literal["roc_area", "average_precision", "ndcg", "precision_at_k", "recall_at_k", "break_even"]

#: How many states the dynamic programme of a query may have.
MOST_STATES = 10_000_000


class RankingLoss(ABC):
    """Δ(y, ŷ) of the relevance y of documents and a ranking ŷ of them, zero for the best rankings."""

    def __init__(self, values: FloatArray, offsets: IntArray):
        self.grades = grades_of(values, offsets)
        self.offsets = offsets

    @abstractmethod
    def most_violating(
        self, scores: FloatArray, examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> Ragged:
        """argmax_ŷ Δ(y, ŷ) + ⟨w, Ψ(x, ŷ)⟩ of each query, given ⟨w, x⟩ of its documents."""

    @abstractmethod
    def compare(
        self, outputs: Sequence[Any], examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        """Of each document the coefficient in Ψ(x, y) − Ψ(x, ŷ), and of each query Δ(y, ŷ)."""

    def identity(self) -> tuple[npt.NDArray[Any], ...]:
        """What tells the loss from others on the same documents, for digests."""
        return np.frombuffer(type(self).__name__.encode(), np.uint8), self.grades

    def max_losses(self) -> FloatArray:
        """Δ of the worst ranking of each query."""
        examples, rows = np.arange(len(self.offsets) - 1), np.arange(len(self.grades))
        return self.compare(self.reversed(), examples, rows, self.offsets, 1)[1]

    def reversed(self) -> Ragged:
        """The worst rankings: the least relevant documents first."""
        return Ragged(ranked(-self.grades.astype(np.float64), self.offsets, 1), self.offsets)


class PairLoss(RankingLoss):
    """Ψ(x, ŷ) = (1/2P) Σ_(i, j) ±(x_i − x_j) over the P pairs in which i is more relevant than j, + where i is ahead.

    Δ is the share of the pairs in which j is ahead, so that the slack is the mean of max(0, 1 − ⟨w, x_i − x_j⟩) over
    the pairs: one minus the area under the ROC curve of two grades (Joachims 2005), the ranking SVM of several
    (Joachims 2006), where each pair is ordered by itself.
    """

    def __init__(self, values: FloatArray, offsets: IntArray):
        super().__init__(values, offsets)
        above, _ = self._swapped(self.reversed(), np.arange(len(values)), offsets, 1)
        self.pairs = np.maximum(summed(above, offsets), 1.0)

    def most_violating(
        self, scores: FloatArray, examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> Ragged:
        # Document i stands for itself as the better one of its pairs, its twin, raised by the margin, as the worse one.
        keys = np.empty(2 * len(scores))
        counts = np.diff(offsets)
        places = np.arange(len(scores)) + np.repeat(offsets[:-1], counts)
        keys[places], keys[places + np.repeat(counts, counts)] = scores, scores + 1.0
        return Ragged(ranked(keys, 2 * offsets, n_threads), 2 * offsets)

    def compare(
        self, outputs: Sequence[Any], examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        above, below = self._swapped(outputs, rows, offsets, n_threads)
        pairs = self.pairs[examples]
        losses = summed(above, offsets) / pairs
        return (above - below) / np.repeat(pairs, np.diff(offsets)), losses

    def _swapped(
        self, outputs: Sequence[Any], rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        above, below = np.empty(len(rows)), np.empty(len(rows))
        order = Ragged.of(outputs)
        _core.swapped_pairs(order.flat, order.offsets, self.grades[rows], offsets, above, below, n_threads)
        return above, below


class AveragePrecisionLoss(PairLoss):
    """Δ = 1 − AP with the joint features of `PairLoss`, over relevant and other documents (Yue et al. 2007)."""

    def __init__(self, relevant: FloatArray, offsets: IntArray):
        super().__init__(relevant, offsets)
        self.relevant = relevant.astype(np.uint8)

    def most_violating(
        self, scores: FloatArray, examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> Ragged:
        order = np.empty(len(scores), np.int32)
        _core.least_precise(scores, self.relevant[rows], offsets, order, n_threads)
        return Ragged(order, offsets)

    def compare(
        self, outputs: Sequence[Any], examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        coefficients, _ = super().compare(outputs, examples, rows, offsets, n_threads)
        hits = self.relevant[rows][_placed(outputs, offsets)].astype(np.float64)
        upto = np.cumsum(hits)
        upto -= (upto - hits)[np.repeat(offsets[:-1], np.diff(offsets))]
        precision = hits * upto / (ranks_of(offsets) + 1)
        n_relevant = summed(hits, offsets)
        found = summed(precision, offsets) / np.maximum(n_relevant, 1.0)
        return coefficients, np.where(n_relevant > 0, 1.0 - found, 0.0)


class NdcgLoss(PairLoss):
    """Δ = 1 − Σ_p d_p g(y_p)/ideal over the first k places, with the joint features of `PairLoss`.

    The most violating ranking is an interleaving of the grades, found by a dynamic programme over how many documents of
    each grade stand first: for n_g documents of grade g it has Π_g (min(n_g, k) + 1) states.

    Parameters
    ----------
    relevance : (n_documents,)
    gains : (n_documents,)
        g(y_j) ≥ 0, growing with y_j.
    k : int, optional
        None counts all places.
    """

    def __init__(self, relevance: FloatArray, gains: FloatArray, k: int | None, offsets: IntArray):
        super().__init__(relevance, offsets)
        counts = np.diff(offsets)
        self.k = int(counts.max()) if k is None else k
        self._check_states()
        rank = ranks_of(offsets) + 1
        self.weights = np.where(rank <= self.k, 1.0 / np.log2(1.0 + rank), 0.0)
        best = ranked(gains, offsets, 1) + np.repeat(offsets[:-1], counts)
        ideal = summed(gains[best] * self.weights, offsets)
        self.gains = gains / np.repeat(np.where(ideal > 0, ideal, 1.0), counts)
        self.best = (ideal > 0).astype(np.float64)

    def most_violating(
        self, scores: FloatArray, examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> Ragged:
        order = np.empty(len(scores), np.int32)
        grades, gains, pairs = self.grades[rows], self.gains[rows], self.pairs[examples]
        _core.least_gain(scores, grades, gains, self.weights[rows], pairs, self.k, offsets, order, n_threads)
        return Ragged(order, offsets)

    def compare(
        self, outputs: Sequence[Any], examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        coefficients, _ = super().compare(outputs, examples, rows, offsets, n_threads)
        placed = _placed(outputs, offsets)
        gained = summed(self.gains[rows][placed] * self.weights[rows], offsets)
        return coefficients, np.maximum(self.best[examples] - gained, 0.0)

    def identity(self) -> tuple[npt.NDArray[Any], ...]:
        return *super().identity(), self.gains, self.weights

    def _check_states(self) -> None:
        for q, grades in enumerate(Ragged(self.grades, self.offsets)):
            n_states = np.prod(np.minimum(np.bincount(grades), self.k) + 1.0)
            if n_states > MOST_STATES:
                raise ValueError(
                    f"Y[{q}] has {len(grades)} documents of {grades.max() + 1} different labels, too many for the NDCG "
                    f"of the first {min(self.k, len(grades))}; take a smaller k, or round the labels"
                )


class PositionLoss(RankingLoss):
    """Ψ(x, ŷ) = Σ_p d_p x_ŷ(p) with d falling, Σ_p d_p ≤ 1, and Δ = max_y' Σ_p d_p g_y'(p) − Σ_p d_p g_ŷ(p).

    Since score and gain are weighted alike, the most violating ranking sorts by ⟨w, x_j⟩ − g_j. Rankings with the
    largest gain are many where gains are equal; Ψ(x, y) is the mean over all of them.

    Parameters
    ----------
    gains : (n_documents,)
        g_j ≥ 0.
    weights : (n_documents,)
        d_p, place after place for every query.
    """

    def __init__(self, gains: FloatArray, weights: FloatArray, offsets: IntArray):
        super().__init__(gains, offsets)
        self.gains = gains
        self.weights = weights
        query = owners_of(offsets)
        ideal = ranked(gains, offsets, 1) + offsets[query]
        self.best = summed(gains[ideal] * weights, offsets)
        # Places of equal gain within a query share their weights.
        changes = (np.diff(self.grades[ideal]) != 0) | (np.diff(query) != 0)
        group = np.concatenate([[0], np.cumsum(changes)])
        self.truth = np.empty(len(gains))
        self.truth[ideal] = (np.bincount(group, weights) / np.bincount(group))[group]

    def most_violating(
        self, scores: FloatArray, examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> Ragged:
        return Ragged(ranked(scores - self.gains[rows], offsets, n_threads), offsets)

    def compare(
        self, outputs: Sequence[Any], examples: IntArray, rows: IntArray, offsets: IntArray, n_threads: int
    ) -> tuple[FloatArray, FloatArray]:
        weights = self.weights[rows]
        placed = _placed(outputs, offsets)
        coefficients = self.truth[rows]
        gained = summed(self.gains[rows][placed] * weights, offsets)
        coefficients[placed] -= weights
        return coefficients, np.maximum(self.best[examples] - gained, 0.0)

    def identity(self) -> tuple[npt.NDArray[Any], ...]:
        return *super().identity(), self.gains, self.weights


def ranking_loss(
    name: LossName,
    relevance: FloatArray,
    offsets: IntArray,
    *,
    k: int | None = None,
    threshold: float = 0.0,
    gain: Gain = "exponential",
) -> RankingLoss:
    """The loss of this name on documents of this relevance, with a query between any two offsets; see `Ranking`."""
    if name == "roc_area":
        return PairLoss(relevance, offsets)
    if name == "ndcg":
        return NdcgLoss(relevance, gains_of(relevance, gain, offsets), k, offsets)
    relevant = (relevance > threshold).astype(np.float64)
    if name == "average_precision":
        return AveragePrecisionLoss(relevant, offsets)
    counts = np.diff(offsets)
    n_relevant = summed(relevant, offsets)
    if name == "break_even":
        return PositionLoss(relevant, top_weights(n_relevant, offsets), offsets)
    places = np.full(len(counts), k)
    if name == "recall_at_k":
        relevant *= np.repeat(places / np.maximum(n_relevant, 1.0), counts)
    return PositionLoss(relevant, top_weights(places, offsets), offsets)


def check_ranking_loss(name: Any, k: Any, threshold: Any, gain: Any) -> None:
    """Refuses options that no loss of rankings has."""
    choice_option("loss", name, get_args(LossName))
    choice_option("gain", gain, get_args(Gain))
    if k is None and name in ("precision_at_k", "recall_at_k"):
        raise ValueError(f"loss {name!r} needs k, the number of documents that count")
    if k is not None:
        check_k(k)
    check_threshold(threshold)


def check_k(k: Any) -> None:
    whole_option("k", k, 1, LARGEST)


def check_threshold(threshold: Any) -> None:
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real) or np.isnan(float(threshold)):
        raise ValueError(f"threshold is {threshold!r}; it must be a number")


def top_weights(k: IntArray, offsets: IntArray) -> FloatArray:
    """1/k for the first k places of each query, 0 for the others."""
    k = np.repeat(k, np.diff(offsets))
    return (ranks_of(offsets) < k) / np.maximum(k, 1)


def _placed(outputs: Sequence[Any], offsets: IntArray) -> IntArray:
    """The documents of all rankings, in their order, as places in the flat arrays."""
    return np.asarray(np.concatenate(outputs) + np.repeat(offsets[:-1], np.diff(offsets)))
