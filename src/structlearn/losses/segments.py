"""Losses of segments."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.losses.f_measure import FMeasure, missed_more
from structlearn.losses.labels import check_counted, check_counting, counted_labels
from structlearn.waist.loss import AdditiveLoss, LocalParts


class MissedSegments(AdditiveLoss):
    """Δ(y, ŷ) = made up + β² missed: segments (label, begin, end) that are only in ŷ, and those that are only in y.

    Parameters
    ----------
    labels : collection, optional
        The labels whose segments count; None is all but `negative`.
    negative : label, optional
        The label whose segments do not count, where `labels` are not given; None if all count.
    beta : float
        A segment that is missed weighs β² times one that is made up.
    """

    def __init__(self, labels: Collection[Any] | None = None, negative: Any = None, beta: float = 1.0):
        self.labels = labels
        self.negative = negative
        self.beta = beta

    def check_options(self) -> None:
        check_counted(self.labels)
        real_option("beta", self.beta, positive=True)

    def check_labels(self, labels: Sequence[Any]) -> None:
        check_counting(self.labels, self.negative, labels)

    def in_words(self) -> str:
        return f"segments that are missed or made up{missed_more(self.beta)}"

    def counted(self, labels: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Whose segments count."""
        return counted_labels(self.labels, self.negative, labels)

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        right, found = segment_counts(truth, local, self.counted(local.labels))
        return np.asarray(found - (1.0 + float(self.beta) ** 2) * right)


class SpanF1(FMeasure):
    """Δ(y, ŷ) = 1 − F_β of the segments (label, begin, end) that count; 0 if a sequence should have and has none.

    A segment is right if its label and both its ends are, as conlleval counts.

    Parameters
    ----------
    labels : collection, optional
        The labels whose segments count; None is all but `negative`.
    negative : label, optional
        The label whose segments do not count, where `labels` are not given; None if all count.
    beta : float
        A segment that is missed weighs β² times one that is made up.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Segments
    >>> X = [[{"word": "Ann"}, {"word": "Lee"}, {"word": "sleeps"}], [{"word": "he"}, {"word": "sleeps"}]]
    >>> Y = [[("NAME", 0, 2), ("O", 2, 3)], [("O", 0, 1), ("O", 1, 2)]]
    >>> svm = StructuralSVM(Segments(loss=SpanF1()), C=10).fit(X, Y)
    >>> svm.predict([[{"word": "he"}, {"word": "Ann"}, {"word": "Lee"}]])
    [[('O', 0, 1), ('NAME', 1, 3)]]
    """

    def __init__(self, labels: Collection[Any] | None = None, negative: Any = "O", beta: float = 1.0):
        super().__init__(beta)
        self.labels = labels
        self.negative = negative

    def check_options(self) -> None:
        super().check_options()
        check_counted(self.labels)

    def check_labels(self, labels: Sequence[Any]) -> None:
        check_counting(self.labels, self.negative, labels)

    def in_words(self) -> str:
        return f"{self.name()} of the segments"

    def counted(self, labels: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Whose segments count."""
        return counted_labels(self.labels, self.negative, labels)

    def counts(self, truth: Any, local: LocalParts) -> npt.NDArray[np.int64]:
        return segment_counts(truth, local, self.counted(local.labels))


def segment_counts(truth: Any, local: LocalParts, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Which segments are true ones that count, and which count at all, ``(2, *shape)``."""
    counts = np.zeros((2, *local.shape), np.int64)
    counts[1] = counted
    place = {label: k for k, label in enumerate(local.labels)}
    for label, begin, end in truth:
        if label in place and end - begin <= local.shape[1]:
            counts[0, begin, end - begin - 1, place[label]] = counted[place[label]]
    return counts
