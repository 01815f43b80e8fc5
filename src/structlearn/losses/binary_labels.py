"""Losses of the labels of all rows of a set at once, where a row is positive or not, each with an oracle of its own.

Labels are 1 for positive rows and 0 for others, and F(y) = (1/n) Σ_j y_j s_j for the scores s of n rows. Rows of all
sets lie in one array; `offsets` say where each set begins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import summed
from structlearn.waist.loss import Loss

BinaryLabels = npt.NDArray[np.uint8]


class BinaryLoss(Loss, ABC):
    """Δ(y, ŷ) of the labels of a set."""

    @abstractmethod
    def most_violating(
        self, scores: FloatArray, truth: BinaryLabels, offsets: IntArray, n_threads: int
    ) -> BinaryLabels:
        """argmax_ŷ Δ(y, ŷ) + F(ŷ) of each set."""

    @abstractmethod
    def values(self, truth: BinaryLabels, labels: BinaryLabels, offsets: IntArray) -> FloatArray:
        """Δ(y, ŷ) of each set."""


class BinaryF1(BinaryLoss):
    """Δ = 1 − F1 = 1 − 2 TP/(2 TP + FP + FN), 0 where neither truth nor prediction has positives (Joachims 2005)."""

    def in_words(self) -> str:
        return "1 − F1"

    def most_violating(
        self, scores: FloatArray, truth: BinaryLabels, offsets: IntArray, n_threads: int
    ) -> BinaryLabels:
        labels = np.empty(len(scores), np.uint8)
        _core.least_f1(scores, truth, offsets, labels, n_threads)
        return labels

    def values(self, truth: BinaryLabels, labels: BinaryLabels, offsets: IntArray) -> FloatArray:
        positives = summed(truth + labels.astype(np.float64), offsets)
        wrong = summed((truth != labels).astype(np.float64), offsets)
        return np.asarray(np.divide(wrong, positives, out=np.zeros_like(positives), where=positives > 0))


class ErrorRate(BinaryLoss):
    """Δ = the share of wrong labels."""

    def in_words(self) -> str:
        return "the share of wrong labels"

    def most_violating(
        self, scores: FloatArray, truth: BinaryLabels, offsets: IntArray, n_threads: int
    ) -> BinaryLabels:
        return (scores > 2.0 * truth - 1.0).astype(np.uint8)

    def values(self, truth: BinaryLabels, labels: BinaryLabels, offsets: IntArray) -> FloatArray:
        return np.asarray(summed((truth != labels).astype(np.float64), offsets) / np.diff(offsets))


#: By their names.
BINARY_LOSSES: dict[str, BinaryLoss] = {"f1": BinaryF1(), "error_rate": ErrorRate()}
