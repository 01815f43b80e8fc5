"""The types of arrays that everything exchanges, a check of scores, and a digest of contents."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


def digest(*arrays: npt.NDArray[Any]) -> str:
    """One short text for the contents of several arrays."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


def checked_scores(scores: FloatArray, name: str) -> FloatArray:
    """Refuses what is no score, by its place."""
    bad = np.argwhere(~(scores < np.inf))
    if len(bad):
        place = tuple(bad[0].tolist())
        at = f"[{', '.join(map(str, place))}]" if place else ""
        raise ValueError(f"{name}{at} is {scores[place]}; a score must not be NaN or +inf")
    return scores
