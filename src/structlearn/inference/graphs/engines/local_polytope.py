"""The linear program of a factor graph: every factor agrees with its variables on how much each label has."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.factor_graphs.factors import Kind
from structlearn.data.ragged import offsets_of
from structlearn.inference.graphs.refusals import UnsuitedGraphError

#: Variables of a program; each is in some ten numbers of HiGHS.
MOST_UNKNOWNS = 10**7


class LocalPolytope(NamedTuple):
    """max ⟨scores, μ⟩ over μ with matrix · μ = right and 0 ≤ μ ≤ 1: the relaxation of argmax F.

    The first numbers of μ are those of the labels, as in `graph.unaries`; then come those of the factors, one for each
    joint label. A cardinality factor of more than two variables has instead one for each step of the ways that its
    count of ones can take from variable to variable. What is not allowed scores −∞ and has μ = 0.
    """

    scores: FloatArray
    allowed: Flags
    matrix: sp.csr_array
    right: FloatArray

    @classmethod
    def of(cls, graph: FactorGraph) -> LocalPolytope:
        """Refused where it has more than 10⁷ unknowns."""
        _check_size(graph)
        shapes = [_Shape.of(graph, f) for f in range(graph.n_factors)]
        columns = len(graph.unaries) + offsets_of([shape.n_unknowns for shape in shapes])
        rows = graph.n_variables + offsets_of([shape.n_equations for shape in shapes])
        sums = np.repeat(np.arange(graph.n_variables), graph.n_labels)
        parts = [(sums, np.arange(len(sums)), np.ones(len(sums)))]
        scores = [graph.unaries]
        for f, shape in enumerate(shapes):
            labels = np.concatenate([np.arange(*graph.unary_offsets[i : i + 2]) for i in graph.scope(f)])
            parts.append((rows[f] + shape.rows, columns[f] + shape.columns, shape.entries))
            parts.append((rows[f] + np.arange(len(labels)), labels, np.full(len(labels), -1.0)))
            scores.append(shape.scores(graph, f))
        matrix = sp.csr_array(
            (
                np.concatenate([part[2] for part in parts]),
                (np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])),
            ),
            shape=(int(rows[-1]), int(columns[-1])),
        )
        given = np.concatenate(scores)
        allowed = given > -np.inf
        right = np.concatenate([np.ones(graph.n_variables), np.zeros(int(rows[-1]) - graph.n_variables)])
        return cls(np.where(allowed, given, 0.0), allowed, matrix, right)

    def bound(self, prices: FloatArray) -> float:
        """The dual value of prices of the equations; as no unknown exceeds 1, what one still earns makes it valid."""
        earned = (self.scores - self.matrix.T @ prices)[self.allowed]
        return float(self.right @ prices + np.maximum(earned, 0.0).sum())


def _check_size(graph: FactorGraph) -> None:
    sizes = [_n_unknowns(graph, f) for f in range(graph.n_factors)]
    total = len(graph.unaries) + sum(sizes)
    if total > MOST_UNKNOWNS:
        f = int(np.argmax(sizes)) if sizes else 0
        raise UnsuitedGraphError(
            f"the linear program has {float(total):.3g} unknowns, factor {{factor}} alone {float(sizes[f]):.3g}; "
            f"it may have {MOST_UNKNOWNS:,}",
            f,
        )


def _counted(graph: FactorGraph, f: int) -> bool:
    return bool(graph.kinds[f] == Kind.CARDINALITY) and len(graph.scope(f)) > 2


def _n_unknowns(graph: FactorGraph, f: int) -> int:
    n = len(graph.scope(f))
    return n * (n + 1) if _counted(graph, f) else prod(graph.n_labels[graph.scope(f)].tolist())


class _Shape(NamedTuple):
    """Equations of one kind of factor, those of its variables' labels first: the sums of its own unknowns in them."""

    rows: IntArray
    columns: IntArray
    entries: FloatArray
    n_equations: int
    n_unknowns: int
    counted: int

    @classmethod
    def of(cls, graph: FactorGraph, f: int) -> _Shape:
        sizes = tuple(graph.n_labels[graph.scope(f)].tolist())
        return _counts(len(sizes)) if _counted(graph, f) else _joint_labels(sizes)

    def scores(self, graph: FactorGraph, f: int) -> FloatArray:
        if not self.counted:
            return graph.table(f).ravel()
        # Only the last step, from c or c − 1 ones to c, knows the number of ones.
        n = self.counted
        values = graph.values[graph.value_offsets[f] :][: n + 1]
        return np.concatenate([np.zeros(self.n_unknowns - 2 * n), values[:-1], values[1:]])


@cache
def _joint_labels(sizes: tuple[int, ...]) -> _Shape:
    labels = np.indices(sizes).reshape(len(sizes), -1) + offsets_of(sizes)[:-1, None]
    n = labels.shape[1]
    columns = np.tile(np.arange(n), len(sizes))
    return _Shape(labels.ravel(), columns, np.ones(labels.size), sum(sizes), n, 0)


@cache
def _counts(n: int) -> _Shape:
    """A step (k, x, c) gives variable k the label x after c ones, of which there are at most k."""
    steps = [(k, x, c) for k in range(n) for x in (0, 1) for c in range(k + 1)]
    node = {(k, c): 2 * n + i for i, (k, c) in enumerate((k, c) for k in range(1, n) for c in range(k + 1))}
    found: list[tuple[int, int, float]] = []
    for column, (k, x, c) in enumerate(steps):
        found.append((2 * k + x, column, 1.0))
        if k > 0:
            found.append((node[k, c], column, 1.0))
        if k + 1 < n:
            found.append((node[k + 1, c + x], column, -1.0))
    rows, columns, entries = (np.array(each) for each in zip(*found, strict=True))
    return _Shape(rows, columns, entries.astype(float), 2 * n + len(node), len(steps), n)
