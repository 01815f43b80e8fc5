"""Losses of trees, by their labelled brackets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.trees import ROOTS, brackets
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts


class MissedBrackets(AdditiveLoss):
    """Δ(y, ŷ) = |y| + |ŷ| − 2 |y ∩ ŷ|: brackets that are in only one of y and ŷ, see `structlearn.data.brackets`."""

    def in_words(self) -> str:
        return "brackets that are missed or made up"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        matching, found = bracket_counts(truth, local)
        return np.asarray(found - 2.0 * matching)


class BracketF1(CountedLoss):
    """Δ(y, ŷ) = 1 − F1 = 1 − 2 |y ∩ ŷ| / (|y| + |ŷ|), with the brackets of both; 0 if there are none."""

    def in_words(self) -> str:
        return "1 − F1 of the brackets"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        return bracket_counts(truth, local)

    def value(self, counts: npt.NDArray[np.int64], true_counts: npt.NDArray[np.int64]) -> FloatArray:
        total = counts[:, 1] + true_counts[1]
        return np.where(total > 0, 1.0 - 2.0 * counts[:, 0] / np.maximum(total, 1), 0.0)


def bracket_counts(truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
    """Which phrases are brackets of the truth, and which are brackets at all, ``(2, *shape)``."""
    counts = np.zeros((2, *local.shape), np.int64)
    place = {label: k for k, label in enumerate(local.labels)}
    for label, begin, end in brackets(truth):
        if label in place:
            counts[0, begin, end, place[label]] = 1
    counts[1] = [label not in ROOTS for label in local.labels]
    return counts
