"""1 − F_β of whatever an output has and can have rightly."""

from __future__ import annotations

from abc import ABC

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.waist.loss import CountedLoss


class FMeasure(CountedLoss, ABC):
    """``Δ(y, ŷ) = 1 − F_β = (β² missed + made up) / (β² |y| + |ŷ|)``, 0 if neither has anything.

    What is left to say is `counts`: what each local part adds to what is right, and to all that is found.

    Parameters
    ----------
    beta : float
        A thing that is missed weighs β² times one that is made up: above 1 recall counts more, below 1 precision.
    """

    def __init__(self, beta: float = 1.0):
        self.beta = beta

    def check_options(self) -> None:
        real_option("beta", self.beta, positive=True)

    def value(self, counts: npt.NDArray[np.int64], true_counts: npt.NDArray[np.int64]) -> FloatArray:
        weight = float(self.beta) ** 2
        right, found = counts.T
        total = weight * true_counts[1] + found
        # In whole numbers where β is 1, so that the truth has exactly 0.
        wrong = weight * (true_counts[1] - right) + (found - right)
        return np.asarray(np.divide(wrong, total, out=np.zeros(len(counts)), where=total > 0))

    def name(self) -> str:
        """1 − F1, with what stands for β."""
        return f"1 − F{self.beta:g}"


def missed_more(beta: float) -> str:
    """What β says of an additive loss, for its description."""
    return "" if beta == 1 else f", those missed {beta**2:g} times"
