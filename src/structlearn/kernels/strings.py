"""Kernels of strings: texts, or lists of whatever can be compared, such as words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import comb, factorial
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.options import real_option, whole_option
from structlearn.kernels.base import BLOCK, Kernel
from structlearn.wording import shown

#: The letters of a string.
String = tuple[Any, ...]


class StringKernel(Kernel):
    """A kernel of strings; those that are too short for any feature have k(x, z) = 0."""

    @property
    def of_rows(self) -> bool:
        return False

    def read(self, X: Any, name: str) -> list[String]:
        check_examples(name, X)
        if not len(X):
            raise ValueError(f"{name} is empty; at least one string is needed")
        for i, x in enumerate(X):
            if not isinstance(x, str) and not is_listed(x):
                raise ValueError(f"{name}[{i}] is {shown(x)}; expected a string or a list of words")
            if any(isinstance(letter, (float, np.floating)) for letter in x):
                raise ValueError(
                    f"{name}[{i}] is {shown(x)}; {type(self).__name__} takes strings or lists of words, not rows of "
                    "numbers as RBF does"
                )
        return [tuple(x) for x in X]


class Spectrum(StringKernel):
    """k(x, z) = Σ_u x(u) z(u) over all n-grams u, where x(u) is how often u stands in x (Leslie et al. 2002).

    Parameters
    ----------
    n : int
        The length of the n-grams.

    Examples
    --------
    >>> Spectrum(2)(["abab", "bab"])
    array([[5., 3.],
           [3., 2.]])
    """

    def __init__(self, n: int = 3):
        self.n = n

    def check_options(self) -> None:
        whole_option("n", self.n, 1)

    def values(self, X: list[String], Z: list[String]) -> FloatArray:
        column_of: dict[String, int] = {}
        left = _gram_counts(X, self.n, column_of)
        right = left if Z is X else _gram_counts(Z, self.n, column_of)
        left.resize(len(X), len(column_of))
        return np.asarray((left @ right.T).toarray(), np.float64)

    def columns(self, X: list[String]) -> Callable[[int], FloatArray]:
        counts = _gram_counts(X, self.n, {})
        return lambda p: np.asarray((counts @ counts[[p]].T).toarray(), np.float64)[:, 0]

    def diagonal_values(self, X: list[String]) -> FloatArray:
        counts = _gram_counts(X, self.n, {})
        return np.asarray(counts.multiply(counts).sum(axis=1), np.float64).ravel()


class Mismatch(StringKernel):
    """k(x, z) = Σ_u x(u) z(u) over all n-grams u, where x(u) counts n-grams of x in at most m places other than u.

    Parameters
    ----------
    n : int
        The length of the n-grams.
    m : int
        How many letters may differ, < n.
    alphabet : str or list
        All letters, those of DNA unless given; how many n-grams are near one depends on their number.

    Notes
    -----
    The kernel of Leslie et al. 2004. How many n-grams are near two of them depends only on in how many places these
    two differ, so that none of the neighbours is ever listed.

    Examples
    --------
    >>> Mismatch(2, 1, alphabet="ab")(["ab", "ba"])
    array([[3., 2.],
           [2., 3.]])
    """

    def __init__(self, n: int = 3, m: int = 1, alphabet: str | Sequence[Any] = "ACGT"):
        self.n = n
        self.m = m
        self.alphabet = alphabet

    def check_options(self) -> None:
        whole_option("n", self.n, 1, 255)
        whole_option("m", self.m, 0)
        if self.m >= self.n:
            raise ValueError(f"m is {self.m}; fewer than all of the n = {self.n} letters may differ")
        if not isinstance(self.alphabet, str) and not is_listed(self.alphabet):
            raise ValueError(f"alphabet is {shown(self.alphabet)}; expected all letters")
        if not len(self.alphabet) or len(set(self.alphabet)) < len(self.alphabet):
            raise ValueError(f"alphabet is {shown(self.alphabet)}; expected letters that differ")

    def read(self, X: Any, name: str) -> list[String]:
        strings, known = super().read(X, name), set(self.alphabet)
        for i, x in enumerate(strings):
            if not known.issuperset(x):
                t = next(t for t, letter in enumerate(x) if letter not in known)
                raise ValueError(
                    f"{name}[{i}][{t}] is {shown(x[t])}, which the alphabet {shown(self.alphabet)} does not have"
                )
        return strings

    def values(self, X: list[String], Z: list[String]) -> FloatArray:
        left, left_grams = self._counts(X)
        right, right_grams = (left, left_grams) if Z is X else self._counts(Z)
        return self._of_counts(left, left_grams, right, right_grams)

    def columns(self, X: list[String]) -> Callable[[int], FloatArray]:
        counts, grams = self._counts(X)

        def column(p: int) -> FloatArray:
            own = counts[[p]]
            used = np.unique(own.indices)
            return self._of_counts(counts, grams, own[:, used], grams[used])[:, 0]

        return column

    def _of_counts(
        self, left: sp.csr_array, left_grams: IntArray, right: sp.csr_array, right_grams: IntArray
    ) -> FloatArray:
        near = _common_neighbours(self.n, self.m, len(self.alphabet))
        found = np.zeros((left.shape[0], right.shape[0]))
        step = max(1, BLOCK // (9 * max(1, len(right_grams))))
        for begin in range(0, len(left_grams), step):
            some = left_grams[begin : begin + step]
            differing = np.zeros((len(some), len(right_grams)), np.uint8)
            for place in range(self.n):
                differing += some[:, None, place] != right_grams[:, place]
            found += left[:, begin : begin + step] @ (right @ near[differing].T).T
        return found

    def _counts(self, X: list[String]) -> tuple[sp.csr_array, IntArray]:
        """How often each string has each n-gram, and the n-grams as numbers of letters."""
        column_of: dict[String, int] = {}
        number = {letter: k for k, letter in enumerate(self.alphabet)}
        counts = _gram_counts(X, self.n, column_of)
        grams = np.array([[number[letter] for letter in gram] for gram in column_of], np.int64)
        return counts, grams.reshape(-1, self.n)


class GapWeighted(StringKernel):
    """k(x, z) = Σ_u Σ_{i: x[i] = u} Σ_{j: z[j] = u} λ^(ℓ(i) + ℓ(j)) over all strings u of n letters.

    The string subsequence kernel of Lodhi et al. 2002. i and j are increasing places at which u stands in x and z, with
    gaps, and ℓ(i) is how far it reaches from its first place to its last, both included.

    Parameters
    ----------
    n : int
        The length of the subsequences.
    decay : float
        λ, above 0 and at most 1: what a letter that is passed over costs.

    Notes
    -----
    Takes time proportional to n times the product of both lengths for every pair.

    Examples
    --------
    >>> GapWeighted(2, decay=0.5)(["cat", "car"])  # λ⁴ for "ca"; for "cat" itself 2λ⁴ + λ⁶
    array([[0.140625, 0.0625  ],
           [0.0625  , 0.140625]])
    """

    def __init__(self, n: int = 2, decay: float = 0.5):
        self.n = n
        self.decay = decay

    def check_options(self) -> None:
        whole_option("n", self.n, 1)
        if real_option("decay", self.decay, positive=True) > 1:
            raise ValueError(f"decay is {self.decay}; it must be at most 1")

    def values(self, X: list[String], Z: list[String]) -> FloatArray:
        number: dict[Any, int] = {}
        left = [_numbered(x, number) for x in X]
        right = left if Z is X else [_numbered(z, number) for z in Z]
        letters, offsets = np.concatenate(right), np.cumsum([0, *map(len, right)])
        n, found = min(self.n, len(letters) + 1), np.empty((len(X), len(Z)))
        for i, x in enumerate(left):
            # What is known of the pair (j, i) already is not computed again for (i, j).
            end = i + 1 if Z is X else len(right)
            _core.gap_weighted(x, offsets[: end + 1], letters, n, float(self.decay), found[i, :end])
            if Z is X:
                found[:i, i] = found[i, :i]
        return found


def _gram_counts(X: list[String], n: int, column_of: dict[String, int]) -> sp.csr_array:
    """How often each string has each n-gram; new n-grams get new columns."""
    columns: list[int] = []
    values: list[int] = []
    starts = [0]
    for x in X:
        counts = Counter(x[t : t + n] for t in range(len(x) - n + 1))
        columns += [column_of.setdefault(gram, len(column_of)) for gram in counts]
        values += counts.values()
        starts.append(len(columns))
    return sp.csr_array((np.array(values, np.float64), columns, starts), shape=(len(X), len(column_of)))


def _common_neighbours(n: int, m: int, n_letters: int) -> FloatArray:
    """How many n-grams are in at most m places other than each of two that differ in d places, for d = 0, …, n."""
    found = np.zeros(n + 1)
    for d in range(min(n, 2 * m) + 1):
        for other in range(min(m, n - d) + 1):  # places where the two agree and the third does not
            for a in range(d + 1):  # of the others, those where it is like the first, and like the second
                for b in range(d - a + 1):
                    if max(d - a, d - b) + other <= m:
                        neither = d - a - b
                        ways = factorial(d) // (factorial(a) * factorial(b) * factorial(neither))
                        letters = (n_letters - 1) ** other * max(n_letters - 2, 0) ** neither
                        found[d] += comb(n - d, other) * ways * letters
    return found


def _numbered(x: String, number: dict[Any, int]) -> IntArray:
    return np.array([number.setdefault(letter, len(number)) for letter in x], np.int64)
