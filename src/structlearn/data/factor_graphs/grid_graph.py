"""Grids of variables, without a list of their edges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, LabelArray, checked_scores
from structlearn.data.factor_graphs.building import edge_values
from structlearn.data.factor_graphs.factor_graph import FactorGraph
from structlearn.data.factor_graphs.factors import Kind, Potts, TruncatedLinear
from structlearn.wording import count, shown

#: (rows, columns) from a variable to its neighbours, each pair once: right, down, and the two diagonals downwards.
DIRECTIONS = ((0, 1), (1, 0), (1, 1), (1, -1))


@dataclass(frozen=True, eq=False, repr=False)
class GridGraph:
    """Variables in rows and columns, such as the pixels of an image, where neighbours share a table of pair scores.

    F(y) = Σ_p unaries[p, y_p] + Σ_{p,q} weight_pq · pairwise[y_p, y_q] over neighbours p and q, of which p is the one
    further up or, in a row, further left. No list of edges is made unless `factor_graph` is asked for.

    Parameters
    ----------
    unaries : (n_rows, n_columns, n_labels)
    pairwise : (n_labels, n_labels), Potts or TruncatedLinear
        With one number each: what differs from edge to edge are the weights.
    weights : list of arrays, optional
        For each direction, how much its edges count, at least 0: right (n_rows, n_columns − 1), down (n_rows − 1,
        n_columns), and with eight neighbours down and right, down and left (n_rows − 1, n_columns − 1) each. All 1 by
        default.
    neighbours : 4 or 8

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> grid = GridGraph(np.zeros((2, 3, 2)), Potts(1.0))
    >>> grid.factor_graph
    FactorGraph(6 variables, 7 factors)
    >>> grid.score([[0, 0, 1], [0, 0, 1]])
    5.0
    """

    unaries: FloatArray
    pairwise: FloatArray | Potts | TruncatedLinear
    weights: tuple[FloatArray, ...] | None = None
    neighbours: int = 4

    def __init__(
        self,
        unaries: npt.ArrayLike,
        pairwise: npt.ArrayLike | Potts | TruncatedLinear,
        weights: Sequence[npt.ArrayLike] | None = None,
        neighbours: int = 4,
    ):
        if neighbours not in (4, 8) or isinstance(neighbours, bool):
            raise ValueError(f"neighbours is {shown(neighbours)}; it may be 4 or 8")
        scores = np.ascontiguousarray(unaries, np.float64)
        if scores.ndim != 3 or 0 in scores.shape:
            raise ValueError(
                f"unaries has shape {scores.shape}; expected (n_rows, n_columns, n_labels), none of them 0"
            )
        if not isinstance(pairwise, (Potts, TruncatedLinear)):
            pairwise = np.ascontiguousarray(pairwise, np.float64)
            if pairwise.ndim != 2:
                raise ValueError(f"pairwise has shape {pairwise.shape}; expected one table for all neighbours")
        edge_values(pairwise, np.full((1, 2), scores.shape[2]))
        set_field = object.__setattr__
        set_field(self, "unaries", checked_scores(scores, "unaries"))
        set_field(self, "pairwise", pairwise)
        set_field(self, "neighbours", neighbours)
        set_field(self, "weights", None if weights is None else self._checked_weights(weights))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.unaries.shape[0], self.unaries.shape[1]

    @property
    def n_labels(self) -> int:
        return int(self.unaries.shape[2])

    @property
    def n_variables(self) -> int:
        return int(self.unaries.shape[0] * self.unaries.shape[1])

    @property
    def directions(self) -> tuple[tuple[int, int], ...]:
        """The steps from a variable to its neighbours, each pair once."""
        return DIRECTIONS[: self.neighbours // 2]

    @cached_property
    def table(self) -> FloatArray:
        """The scores of the labels of two neighbours."""
        return self._pair.table(0)

    @cached_property
    def factor_graph(self) -> FactorGraph:
        """The same as a list of edges: all to the right, then all down, and the diagonals, each row after row."""
        numbers = np.arange(self.n_variables, dtype=np.int32).reshape(self.shape)
        edges = np.concatenate([edges_of(numbers, *step) for step in self.directions])
        weights = None if self.weights is None else np.concatenate([one.ravel() for one in self.weights])
        return FactorGraph(
            np.zeros(1),
            np.array([0, self.n_variables]),
            np.full(self.n_variables, self.n_labels, np.int32),
            self.unaries.ravel(),
            np.arange(0, edges.size + 1, 2),
            edges.ravel(),
            np.full(len(edges), self._pair.kinds[0]),
            *_weighted(self._pair, weights, len(edges)),
        )

    def score(self, labels: npt.ArrayLike) -> float:
        """F(y), of labels in rows and columns."""
        codes = self.checked_labels(labels)
        total = np.take_along_axis(self.unaries, codes[:, :, None], axis=2).sum()
        for k, step in enumerate(self.directions):
            pairs = self.table[first_of(codes, *step), second_of(codes, *step)]
            # What is forbidden stays so, also where it does not count.
            total += pairs.sum() if self.weights is None else _product(self.weights[k], pairs).sum()
        return float(total)

    def given(self, evidence: Mapping[tuple[int, int], int]) -> GridGraph:
        """The same grid where some labels are known: all others of their variables are forbidden.

        Examples
        --------
        >>> from structlearn.data import Potts
        >>> grid = GridGraph(np.zeros((1, 2, 2)), Potts(1.0)).given({(0, 1): 1})
        >>> grid.score([[1, 1]]), grid.score([[0, 0]])
        (1.0, -inf)
        """
        if not isinstance(evidence, Mapping):
            raise ValueError(f"evidence is {shown(evidence)}; expected a dict, the label of each known (row, column)")
        scores = self.unaries.copy()
        for place, label in evidence.items():
            row, column = self._place(place, "evidence", ("row", "column"))
            kept = self._place((row, column, label), "evidence", ("row", "column", "label"))[2]
            scores[row, column] = -np.inf
            scores[row, column, kept] = self.unaries[row, column, kept]
        return replace(self, unaries=scores)

    def forbid(self, labels: Iterable[tuple[int, int, int]]) -> GridGraph:
        """The same grid without some (row, column, label)."""
        scores = self.unaries.copy()
        for place in labels:
            scores[self._place(place, "forbid", ("row", "column", "label"))] = -np.inf
        return replace(self, unaries=scores)

    def checked_labels(self, labels: npt.ArrayLike) -> LabelArray:
        """Labels in rows and columns, refused by name where they are none."""
        found = np.asarray(labels)
        if found.shape != self.shape or found.dtype.kind not in "iu":
            raise ValueError(f"labels has shape {found.shape} and type {found.dtype}; expected {self.shape}, integers")
        bad = np.argwhere((found < 0) | (found >= self.n_labels))
        if len(bad):
            r, c = bad[0].tolist()
            raise ValueError(f"labels[{r}, {c}] is {found[r, c]}; there are {count(self.n_labels, 'label')}")
        return found.astype(np.int32)

    @cached_property
    def _pair(self) -> FactorGraph:
        """Two neighbours of weight 1."""
        return FactorGraph.pairwise(np.zeros((2, self.n_labels)), [(0, 1)], self.pairwise)

    def _place(self, given: Any, what: str, names: tuple[str, ...]) -> tuple[int, ...]:
        """Whole numbers within the grid, refused by name."""
        if not isinstance(given, (tuple, list)) or len(given) != len(names):
            raise ValueError(f"{what} has {shown(given)}; expected ({', '.join(names)})")
        for name, value, end in zip(names, given, self.unaries.shape, strict=False):
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
                raise ValueError(f"{what} has the {name} {shown(value)}; expected a whole number")
            if not 0 <= value < end:
                of = f" at {tuple(given[:2])}" if name == "label" else ""
                raise ValueError(f"{what} has the {name} {shown(value)}{of}; there are {end}")
        return tuple(map(int, given))

    def _checked_weights(self, given: Sequence[Any]) -> tuple[FloatArray, ...]:
        numbers = np.empty(self.shape, bool)
        shapes = [first_of(numbers, *step).shape for step in self.directions]
        if len(given) != len(shapes):
            raise ValueError(f"weights has {count(len(given), 'array')}; expected {len(shapes)}, of shapes {shapes}")
        weights = []
        for k, (one, shape) in enumerate(zip(given, shapes, strict=True)):
            array = np.ascontiguousarray(one, np.float64)
            if array.shape != shape:
                raise ValueError(f"weights[{k}] has shape {array.shape}; expected {shape}")
            bad = np.argwhere(~((array >= 0.0) & (array < np.inf)))
            if len(bad):
                r, c = bad[0].tolist()
                raise ValueError(f"weights[{k}][{r}, {c}] is {array[r, c]}; it must be a finite number ≥ 0")
            weights.append(array)
        return tuple(weights)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"GridGraph({rows} × {columns} variables, {count(self.n_labels, 'label')}, {self.neighbours} neighbours)"


def first_of(grid: npt.NDArray[Any], down: int, right: int) -> npt.NDArray[Any]:
    """The variables that have a neighbour in this direction, along the first two axes."""
    rows, columns = grid.shape[:2]
    return grid[: rows - down, max(0, -right) : columns - max(0, right)]


def second_of(grid: npt.NDArray[Any], down: int, right: int) -> npt.NDArray[Any]:
    """Those neighbours."""
    return grid[down:, max(0, right) : grid.shape[1] - max(0, -right)]


def edges_of(numbers: LabelArray, down: int, right: int) -> LabelArray:
    return np.stack([first_of(numbers, down, right).ravel(), second_of(numbers, down, right).ravel()], axis=1)


def _product(weights: npt.NDArray[Any], scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):
        return np.where(np.isinf(scores), scores, weights * np.where(np.isinf(scores), 0.0, scores))


def _weighted(pair: FactorGraph, weights: FloatArray | None, n_edges: int) -> tuple[Any, FloatArray]:
    """Where the values of each edge begin, and the values."""
    if weights is None:
        return np.zeros(n_edges, np.int64), pair.values
    values = _product(weights[:, None], pair.values)
    if pair.kinds[0] == Kind.TRUNCATED_LINEAR:
        # A cost that was never reached stays so.
        values = np.minimum(values, np.finfo(np.float64).max)
    return np.arange(n_edges, dtype=np.int64) * len(pair.values), values.ravel()
