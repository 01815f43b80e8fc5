"""Kernels of inputs together with outputs: inner products of joint features Ψ(x, y)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.options import real_option
from structlearn.data.tokens.sequences import read_sequences
from structlearn.kernels.base import Kernel
from structlearn.wording import shown


class TensorProduct(Kernel):
    """k((x, y), (x′, y′)) = K(x, x′) L(y, y′), of features Φ(x) ⊗ Λ(y) (Tsochantaridis et al. 2005, section 4.2).

    Parameters
    ----------
    inputs, outputs : Kernel
        K and L.

    Notes
    -----
    Examples are pairs (x, y). `KernelStructuralSVM` of a `Multiclass` learns with it, without ever computing it for a
    pair: with L(y, y′) = ⟨Λ(y), Λ(y′)⟩ of its output features, or [y = y′] if it has none.

    Examples
    --------
    >>> from structlearn.kernels import RBF, FunctionKernel
    >>> same = FunctionKernel(lambda Y, Z: np.equal.outer(np.array(Y), np.array(Z)).astype(float), rows=False)
    >>> TensorProduct(RBF(), same)([([0.0], "a"), ([1.0], "a"), ([0.0], "b")]).round(2)
    array([[1.  , 0.37, 0.  ],
           [0.37, 1.  , 0.  ],
           [0.  , 0.  , 1.  ]])
    """

    def __init__(self, inputs: Kernel, outputs: Kernel):
        self.inputs = inputs
        self.outputs = outputs

    @property
    def of_rows(self) -> bool:
        return False

    def check_options(self) -> None:
        for name, kernel in (("inputs", self.inputs), ("outputs", self.outputs)):
            if not isinstance(kernel, Kernel):
                raise ValueError(f"{name} is {shown(kernel)}; expected a kernel")
            kernel.check_options()

    def read(self, X: Any, name: str) -> list[tuple[Any, Any]]:
        return pairs(X, name)

    def values(self, X: list[tuple[Any, Any]], Z: list[tuple[Any, Any]]) -> FloatArray:
        (x, y), (z, v) = (zip(*part, strict=True) for part in (X, Z))
        return np.asarray(self.inputs(list(x), list(z)) * self.outputs(list(y), list(v)))


class LabelledSequences(Kernel):
    """Σ_{s,t} [y_s = y′_t] k(x_s, x′_t) + η² Σ_{s,t} [y_s = y′_t, y_{s+1} = y′_{t+1}] of labelled sequences.

    The inner product of the features of a `Chain` without boundaries whose tokens have the kernel k (Tsochantaridis et
    al. 2005, equation 14), of sequences of any lengths.

    Parameters
    ----------
    kernel : Kernel
        k, of tokens.
    balance : float
        η ≥ 0, the size of the features of transitions.

    Notes
    -----
    Examples are pairs (x, y) of a (T, d) matrix and T labels.

    Examples
    --------
    >>> from structlearn.kernels import Linear
    >>> first, second = ([[1.0], [2.0]], "ab"), ([[3.0], [1.0], [1.0]], "aab")
    >>> LabelledSequences(Linear())([first, second])
    array([[ 6.,  7.],
           [ 7., 19.]])
    """

    def __init__(self, kernel: Kernel, balance: float = 1.0):
        self.kernel = kernel
        self.balance = balance

    @property
    def of_rows(self) -> bool:
        return False

    def check_options(self) -> None:
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel is {shown(self.kernel)}; expected a kernel of tokens")
        self.kernel.check_options()
        real_option("balance", self.balance)

    def read(self, X: Any, name: str) -> list[tuple[Any, Any]]:
        given = pairs(X, name)
        tokens = read_sequences([x for x, _ in given])
        for i, (length, (_, y)) in enumerate(zip(tokens.lengths.tolist(), given, strict=True)):
            if not is_listed(y) and not isinstance(y, str):
                raise ValueError(f"{name}[{i}] has {shown(y)} for its labels; expected a list of them")
            if len(y) != length:
                raise ValueError(f"{name}[{i}] has {length} tokens but {len(y)} labels")
        return [(x, list(y)) for x, (_, y) in zip(tokens, given, strict=True)]

    def values(self, X: list[tuple[Any, Any]], Z: list[tuple[Any, Any]]) -> FloatArray:
        numbers: dict[Any, int] = {}
        (tokens, labels, begins), (others, theirs, their_begins) = (_stacked(part, numbers) for part in (X, Z))
        alike = self.kernel.values(tokens, others) * np.equal.outer(labels, theirs)
        found = np.add.reduceat(np.add.reduceat(alike, begins, axis=0), their_begins, axis=1)
        counts, their_counts = (_transitions(part, numbers) for part in (X, Z))
        return np.asarray(found + self.balance**2 * counts @ their_counts.T)


def pairs(X: Any, name: str) -> list[tuple[Any, Any]]:
    """A list of inputs with their outputs, at least one."""
    if not is_listed(X) or not len(X):
        raise ValueError(f"{name} is {shown(X)}; expected a list of pairs (x, y)")
    for i, pair in enumerate(X):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise ValueError(f"{name}[{i}] is {shown(pair)}; expected a pair (x, y)")
    return [(x, y) for x, y in X]


def _stacked(X: Sequence[tuple[Any, Any]], numbers: dict[Any, int]) -> tuple[Any, IntArray, IntArray]:
    """All tokens, the codes of their labels, and where each sequence begins."""
    read = read_sequences([x for x, _ in X])
    codes = [numbers.setdefault(label, len(numbers)) for _, y in X for label in y]
    return read.tokens, np.array(codes), read.offsets[:-1]


def _transitions(X: Sequence[tuple[Any, Any]], numbers: dict[Any, int]) -> FloatArray:
    """How often each label follows each, a row a sequence."""
    n = len(numbers)
    counts = np.zeros((len(X), n * n))
    for row, (_, y) in zip(counts, X, strict=True):
        codes = np.array([numbers[label] for label in y])
        np.add.at(row, codes[:-1] * n + codes[1:], 1.0)
    return counts
