"""Probabilities from counts, and checks of those that were given."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import FloatArray

Smoothing = float | Literal["floor"]


def frequencies(counts: FloatArray, smoothing: Smoothing) -> FloatArray:
    """Rows of counts as distributions, p_j = (n_j + smoothing) / Σ_k (n_k + smoothing).

    With ``smoothing="floor"`` counts below 1 are raised to 1 instead, which leaves the others as they are. A row of
    zeros becomes uniform, the limit of ever weaker smoothing.

    >>> frequencies(np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 0.0).tolist()
    [[0.75, 0.25, 0.0], [0.3333333333333333, 0.3333333333333333, 0.3333333333333333]]
    >>> frequencies(np.array([3.0, 1.0, 0.0]), "floor").tolist()
    [0.6, 0.2, 0.2]
    """
    check_smoothing(smoothing)
    counts = np.maximum(counts, 1.0) if isinstance(smoothing, str) else counts + float(smoothing)
    total = counts.sum(axis=-1, keepdims=True)
    return np.asarray(np.where(total > 0, counts, 1.0) / np.where(total > 0, total, counts.shape[-1]))


def check_smoothing(smoothing: Any) -> None:
    if isinstance(smoothing, str) and smoothing == "floor":
        return
    if not isinstance(smoothing, (int, float, np.number)) or not 0 <= smoothing < np.inf:
        raise ValueError(f"smoothing is {smoothing!r}; it may be a number ≥ 0 or 'floor'")


def checked_distributions(name: str, given: Any, shape: tuple[int | None, ...]) -> FloatArray:
    """The given rows of probabilities as an array; None stands for a size that may be any. Names a row that is none."""
    rows = np.array(given, np.float64)
    if rows.ndim != len(shape) or any(want not in (None, got) for want, got in zip(shape, rows.shape, strict=True)):
        expected = ", ".join("any" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} has shape {rows.shape}; expected ({expected})")
    for k, row in enumerate(np.atleast_2d(rows)):
        where = name if rows.ndim == 1 else f"{name}[{k}]"
        if not (row >= 0).all():
            bad = int(np.argmin(row >= 0))
            raise ValueError(f"{where} has the entry {row[bad]}; probabilities are numbers ≥ 0")
        if not np.isclose(row.sum(), 1.0, rtol=0.0, atol=1e-8):
            raise ValueError(f"{where} sums to {row.sum():g}; a distribution sums to 1")
    return rows


def log(probabilities: FloatArray) -> FloatArray:
    """Natural logarithms; −∞ for 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))
