"""Kernels of vectors, the rows of dense or sparse matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray
from structlearn.data.input_rows import input_rows, read_inputs
from structlearn.data.options import real_option, whole_option
from structlearn.kernels.base import Kernel, checked_rows
from structlearn.kernels.gram import check_psd
from structlearn.wording import count

#: Below this γ‖x‖², kernels of rows in single precision are good to four digits.
LARGEST_EXPONENT = 100.0
#: Below this k(x, x), sums of kernels stay within single precision.
LARGEST_KERNEL = 1e30
#: Up to so many features, distances are sums of squares, and not differences of norms and products.
FEW_FEATURES = 32


class Linear(Kernel):
    """k(x, z) = ⟨x, z⟩, or xᵀAz.

    Parameters
    ----------
    A : (d, d) array, optional
        Symmetric, with eigenvalues ≥ 0.
    """

    def __init__(self, A: npt.ArrayLike | None = None):
        self.A = A

    def check_options(self) -> None:
        if self.A is not None:
            check_psd(self.A, name="A")

    def read(self, X: Any, name: str) -> Any:
        X = checked_rows(X, name)
        if self.A is not None and X.shape[1] != np.shape(self.A)[0]:
            raise ValueError(f"{name} has {count(X.shape[1], 'column')} but A has shape {np.shape(self.A)}")
        return X

    def values(self, X: Any, Z: Any) -> FloatArray:
        return inner_products(X if self.A is None else X @ np.asarray(self.A, np.float64), Z)

    def in_single(self, X: Any) -> Any:
        return X.astype(np.float32) if self.A is None and squared_norms(X).max() < LARGEST_KERNEL else X

    def diagonal_values(self, X: Any) -> FloatArray:
        if self.A is None:
            return squared_norms(X)
        moved = X @ np.asarray(self.A, np.float64)
        return np.asarray((X * moved).sum(axis=1)).ravel()

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        slope = np.asarray(X.T @ coefficients)
        return slope if self.A is None else np.asarray(np.asarray(self.A, np.float64) @ slope)


class Polynomial(Kernel):
    """k(x, z) = (s⟨x, z⟩ + c)ᵖ.

    Parameters
    ----------
    degree : int
        p ≥ 1.
    scale : float
        s > 0.
    constant : float
        c ≥ 0; if it is 0, only products of exactly p features count.
    """

    def __init__(self, degree: int = 2, scale: float = 1.0, constant: float = 1.0):
        self.degree = degree
        self.scale = scale
        self.constant = constant

    def check_options(self) -> None:
        whole_option("degree", self.degree, 1)
        real_option("scale", self.scale, positive=True)
        real_option("constant", self.constant)

    def values(self, X: Any, Z: Any) -> FloatArray:
        return self._of(inner_products(X, Z))

    def in_single(self, X: Any) -> Any:
        return X.astype(np.float32) if self.diagonal_values(X).max() < LARGEST_KERNEL else X

    def diagonal_values(self, X: Any) -> FloatArray:
        return self._of(squared_norms(X))

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        inner = (self.scale * inner_products(X, z)[:, 0] + self.constant) ** (self.degree - 1)
        return np.asarray(X.T @ (coefficients * (self.degree * self.scale) * inner))

    def _of(self, products: FloatArray) -> FloatArray:
        return np.asarray((self.scale * products + self.constant) ** self.degree)


class RBF(Kernel):
    """k(x, z) = exp(−γ‖x − z‖²), the Gaussian kernel.

    Parameters
    ----------
    gamma : float
        γ > 0; `median_gamma` proposes one.
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def check_options(self) -> None:
        real_option("gamma", self.gamma, positive=True)

    def values(self, X: Any, Z: Any) -> FloatArray:
        gamma = float(self.gamma)  # a scalar of NumPy would make doubles of single precision
        if _has_few_features(X) and _has_few_features(Z):
            found = np.empty((len(X), len(Z)), X.dtype)
            _core.gaussian_matrix(np.ascontiguousarray(X), np.ascontiguousarray(Z), gamma, found.reshape(-1))
            return found
        found = np.ascontiguousarray(inner_products(X, Z))
        _core.gaussians(found.reshape(-1), gamma * squared_norms(X), gamma * squared_norms(Z), gamma)
        if Z is X:
            np.fill_diagonal(found, 1.0)
        return found

    def sums(self, X: Any, Z: Any, coefficients: FloatArray) -> FloatArray:
        if not (_has_few_features(X) and _has_few_features(Z)):
            return super().sums(X, Z, coefficients)
        total = np.zeros(len(X))
        _core.add_gaussians(np.ascontiguousarray(X), np.ascontiguousarray(Z), coefficients, float(self.gamma), total)
        return total

    def has_quick_sums(self, X: Any) -> bool:
        return _has_few_features(X)

    def in_single(self, X: Any) -> Any:
        # Distances are differences of norms: where these are large, single precision would leave little of them.
        largest = min(LARGEST_EXPONENT / self.gamma, LARGEST_KERNEL)
        return X.astype(np.float32) if squared_norms(X).max() < largest else X

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.ones(X.shape[0])

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        pull = 2.0 * self.gamma * coefficients * self.values(X, z)[:, 0]
        return np.asarray(X.T @ pull - pull.sum() * np.asarray(z).ravel())


