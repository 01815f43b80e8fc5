"""Losses of alignments."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.fields import LARGEST
from structlearn.data.options import flag_option, whole_option
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedMatches(AdditiveLoss):
    """Δ(y, ŷ) = 1 − Q_m: the share of the true matches (i, j) that have no match (i, j') with ``|j − j'|`` ≤ m.

    Parameters
    ----------
    shift : int
        m, how many letters a match may be off; 0 is the loss Q.
    along_s : bool
        Whether the shift is measured along s, for the same letter of t, instead of along t.
    """

    def __init__(self, shift: int = 0, *, along_s: bool = False):
        self.shift = shift
        self.along_s = along_s

    def check_options(self) -> None:
        whole_option("shift", self.shift, 0, LARGEST)
        flag_option("along_s", self.along_s)

    def in_words(self) -> str:
        if self.shift:
            return "the share of the true matches near which none was found"
        return "the share of the true matches that are missed"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        losses = np.zeros(local.shape)
        for i, j in truth:
            if self.along_s:
                losses[max(i - self.shift, 0) : i + self.shift + 1, j] -= 1.0
            else:
                losses[i, max(j - self.shift, 0) : j + self.shift + 1] -= 1.0
        return losses / max(len(truth), 1)
