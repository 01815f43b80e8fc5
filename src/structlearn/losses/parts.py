"""Losses of outputs that are sets of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts


class MissedParts(AdditiveLoss):
    """``Δ(y, ŷ) = |y| + |ŷ| − 2 |y ∩ ŷ|``: parts that are in only one of y and ŷ."""

    def in_words(self) -> str:
        return "parts that are missed or made up"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        return np.array([-1.0 if part in truth else 1.0 for part in local.labels])


class PartF1(CountedLoss):
    """``Δ(y, ŷ) = 1 − F1 = 1 − 2 |y ∩ ŷ| / (|y| + |ŷ|)`` of the parts; 0 if neither has any."""

    def in_words(self) -> str:
        return "1 − F1 of the parts"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        true = [part in truth for part in local.labels]
        return np.array([true, np.ones_like(true)], np.int64)

    def value(self, counts: npt.NDArray[np.int64], true_counts: npt.NDArray[np.int64]) -> FloatArray:
        total = counts[:, 1] + true_counts[1]
        return np.where(total > 0, 1.0 - 2.0 * counts[:, 0] / np.maximum(total, 1), 0.0)
