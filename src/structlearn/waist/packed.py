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


def add_packed(vector: FloatArray, change: Packed, factor: float = 1.0) -> None:
    """vector += factor · change, in place."""
    if isinstance(change, tuple):
        places, values = change
        vector[places] += factor * values
    else:
        vector += factor * change


def scaled(change: Packed, factor: float) -> Packed:
    return (change[0], factor * change[1]) if isinstance(change, tuple) else factor * change


def unpacked(change: Packed, length: int) -> FloatArray:
    vector = np.zeros(length)
    add_packed(vector, change)
    return vector
