"""The documents of queries: what rankings and joint labels score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, digest
from structlearn.data.ragged import Ragged, offsets_of, places_of, reduced, summed
from structlearn.data.tokens.sequences import check_tokens
from structlearn.models.base import TokenColumns
from structlearn.waist.rows import SparseRows


class Documents(Ragged):
    """The documents of all queries as one matrix, dense or sparse, with a row a document."""

    __slots__ = ()

    @classmethod
    def bound(cls, spec: TokenColumns, X: Any, *, intercept: bool = False) -> Documents:
        """The documents that a spec finds in X."""
        matrix, offsets = spec.stack(X)
        check_tokens(offsets)
        if not sp.issparse(matrix):
            matrix = np.ascontiguousarray(matrix, np.float64)
        if intercept:
            ones = np.ones((matrix.shape[0], 1))
            matrix = sp.csr_array(sp.hstack([matrix, ones])) if sp.issparse(matrix) else np.hstack([matrix, ones])
        return cls(matrix, offsets)

    def places(self, examples: IntArray) -> tuple[IntArray, IntArray]:
        """The rows of some queries' documents, one query after another, and where each query begins among them."""
        return places_of(self.offsets, examples)

    def scores(self, w: FloatArray, rows: IntArray) -> FloatArray:
        """⟨w, x⟩ of some documents."""
        chosen = self.flat if len(rows) == self.flat.shape[0] and _is_range(rows) else self.flat[rows]
        return np.asarray(chosen @ w, np.float64)

    def combined(self, coefficients: FloatArray, rows: IntArray, offsets: IntArray) -> SparseRows:
        """Σ_j c_j x_j over the documents of each query."""
        if sp.issparse(self.flat):
            shape = (len(offsets) - 1, self.flat.shape[0])
            return SparseRows.from_matrix(sp.csr_array((coefficients, rows, offsets), shape) @ self.flat)
        sums = summed(coefficients[:, None] * self.flat[rows], offsets)
        places = np.nonzero(sums)
        counts = np.bincount(places[0], minlength=len(sums))
        return SparseRows(offsets_of(counts), places[1], sums[places])

    def norms(self) -> FloatArray:
        """‖x‖ of every document."""
        if sp.issparse(self.flat):
            return np.asarray(sp.linalg.norm(self.flat, axis=1))
        return np.asarray(np.linalg.norm(self.flat, axis=1))

    def radii(self) -> FloatArray:
        """How far two weighted means of a query's documents can lie apart, at most."""
        return 2.0 * reduced(np.maximum, self.norms(), self.offsets)

    def digest(self, *others: npt.NDArray[Any]) -> str:
        matrix = self.flat
        parts = (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)
        return digest(*parts, self.offsets, *others)


def _is_range(rows: IntArray) -> bool:
    return bool(rows[0] == 0 and (np.diff(rows) == 1).all())
