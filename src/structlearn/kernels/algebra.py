"""The algebra of kernels: what they combine to is a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples
from structlearn.data.options import real_option, whole_option
from structlearn.kernels.base import Kernel, length
from structlearn.wording import count, shown


class _OfOne(Kernel):
    """A kernel made of one."""

    kernel: Kernel

    @property
    def of_rows(self) -> bool | None:
        return self.kernel.of_rows

    def check_options(self) -> None:
        _check_kernel("kernel", self.kernel)

    def read(self, X: Any, name: str) -> Any:
        return self.kernel.read(X, name)


class _OfTwo(Kernel):
    """A kernel made of two, of the same examples."""

    def __init__(self, left: Kernel, right: Kernel):
        self.left = left
        self.right = right

    @property
    def of_rows(self) -> bool | None:
        return self.right.of_rows if self.left.of_rows is None else self.left.of_rows

    def check_options(self) -> None:
        _check_kernel("left", self.left)
        _check_kernel("right", self.right)
        if {self.left.of_rows, self.right.of_rows} == {True, False}:
            raise ValueError(f"of {self.left} and {self.right}, one takes rows of a matrix and the other does not")

    @property
    def differentiable(self) -> bool:
        return self.left.differentiable and self.right.differentiable

    def read(self, X: Any, name: str) -> Any:
        # Constants take examples of every kind, and hand them on as they are.
        return self.right.read(self.left.read(X, name), name)


class Sum(_OfTwo):
    """k₁(x, z) + k₂(x, z); written ``k1 + k2``."""

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self.left.values(X, Z) + self.right.values(X, Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(self.left.diagonal_values(X) + self.right.diagonal_values(X))

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        return np.asarray(self.left.gradient(X, coefficients, z) + self.right.gradient(X, coefficients, z))


class Product(_OfTwo):
    """k₁(x, z) k₂(x, z); written ``k1 * k2``."""

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self.left.values(X, Z) * self.right.values(X, Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(self.left.diagonal_values(X) * self.right.diagonal_values(X))

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        left, right = (kernel.values(X, z)[:, 0] for kernel in (self.left, self.right))
        found = self.left.gradient(X, coefficients * right, z) + self.right.gradient(X, coefficients * left, z)
        return np.asarray(found)


class Constant(Kernel):
    """k(x, z) = c for all examples, whatever these are; as a summand or factor it is written as the number.

    Parameters
    ----------
    value : float
        c ≥ 0.
    """

    def __init__(self, value: float):
        self.value = value

    @property
    def of_rows(self) -> None:
        return None

    def check_options(self) -> None:
        real_option("the number that a kernel is added to or multiplied with", self.value)

    def read(self, X: Any, name: str) -> Any:
        check_examples(name, X)
        return X

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.broadcast_to(np.float64(self.value), (length(X), length(Z)))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.full(length(X), float(self.value))

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        return np.zeros(z.shape[1])


class Power(_OfOne):
    """k(x, z)ᵖ for a whole number p ≥ 1; written ``k ** p``."""

    def __init__(self, kernel: Kernel, exponent: int):
        self.kernel = kernel
        self.exponent = exponent

    def check_options(self) -> None:
        super().check_options()
        whole_option("exponent", self.exponent, 1)

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self.kernel.values(X, Z) ** self.exponent)

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(self.kernel.diagonal_values(X) ** self.exponent)

    @property
    def differentiable(self) -> bool:
        return self.kernel.differentiable

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        slopes = self.exponent * self.kernel.values(X, z)[:, 0] ** (self.exponent - 1)
        return self.kernel.gradient(X, coefficients * slopes, z)


class Exponential(_OfOne):
    """exp k(x, z); written ``k.exp()``."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.exp(self.kernel.values(X, Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.exp(self.kernel.diagonal_values(X))

    @property
    def differentiable(self) -> bool:
        return self.kernel.differentiable

    def gradient(self, X: Any, coefficients: FloatArray, z: Any) -> FloatArray:
        return self.kernel.gradient(X, coefficients * np.exp(self.kernel.values(X, z)[:, 0]), z)


class Weighted(_OfOne):
    """f(x) k(x, z) f(z); written ``k.weighted(f)``.

    Parameters
    ----------
    kernel : Kernel
    weight : callable
        f of n examples, (n,) numbers.
    """

    def __init__(self, kernel: Kernel, weight: Callable[[Any], Any]):
        self.kernel = kernel
        self.weight = weight

    def check_options(self) -> None:
        super().check_options()
        if not callable(self.weight):
            raise ValueError(f"weight is {shown(self.weight)}; expected a function of examples")

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self._weights(X)[:, None] * self.kernel.values(X, Z) * self._weights(Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(self._weights(X) ** 2 * self.kernel.diagonal_values(X))

    def _weights(self, X: Any) -> FloatArray:
        found = np.asarray(self.weight(X), np.float64)
        if found.shape != (length(X),):
            raise ValueError(f"weight gave an array of shape {found.shape} for {count(length(X), 'example')}")
        return found


class Normalised(_OfOne):
    """k(x, z) / √(k(x, x) k(z, z)), and 0 where one of these is 0; written ``k.normalised()``."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel

    def values(self, X: Any, Z: Any) -> FloatArray:
        return np.asarray(self._factors(X)[:, None] * self.kernel.values(X, Z) * self._factors(Z))

    def diagonal_values(self, X: Any) -> FloatArray:
        return np.asarray(self._factors(X) > 0, np.float64)

    def _factors(self, X: Any) -> FloatArray:
        squares = self.kernel.diagonal_values(X)
        if squares.min(initial=0.0) < 0:
            i = int(squares.argmin())
            raise ValueError(f"an example has the kernel {squares[i]:g} with itself; a kernel must give a number ≥ 0")
        with np.errstate(divide="ignore"):
            return np.where(squares > 0, 1.0 / np.sqrt(squares), 0.0)


class Centred(_OfOne):
    """⟨φ(x) − φ̄, φ(z) − φ̄⟩, where φ̄ is the mean of φ over given examples; written ``k.centred(X)``."""

    def __init__(self, kernel: Kernel, X: Any):
        self.kernel = kernel
        self.X = X

    def values(self, X: Any, Z: Any) -> FloatArray:
        of_x, mean = self._means(X)
        of_z = of_x if Z is X else self._means(Z)[0]
        return np.asarray(self.kernel.values(X, Z) - of_x[:, None] - of_z + mean)

    def diagonal_values(self, X: Any) -> FloatArray:
        of_x, mean = self._means(X)
        return np.asarray(self.kernel.diagonal_values(X) - 2.0 * of_x + mean)

    def _means(self, X: Any) -> tuple[FloatArray, float]:
        """The means of k over the given examples, for each of X and for the given ones themselves."""
        given = self.kernel.read(self.X, "the X of the mean")
        return self.kernel.values(X, given).mean(axis=1), float(self.kernel.values(given, given).mean())


def _check_kernel(name: str, kernel: Any) -> None:
    if not isinstance(kernel, Kernel):
        raise ValueError(f"{name} is {shown(kernel)}; expected a kernel")
    kernel.check_options()
