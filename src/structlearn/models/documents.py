"""Queries with their documents: feature vectors to be ranked or labelled together, and how relevant they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.models.base import Spec
from structlearn.models.sequences import feature_names, named_columns, stack, token_width
from structlearn.problem import FloatArray, IntArray, LabelArray, SparseRows, digest


@dataclass(frozen=True)
class DocumentSpec(Spec):
    """What documents look like.

    Attributes
    ----------
    n_inputs : int
        Features of a document, which are all the weights there are.
    vocabulary : tuple of str or None
        Their names in column order, where they came as dicts.
    """

    n_inputs: int
    vocabulary: tuple[str, ...] | None = None

    @classmethod
    def of(cls, X: Any) -> Self:
        names = feature_names(X)
        return cls(token_width(X) if names is None else len(names), names)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        names = values["vocabulary"]
        return cls(values["n_inputs"], None if names is None else tuple(names))


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of all queries as one matrix, dense or sparse, with a row a document."""

    matrix: Any
    offsets: IntArray

    @classmethod
    def read(cls, X: Any, vocabulary: Sequence[str] | None, n_inputs: int, *, intercept: bool = False) -> Documents:
        matrix, offsets = stack(X, named_columns(vocabulary), n_inputs)
        if not sp.issparse(matrix):
            matrix = np.ascontiguousarray(matrix, np.float64)
        if intercept:
            ones = np.ones((matrix.shape[0], 1))
            matrix = sp.csr_array(sp.hstack([matrix, ones])) if sp.issparse(matrix) else np.hstack([matrix, ones])
        return cls(matrix, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, examples: IntArray) -> tuple[IntArray, IntArray]:
        """The rows of some queries' documents, one query after another, and where each query begins among them."""
        counts = np.diff(self.offsets)[examples]
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return np.arange(offsets[-1]) + np.repeat(self.offsets[examples] - offsets[:-1], counts), offsets

    def scores(self, w: FloatArray, rows: IntArray) -> FloatArray:
        """⟨w, x⟩ of some documents."""
        chosen = self.matrix if len(rows) == self.matrix.shape[0] and _is_range(rows) else self.matrix[rows]
        return np.asarray(chosen @ w, np.float64)

    def sums(self, coefficients: FloatArray, rows: IntArray, offsets: IntArray) -> SparseRows:
        """Σ_j c_j x_j over the documents of each query."""
        if sp.issparse(self.matrix):
            shape = (len(offsets) - 1, self.matrix.shape[0])
            return SparseRows.from_matrix(sp.csr_array((coefficients, rows, offsets), shape) @ self.matrix)
        sums = np.add.reduceat(coefficients[:, None] * self.matrix[rows], offsets[:-1])
        places = np.nonzero(sums)
        counts = np.bincount(places[0], minlength=len(sums))
        return SparseRows(np.concatenate([[0], np.cumsum(counts)]), places[1], sums[places])

    def norms(self) -> FloatArray:
        """‖x‖ of every document."""
        if sp.issparse(self.matrix):
            return np.asarray(sp.linalg.norm(self.matrix, axis=1))
        return np.asarray(np.linalg.norm(self.matrix, axis=1))

    def radii(self) -> FloatArray:
        """How far two weighted means of a query's documents can lie apart, at most."""
        return 2.0 * np.maximum.reduceat(self.norms(), self.offsets[:-1])

    def digest(self, *others: npt.NDArray[Any]) -> str:
        matrix = self.matrix
        parts = (matrix.data, matrix.indices, matrix.indptr) if sp.issparse(matrix) else (matrix,)
        return digest(*parts, self.offsets, *others)


def relevances(Y: Any, offsets: IntArray) -> FloatArray:
    """The relevance of every document as one array; names the first that is none."""
    if len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} queries but Y has {len(Y)}")
    flat = np.empty(int(offsets[-1]))
    for q, (y, (begin, end)) in enumerate(zip(Y, pairwise(offsets), strict=True)):
        try:
            values = np.asarray(y, np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"Y[{q}] is {y!r}; expected a number for each document, its relevance") from None
        if values.ndim != 1:
            raise ValueError(f"Y[{q}] has {values.ndim} dimensions; expected a number for each document")
        if len(values) != end - begin:
            raise ValueError(f"Y[{q}] has {len(values)} labels but X[{q}] has {end - begin} documents")
        if not np.isfinite(values).all():
            j = int(np.argmin(np.isfinite(values)))
            raise ValueError(f"Y[{q}][{j}] is {values[j]}")
        flat[begin:end] = values
    return flat


def grades_of(values: FloatArray, offsets: IntArray) -> LabelArray:
    """Values as 0, 1, … within each query, equal where they are equal.

    >>> grades_of(np.array([5.0, 0.0, 5.0, 2.0, 9.0]), np.array([0, 3, 5]))
    array([1, 0, 1, 0, 1], dtype=int32)
    """
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((values, query))
    steps = np.zeros(len(values), np.int32)
    steps[1:] = np.diff(values[order]) > 0
    steps[offsets[:-1]] = 0
    upto = np.cumsum(steps, dtype=np.int32)
    grades = np.empty(len(values), np.int32)
    grades[order] = upto - np.repeat(upto[offsets[:-1]], np.diff(offsets))
    return grades


def ranked(keys: FloatArray, offsets: IntArray, n_threads: int, tiers: LabelArray | None = None) -> LabelArray:
    """The documents of each query, counted from 0, by falling tier and key; equal ones keep their order."""
    order = np.empty(len(keys), np.int32)
    _core.rank(tiers, np.ascontiguousarray(keys), offsets, order, n_threads)
    return order


def parted(flat: npt.NDArray[Any], offsets: IntArray) -> list[npt.NDArray[Any]]:
    """What belongs to each query."""
    return [flat[begin:end] for begin, end in pairwise(offsets)]


def warn_of_empty(max_losses: FloatArray, why: str) -> None:
    """Tells how many queries cannot be ranked wrongly; refuses data of nothing else."""
    n = int(np.sum(max_losses <= 0))
    if n == len(max_losses):
        raise ValueError(f"nothing can be learnt: in {f'all {n} queries' if n > 1 else 'the only query'} {why}")
    if n:
        first = int(np.argmax(max_losses <= 0))
        warnings.warn(
            f"{n} of {len(max_losses)} queries {'teaches' if n == 1 else 'teach'} nothing, "
            f"{'' if n == 1 else 'the first of them '}X[{first}]: {why}",
            UserWarning,
            stacklevel=5,
        )


def _is_range(rows: IntArray) -> bool:
    return bool(rows[0] == 0 and (np.diff(rows) == 1).all())
