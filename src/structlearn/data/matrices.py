"""Matrices as users give them: dense ones must hold real numbers, sparse ones indices that lie within them.

SciPy takes the arrays of a sparse matrix as they are, and its kernels and ours follow them without a look.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import IntArray
from structlearn.data.ragged import offsets_of
from structlearn.wording import shown

#: The squares of a hundred million such features add up to a number.
LARGEST_FEATURE = 1e150


def checked_matrix(given: Any, where: str) -> Any:
    """Numbers in an array, or a sparse matrix in rows; `where` names it in messages.

    >>> checked_matrix([[1, 2]], "X[0]")
    array([[1, 2]])
    """
    return checked_sparse(given, where) if sp.issparse(given) else checked_numbers(given, where)


def checked_table(X: Any) -> Any:
    """X with a row an example, on the way to scikit-learn's `check_array`: refuses what passes there and should not."""
    if sp.issparse(X):
        return checked_sparse(X, "X")
    if isinstance(X, np.ma.MaskedArray) or (isinstance(X, np.ndarray) and X.dtype.kind in "USmMV"):
        return checked_numbers(X, "X")
    if isinstance(X, (list, tuple)):
        return np.empty((0, 0)) if not len(X) else checked_numbers(X, "X")
    return X


def checked_numbers(given: Any, where: str) -> npt.NDArray[Any]:
    """Real numbers in an array of any shape: whole ones, flags, or floating point of at most 64 bits."""
    if isinstance(given, np.ma.MaskedArray):
        raise ValueError(f"{where} is a masked array; fill it, or leave masked rows out")
    try:
        array = np.asarray(given)
        if array.dtype.kind == "O" and not any(isinstance(value, (str, bytes)) for value in array.flat):
            array = array.astype(np.float64)
    except (TypeError, ValueError, OverflowError, RecursionError):
        fault = _fault(given, where) or f"it is {shown(given)}"
        raise ValueError(f"{where} is not a matrix of numbers: {fault}") from None
    _check_real(array, where)
    if array.dtype.kind == "f" and array.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            array = array.astype(np.float64)
    return array


def checked_sparse(given: Any, where: str) -> sp.csr_array:
    """A sparse matrix of any format, in rows; refuses indices that lead out of it."""
    if given.ndim != 2:
        raise ValueError(f"{where} has {given.ndim} dimensions; expected a matrix")
    if given.format == "lil":
        given = given.tocsr()
    elif given.format in ("dok", "dia"):
        given = given.tocoo()
    _check_real(given.data, where)
    if given.format == "coo":
        rows, columns = given.coords
        if not len(given.data) == len(rows) == len(columns):
            raise _broken(where, f"{len(given.data)} values but {len(rows)} rows and {len(columns)} columns")
        _check_indices(rows, given.shape[0], "row", where)
        _check_indices(columns, given.shape[1], "column", where)
        return sp.csr_array(given)
    _check_compressed(given, where)
    matrix = sp.csr_array(given)
    matrix.prune()
    return matrix


