"""Items of which pairs are described by features: what clusterings are predicted from."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.clusterings import to_labels
from structlearn.data.matrices import check_finite, checked_matrix
from structlearn.data.ragged import offsets_of, reduced
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.wording import shown


class ItemPairs(NamedTuple):
    """The input of a clustering; a plain tuple does as well.

    Attributes
    ----------
    n_items : int
    features : (n_rows, n_features) array or sparse matrix
        A row for every pair; with `kinds`, a row for every kind of pair.
    pairs : (n_pairs, 2) integers, optional
        Which pairs of items may be linked. None for all, in the order of `scipy.spatial.distance.pdist`: (0, 1),
        (0, 2), …, (1, 2), ….
    kinds : (n_pairs,) integers, optional
        The row of `features` that describes each pair. Many pairs are alike where features are indicators: then a
        complete graph of thousands of items takes little memory, and decoding it little time.

    Examples
    --------
    >>> x = ItemPairs(3, [[1.0, 0.0], [0.0, 1.0]], pairs=[(0, 1), (1, 2)])
    >>> x.n_items, x.kinds is None
    (3, True)
    """

    n_items: int
    features: Any
    pairs: Any = None
    kinds: Any = None


@dataclass(frozen=True, slots=True)
class BoundPairs:
    """The pairs of all examples as flat arrays; those of an example are grouped by kind."""

    features: TokenMatrix
    kind_offsets: IntArray
    pair_offsets: IntArray
    first: LabelArray
    second: LabelArray
    item_offsets: IntArray

    @classmethod
    def of(cls, X: Sequence[Any], n_inputs: int) -> BoundPairs:
        parts = [_grouped(read_item_pairs(x, i), i, n_inputs) for i, x in enumerate(X)]
        features = sp.vstack([*(part.features for part in parts), sp.csr_array((0, n_inputs))], format="csr")
        return cls(
            TokenMatrix.from_matrix(sp.csr_array(features), intercept=False),
            offsets_of([part.features.shape[0] for part in parts]),
            offsets_of(np.concatenate([np.empty(0, np.int64), *(part.counts for part in parts)])),
            np.concatenate([np.empty(0, np.int32), *(part.pairs[:, 0] for part in parts)]),
            np.concatenate([np.empty(0, np.int32), *(part.pairs[:, 1] for part in parts)]),
            offsets_of([part.n_items for part in parts]),
        )

    def core(self) -> tuple[_core.PairKinds, _core.PairScorer]:
        """The pairs for the decoders, and the scorer of their kinds."""
        kinds = _core.PairKinds(self.kind_offsets, self.pair_offsets, self.first, self.second, self.item_offsets)
        return kinds, _core.PairScorer(kinds, self.features.core())

    def labels(self, Y: Any) -> LabelArray:
        """The canonical labels of all items of all examples."""
        n_examples = len(self.item_offsets) - 1
        if len(Y) != n_examples:
            raise ValueError(f"X has {n_examples} examples but Y has {len(Y)}")
        sizes = np.diff(self.item_offsets)
        found = [to_labels(y, int(n), f"Y[{i}]") for i, (y, n) in enumerate(zip(Y, sizes, strict=True))]
        return np.concatenate([np.empty(0, np.int32), *found])

    def pairs_of(self, i: int) -> slice:
        """Where the pairs of an example are."""
        return slice(*self.pair_offsets[self.kind_offsets[i : i + 2]].tolist())

    def items_of(self, i: int) -> slice:
        """Where the items of an example are."""
        return slice(*self.item_offsets[i : i + 2].tolist())

    def n_pairs(self) -> IntArray:
        """How many pairs each example has."""
        return np.diff(self.pair_offsets[self.kind_offsets])

    def of_pairs(self, i: int, of_kinds: FloatArray) -> FloatArray:
        """Numbers for the pairs of an example, from those for its kinds."""
        return np.repeat(of_kinds, np.diff(self.pair_offsets[self.kind_offsets[i] : self.kind_offsets[i + 1] + 1]))

    def matrix(self, i: int, of_pairs: FloatArray) -> FloatArray:
        """Numbers for the pairs of an example as a symmetric matrix, with 0 where there is no pair."""
        place, items = self.pairs_of(i), self.items_of(i)
        matrix = np.zeros((items.stop - items.start,) * 2)
        matrix[self.first[place], self.second[place]] = of_pairs
        return matrix + matrix.T

    def longest(self) -> FloatArray:
        """max ‖x‖ over the pairs of every example."""
        return reduced(np.maximum, self.features.norms(), self.kind_offsets)

    def fingerprint(self, *more: npt.NDArray[Any]) -> str:
        matrix = self.features
        arrays = (matrix.indptr, matrix.columns, matrix.values, self.kind_offsets, self.pair_offsets)
        return digest(*arrays, self.first, self.second, self.item_offsets, *more)

    def sizes(self) -> dict[str, int]:
        return {
            "examples": len(self.item_offsets) - 1,
            "items": int(self.item_offsets[-1]),
            "pairs": int(self.pair_offsets[-1]),
        }


class _Grouped(NamedTuple):
    n_items: int
    features: sp.csr_array
    pairs: npt.NDArray[np.int32]
    counts: IntArray


def read_item_pairs(x: Any, i: int) -> ItemPairs:
    """The input of example i, with its features as a sparse matrix."""
    if not (isinstance(x, tuple) and 2 <= len(x) <= 4):
        raise ValueError(f"X[{i}] is a {type(x).__name__}; expected ItemPairs(n_items, features, pairs, kinds)")
    n_items, given = x[0], x[1]
    if not isinstance(n_items, numbers.Integral) or int(n_items) < 0:
        raise ValueError(f"X[{i}] has {shown(n_items)} items; expected a whole number ≥ 0")
    if int(n_items) > np.iinfo(np.int32).max:
        raise ValueError(f"X[{i}] has {shown(n_items)} items; at most 2³¹ − 1 are possible")
    features = checked_matrix(given, f"X[{i}].features")
    if features.ndim != 2:
        raise ValueError(f"the features of X[{i}] have {features.ndim} dimensions; expected a matrix with a row a pair")
    features = sp.csr_array(features, dtype=np.float64)
    check_finite(features, lambda row, column: f"X[{i}].features[{row}, {column}]")
    return ItemPairs(int(n_items), features, *x[2:])


def _grouped(x: ItemPairs, i: int, n_inputs: int) -> _Grouped:
    n_rows, width = x.features.shape
    if width != n_inputs:
        raise ValueError(f"the pairs of X[{i}] have {width} features, but training had {n_inputs}")
    pairs = _checked_pairs(x, i)
    if x.kinds is None:
        if n_rows != len(pairs):
            raise ValueError(f"X[{i}] has {len(pairs)} pairs, but its features have {n_rows} rows")
        return _Grouped(x.n_items, x.features, pairs, np.ones(n_rows, np.int64))
    kinds = np.asarray(x.kinds, None if len(x.kinds) else np.int64)
    if kinds.shape != (len(pairs),):
        raise ValueError(f"X[{i}] has {len(pairs)} pairs, but kinds of shape {kinds.shape}")
    if len(kinds) and (kinds.dtype.kind not in "iu" or kinds.min() < 0 or kinds.max() >= n_rows):
        raise ValueError(f"the kinds of X[{i}] must be whole numbers from 0 to {n_rows - 1}, rows of its features")
    counts = np.bincount(kinds, minlength=n_rows).astype(np.int64)
    return _Grouped(x.n_items, x.features, pairs[np.argsort(kinds, kind="stable")], counts)


def _checked_pairs(x: ItemPairs, i: int) -> npt.NDArray[np.int32]:
    if x.pairs is None:
        return np.stack(np.triu_indices(x.n_items, 1), axis=1).astype(np.int32)
    pairs = np.asarray(x.pairs)
    if not len(pairs):
        return np.empty((0, 2), np.int32)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise ValueError(f"the pairs of X[{i}] must be two whole numbers each, shape (n_pairs, 2)")
    wrong = (pairs < 0).any(axis=1) | (pairs >= x.n_items).any(axis=1) | (pairs[:, 0] == pairs[:, 1])
    if wrong.any():
        k = int(np.flatnonzero(wrong)[0])
        pair = tuple(pairs[k].tolist())
        raise ValueError(f"pair {k} of X[{i}] is {pair}; there are {x.n_items} items, counted from 0")
    pairs = np.sort(pairs, axis=1)
    codes = np.sort(pairs[:, 0].astype(np.int64) * x.n_items + pairs[:, 1])
    twice = np.flatnonzero(codes[1:] == codes[:-1])
    if len(twice):
        raise ValueError(f"X[{i}] has the pair {divmod(int(codes[twice[0]]), x.n_items)} twice")
    return pairs.astype(np.int32)
