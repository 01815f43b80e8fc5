"""Numeric inputs as one sparse matrix with a row a token, the form in which the core reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.matrices import compressed_rows
from structlearn.data.ragged import offsets_of, owners_of, places_of

#: Entries, or rows, that are looked at together, so that what is made of them on the way stays small.
_BLOCK = 2**22


@dataclass(frozen=True, slots=True)
class TokenMatrix:
    """Compressed sparse rows: 64-bit row starts, 32-bit columns, values in single precision where that is exact.

    Its arrays may be mapped from files. As the `tokens` of `Sequences` it is taken as it is, and gives the rows that it
    is asked for as a matrix of SciPy, which has no such arrays: it would copy them.
    """

    indptr: IntArray
    columns: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32 | np.float64]
    n_columns: int

    @classmethod
    def from_matrix(cls, matrix: Any, *, intercept: bool) -> TokenMatrix:
        """From a dense or sparse matrix, with a column of ones at the end if there is an intercept."""
        if isinstance(matrix, TokenMatrix):
            if intercept:
                raise ValueError(
                    "fit_intercept=True would copy all tokens of the files; prepare them with a feature that every "
                    "token has, such as the template 'bias'"
                )
            return matrix
        if matrix.shape[1] + intercept > np.iinfo(np.int32).max:
            raise ValueError(f"X has {matrix.shape[1] + intercept} features a token; at most 2³¹ − 1 are possible")
        if not sp.issparse(matrix):
            indptr, columns, values = _from_dense(matrix, intercept)
            return cls(indptr, columns, _compact(values), matrix.shape[1] + intercept)
        if not isinstance(matrix, sp.csr_array) or matrix.dtype != np.float64:
            # As it is, it remembers what was found out about its order.
            matrix = sp.csr_array(matrix, dtype=np.float64)
        if not matrix.has_canonical_format or not matrix.data.all():
            matrix = matrix.copy()
            matrix.sum_duplicates()
            matrix.eliminate_zeros()
        if intercept:
            matrix = sp.csr_array(sp.hstack([matrix, np.ones((matrix.shape[0], 1))], format="csr"))
        return cls(
            np.ascontiguousarray(matrix.indptr, np.int64),
            np.ascontiguousarray(matrix.indices, np.int32),
            _compact(matrix.data),
            matrix.shape[1],
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_tokens, self.n_columns

    def __getitem__(self, which: Any) -> sp.csr_array:
        """The chosen rows, by a slice or by their numbers; of all rows with ``[:, columns]`` some columns."""
        if isinstance(which, tuple):
            blocks = range(0, self.n_tokens, _BLOCK)
            return sp.csr_array(sp.vstack([self[at : at + _BLOCK][:, which[1]] for at in blocks], format="csr"))
        if isinstance(which, slice):
            begin, end, _ = which.indices(self.n_tokens)
            starts = self.indptr[begin : max(begin, end) + 1]
            entries: Any = slice(int(starts[0]), int(starts[-1]))
            starts = starts - starts[0]
        else:
            entries, starts = places_of(self.indptr, which)
        values, columns = self.values[entries].astype(np.float64), np.array(self.columns[entries])
        return compressed_rows(starts, columns, values, (len(starts) - 1, self.n_columns))

    def between(self, begin: int, end: int) -> TokenMatrix:
        """Neighbouring rows, without a copy of their entries."""
        starts = self.indptr[begin : end + 1]
        entries = slice(starts[0], starts[-1])
        return TokenMatrix(starts - starts[0], self.columns[entries], self.values[entries], self.n_columns)

    def column_counts(self) -> IntArray:
        """How many tokens have each feature."""
        counts = np.zeros(self.n_columns, np.int64)
        for at in range(0, len(self.columns), _BLOCK):
            # NumPy makes long numbers of those that it counts.
            counts += np.bincount(self.columns[at : at + _BLOCK], minlength=self.n_columns)
        return counts

    def without_rows(self, rows: IntArray) -> TokenMatrix:
        """The same matrix with nothing in the given rows."""
        counts = np.diff(self.indptr)
        kept = np.repeat(~np.isin(np.arange(self.n_tokens), rows), counts)
        counts[rows] = 0
        indptr = offsets_of(counts)
        return TokenMatrix(indptr, self.columns[kept], self.values[kept], self.n_columns)

    def core(self) -> _core.Tokens:
        return _core.Tokens(self.indptr, self.columns, self.values, self.n_columns)

    @property
    def n_tokens(self) -> int:
        return len(self.indptr) - 1

    def row(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and the values of a token."""
        entries = slice(self.indptr[token], self.indptr[token + 1])
        return self.columns[entries].astype(np.int64), self.values[entries].astype(np.float64)

    def row_numbers(self) -> IntArray:
        """The row of every entry."""
        return owners_of(self.indptr)

    def norms(self) -> FloatArray:
        """‖φ(x)‖ of every token."""
        squares = self.values.astype(np.float64) ** 2
        return np.sqrt(np.bincount(self.row_numbers(), weights=squares, minlength=self.n_tokens))

    def totals(self, place: str = "token") -> FloatArray:
        """The sum of every token's features; refuses features below zero."""
        if len(self.values) and self.values.min() < 0:
            token = int(self.row_numbers()[np.argmin(self.values)])
            raise ValueError(
                f"{place} {token} has the feature {self.values.min():g}; iterative scaling needs features ≥ 0"
            )
        values = self.values.astype(np.float64)
        return np.asarray(np.bincount(self.row_numbers(), weights=values, minlength=self.n_tokens), np.float64)


def _from_dense(matrix: Any, intercept: bool) -> tuple[IntArray, npt.NDArray[np.int32], FloatArray]:
    matrix = np.ascontiguousarray(matrix, np.float64)
    indptr = np.empty(len(matrix) + 1, np.int64)
    _core.count_nonzeros(matrix, intercept, indptr)
    columns, values = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    _core.gather_nonzeros(matrix, intercept, indptr, columns, values)
    return indptr, columns, values


def _compact(values: FloatArray) -> npt.NDArray[np.float32 | np.float64]:
    values = np.ascontiguousarray(values)
    short = np.empty(len(values), np.float32)
    return short if _core.shorten(values, short) else values
