"""Queries: how relevant their documents are, and in which order these stand."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import locate, owners_of
from structlearn.wording import shown

Gain = Literal["exponential", "linear"]

#: Up to here 2^y − 1 is exact, and sums over any number of documents are finite.
MOST_GAIN = 2.0**53


def relevances(Y: Any, offsets: IntArray) -> FloatArray:
    """The relevance of every document as one array; names the first that is none."""
    if len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} queries but Y has {len(Y)}")
    flat = np.empty(int(offsets[-1]))
    for q, (y, (begin, end)) in enumerate(zip(Y, pairwise(offsets), strict=True)):
        try:
            values = np.asarray(y, np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(f"Y[{q}] is {shown(y)}; expected a number for each document, its relevance") from None
        if values.ndim != 1:
            raise ValueError(f"Y[{q}] has {values.ndim} dimensions; expected a number for each document")
        if len(values) != end - begin:
            raise ValueError(f"Y[{q}] has {len(values)} labels but X[{q}] has {end - begin} documents")
        if not np.isfinite(values).all():
            j = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"Y[{q}][{j}] is {values[j]}")
        flat[begin:end] = values
    return flat


def gains_of(relevance: FloatArray, gain: Gain, offsets: IntArray) -> FloatArray:
    """What every document gains, 2^y − 1 or y; names the first that gains less than nothing, or too much to add up.

    >>> gains_of(np.array([0.0, 1.0, 4.0]), "exponential", np.array([0, 3]))
    array([ 0.,  1., 15.])
    """
    most = np.log2(MOST_GAIN) if gain == "exponential" else MOST_GAIN
    wrong = (relevance < 0) | (relevance > most)
    if wrong.any():
        place = int(np.argmax(wrong))
        q, j = locate(offsets, place)
        why = "the gain of a document must be ≥ 0"
        if relevance[place] > most:
            why = f"with gain={shown(gain)} a relevance may be at most {most:g}"
        raise ValueError(f"Y[{q}][{j}] is {relevance[place]:g}; {why}")
    return np.exp2(relevance) - 1.0 if gain == "exponential" else relevance


def grades_of(values: FloatArray, offsets: IntArray) -> LabelArray:
    """Values as 0, 1, … within each query, equal where they are equal.

    >>> grades_of(np.array([5.0, 0.0, 5.0, 2.0, 9.0]), np.array([0, 3, 5]))
    array([1, 0, 1, 0, 1], dtype=int32)
    """
    order = np.lexsort((values, owners_of(offsets)))
    steps = np.zeros(len(values), np.int32)
    steps[1:] = np.diff(values[order]) > 0
    steps[offsets[:-1]] = 0
    upto = np.cumsum(steps, dtype=np.int32)
    grades = np.empty(len(values), np.int32)
    grades[order] = upto - np.repeat(upto[offsets[:-1]], np.diff(offsets))
    return grades


def ranked(keys: FloatArray, offsets: IntArray, n_threads: int, tiers: LabelArray | None = None) -> LabelArray:
    """The documents of each query, counted from 0, by falling tier and key; equal ones keep their order."""
    order = np.empty(len(keys), np.int32)
    _core.rank(tiers, np.ascontiguousarray(keys), offsets, order, n_threads)
    return order


def warn_of_empty(max_losses: FloatArray, why: str) -> None:
    """Tells how many queries cannot be ranked wrongly; refuses data of nothing else."""
    n = int(np.sum(max_losses <= 0))
    if n == len(max_losses):
        raise ValueError(f"nothing can be learnt: in {f'all {n} queries' if n > 1 else 'the only query'} {why}")
    if n:
        first = int(np.argmax(max_losses <= 0))
        warnings.warn(
            f"{n} of {len(max_losses)} queries {'teaches' if n == 1 else 'teach'} nothing, "
            f"{'' if n == 1 else 'the first of them '}X[{first}]: {why}",
            UserWarning,
            stacklevel=5,
        )
