"""Arrays of different lengths, one an example, held as one flat array and where each begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import IntArray


def offsets_of(lengths: npt.ArrayLike) -> IntArray:
    """Where each of several parts begins when they stand one after another, and where the last one ends.

    >>> offsets_of([2, 0, 3])
    array([0, 2, 2, 5])
    """
    lengths = np.asarray(lengths, np.int64)
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def places_of(offsets: IntArray, which: npt.ArrayLike) -> tuple[IntArray, IntArray]:
    """The places of the chosen parts in the flat array, one part after another, and their own offsets.

    >>> places_of(np.array([0, 2, 5]), [1, 0, 1])
    (array([2, 3, 4, 0, 1, 2, 3, 4]), array([0, 3, 5, 8]))
    """
    which = np.asarray(which, np.int64)
    lengths = np.diff(offsets)[which]
    chosen = offsets_of(lengths)
    return np.arange(chosen[-1]) + np.repeat(offsets[which] - chosen[:-1], lengths), chosen


def owners_of(offsets: IntArray) -> IntArray:
    """The part that each place belongs to.

    >>> owners_of(np.array([0, 2, 2, 5]))
    array([0, 0, 2, 2, 2])
    """
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def ranks_of(offsets: IntArray) -> IntArray:
    """How many places of its part stand before each place.

    >>> ranks_of(np.array([0, 2, 2, 5]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))


def locate(offsets: IntArray, place: int) -> tuple[int, int]:
    """The part that a place belongs to, and where in it.

    >>> locate(np.array([0, 2, 2, 5]), 3)
    (2, 1)
    """
    part = int(np.searchsorted(offsets, place, side="right")) - 1
    return part, int(place - offsets[part])


def reduced(ufunc: np.ufunc, values: npt.NDArray[Any], offsets: IntArray) -> npt.NDArray[Any]:
    """What a ufunc makes of the values of each part, and of none its identity, or 0 where it has none.

    >>> reduced(np.add, np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 3.])
    """
    filled = np.diff(offsets) > 0
    # From each part that has places to the next that has any; reduceat knows no empty parts.
    found = ufunc.reduceat(values, offsets[:-1][filled]) if filled.any() else values[:0]
    if filled.all():
        return np.asarray(found)
    out = np.full((len(filled), *found.shape[1:]), ufunc.identity or 0, found.dtype)
    out[filled] = found
    return out


def summed(values: npt.NDArray[Any], offsets: IntArray) -> npt.NDArray[Any]:
    """The sum of each part's values."""
    return reduced(np.add, values, offsets)


class Ragged(Sequence[Any]):
    """Arrays of different lengths, one an example: ``flat[offsets[i]:offsets[i + 1]]`` is that of example i.

    Chosen with an integer it gives that array, a view; chosen with a slice or an array, another `Ragged`.

    Parameters
    ----------
    flat : array or sparse matrix
        All of them, one after another.
    offsets : (n + 1,) integers
        From 0 to the length of `flat`, never falling.

    Examples
    --------
    >>> words = Ragged.of([[3, 1], [], [4, 1, 5]])
    >>> words.flat, words.offsets
    (array([3, 1, 4, 1, 5], dtype=int32), array([0, 2, 2, 5]))
    >>> words[2], words[1:].lengths, words.take([2, 0]).flat.tolist()
    (array([4, 1, 5], dtype=int32), array([0, 3]), [4, 1, 5, 3, 1])
    """

    __slots__ = ("flat", "offsets")

    def __init__(self, flat: Any, offsets: IntArray):
        self.flat = flat
        self.offsets = offsets

    @classmethod
    def of(cls, parts: Iterable[Any], dtype: npt.DTypeLike = np.int32) -> Ragged:
        """Several arrays, of codes unless told otherwise, one after another; what is ragged already stays as it is."""
        if isinstance(parts, Ragged):
            return parts
        arrays = [np.asarray(part, dtype) for part in parts]
        return cls(np.concatenate([*arrays, np.empty(0, dtype)]), offsets_of([len(array) for array in arrays]))

    @classmethod
    def filled(cls, lengths: npt.ArrayLike, value: int = -1) -> Ragged:
        """Codes of one value, arrays of these lengths: room for what the core finds."""
        offsets = offsets_of(lengths)
        return cls(np.full(int(offsets[-1]), value, np.int32), offsets)

    @property
    def lengths(self) -> IntArray:
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, which: int) -> Any: ...
    @overload
    def __getitem__(self, which: slice) -> Ragged: ...
    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, (int, np.integer)):
            i = range(len(self))[which]
            return self.flat[self.offsets[i] : self.offsets[i + 1]]
        return self.take(np.arange(len(self))[which])

    def __iter__(self) -> Iterator[Any]:
        return (self.flat[begin:end] for begin, end in pairwise(self.offsets.tolist()))

    def take(self, which: npt.ArrayLike) -> Ragged:
        """The chosen arrays, in the order given."""
        places, offsets = places_of(self.offsets, which)
        return Ragged(self.flat[places], offsets)


def interleaved(parts: Sequence[Ragged]) -> Ragged:
    """Of each example what the first has of it, then what the second has, and so on.

    >>> both = interleaved([Ragged.of([[1, 2], [3]]), Ragged.of([[], [4, 5]])])
    >>> both.flat, both.offsets
    (array([1, 2, 3, 4, 5], dtype=int32), array([0, 2, 5]))
    """
    offsets = offsets_of(np.sum([part.lengths for part in parts], axis=0))
    flat = np.empty(int(offsets[-1]), parts[0].flat.dtype)
    first = offsets[:-1].copy()
    for part in parts:
        flat[np.repeat(first - part.offsets[:-1], part.lengths) + np.arange(len(part.flat))] = part.flat
        first += part.lengths
    return Ragged(flat, offsets)
