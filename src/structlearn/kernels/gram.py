"""Gram matrices K, with K_ij = k(x_i, x_j): whether they are ones, their factors, and coordinates from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.data.options import real_option, whole_option
from structlearn.kernels.base import Kernel, check_fits, length, taken
from structlearn.wording import count

#: What is smaller than this share of the largest number of a matrix may be rounding.
ROUNDING = 1e-8
#: How many examples tell a kernel from what is none, and from another.
PROBED = 100
#: Pivots of Cholesky factors below this share of the largest one are left out: coordinates would be mostly rounding.
SMALLEST_PIVOT = 1e-10


class IncompleteCholesky(NamedTuple):
    """K ≈ GGᵀ from some columns of K.

    Attributes
    ----------
    pivots : (r,) int array
        The examples whose columns were taken, the most needed first.
    factor : (n, r) array
        G.
    residual : (n,) array
        The diagonal of K − GGᵀ, which has no eigenvalue below 0: its sum is the trace norm of the error, and bounds
        every other norm of it.
    """

    pivots: IntArray
    factor: FloatArray
    residual: FloatArray


def cholesky_coordinates(factor: FloatArray, kernels: FloatArray) -> FloatArray:
    """z(x) = L⁻¹k(b, x) of examples x, in rows, from their kernels with a basis b, (n, r), and K_bb = LLᵀ.

    ⟨z(x), z(x')⟩ is the inner product of φ(x) and φ(x') after projection onto the span of the basis.

    >>> cholesky_coordinates(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([[2.0, 4.0]]))
    array([[1., 1.]])
    """
    from scipy.linalg import solve_triangular

    return np.asarray(solve_triangular(factor, kernels.T, lower=True, check_finite=False).T)


def check_psd(K: npt.ArrayLike, *, name: str = "K", tolerance: float = ROUNDING) -> float:
    """Refuses a matrix that is not positive semidefinite, and so belongs to no kernel.

    Parameters
    ----------
    K : (n, n) array
    name : str
        What messages call it.
    tolerance : float
        An eigenvalue may be as far below 0 as this share of the largest one.

    Returns
    -------
    float
        The smallest eigenvalue.

    Examples
    --------
    >>> check_psd([[2.0, 0.0], [0.0, 1.0]])
    1.0
    >>> check_psd([[1.0, 2.0], [2.0, 1.0]])
    Traceback (most recent call last):
    ...
    ValueError: K is not positive semidefinite: its eigenvalues go from -1 to 3; take another kernel, or add 1 to ...
    """
    real_option("tolerance", tolerance)
    values = np.linalg.eigvalsh(_symmetric(K, name))
    _refuse_negative(values, name, tolerance, f"take another kernel, or add {-values[0]:.3g} to its diagonal")
    return float(values[0])


def check_kernel(kernel: Kernel, X: Any, name: str = "X") -> None:
    """`check_psd` on a hundred of the examples: what is no kernel, training may notice late, or not at all.

    X are examples that were read, which messages call by a name.
    """
    which = np.unique(np.linspace(0, length(X) - 1, PROBED).astype(np.int64))
    some = taken(X, which)

    def entry(i: int, j: int) -> str:
        return f"the kernel of {name}[{which[i]}] and {name}[{which[j]}]"

    K = kernel.checked_values(some, some, entry)
    _check_symmetry(K, entry)
    check_psd(K, name=f"the kernel matrix of {count(len(which), 'example')} of {name}")


def refuse_indefinite(K: FloatArray, name: str) -> None:
    """`check_psd` for the price of a Cholesky factor, and a copy, where a matrix passes."""
    limit = ROUNDING * np.abs(np.diagonal(K)).max(initial=0.0)
    raised = K.copy()
    raised.flat[:: len(K) + 1] += max(limit, np.finfo(np.float64).tiny)
    suspect = any((np.abs(row - column) > limit).any() for row, column in zip(K, K.T, strict=True))
    try:
        np.linalg.cholesky(raised)
    except np.linalg.LinAlgError:
        suspect = True
    if suspect:
        check_psd(K, name=name)


def mercer_map(K: npt.ArrayLike, n_components: int | None = None) -> FloatArray:
    """The empirical Mercer map: Φ with ΦΦᵀ = K, so that row i has the place of φ(x_i) in the span of all of them.

    Parameters
    ----------
    K : (n, n) array
        Positive semidefinite.
    n_components : int, optional
        How many columns to keep at most, those of the largest eigenvalues; None is all that are more than rounding.

    Returns
    -------
    (n, r) array
        √λ_c u_c of the eigenvectors u_c, in columns, by decreasing eigenvalues λ_c.

    Examples
    --------
    >>> mercer_map([[4.0, 0.0], [0.0, 9.0]]).round(12) ** 2
    array([[0., 4.],
           [9., 0.]])
    """
    K = _symmetric(K, "K")
    if n_components is not None:
        whole_option("n_components", n_components, 1)
    values, vectors = np.linalg.eigh(K)
    _refuse_negative(values, "K", ROUNDING, f"take another kernel, or add {-values[0]:.3g} to its diagonal")
    kept = np.flatnonzero(values > len(K) * np.finfo(np.float64).eps * max(values[-1], 0.0))[::-1][:n_components]
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def pivoted_cholesky(K: npt.ArrayLike, *, name: str = "K") -> tuple[IntArray, FloatArray]:
    """Examples that are independent, and the factor of their matrix: K[kept][:, kept] = LLᵀ.

    The remedy for singular matrices, as those of examples that are there twice: what the kept ones span, others, up to
    rounding, lie in, and are left out.

    Parameters
    ----------
    K : (n, n) array
        Positive semidefinite.
    name : str
        What messages call it.

    Returns
    -------
    kept : (r,) int array
    L : (r, r) array
        Lower triangular.

    Examples
    --------
    >>> kept, L = pivoted_cholesky([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 4.0]])
    >>> kept.tolist(), L.tolist()
    ([2, 1], [[2.0, 0.0], [0.0, 1.0]])
    """
    from scipy.linalg.lapack import dpstrf

    K = _symmetric(K, name)
    largest = float(K.diagonal().max(initial=0.0))
    factor, order, rank, _ = dpstrf(K, tol=SMALLEST_PIVOT * largest, lower=1)
    rank = int(rank) if largest > 0 else 0
    order = np.asarray(order, np.int64) - 1
    lower = np.tril(factor[:, :rank])
    rest = K[np.ix_(order[rank:], order[rank:])] - lower[rank:] @ lower[rank:].T
    if np.abs(rest).max(initial=0.0) > ROUNDING * max(largest, np.abs(K).max(initial=0.0)):
        # Whose matrix it is inside a transformer, nobody could add to its diagonal there.
        _refuse_negative(np.linalg.eigvalsh(K), name, ROUNDING, "take another kernel")
    return order[:rank], np.ascontiguousarray(lower[:rank])


def incomplete_cholesky(
    kernel: Kernel, X: Any, n_components: int, *, tolerance: float = SMALLEST_PIVOT
) -> IncompleteCholesky:
    """K ≈ GGᵀ from few columns of K, each that of the example that those before explain least.

    Parameters
    ----------
    kernel : Kernel
    X : examples
        n of them.
    n_components : int
        How many columns to take at most.
    tolerance : float
        Ends when no example has more than this share of the largest k(x, x) left.

    Examples
    --------
    >>> from structlearn.kernels import Linear
    >>> found = incomplete_cholesky(Linear(), [[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]], 2)
    >>> found.pivots.tolist(), found.residual.tolist()
    ([1, 2], [0.0, 0.0, 0.0])
    """
    whole_option("n_components", n_components, 1)
    real_option("tolerance", tolerance)
    residual = kernel.diagonal(X)
    X = kernel.read(X, "X")
    n, largest = length(X), float(residual.max())
    if residual.min() < -ROUNDING * abs(largest):
        i = int(residual.argmin())
        raise ValueError(
            f"the kernel is not positive semidefinite: that of X[{i}] with itself is {residual[i]:.3g}; take another "
            "kernel"
        )
    size = min(n_components, n)
    check_fits(n, size)
    factor, pivots = np.zeros((n, size), order="F"), np.empty(size, np.int64)
    column_of = kernel.columns(X)
    for rank in range(size):
        p = int(residual.argmax())
        if residual[p] <= tolerance * largest:
            factor, pivots = factor[:, :rank], pivots[:rank]
            break
        column = column_of(p) - factor[:, :rank] @ factor[p, :rank]
        factor[:, rank] = column / np.sqrt(residual[p])
        residual -= factor[:, rank] ** 2
        pivots[rank], residual[p] = p, 0.0
        if residual.min() < -ROUNDING * largest:
            i = int(residual.argmin())
            raise ValueError(
                f"the kernel is not positive semidefinite: after {rank + 1} columns, X[{i}] has {residual[i]:.3g} left "
                "of its kernel with itself; take another kernel"
            )
    return IncompleteCholesky(pivots, factor, np.maximum(residual, 0.0))


def _symmetric(K: Any, name: str) -> FloatArray:
    """A square symmetric matrix of finite numbers."""
    K = np.asarray(checked_numbers(K, name), np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not K.size:
        raise ValueError(f"{name} has shape {K.shape}; expected a square matrix")
    check_finite(K, lambda i, j: f"{name}[{i}, {j}]")
    _check_symmetry(K, lambda i, j: f"{name}[{i}, {j}]")
    return np.asarray(0.5 * (K + K.T))


def _check_symmetry(K: FloatArray, entry: Callable[[int, int], str]) -> None:
    apart = np.abs(K - K.T)
    if apart.max() > ROUNDING * np.abs(K).max():
        i, j = (int(k) for k in np.unravel_index(int(apart.argmax()), K.shape))
        raise ValueError(f"{entry(i, j)} is {K[i, j]:g} but {entry(j, i)} is {K[j, i]:g}; a kernel is symmetric")


def _refuse_negative(values: npt.NDArray[Any], name: str, tolerance: float, remedy: str) -> None:
    if values[0] < -tolerance * np.abs(values).max():
        raise ValueError(
            f"{name} is not positive semidefinite: its eigenvalues go from {values[0]:.3g} to {values[-1]:.3g}; "
            + remedy
        )