class Laplacian(Kernel):
    """k(x, z) = exp(−γ‖x − z‖₁).

    Parameters
    ----------
    gamma : float
        γ > 0.
    """

    def __init__(self, gamma: float = 1.0):
        self.gamma = gamma

    def check_options(self) -> None:
        real_option("gamma", self.gamma, positive=True)

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.exp(-self.gamma * city_block_distances(X, Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.ones(X.shape[0])


class HistogramIntersection(Kernel):
    """k(x, z) = Σ_j min(x_j, z_j) of features ≥ 0, such as counts."""

    def read(self, X: Any, name: str) -> Any:
        X = checked_rows(X, name)
        if X.min() < 0:
            i, j = (int(places[0]) for places in (X < 0).nonzero())
            raise ValueError(f"{name}[{i}, {j}] is {X[i, j]:g}; histograms hold numbers ≥ 0")
        return X

    def values(self, X: Any, Z: Any) -> FloatArray:
        # min(x, z) = (x + z − |x − z|) / 2, and sums of differences are there for sparse matrices as well.
        sums = self.diagonal_values(X)[:, None] + self.diagonal_values(Z)
        return np.asarray(0.5 * (sums - city_block_distances(X, Z)))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(X.sum(axis=1), np.float64).ravel()


def _has_few_features(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.shape[1] <= FEW_FEATURES


def inner_products(X: Any, Z: Any) -> FloatArray:
    """⟨x_i, z_j⟩ of dense or sparse rows, in their precision."""
    found = X @ Z.T
    return np.asarray(found.toarray() if sp.issparse(found) else found)


def squared_norms(X: Any) -> FloatArray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def squared_distances(X: Any, Z: Any) -> FloatArray:
    """‖x_i − z_j‖² of dense or sparse rows; exactly 0 of a row and itself where X is Z."""
    found = inner_products(X, Z)
    found *= -2.0
    found += squared_norms(X)[:, None]
    found += squared_norms(Z)
    np.maximum(found, 0.0, out=found)
    if Z is X:
        np.fill_diagonal(found, 0.0)
    return found


def city_block_distances(X: Any, Z: Any) -> FloatArray:
    """Σ_j |x_j − z_j| of dense or sparse rows."""
    from sklearn.metrics.pairwise import manhattan_distances

    return np.asarray(manhattan_distances(short_indices(X), short_indices(Z)), np.float64)


def short_indices(X: Any) -> Any:
    """Rows with indices of 32 bits, where they are sparse: compiled loops of scikit-learn take no others."""
    if not sp.issparse(X):
        return X
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def median_gamma(X: Any, *, norm: int = 2, max_rows: int = 1000, random_state: int = 0) -> float:
    """γ = 1 / median ‖x − z‖² of different rows, so that the median of exp(−γ‖x − z‖²) is 1/e.

    Parameters
    ----------
    X : (n, d) array or sparse matrix, or sequences, networks, images or pairs of sequences
        A row an example; or a row a token, a node, a pixel, a letter.
    norm : {1, 2}
        1 takes ‖x − z‖₁, for `Laplacian`.
    max_rows : int
        Of more, as many are drawn.
    random_state : int
        The seed of the draw.

    Examples
    --------
    >>> median_gamma([[0.0], [1.0], [3.0]])
    0.25
    """
    whole_option("max_rows", max_rows, 2)
    inputs = read_inputs(X)
    X = checked_rows(X if inputs is None else input_rows(inputs), "X")
    median = median_distance(X, norm, max_rows, random_state)
    if median is None:
        few = "X has 1 sample" if X.shape[0] == 1 else f"all of the {count(X.shape[0], 'row')} of X are the same"
        raise ValueError(f"{few}, and no median distance")
    return 1.0 / median


def median_distance(X: Any, norm: int, max_rows: int = 1000, random_state: int = 0) -> float | None:
    """The median of ‖x − z‖₁ or ‖x − z‖² of different rows; None where all are the same."""
    if X.shape[0] > max_rows:
        X = X[np.sort(np.random.default_rng(random_state).choice(X.shape[0], max_rows, replace=False))]
    distances = (city_block_distances if norm == 1 else squared_distances)(X, X)[np.triu_indices(X.shape[0], 1)]
    # Rounding leaves a little between rows that are the same.
    apart = distances[distances > 1e-12 * squared_norms(X).max() ** (norm / 2)]
    return float(np.median(apart)) if len(apart) else None
