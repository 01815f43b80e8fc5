"""The inner product of weights where every row of features stands for a function of a space with a kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, digest
from structlearn.kernels.base import Kernel, length
from structlearn.kernels.gram import PROBED

#: Bytes that the matrix of kernels of all rows may take, if nobody says.
KEPT = 2**30


class RowMetric:
    """⟨(A, a), (B, b)⟩ = Σ_c A_cᵀ K B_c + ⟨a, b⟩, with K_ij = k(x_i, x_j) of the rows of the training data.

    Of a problem whose rows are unit vectors, the first weights A, (n_rows, width), are then coefficients of the
    functions φ(x_i) in a space with a kernel, and all others are as they were. Column c of A belongs to a label, or to
    whatever else a model has weights of a feature for.

    Parameters
    ----------
    kernel : Kernel
    rows : examples
        As `Kernel.read` gives them.
    width : int
        How many weights a row has.
    offsets : (n_examples + 1,)
        Where the rows of each example begin.
    names : tuple of str, optional
        What the columns of the rows are called.
    max_memory : int
        The matrix of kernels of all rows is kept if it takes no more bytes.
    n_jobs : int, optional
        Threads that compute kernels.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Any,
        width: int,
        offsets: IntArray,
        names: tuple[str, ...] | None = None,
        max_memory: int = KEPT,
        n_jobs: int | None = None,
    ):
        self.max_memory = max_memory
        self.offsets = offsets
        self.names = names
        self.kernel = kernel
        self.rows = rows
        self.width = width
        self.n_jobs = n_jobs
        self.n_rows = length(rows)
        self._matrix: FloatArray | None = None

    def split(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(A, a) of a vector over all weights, as views."""
        n = self.n_rows * self.width
        return w[:n].reshape(self.n_rows, self.width), w[n:]

    def at_rows(self, basis: Any, coefficients: FloatArray) -> FloatArray:
        """Σ_j k(x_i, b_j) c_j at every row of the training data, (n_rows, width)."""
        return expansion_at(self.kernel, self.rows, basis, coefficients, self.n_jobs)

    def at_rows_of(self, which: IntArray, coefficients: FloatArray) -> FloatArray:
        """The same where the basis are rows of the training data."""
        if not self.matrix_nbytes:
            return self.at_rows(self.rows[which], coefficients)
        if self._matrix is None:
            self._matrix = np.empty((self.n_rows, self.n_rows))
            for some, part in self.kernel.blocks(self.rows, n_jobs=self.n_jobs):
                self._matrix[some] = part
        # A copy of most columns takes longer than products with zeros.
        if 4 * len(which) > self.n_rows:
            full = np.zeros((self.n_rows, self.width))
            full[which] = coefficients
            return np.asarray(self._matrix @ full)
        return np.asarray(self._matrix[which].T @ coefficients)

    @property
    def matrix_nbytes(self) -> int:
        """What the matrix of kernels of all rows takes; 0 where it is not kept."""
        nbytes = 8 * self.n_rows**2
        return nbytes if nbytes <= self.max_memory else 0

    def same_as(self, other: RowMetric) -> bool:
        """Whether it is that of the same rows and, as far as a few of these tell, of the same kernel."""
        if (self.n_rows, self.width, self.names) != (other.n_rows, other.width, other.names):
            return False
        if sp.issparse(self.rows) != sp.issparse(other.rows):
            return False
        if not all(map(np.array_equal, _arrays(self.rows), _arrays(other.rows))):
            return False
        few = self.rows[:PROBED]
        return np.array_equal(self.kernel.checked_values(few, few), other.kernel.checked_values(few, few))

    def fingerprint(self) -> str:
        """One short text for the rows and, as far as a few of these tell, the kernel."""
        few = self.rows[:PROBED]
        return digest(*_arrays(self.rows), self.kernel.checked_values(few, few))

    def stretch(self) -> float:
        """By how much a combination of the rows of one example may be longer than it is for unit vectors.

        ‖Σ_i a_i φ(x_i)‖ ≤ Σ_i |a_i| √k(x_i, x_i) ≤ ‖a‖ (Σ_i k(x_i, x_i))^½; weights without a kernel are as long as
        they were.
        """
        sums = np.concatenate([[0.0], np.cumsum(self.kernel.diagonal(self.rows))])[self.offsets]
        return float(np.sqrt(max(1.0, np.diff(sums).max(initial=0.0))))


def _arrays(rows: Any) -> tuple[Any, ...]:
    return (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows,)


def expansion_at(
    kernel: Kernel, rows: Any, basis: Any, coefficients: FloatArray, n_jobs: int | None = None
) -> FloatArray:
    """Σ_j k(x_i, b_j) c_j at rows x_i, in blocks that never fill the memory."""
    found = np.zeros((length(rows), coefficients.shape[1]))
    if length(basis) and len(found):
        for some, values in kernel.blocks(rows, basis, then=lambda part: part @ coefficients, n_jobs=n_jobs):
            found[some] = values
    return found
