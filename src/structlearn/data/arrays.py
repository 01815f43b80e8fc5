"""The types of arrays that everything exchanges, and a digest of their contents."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
LabelArray = npt.NDArray[np.int32]


def digest(*arrays: npt.NDArray[Any]) -> str:
    """One short text for the contents of several arrays."""
    state = hashlib.blake2b(digest_size=16)
    for array in arrays:
        state.update(f"{array.dtype.str}{array.shape}".encode())
        state.update(np.ascontiguousarray(array).data)
    return state.hexdigest()


Flags = npt.NDArray[np.bool_]
