"""Rows of kernel matrices that are too large to be there as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.kernels.base import Kernel, length, taken
from structlearn.wording import count, in_bytes

#: Bytes of the rows that are computed at a time.
BLOCK = 2**23

#: Above this share of nonzeros, products of sparse rows take longer than those of dense ones.
DENSEST = 1 / 30


class KernelRows:
    """Rows of K = k(X, X): computed in blocks when they are added, and kept while there is room.

    Of kernels with quick sums none are kept, since to compute them again takes less time than to read them.

    Parameters
    ----------
    kernel : Kernel
    X : examples as `kernel.read` gives them
    max_memory : int
        Bytes for rows that are kept; those not used for the longest time go first.
    single : bool
        Whether rows are kept in single precision, and computed so where the kernel can.

    Attributes
    ----------
    capacity : int
        How many rows fit; all, where none are kept.
    n_computed : int
        How many were computed so far.

    Examples
    --------
    >>> from structlearn.kernels import Linear
    >>> rows = KernelRows(Linear(), np.array([[1.0], [2.0], [3.0]]), max_memory=24)
    >>> rows.columns(np.array([2, 0]), np.array([1, 2]))
    array([[6., 9.],
           [2., 3.]], dtype=float32)
    >>> total = np.zeros(3)
    >>> rows.add_to(total, np.array([2, 0]), np.array([1.0, 1.0]))
    >>> total, rows.capacity, rows.n_computed
    (array([ 4.,  8., 12.]), 2, 2)
    """

    def __init__(self, kernel: Kernel, X: Any, max_memory: int, *, single: bool = True):
        self.kernel = kernel
        self.single = single
        self.X = kernel.in_single(X) if single else X
        self._keeps = not kernel.has_quick_sums(self.X)
        n, dtype = length(X), np.dtype(np.float32 if single else np.float64)
        self.capacity = min(n, max_memory // (dtype.itemsize * n)) if self._keeps else n
        if self.capacity < min(n, 2):
            raise ValueError(
                f"max_memory is {in_bytes(max_memory)}, but two rows of the kernel matrix of {count(n, 'example')} "
                f"take {in_bytes(2 * dtype.itemsize * n)}"
            )
        # Pages that no row comes to are never taken from the machine.
        self._kept: npt.NDArray[Any] = np.empty((self.capacity if self._keeps else 0, n), dtype)
        self._place = np.full(n, -1)
        self._owner = np.full(len(self._kept), -1)
        self._used = np.zeros(len(self._kept), np.int64)
        self._clock = 0
        self.n_computed = 0

    def columns(self, which: IntArray, columns: IntArray) -> npt.NDArray[Any]:
        """K_ij for i among some examples and j among others, from rows that are kept; others are not computed whole."""
        found = np.empty((len(which), len(columns)), self._kept.dtype)
        there = self._place[which] >= 0
        if there.any():
            kept = np.empty((np.count_nonzero(there), len(columns)), self._kept.dtype)
            _core.gather_columns(self._kept, self._place[which[there]], columns, kept.reshape(-1))
            found[there] = kept
        if not there.all():
            missing = which[~there]
            name = partial(_of_two, missing, columns)
            found[~there] = self.kernel.checked_values(taken(self.X, missing), taken(self.X, columns), name)
        return found

    def add_to(self, total: FloatArray, which: IntArray, coefficients: FloatArray) -> None:
        """total += Σ_i c_i K_i of these examples, some `capacity` at a time."""
        if not self._keeps:
            total += self.kernel.sums(self.X, taken(self.X, which), coefficients)
            self.n_computed += len(which)
            return
        for begin in range(0, len(which), self.capacity):
            some = slice(begin, begin + self.capacity)
            _core.add_kernel_rows(self._kept, self._fetched(which[some]), coefficients[some], total)

    def _fetched(self, which: IntArray) -> IntArray:
        """Where the rows of these examples are kept, after those that were not have been computed."""
        self._clock += 1
        there = self._place[which] >= 0
        self._used[self._place[which[there]]] = self._clock
        missing = which[~there]
        if len(missing):
            places = np.argpartition(self._used, len(missing) - 1)[: len(missing)]
            former = self._owner[places]
            self._place[former[former >= 0]] = -1
            self._compute(missing, places)
            self._owner[places], self._place[missing], self._used[places] = missing, places, self._clock
        return np.asarray(self._place[which])

    def _compute(self, which: IntArray, places: IntArray) -> None:
        step = max(1, BLOCK // (self._kept.itemsize * len(self._place)))
        for begin in range(0, len(which), step):
            some = which[begin : begin + step]
            name = partial(_of_two, some, range(len(self._place)))
            self._kept[places[begin : begin + step]] = self.kernel.checked_values(taken(self.X, some), self.X, name)
        self.n_computed += len(which)


def with_fast_products(X: Any) -> Any:
    """Sparse rows as dense ones, unless they are so sparse that products are faster as they are."""
    return X.toarray() if sp.issparse(X) and X.nnz > DENSEST * X.shape[0] * X.shape[1] else X


def _of_two(which: IntArray, columns: Sequence[int] | IntArray, i: int, j: int) -> str:
    return f"the kernel of X[{which[i]}] and X[{columns[j]}]"
