"""Kernels that others have computed or written: matrices, functions, and scikit-learn's by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.data.options import choice_option
from structlearn.kernels.base import Kernel, checked_rows, length
from structlearn.kernels.strings import GapWeighted, Mismatch, Spectrum
from structlearn.kernels.vectors import RBF, HistogramIntersection, Laplacian, Linear, Polynomial, median_distance
from structlearn.wording import shown

#: scikit-learn's kernels of vectors that have no class here.
SCIKIT_LEARNS = ("additive_chi2", "chi2", "cosine", "sigmoid")
#: What kernels are called on the way from options, by names that are scikit-learn's where it has them.
NAMES: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "poly": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "histogram_intersection": HistogramIntersection,
    "spectrum": Spectrum,
    "mismatch": Mismatch,
    "gap_weighted": GapWeighted,
}


class Precomputed(Kernel):
    """k(i, j) = K_ij of a matrix that is there: examples are numbers of its rows.

    Parameters
    ----------
    matrix : (n, n) array
        K; `check_psd` tells whether it is one of a kernel.

    Examples
    --------
    >>> Precomputed([[1.0, 0.5], [0.5, 2.0]])([0, 1], [1])
    array([[0.5],
           [2. ]])
    """

    def __init__(self, matrix: npt.ArrayLike):
        self.matrix = matrix

    def check_options(self) -> None:
        matrix = checked_numbers(self.matrix, "matrix")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"matrix has shape {matrix.shape}; expected a square one")
        check_finite(matrix, lambda i, j: f"matrix[{i}, {j}]")

    def read(self, X: Any, name: str) -> FloatArray:
        numbers = checked_numbers(X, name)
        rows: FloatArray = checked_rows(numbers[:, None] if numbers.ndim == 1 else numbers, name)
        n = len(np.asarray(self.matrix))
        bad = np.flatnonzero((rows[:, 0] % 1 != 0) | (rows[:, 0] < 0) | (rows[:, 0] >= n))
        if rows.shape[1] != 1:
            raise ValueError(f"{name} has {rows.shape[1]} columns; expected one, the numbers of rows of the matrix")
        if len(bad):
            raise ValueError(f"{name}[{bad[0]}] is {rows[bad[0], 0]:g}; the matrix has the rows 0 to {n - 1}")
        return rows

    def values(self, X: FloatArray, Z: FloatArray) -> FloatArray:
        return np.asarray(np.asarray(self.matrix, np.float64)[np.ix_(_numbers(X), _numbers(Z))])

    def diagonal_values(self, X: FloatArray) -> FloatArray:
        return np.asarray(np.asarray(self.matrix, np.float64)[_numbers(X), _numbers(X)])


class FunctionKernel(Kernel):
    """k(x, z) by a function of yours.

    Parameters
    ----------
    function : callable
        Of n and m examples; gives the (n, m) matrix of their kernels.
    rows : bool
        Whether examples are rows of matrices; if not, they are lists of anything, which only the function looks at.

    Examples
    --------
    >>> import numpy as np
    >>> FunctionKernel(lambda X, Z: np.minimum.outer(X[:, 0], Z[:, 0]))([[1.0], [3.0]])
    array([[1., 1.],
           [1., 3.]])
    """

    def __init__(self, function: Callable[[Any, Any], Any], rows: bool = True):
        self.function = function
        self.rows = rows

    @property
    def of_rows(self) -> bool:
        return bool(self.rows)

    def check_options(self) -> None:
        if not callable(self.function):
            raise ValueError(f"function is {shown(self.function)}; expected a function of two lists of examples")

    def read(self, X: Any, name: str) -> Any:
        if self.rows:
            return checked_rows(X, name)
        check_examples(name, X)
        if not length(X):
            raise ValueError(f"{name} is empty; at least one example is needed")
        return X

    def values(self, X: Any, Z: Any) -> FloatArray:
        # A copy: who gets kernels may write into them, and the function may have kept its array.
        return np.array(checked_numbers(self.function(X, Z), "what the function gave"), np.float64)


class PairwiseKernel(Kernel):
    """A kernel of `sklearn.metrics.pairwise` by its name there.

    Parameters
    ----------
    name : str
        "additive_chi2", "chi2", "cosine" or "sigmoid"; the first and the last are not positive semidefinite.
    options : dict, optional
        Such as ``{"gamma": 0.5}``.

    Examples
    --------
    >>> PairwiseKernel("cosine")([[1.0, 0.0], [3.0, 4.0]]).round(2)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """

    def __init__(self, name: str, options: Mapping[str, Any] | None = None):
        self.name = name
        self.options = options

    def check_options(self) -> None:
        choice_option("name", self.name, SCIKIT_LEARNS)

    def values(self, X: Any, Z: Any) -> FloatArray:
        from sklearn.metrics.pairwise import pairwise_kernels

        return np.asarray(pairwise_kernels(X, Z, metric=self.name, **(self.options or {})), np.float64)


def kernel_option(kernel: Any, **options: Any) -> Kernel:
    """The kernel that an option stands for: a kernel, the name of one with its options, or a function.

    >>> kernel_option("rbf", gamma=0.5), kernel_option("cosine")
    (RBF(gamma=0.5), PairwiseKernel(name='cosine'))
    """
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise ValueError(f"kernel is the class {kernel.__name__}; give an object, {kernel.__name__}()")
    if isinstance(kernel, Kernel) and not options:
        found = kernel
    elif callable(kernel) and not options:
        found = FunctionKernel(kernel)
    else:
        choice_option("kernel", kernel, (*NAMES, *SCIKIT_LEARNS))
        found = NAMES[kernel](**options) if kernel in NAMES else PairwiseKernel(kernel, options or None)
    found.check_options()
    return found


def kernel_for(kernel: Any, rows: Any) -> Kernel:
    """The kernel that an option stands for on rows: "rbf" and "laplacian" have the γ that `median_gamma` proposes.

    It is a copy: what was learnt with a kernel stays as it is when an option is set anew.

    >>> kernel_for("rbf", [[0.0], [1.0], [3.0]]), kernel_for("linear", [[0.0]])
    (RBF(gamma=0.25), Linear())
    """
    if isinstance(kernel, str) and kernel in ("rbf", "laplacian"):
        median = median_distance(checked_rows(rows, "X"), norm=2 if kernel == "rbf" else 1)
        # Rows that are all the same are alike with any γ.
        return kernel_option(kernel, gamma=1.0 if median is None else 1.0 / median)
    return _copied(kernel_option(kernel))


def _copied(kernel: Kernel) -> Kernel:
    """The same options in other objects; matrices and functions among them are shared."""
    found = copy(kernel)
    vars(found).update({name: _copied(part) for name, part in vars(kernel).items() if isinstance(part, Kernel)})
    return found


def _numbers(X: FloatArray) -> IntArray:
    return X[:, 0].astype(np.int64)
