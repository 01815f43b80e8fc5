"""Labels of all rows of a set at once, on a plain array of scores: those that violate most."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from structlearn.data.options import choice_option
from structlearn.inference.given import Violation, vector_of
from structlearn.losses.binary_labels import BINARY_LOSSES


def most_violating_labels(
    scores: npt.ArrayLike, truth: npt.ArrayLike, loss: Literal["f1", "error_rate"] = "f1"
) -> Violation:
    """Loss-augmented inference for one set: the structured hinge of a loss of all its labels, and its gradient.

    Exact, in O(n log n). Labels score F(ŷ) = (1/n) Σ_j ŷ_j scores[j].

    Parameters
    ----------
    scores : (n,)
        Finite; rows above 0 are predicted to be positive.
    truth : (n,)
        1 for positive rows, 0 for others.
    loss : {"f1", "error_rate"}
        As for `MultivariateBinary`.

    Examples
    --------
    >>> found = most_violating_labels([1.0, -0.2, 0.1], [1, 0, 0])
    >>> found.output, round(found.slack, 3)
    (array([0, 0, 1], dtype=uint8), 0.7)
    """
    choice_option("loss", loss, tuple(BINARY_LOSSES))
    s, y = vector_of(scores, "scores"), vector_of(truth, "truth")
    if len(s) != len(y):
        raise ValueError(f"there are {len(s)} scores, but truth has {len(y)} labels")
    if not np.isin(y, (0.0, 1.0)).all():
        j = int(np.argmin(np.isin(y, (0.0, 1.0))))
        raise ValueError(f"truth[{j}] is {y[j]:g}; expected 0 or 1")
    positive, offsets = y.astype(np.uint8), np.array([0, len(s)])
    labels = BINARY_LOSSES[loss].most_violating(s, positive, offsets, 1)
    value = float(BINARY_LOSSES[loss].values(positive, labels, offsets)[0])
    gradient = (labels - y) / len(s)
    return Violation(value + float(gradient @ s), gradient, labels, value)
