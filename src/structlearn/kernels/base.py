"""What a kernel is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np

from structlearn.contract import Parameters
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.matrices import check_finite, checked_matrix
from structlearn.data.memory import available_memory, memory_option
from structlearn.data.options import jobs_option
from structlearn.kernels.threads import in_order
from structlearn.wording import count, in_bytes, shown

#: Bytes of a block of rows, if nobody says.
BLOCK = 2**23


class Kernel(Parameters, ABC):
    """k(x, z) = ⟨φ(x), φ(z)⟩ for some map φ into a space with inner products: symmetric, with eigenvalues ≥ 0.

    A kernel is a function of two lists of examples: ``k(X, Z)`` is the (n, m) matrix of all k(x_i, z_j), and ``k(X)``
    is ``k(X, X)``. Kernels make kernels, for c ≥ 0 and whole p ≥ 1:

    ==========================  ==================================================
    ``k1 + k2``, ``k1 * k2``    k₁(x, z) + k₂(x, z), k₁(x, z) k₂(x, z)
    ``c + k``, ``c * k``        c + k(x, z), c k(x, z)
    ``k ** p``, ``k.exp()``     k(x, z)ᵖ, exp k(x, z)
    ``k.weighted(f)``           f(x) k(x, z) f(z)
    ``k.normalised()``          k(x, z) / √(k(x, x) k(z, z))
    ``k.centred(X)``            ⟨φ(x) − φ̄, φ(z) − φ̄⟩ with the mean φ̄ of φ over X
    ==========================  ==================================================

    Options are arguments of the constructor, kept under their names, so that kernels can be cloned and searched.

    Notes
    -----
    A kernel of one's own is a `FunctionKernel`, or a class with `values` and, where examples are no rows of a matrix,
    `of_rows` and `read`.

    Examples
    --------
    >>> from structlearn.kernels import RBF, Linear
    >>> kernel = 0.5 * RBF(gamma=1.0) + Linear() ** 2
    >>> kernel([[0.0], [1.0]])
    array([[0.5       , 0.18393972],
           [0.18393972, 1.5       ]])
    """

    @property
    def of_rows(self) -> bool | None:
        """Whether examples are the rows of a matrix; None if they may be anything."""
        return True

    def check_options(self) -> None:
        """Refuses options that cannot be; called before any work, and when a model file is read."""

    def read(self, X: Any, name: str) -> Any:
        """Examples in a form that has a length and slices, all checked; `name` is for messages."""
        return checked_rows(X, name)

    @abstractmethod
    def values(self, X: Any, Z: Any) -> FloatArray:
        """k(x_i, z_j) of examples that were read, (n, m)."""

    def in_single(self, X: Any) -> Any:
        """Examples that were read, in single precision where `values` of these are as good as single precision gets."""
        return X

    def sums(self, X: Any, Z: Any, coefficients: FloatArray) -> FloatArray:
        """Σ_j c_j k(x_i, z_j) for every x_i of examples that were read, (n,), without the matrix of all pairs."""
        return np.concatenate([part @ coefficients for _, part in self.blocks(X, Z)])

    def has_quick_sums(self, X: Any) -> bool:
        """Whether `sums` take less time than it takes to keep rows of the matrix."""
        return False

    def columns(self, X: Any) -> Callable[[int], FloatArray]:
        """The function that gives k(x_i, x_p) of all x_i, (n,), by p, of examples that were read.

        What all columns need is computed once.
        """
        return lambda p: self.checked_values(X, X[p : p + 1])[:, 0]

    def diagonal_values(self, X: Any) -> FloatArray:
        """k(x_i, x_i) of examples that were read, (n,)."""

        def own(i: int) -> Any:
            one = X[i : i + 1]
            return self.checked_values(one, one, lambda *_: f"the kernel of X[{i}] and itself")[0, 0]

        return np.array([own(i) for i in range(length(X))])

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        """Σ_i c_i ∇_z k(x_i, z) at one row z, (1, d), of rows that were read; a kernel need not have one."""
        raise ValueError(f"{self} has no gradient")

    @property
    def differentiable(self) -> bool:
        """Whether there is a `gradient`."""
        return type(self).gradient is not Kernel.gradient

    def __call__(self, X: Any, Z: Any = None) -> FloatArray:
        """k(x_i, z_j) of all pairs.

        Parameters
        ----------
        X, Z : (n, d) and (m, d) arrays or sparse matrices, or lists of strings or networks
            What the kernel is about. Without Z it is X.

        Returns
        -------
        (n, m) array
        """
        X, Z = self._both(X, Z)
        check_fits(length(X), length(Z))
        return self.checked_values(X, Z)

    def diagonal(self, X: Any) -> FloatArray:
        """k(x_i, x_i) of all examples, (n,), without the rest of the matrix."""
        self.check_options()
        X = self.read(X, "X")
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.array(self.diagonal_values(X), np.float64)
        check_finite(values[:, None], lambda i, _: f"the kernel of X[{i}] and itself")
        return values

    def blocks(
        self,
        X: Any,
        Z: Any = None,
        *,
        then: Callable[[FloatArray], FloatArray] = np.asarray,
        max_memory: int | str = BLOCK,
        n_jobs: int | None = None,
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Rows of the matrix, some at a time, where all together would not fit into memory.

        Parameters
        ----------
        X, Z
            As for the whole matrix.
        then : callable
            What is wanted of a block, in its place.
        max_memory : int or str
            How many bytes a block may take, as a number or as "64MB"; it has at least one row.
        n_jobs : int, optional
            Threads, each with a block of its own at a time; −1 takes all cores.

        Yields
        ------
        (slice, (rows, m) array)
            The rows, and their kernels or what `then` makes of them.

        Examples
        --------
        >>> from structlearn.kernels import Linear
        >>> sum(part.sum() for _, part in Linear().blocks([[1.0], [2.0], [3.0]], max_memory=48))
        np.float64(36.0)
        """
        X, Z = self._both(X, Z)
        size = memory_option("max_memory", max_memory) or BLOCK
        step = max(1, size // (8 * length(Z)))

        def block(begin: int) -> tuple[slice, FloatArray]:
            rows = slice(begin, min(begin + step, length(X)))
            return rows, then(self.checked_values(X[rows], Z, partial(_of_two, begin, "X" if Z is X else "Z")))

        yield from in_order(block, range(0, length(X), step), jobs_option("n_jobs", n_jobs))

    def _both(self, X: Any, Z: Any) -> tuple[Any, Any]:
        self.check_options()
        if self.of_rows:
            check_rows(self, X)
        X = self.read(X, "X")
        Z = X if Z is None else self.read(Z, "Z")
        if self.of_rows and X.shape[1] != Z.shape[1]:
            raise ValueError(f"Z has {count(Z.shape[1], 'column')} but X has {X.shape[1]}")
        return X, Z

    def checked_values(self, X: Any, Z: Any, name: Callable[[int, int], str] | None = None) -> FloatArray:
        """`values`, refused where they are no numbers; `name` says in messages whose they are."""
        single = getattr(X, "dtype", None) == np.float32
        with np.errstate(over="ignore", invalid="ignore"):
            found: Any = np.require(self.values(X, Z), None if single else np.float64, "W")
        if found.shape != (length(X), length(Z)):
            raise ValueError(
                f"{type(self).__name__} gave an array of shape {found.shape} for {count(length(X), 'example')} "
                f"and {length(Z)}; expected {(length(X), length(Z))}"
            )
        check_finite(found, name or (lambda i, j: f"the kernel of X[{i}] and {'X' if Z is X else 'Z'}[{j}]"))
        return np.asarray(found)

    def __add__(self, other: Any) -> Kernel:
        return _combined("Sum", self, _as_kernel(other))

    def __mul__(self, other: Any) -> Kernel:
        return _combined("Product", self, _as_kernel(other))

    def __radd__(self, other: Any) -> Kernel:
        return _combined("Sum", _as_kernel(other), self)

    def __rmul__(self, other: Any) -> Kernel:
        return _combined("Product", _as_kernel(other), self)

    def __pow__(self, exponent: int) -> Kernel:
        return _combined("Power", self, exponent)

    def exp(self) -> Kernel:
        """exp k(x, z)."""
        return _combined("Exponential", self)

    def weighted(self, weight: Callable[[Any], Any]) -> Kernel:
        """f(x) k(x, z) f(z), where f takes a list of examples and gives a number for each."""
        return _combined("Weighted", self, weight)

    def normalised(self) -> Kernel:
        """k(x, z) / √(k(x, x) k(z, z)), and 0 where one of these is 0."""
        return _combined("Normalised", self)

    def centred(self, X: Any) -> Kernel:
        """⟨φ(x) − φ̄, φ(z) − φ̄⟩ with the mean φ̄ of φ over X."""
        return _combined("Centred", self, X)


def _combined(name: str, *parts: Any) -> Kernel:
    """A kernel of a class in `algebra`, whose classes derive from the one here."""
    from structlearn.kernels import algebra

    made: Kernel = getattr(algebra, name)(*parts)
    return made


def check_rows(kernel: Kernel, X: Any) -> None:
    """Refuses texts where the kernel takes rows of numbers, by the first of them."""
    first = X[0] if isinstance(X, (list, tuple, np.ndarray)) and len(X) else None
    inner = first[0] if isinstance(first, (list, tuple)) and len(first) else first
    if isinstance(inner, str):
        raise ValueError(
            f"X[0] is {shown(first)}, but {type(kernel).__name__} takes rows of numbers: for texts take Spectrum or "
            "another kernel of strings, or FunctionKernel(f, rows=False)"
        )


def checked_rows(X: Any, name: str) -> Any:
    """A matrix of finite numbers with at least one row, dense or sparse."""
    X = checked_matrix(X, name)
    if X.ndim != 2:
        raise ValueError(f"{name} has {count(X.ndim, 'dimension')}; expected a matrix with a row an example")
    if not prod(X.shape):
        raise ValueError(f"{name} has shape {X.shape}; at least one row and one column are needed")
    X = X.astype(np.float64, copy=False)
    check_finite(X, lambda i, j: f"{name}[{i}, {j}]")
    return X


def length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def taken(examples: Any, which: IntArray) -> Any:
    """Some of the examples, by number."""
    return [examples[i] for i in which.tolist()] if isinstance(examples, list) else examples[which]


def _of_two(begin: int, other: str, i: int, j: int) -> str:
    return f"the kernel of X[{begin + i}] and {other}[{j}]"


def _as_kernel(other: Any) -> Kernel:
    return other if isinstance(other, Kernel) else _combined("Constant", other)


def check_fits(n: int, m: int) -> None:
    """Refuses a matrix for which there is no memory."""
    available = available_memory()
    if available is not None and 8 * n * m > available:
        raise ValueError(
            f"the kernel matrix of {count(n)} × {count(m)} numbers would take {in_bytes(8.0 * n * m)}, and "
            f"{in_bytes(available)} are available; use blocks(), or a basis: structlearn.features.KernelMap"
        )
