"""Which features have a weight for which labels, where not all have one for each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import offsets_of, owners_of


@dataclass(frozen=True, eq=False)
class FeaturePairs:
    """Pairs in compressed form: row r, a feature, has weights for ``parts[indptr[r]:indptr[r + 1]]``, increasing.

    >>> pairs = FeaturePairs.of(np.array([2, 0, 2]), np.array([1, 0, 0]), n_rows=3)
    >>> pairs.indptr, pairs.parts
    (array([0, 1, 1, 3]), array([0, 0, 1], dtype=int32))
    """

    indptr: IntArray
    parts: npt.NDArray[np.int32]

    @classmethod
    def of(cls, rows: IntArray, parts: npt.NDArray[Any], *, n_rows: int) -> FeaturePairs:
        """From pairs in any order, each of them once."""
        order = np.lexsort((parts, rows))
        counts = np.bincount(rows, minlength=n_rows)
        return cls(offsets_of(counts), np.ascontiguousarray(parts[order], np.int32))

    @classmethod
    def from_dict(cls, values: Any) -> FeaturePairs:
        """What a file says they are; refuses arrays that are none."""
        pairs = cls(**values)
        for name, array, kind in (("indptr", pairs.indptr, np.int64), ("parts", pairs.parts, np.int32)):
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                raise ValueError(f"{name} of the pairs is no array of {np.dtype(kind).name}")
        indptr, parts = pairs.indptr, pairs.parts
        if not len(indptr) or indptr[0] != 0 or indptr[-1] != len(parts) or (np.diff(indptr) < 0).any():
            raise ValueError("indptr of the pairs does not divide them into rows")
        rises = np.diff(parts.astype(np.int64), prepend=-1) > 0
        rises[indptr[:-1][np.diff(indptr) > 0]] = True
        if not rises.all() or parts.min(initial=0) < 0:
            raise ValueError("parts of the pairs do not increase within a row")
        return pairs

    def check(self, *blocks: tuple[int, int]) -> None:
        """Refuses pairs that are not those of blocks of (rows, width)."""
        n_rows = sum(rows for rows, _ in blocks)
        if self.n_rows != n_rows:
            raise ValueError(f"there are pairs of {self.n_rows} features, but {n_rows} features")
        begin = 0
        for rows, width in blocks:
            most = int(self.parts[self.until(begin) : self.until(begin + rows)].max(initial=-1))
            if most >= width:
                raise ValueError(f"a feature has a weight for part {most} of {width}")
            begin += rows

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def n_rows(self) -> int:
        return len(self.indptr) - 1

    @property
    def rows(self) -> IntArray:
        """The row of every pair."""
        return owners_of(self.indptr)

    def until(self, row: int) -> int:
        """How many pairs the rows before this one have."""
        return int(self.indptr[row])

    def weights_of(self, row: int, weights: FloatArray, width: int) -> FloatArray:
        """The weights of all parts of a row, 0 for those without one."""
        found = np.zeros(width)
        entries = slice(self.indptr[row], self.indptr[row + 1])
        found[self.parts[entries]] = weights[entries]
        return found
