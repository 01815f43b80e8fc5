"""Losses of segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedSegments(AdditiveLoss):
    """Δ(y, ŷ) = |y| + |ŷ| − 2 |y ∩ ŷ|: segments (label, begin, end) that are in only one of y and ŷ."""

    def in_words(self) -> str:
        return "segments that are missed or made up"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        losses = np.ones(local.shape)
        place = {label: k for k, label in enumerate(local.labels)}
        for label, begin, end in truth:
            if label in place and end - begin <= local.shape[1]:
                losses[begin, end - begin - 1, place[label]] = -1.0
        return losses
