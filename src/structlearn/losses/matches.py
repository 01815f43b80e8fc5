"""Losses of alignments and matchings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.fields import LARGEST
from structlearn.data.options import flag_option, real_option, whole_option
from structlearn.losses.f_measure import FMeasure, missed_more
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedMatches(AdditiveLoss):
    """Δ(y, ŷ) = 1 − Q_m: the share of the true matches (i, j) that have no match (i, j') with ``|j − j'|`` ≤ m.

    Parameters
    ----------
    shift : int
        m, how many letters a match may be off; 0 is the loss Q.
    along_s : bool
        Whether the shift is measured along s, for the same letter of t, instead of along t.
    beta : float, optional
        Matches that are near no true one cost something too if it is given: one that is missed β² times as much. None,
        for which they cost nothing, is 1 − Q_m.
    """

    def __init__(self, shift: int = 0, *, along_s: bool = False, beta: float | None = None):
        self.shift = shift
        self.along_s = along_s
        self.beta = beta

    def check_options(self) -> None:
        whole_option("shift", self.shift, 0, LARGEST)
        flag_option("along_s", self.along_s)
        if self.beta is not None:
            real_option("beta", self.beta, positive=True)

    def in_words(self) -> str:
        if self.beta is not None:
            return f"matches that are missed or made up{missed_more(self.beta)}, per true match"
        if self.shift:
            return "the share of the true matches near which none was found"
        return "the share of the true matches that are missed"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        found = np.zeros(local.shape)
        for i, j in truth:
            if self.along_s:
                found[max(i - self.shift, 0) : i + self.shift + 1, j] = 1.0
            else:
                found[i, max(j - self.shift, 0) : j + self.shift + 1] = 1.0
        losses = -found if self.beta is None else 1.0 - (1.0 + float(self.beta) ** 2) * found
        return losses / max(len(truth), 1)


class MissedPairs(AdditiveLoss):
    """``Δ(y, ŷ) = |ŷ \\ y| + β² |y \\ ŷ|``: pairs that are made up, and pairs that are missed.

    Where the truth is of `structlearn.data.Links`, pairs that are possible cost nothing.

    Parameters
    ----------
    beta : float
        A pair that is missed weighs β² times one that is made up.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def check_options(self) -> None:
        real_option("beta", self.beta, positive=True)

    def in_words(self) -> str:
        return f"pairs that are missed or made up{missed_more(self.beta)}"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        losses = np.ones(local.shape)
        for i, j in getattr(truth, "possible", ()):
            losses[i, j] = 0.0
        for i, j in truth:
            losses[i, j] = -(float(self.beta) ** 2)
        return losses


class MatchF1(FMeasure):
    """Δ(y, ŷ) = 1 − F_β of the matches; 0 if neither has any. See `FMeasure` for its option."""

    def in_words(self) -> str:
        return f"{self.name()} of the matches"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        counts = np.zeros((2, *local.shape), np.int64)
        counts[1] = 1
        for i, j in truth:
            counts[0, i, j] = 1
        return counts
