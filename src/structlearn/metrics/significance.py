"""How sure one can be of a score, and of the difference of two.

Sequences, not tokens, are what is drawn from the world: resample and compare sequences unless tokens are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from structlearn.metrics._checks import paired
from structlearn.metrics.scores import f1

#: With fewer discordant pairs than this, McNemar's test is the exact one.
FEW_PAIRS = 25
#: Numbers of sequences drawn at once, which bounds the memory of a bootstrap.
DRAWN_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class Interval:
    """A score and the ends of its confidence interval."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.4f} [{self.low:.4f}, {self.high:.4f}]"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a test found: the difference (first minus second), the statistic, and the two-sided p-value."""

    difference: float
    statistic: float
    p_value: float

    def __str__(self) -> str:
        return f"difference {self.difference:+.4f}, p = {self.p_value:.2g}"


def bootstrap(
    metric: Callable[[list[Any], list[Any]], float],
    Y: Sequence[Sequence[Any]],
    Y_pred: Sequence[Sequence[Any]],
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> Interval:
    """Percentile bootstrap interval of any metric: quantiles of metric(Y*, Y_pred*) over resamples of the sequences.

    The metric is computed for every resample. Where it depends on sums of counts only, as F1 and accuracy do,
    `bootstrap_counts` finds the same interval hundreds of times faster. (Efron and Tibshirani 1993, section 13.3.)

    Parameters
    ----------
    metric : function of (Y, Y_pred)
    Y, Y_pred : sequences of sequences of labels
    confidence : float, default 0.95
    n_resamples : int, default 2000
    random_state : int, numpy Generator or None

    Examples
    --------
    >>> from structlearn.metrics import sequence_accuracy
    >>> Y, Y_pred = [["a", "b"]] * 20, [["a", "b"]] * 15 + [["a", "a"]] * 5
    >>> print(bootstrap(sequence_accuracy, Y, Y_pred, random_state=0))
    0.7500 [0.5500, 0.9000]
    """
    pairs = paired(Y, Y_pred)

    def of(examples: npt.NDArray[np.int64]) -> float:
        drawn = [pairs[i] for i in examples]
        return metric([y for y, _ in drawn], [p for _, p in drawn])

    return _percentiles(of, len(pairs), confidence, n_resamples, random_state)


def bootstrap_counts(
    counts: npt.ArrayLike,
    metric: Callable[[npt.NDArray[Any]], npt.ArrayLike] = f1,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator | None = None,
) -> Interval:
    """Percentile bootstrap interval of a metric of counts that are summed over the sequences.

    For the difference of two systems on the same data, put their counts side by side: each resample then has the same
    sequences for both.

    Parameters
    ----------
    counts : (n_sequences, k)
        For instance `span_counts(Y, Y_pred)`.
    metric : function of an array (n, k) of summed counts to n values, default `f1`
    confidence, n_resamples, random_state
        As in `bootstrap`.

    Examples
    --------
    >>> counts = [[4, 5, 5], [2, 2, 3], [1, 3, 2], [6, 6, 6]] * 10
    >>> print(bootstrap_counts(counts, random_state=0))
    0.8125 [0.7459, 0.8661]
    """
    counts = np.asarray(counts)
    if counts.ndim != 2:
        raise ValueError(f"counts has shape {counts.shape}; expected a row for each sequence")

    def of(examples: npt.NDArray[np.int64], axis: int = -1) -> npt.ArrayLike:
        sums = counts[examples].sum(axis=-2)
        return metric(sums) if sums.ndim > 1 else np.asarray(metric(sums[None]))[0]

    batch = max(1, DRAWN_AT_ONCE // max(len(counts), 1))
    return _percentiles(of, len(counts), confidence, n_resamples, random_state, batch)


def mcnemar(correct_a: npt.ArrayLike, correct_b: npt.ArrayLike) -> Comparison:
    """McNemar's test: do two systems err equally often on the same examples?

    With b examples that only the first gets right and c that only the second does: for b + c < 25 the exact test of
    b ~ Binomial(b + c, ½), whose statistic is given as min(b, c); otherwise `χ² = max(|b − c| − 1, 0)²/(b + c)` with
    one degree of freedom. (McNemar 1947; the correction for continuity is Edwards's, 1948.)

    Parameters
    ----------
    correct_a, correct_b : (n,) of bool
        Which examples each system has right: `correct_sequences(Y, Y_pred)` or `correct_tokens(Y, Y_pred)`.

    Examples
    --------
    >>> print(mcnemar([True] * 9 + [False], [False] * 8 + [True] * 2))
    difference +0.7000, p = 0.039
    """
    a, b = _same_length(np.asarray(correct_a), np.asarray(correct_b), at_least=1)
    for name, values in (("correct_a", a), ("correct_b", b)):
        if values.dtype != np.bool_:
            raise ValueError(f"{name} has dtype {values.dtype}; expected bool, whether each example is right")
    only_a, only_b = int(np.sum(a & ~b)), int(np.sum(b & ~a))
    discordant = only_a + only_b
    difference = (only_a - only_b) / len(a)
    if discordant == 0:
        return Comparison(0.0, 0.0, 1.0)
    if discordant < FEW_PAIRS:
        p_value = scipy.stats.binomtest(only_a, discordant).pvalue
        return Comparison(difference, float(min(only_a, only_b)), float(p_value))
    statistic = max(abs(only_a - only_b) - 1, 0) ** 2 / discordant
    return Comparison(difference, statistic, float(scipy.stats.chi2.sf(statistic, 1)))


def paired_t_test(a: npt.ArrayLike, b: npt.ArrayLike) -> Comparison:
    """Student's t-test of a zero mean of the differences d = a − b: t = √n · mean(d)/std(d), n − 1 degrees of freedom.

    Parameters
    ----------
    a, b : (n,)
        Scores of two systems on the same n folds or sequences. Folds that share training data are not independent,
        which makes the p-value too small.

    Examples
    --------
    >>> print(paired_t_test([0.91, 0.93, 0.90, 0.94], [0.90, 0.91, 0.89, 0.91]))
    difference +0.0175, p = 0.035
    """
    a, b = _same_length(np.asarray(a, np.float64), np.asarray(b, np.float64), at_least=2)
    differences = a - b
    if not np.isfinite(differences).all():
        k = int(np.argmin(np.isfinite(differences)))
        raise ValueError(f"a[{k}] is {a[k]} and b[{k}] is {b[k]}; the scores must be finite")
    if not differences.any():
        return Comparison(0.0, 0.0, 1.0)
    if np.ptp(differences) == 0:
        raise ValueError(f"all differences are {differences[0]:g}; a t-test needs some that differ")
    result = scipy.stats.ttest_rel(a, b)
    return Comparison(float(differences.mean()), float(result.statistic), float(result.pvalue))


def two_proportion_z_test(right_a: int, n_a: int, right_b: int, n_b: int) -> Comparison:
    """Are two proportions, measured on independent samples, equal?

    z = (p_a − p_b)/√(p (1 − p)(1/n_a + 1/n_b)) with p = (right_a + right_b)/(n_a + n_b) is compared with the normal
    distribution. For two systems on the same examples use `mcnemar`, which takes account of the pairs.

    Parameters
    ----------
    right_a, right_b : int
        How many are right.
    n_a, n_b : int
        Of how many.

    Examples
    --------
    >>> print(two_proportion_z_test(90, 100, 80, 100))
    difference +0.1000, p = 0.048
    """
    for name, right, n in (("a", right_a, n_a), ("b", right_b, n_b)):
        if not 0 <= right <= n or n < 1:
            raise ValueError(f"right_{name} is {right} and n_{name} is {n}; expected 0 <= right <= n and n >= 1")
    difference = right_a / n_a - right_b / n_b
    pooled = (right_a + right_b) / (n_a + n_b)
    if pooled in (0, 1):
        return Comparison(0.0, 0.0, 1.0)
    z = difference / float(np.sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b)))
    return Comparison(difference, z, float(2 * scipy.stats.norm.sf(abs(z))))


def _percentiles(
    statistic: Callable[..., Any],
    n: int,
    confidence: float,
    n_resamples: int,
    random_state: int | np.random.Generator | None,
    batch: int | None = None,
) -> Interval:
    """The interval of a statistic of n examples' numbers; with a batch, of a row of them for every resample."""
    if n < 2:
        raise ValueError(f"a bootstrap needs at least 2 sequences, got {n}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence!r}")
    if n_resamples < 1:
        raise ValueError(f"n_resamples must be at least 1, got {n_resamples!r}")
    examples = np.arange(n)
    result = scipy.stats.bootstrap(
        (examples,),
        statistic,
        n_resamples=n_resamples,
        batch=batch,
        vectorized=batch is not None,
        confidence_level=confidence,
        method="percentile",
        random_state=np.random.default_rng(random_state),
    )
    low, high = result.confidence_interval
    return Interval(float(statistic(examples)), float(low), float(high))


def _same_length(a: npt.NDArray[Any], b: npt.NDArray[Any], at_least: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"the two have shapes {a.shape} and {b.shape}; expected two arrays of one length")
    if len(a) < at_least:
        raise ValueError(f"the test needs at least {at_least} pairs, got {len(a)}")
    return a, b
