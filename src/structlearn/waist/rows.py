"""Rows in weight space: what planes are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import places_of


def check_weights(w: FloatArray, least: int) -> None:
    """Refuses weights that are fewer than those that kernels are about to reach."""
    if not isinstance(w, np.ndarray) or w.ndim != 1 or len(w) < least:
        found = f"an array of the shape {w.shape}" if isinstance(w, np.ndarray) else f"a {type(w).__name__}"
        raise ValueError(f"w is {found}; there are {least} weights")


class Rows(Protocol):
    """A stack of m vectors in weight space, in whatever form is cheap for the model."""

    def __len__(self) -> int: ...
    def sparse(self) -> SparseRows:
        """The same rows written out."""

    def dot(self, w: FloatArray) -> FloatArray:
        """⟨row_k, w⟩ for every k."""

    def add_to(self, w: FloatArray, coefficients: FloatArray) -> None:
        """w += Σ_k coefficients_k row_k, in place."""

    def gram(self, other: Rows) -> FloatArray:
        """The (m, m') matrix of inner products with another stack."""

    def take(self, which: IntArray) -> Rows:
        """The chosen rows, in the order given."""

    @property
    def nbytes(self) -> int: ...


@dataclass(frozen=True, slots=True)
class SparseRows:
    """Rows in compressed form: row k has ``values[indptr[k]:indptr[k+1]]`` at the weights ``indices[...]``.

    Indices are 64-bit, so more than 2³¹ weights are possible, and strictly increasing within a row.
    """

    indptr: IntArray
    indices: IntArray
    values: FloatArray

    @classmethod
    def from_matrix(cls, matrix: sp.csr_array) -> SparseRows:
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
        return cls(
            np.ascontiguousarray(matrix.indptr, np.int64),
            np.ascontiguousarray(matrix.indices, np.int64),
            np.ascontiguousarray(matrix.data, np.float64),
        )

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def dot(self, w: FloatArray) -> FloatArray:
        check_weights(w, self._width)
        out = np.empty(len(self))
        _core.rows_dot(self.indptr, self.indices, self.values, w, out)
        return out

    def add_to(self, w: FloatArray, coefficients: FloatArray) -> None:
        check_weights(w, self._width)
        if len(coefficients) != len(self):
            raise ValueError(f"there are {len(coefficients)} coefficients of {len(self)} rows")
        _core.rows_add_to(self.indptr, self.indices, self.values, np.ascontiguousarray(coefficients), w)

    def gram(self, other: Rows) -> FloatArray:
        other = other.sparse()
        used = np.unique(np.concatenate([self.indices, other.indices]))
        product = self._matrix(used) @ other._matrix(used).T
        return np.asarray(product.todense())

    def sparse(self) -> SparseRows:
        return self

    def take(self, which: IntArray) -> SparseRows:
        places, indptr = places_of(self.indptr, which)
        return SparseRows(indptr, self.indices[places], self.values[places])

    def minus(self, other: SparseRows) -> SparseRows:
        """The differences, row by row."""
        width = 1 + max(int(rows.indices.max(initial=0)) for rows in (self, other))
        return SparseRows.from_matrix(sp.csr_array(self.matrix(width) - other.matrix(width)))

    def matrix(self, width: int) -> sp.csr_array:
        return sp.csr_array((self.values, self.indices, self.indptr), shape=(len(self), width))

    @property
    def nbytes(self) -> int:
        return self.indptr.nbytes + self.indices.nbytes + self.values.nbytes

    @property
    def _width(self) -> int:
        """The weights that the rows reach: indices increase within a row, so that its last one is its largest."""
        ends = self.indptr[1:][np.diff(self.indptr) > 0]
        return 1 + int(self.indices[ends - 1].max(initial=-1))

    def _matrix(self, used: IntArray) -> sp.csr_array:
        columns = np.searchsorted(used, self.indices)
        return sp.csr_array((self.values, columns, self.indptr), shape=(len(self), len(used)))


@dataclass(frozen=True, slots=True)
class DenseRows:
    """Rows as a matrix: of features that are dense, where they are used once and not kept."""

    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def dot(self, w: FloatArray) -> FloatArray:
        check_weights(w, self.values.shape[1])
        return self.values @ w[: self.values.shape[1]]

    def add_to(self, w: FloatArray, coefficients: FloatArray) -> None:
        check_weights(w, self.values.shape[1])
        if len(coefficients) != len(self):
            raise ValueError(f"there are {len(coefficients)} coefficients of {len(self)} rows")
        w[: self.values.shape[1]] += coefficients @ self.values

    def gram(self, other: Rows) -> FloatArray:
        if isinstance(other, DenseRows):
            return self.values @ other.values.T
        return self.sparse().gram(other)

    def sparse(self) -> SparseRows:
        return SparseRows.from_matrix(sp.csr_array(self.values))

    def take(self, which: IntArray) -> DenseRows:
        return DenseRows(self.values[which])

    @property
    def nbytes(self) -> int:
        return self.values.nbytes