def stacked_csr(matrices: Sequence[Any]) -> sp.csr_array | None:
    """CSR matrices below one another; None if there are none, or if one is broken or not as wide as the first.

    >>> stacked_csr([sp.eye_array(2, format="csr"), sp.eye_array(1, 2, format="csr")]).toarray()
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    if len({matrix.shape[1] for matrix in matrices}) != 1:
        return None
    starts, indices, values = ([getattr(matrix, name) for matrix in matrices] for name in ("indptr", "indices", "data"))
    if any(array.dtype.kind != "i" or array.ndim != 1 for array in (*starts, *indices)):
        return None
    sizes = [len(array) for array in indices]
    rows = [matrix.shape[0] for matrix in matrices]
    if sizes != [len(array) for array in values] or rows != [len(array) - 1 for array in starts]:
        return None
    if any(array[0] != 0 or array[-1] != size for array, size in zip(starts, sizes, strict=True)):
        return None
    counts = np.concatenate([array[1:] - array[:-1] for array in starts])
    columns, data, width = np.concatenate(indices), np.concatenate(values), matrices[0].shape[1]
    outside = len(columns) and not 0 <= columns.min() <= columns.max() < width
    if outside or counts.min(initial=0) < 0 or data.dtype.kind not in "biuf":
        return None
    return compressed_rows(offsets_of(counts), columns, data, (len(counts), width))


def compressed_rows(
    indptr: IntArray, columns: npt.NDArray[Any], values: npt.NDArray[Any], shape: tuple[int, int]
) -> sp.csr_array:
    """A CSR matrix with row starts as short as the columns, where that is possible: SciPy would make both long."""
    if columns.dtype == np.int32 and len(columns) <= np.iinfo(np.int32).max:
        indptr = indptr.astype(np.int32)
    return sp.csr_array((values, columns, indptr), shape=shape)


def check_finite(matrix: Any, name: Callable[[int, int], str]) -> None:
    """Refuses the first number that is not finite; `name` says where an entry is."""
    values = matrix.data if sp.issparse(matrix) else matrix
    with np.errstate(over="ignore", invalid="ignore"):
        total = np.sum(values, dtype=np.float64)
    if np.isfinite(total) or np.isfinite(values).all():
        return
    where, value = _first(matrix, ~np.isfinite(values), name)
    raise ValueError(f"{where} is {value}")


def check_squares(matrix: Any, name: Callable[[int, int], str]) -> None:
    """Refuses the first number whose square is too large to be added up: such features have no length."""
    values = matrix.data if sp.issparse(matrix) else matrix
    if max(values.max(initial=0.0), -values.min(initial=0.0)) <= LARGEST_FEATURE:
        return
    where, value = _first(matrix, np.abs(values) > LARGEST_FEATURE, name)
    raise ValueError(f"{where} is {value:g}, whose square is too large to train with; scale the features")


def _first(matrix: Any, chosen: npt.NDArray[np.bool_], name: Callable[[int, int], str]) -> tuple[str, Any]:
    """Where the first of the chosen entries is, and its value."""
    k = int(np.argmax(chosen))
    if sp.issparse(matrix):
        row, column = int(np.searchsorted(matrix.indptr, k, side="right")) - 1, int(matrix.indices[k])
        return name(row, column), matrix.data[k]
    row, column = divmod(k, matrix.shape[1])
    return name(row, column), matrix.flat[k]


def _fault(given: Any, where: str, depth: int = 3) -> str:
    """What of nested lists is no number, or not as long as the first of its neighbours; nothing if all is well."""
    lengths = [len(part) if _is_list(part) else None for part in given] if depth and _is_list(given) else []
    for k, length in enumerate(lengths):
        if None in (length, lengths[0]) and not (length == lengths[0] and _is_number(given[k])):
            return f"{where}[{k}] is {shown(given[k])}"
        if length != lengths[0]:
            return f"{where}[{k}] has {length} entries but {where}[0] has {lengths[0]}"
    parts = enumerate(given) if lengths and lengths[0] is not None else ()
    return next(filter(None, (_fault(part, f"{where}[{k}]", depth - 1) for k, part in parts)), "")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray)) and getattr(value, "shape", None) != ()


def _is_number(value: Any) -> bool:
    try:
        return isinstance(value, numbers.Real) and bool(float(value) or True)
    except OverflowError:
        return False


def _check_compressed(matrix: Any, where: str) -> None:
    """CSR, CSC and BSR, which have the same three arrays over rows, columns or rows of blocks."""
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    lines, across = matrix.shape[0] // block[0], matrix.shape[1] // block[1]
    names = ("row", "column")
    if matrix.format == "csc":
        lines, across, names = across, lines, ("column", "row")
    indptr, indices = matrix.indptr, matrix.indices
    if indptr.dtype.kind not in "iu" or indptr.shape != (lines + 1,):
        raise _broken(where, f"indptr must be {lines + 1} whole numbers, not {indptr.dtype} of shape {indptr.shape}")
    if len(indices) != len(matrix.data):
        raise _broken(where, f"it has {len(indices)} indices but {len(matrix.data)} values")
    falls = np.flatnonzero(indptr[1:] < indptr[:-1])
    if len(falls):
        k = int(falls[0])
        raise _broken(where, f"indptr falls from {indptr[k]} to {indptr[k + 1]} at {names[0]} {k}")
    if indptr[0] != 0 or indptr[-1] > len(indices):
        raise _broken(where, f"indptr goes from {indptr[0]} to {indptr[-1]}, but it has {len(indices)} entries")
    _check_indices(indices, across, names[1], where)


def _check_indices(indices: npt.NDArray[Any], size: int, name: str, where: str) -> None:
    if indices.dtype.kind not in "iu" or indices.ndim != 1:
        raise _broken(where, f"its {name}s are {indices.dtype} of shape {indices.shape}, not whole numbers")
    if len(indices) and (indices.min() < 0 or indices.max() >= size):
        wrong = indices[(indices < 0) | (indices >= size)][0]
        raise _broken(where, f"it has an entry in {name} {wrong}, but {name}s are numbered 0 to {size - 1}")


def _check_real(values: npt.NDArray[Any], where: str) -> None:
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{where} holds {values.dtype} values; real numbers are expected")


def _broken(where: str, why: str) -> ValueError:
    return ValueError(f"{where} is a broken sparse matrix: {why}")
