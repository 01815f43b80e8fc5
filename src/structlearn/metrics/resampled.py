"""Many scores of one set of examples and their intervals, from one resampling of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.metrics.scores import f1, ratio
from structlearn.metrics.significance import DRAWN_AT_ONCE, Interval

#: Resamples, fewer on large data, whose intervals are narrow anyway: so many numbers are drawn in all.
RESAMPLES, FEWEST_RESAMPLES, MOST_DRAWN = 2000, 200, 2 * 10**8


#: A score of sums (n, n_columns), for each row of them.
Formula = Callable[[FloatArray], FloatArray]


class ClassScore(NamedTuple):
    """Scores of a label or of a type of spans, and how often it is true and predicted."""

    precision: float
    recall: float
    f1: Interval
    support: int
    predicted: int


class WholeCounts(NamedTuple):
    """Whole numbers of neighbouring examples: where these begin, a row for each, and where its columns stand in sums.

    Sums of whole numbers are exact, so that they can be summed in whatever pieces they come, and take little room.
    """

    begin: int
    counts: sp.csr_array
    columns: IntArray


class ResampledSums:
    """Counts of each example, (n_examples, n_columns), summed over all examples and over resamples of them.

    `bootstrap_counts` finds the interval of one score; this finds those of hundreds with the same resamples.

    Parameters
    ----------
    counts : (n_examples, k)
    random_state : int
    whole : sequence of WholeCounts
        What stands in the columns from k on.
    n_columns : int, optional
        Of all; k by default.
    """

    def __init__(
        self,
        counts: sp.csr_array,
        random_state: int,
        whole: Sequence[WholeCounts] = (),
        n_columns: int | None = None,
    ):
        n, k = counts.shape

        def summed(times: FloatArray) -> FloatArray:
            """The sums of some resamples (n, size), which have each example so often."""
            sums = np.zeros((n_columns or k, times.shape[1]))
            sums[:k] = counts.T @ times
            for begin, part, columns in whole:
                sums[columns] += part.T @ times[begin : begin + part.shape[0]]
            return np.asarray(sums.T)

        self.total = summed(np.ones((n, 1)))[0]
        n_resamples = int(np.clip(MOST_DRAWN // n, FEWEST_RESAMPLES, RESAMPLES)) if n > 1 else 0
        batch = max(1, DRAWN_AT_ONCE // n)
        random = np.random.default_rng(random_state)
        drawn = []
        for begin in range(0, n_resamples, batch):
            size = min(batch, n_resamples - begin)
            places = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
            times = np.bincount(places.ravel(), minlength=size * n).reshape(size, n)
            drawn.append(summed(times.T.astype(np.float64)))
        self.resampled = np.concatenate(drawn) if drawn else np.empty((0, len(self.total)))

    def interval(self, metric: Formula) -> Interval:
        """The percentile interval of a metric of sums (n, n_columns), of 95 %; without ends for a single example.

        (Efron and Tibshirani 1993, section 13.3.)
        """
        estimate = float(metric(self.total[None])[0])
        if not len(self.resampled):
            return Interval(estimate, math.nan, math.nan)
        low, high = np.quantile(metric(self.resampled), [0.025, 0.975])
        return Interval(estimate, float(low), float(high))

    def average(self, columns: slice) -> tuple[Interval, Interval, Interval]:
        """Precision, recall and F1 over all classes of which each has three columns: correct, predicted and true."""
        precision, recall, both = map(self.interval, averages(columns))
        return precision, recall, both

    def classes(self, names: Sequence[Any], begin: int) -> dict[Any, ClassScore]:
        """The scores of classes of which each has three columns, correct, predicted and true, from `begin` on."""
        found = {}
        for k, name in enumerate(names):
            precision, recall, both = self.average(slice(begin + 3 * k, begin + 3 * k + 3))
            _, predicted, true = self.total[begin + 3 * k : begin + 3 * k + 3].tolist()
            found[name] = ClassScore(precision.estimate, recall.estimate, both, int(true), int(predicted))
        return found


def quotient(part: int, whole: int) -> Formula:
    """The quotient of two columns."""
    return lambda sums: ratio(sums[..., part], sums[..., whole])


def averages(columns: slice) -> tuple[Formula, Formula, Formula]:
    """Precision, recall and F1 over all classes of which each has three columns: correct, predicted and true."""

    def summed(sums: FloatArray) -> FloatArray:
        chosen = sums[:, columns]
        return np.asarray(chosen.reshape(len(sums), chosen.shape[1] // 3, 3).sum(axis=1))

    return (
        lambda sums: ratio(summed(sums)[:, 0], summed(sums)[:, 1]),
        lambda sums: ratio(summed(sums)[:, 0], summed(sums)[:, 2]),
        lambda sums: f1(summed(sums)),
    )
