"""Vectors over the weights that are to travel: whole, or as the places and values of what is not 0 if that is less."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray

Packed = FloatArray | tuple[IntArray, FloatArray]
NOTHING: Packed = (np.empty(0, np.int64), np.empty(0))


def packed(vector: FloatArray) -> Packed:
    """
    >>> packed(np.array([0.0, 0.0, 2.0, 0.0]))
    (array([2]), array([2.]))
    >>> packed(np.array([1.0, 2.0]))
    array([1., 2.])
    """
    places = np.flatnonzero(vector)
    return (places, vector[places]) if 2 * len(places) < len(vector) else vector


def packed_difference(vector: FloatArray, other: FloatArray, divisor: float) -> Packed:
    """(vector − other) / divisor."""
    places = np.flatnonzero(vector != other)
    if 2 * len(places) < len(vector):
        return places, (vector[places] - other[places]) / divisor
    return (vector - other) / divisor


def add_packed(vector: FloatArray, change: Packed, factor: float = 1.0) -> None:
    """vector += factor · change, in place."""
    if isinstance(change, tuple):
        places, values = change
        vector[places] += factor * values
    else:
        vector += factor * change


def scaled(change: Packed, factor: float) -> Packed:
    return (change[0], factor * change[1]) if isinstance(change, tuple) else factor * change


def set_zero(vector: FloatArray, change: Packed) -> None:
    """Where the change is, in place."""
    vector[change[0] if isinstance(change, tuple) else slice(None)] = 0.0


def dot_packed(change: Packed, vector: FloatArray) -> float:
    if isinstance(change, tuple):
        places, values = change
        return float(values @ vector[places])
    return float(change @ vector)
