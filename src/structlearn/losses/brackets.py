"""Losses of trees, by their labelled brackets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.data.trees import ROOTS, brackets
from structlearn.losses.f_measure import FMeasure, missed_more
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedBrackets(AdditiveLoss):
    """Δ(y, ŷ) = made up + β² missed: brackets that are only in ŷ, and those only in y; see `structlearn.data.brackets`.

    Parameters
    ----------
    beta : float
        A bracket that is missed weighs β² times one that is made up.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def check_options(self) -> None:
        real_option("beta", self.beta, positive=True)

    def in_words(self) -> str:
        return f"brackets that are missed or made up{missed_more(self.beta)}"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        matching, found = bracket_counts(truth, local)
        return np.asarray(found - (1.0 + float(self.beta) ** 2) * matching)


class BracketF1(FMeasure):
    """Δ(y, ŷ) = 1 − F_β of the brackets; 0 if there are none. See `FMeasure` for its option."""

    def in_words(self) -> str:
        return f"{self.name()} of the brackets"

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        return bracket_counts(truth, local)


def bracket_counts(truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
    """Which phrases are brackets of the truth, and which are brackets at all, ``(2, *shape)``."""
    counts = np.zeros((2, *local.shape), np.int64)
    place = {label: k for k, label in enumerate(local.labels)}
    for label, begin, end in brackets(truth):
        if label in place:
            counts[0, begin, end, place[label]] = 1
    counts[1] = [label not in ROOTS for label in local.labels]
    return counts
