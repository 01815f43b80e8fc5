"""Outputs that are matchings of two sides, with a vector for every pair."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import LARGEST
from structlearn.data.matchings import Pair, PairTables, checked_pairs, read_tables, stacked
from structlearn.data.options import flag_option, whole_option
from structlearn.data.ragged import offsets_of
from structlearn.inference.assignment import best_assignment
from structlearn.outputs.base import Columns, Outputs, Rows


class MatchingOutputs(Outputs):
    """Which rows and columns of a table belong together: K_Y(y, y′) is how many pairs both have.

    Every pair of a row and a column has a number, 1 for those that belong together, so that a kernel of pairs serves
    tables of all sizes, and the nearest matching is found exactly, by an assignment. X are tables of pairs and Y tuples
    of pairs (row, column), as `Matching` takes them.

    Parameters
    ----------
    unmatched : bool
        Whether rows and columns may stay alone. Otherwise as many are matched as can be: all of the smaller side.
    fertility : int
        How many partners a row may have; a column has one. More than one needs `unmatched`.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> def table(left, right):
    ...     "Numbers of two sides, whose pairs are described by their distance."
    ...     return [[[abs(a - b)] for b in right] for a in left]
    >>> X = [table([1, 5, 9], [9, 2, 4]), table([3, 8], [7, 20, 3])]
    >>> Y = [((0, 1), (1, 2), (2, 0)), ((0, 2), (1, 0))]
    >>> ridge = VectorValuedRidge(MatchingOutputs(), "rbf", lam=0.001).fit(X, Y)
    >>> ridge.predict([table([4, 6, 30], [7, 5])])
    [((0, 1), (1, 0))]
    """

    def __init__(self, unmatched: bool = True, fertility: int = 1):
        self.unmatched = unmatched
        self.fertility = fertility

    def check_options(self) -> None:
        flag_option("unmatched", self.unmatched)
        if whole_option("fertility", self.fertility, 1, LARGEST) > 1 and not self.unmatched:
            raise ValueError(
                f"fertility={self.fertility} needs unmatched=True: how many partners rows have is then free"
            )

    def read(self, X: Any, columns: Columns | None) -> Rows:
        return table_rows(read_tables(X), columns, "pairs")

    def fit(self, Y: Any) -> Self:
        if Y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        check_examples("y", Y)
        if all(hasattr(y, "__len__") and not len(y) for y in Y):
            raise ValueError("no matching of y has a pair; at least one is needed")
        return self

    def n_coordinates(self) -> int:
        return 1

    def targets(self, Y: Any, places: IntArray) -> FloatArray:
        found = np.zeros(int(places.prod(axis=1).sum()))
        begin = 0
        for y, (n, m) in zip(self._pairs(Y, places, int(self.fertility)), places.tolist(), strict=True):
            found[[begin + i * m + j for i, j in y]] = 1.0
            begin += n * m
        return found[:, None]

    def nearest(self, vectors: FloatArray, places: IntArray) -> list[tuple[Pair, ...]]:
        return [self._best(table[:, 0].reshape(shape)) for table, shape in of_tables(vectors, places)]

    def _best(self, numbers: FloatArray) -> tuple[Pair, ...]:
        """Σ (f_ij − y_ij)² is least where Σ_(i, j)∈y (2f_ij − 1) is largest."""
        copies = max(1, min(int(self.fertility), numbers.shape[1]))
        found = best_assignment(np.repeat(2.0 * numbers - 1.0, copies, axis=0), 0.0 if self.unmatched else None)
        return tuple(sorted((i // copies, j) for i, j in enumerate(found.partners.tolist()) if j >= 0))

    def score(self, Y: Any, predicted: Any, places: IntArray, sample_weight: FloatArray) -> float:
        """F1 of pairs, of all tables together."""
        truths, found = self._pairs(Y, places), self._pairs(predicted, places)
        sizes = [(len({*y} & {*z}), len(y) + len(z)) for y, z in zip(truths, found, strict=True)]
        shared, both = (np.array(sizes, np.float64).reshape(-1, 2) * sample_weight[:, None]).sum(axis=0)
        return float(2.0 * shared / both) if both else 1.0

    def check_learnt(self) -> None:
        return

    def _pairs(self, Y: Any, shapes: IntArray, fertility: int | None = None) -> list[list[Pair]]:
        """The pairs of outputs; with a fertility, only such as a matching can have."""
        check_examples("Y", Y)
        if len(Y) != len(shapes):
            raise ValueError(f"X has {len(shapes)} tables but Y has {len(Y)} matchings")
        found = []
        for i, (y, shape) in enumerate(zip(Y, shapes.tolist(), strict=True)):
            found.append(checked_pairs(y, shape, f"Y[{i}]", f"X[{i}]", fertility=fertility))
            if fertility is not None and not self.unmatched and len(y) < min(shape):
                raise ValueError(
                    f"Y[{i}] has {len(y)} of the {min(shape)} pairs that X[{i}] can have; with unmatched=True rows and "
                    "columns may stay alone"
                )
        return found


def table_rows(tables: PairTables, columns: Columns | None, parts: str) -> Rows:
    """The pairs of tables as rows; their places are the shapes of the tables. Messages call them `parts`."""
    for side, name in zip(tables.alone, ("rows", "columns"), strict=True):
        if side is not None:
            raise ValueError(f"X[0] has features of {name} without partner, but vectors are those of {parts} alone")
    known = columns or Columns(int(tables.pairs.tokens.shape[1]), tables.pairs.names)
    matrix = tables.pairs.tokens if columns is None else stacked(tables.pairs, *columns)
    if columns is None and not matrix.shape[0]:
        raise ValueError("no table of X has a pair; at least one is needed")
    return Rows(matrix, tables.pairs.offsets, known, tables.shapes)


def of_tables(vectors: FloatArray, shapes: IntArray) -> Any:
    """What each table has of the rows of all, and its shape."""
    offsets = offsets_of(shapes.prod(axis=1)).tolist()
    parts = (vectors[begin:end] for begin, end in pairwise(offsets))
    return zip(parts, map(tuple, shapes.tolist()), strict=True)
