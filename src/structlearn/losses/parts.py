"""Losses of outputs that are sets of parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.losses.f_measure import FMeasure, missed_more
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedParts(AdditiveLoss):
    """``Δ(y, ŷ) = |ŷ \\ y| + β² |y \\ ŷ|``: parts that are made up, and parts that are missed.

    Parameters
    ----------
    beta : float
        A part that is missed weighs β² times one that is made up.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def check_options(self) -> None:
        real_option("beta", self.beta, positive=True)

    def in_words(self) -> str:
        return f"parts that are missed or made up{missed_more(self.beta)}"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        return np.array([-(float(self.beta) ** 2) if part in truth else 1.0 for part in local.labels])


class PartF1(FMeasure):
    """Δ(y, ŷ) = 1 − F_β of the parts; 0 if neither has any. See `FMeasure` for its option."""

    def in_words(self) -> str:
        return f"{self.name()} of the parts"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        true = [part in truth for part in local.labels]
        return np.array([true, np.ones_like(true)], np.int64)
