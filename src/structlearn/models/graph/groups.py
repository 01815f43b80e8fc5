"""What graphs bound to data are made of: nodes that share labels and weights, and factors that share weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.models.graph.factor_tables import FactorTable


@dataclass(frozen=True)
class NodeGroup:
    """Nodes of all examples with the same labels, those of one example after another.

    Attributes
    ----------
    tokens : TokenMatrix
        Their features.
    offsets : (n_examples + 1,)
    classes : sequence
    rows : (n_examples + 1,), optional
        Where the features of each example begin, if a row has those of `nodes_a_row` nodes, with weights of their own.
    """

    tokens: TokenMatrix
    offsets: IntArray
    classes: Sequence[Any]
    rows: IntArray | None = None
    nodes_a_row: int = 1

    @property
    def row_offsets(self) -> IntArray:
        return self.offsets if self.rows is None else self.rows

    @property
    def counts(self) -> IntArray:
        """How many nodes each example has."""
        return np.diff(self.offsets)

    @property
    def width(self) -> int:
        """Parts that a row of the features scores."""
        return self.nodes_a_row * len(self.classes)

    def feature_totals(self) -> FloatArray:
        return np.asarray(self.nodes_a_row * summed(self.tokens.totals("node"), self.row_offsets))

    def squared_radii(self) -> FloatArray:
        # Every node moves from one part to another at most.
        return np.asarray(2.0 * self.nodes_a_row * summed(self.tokens.norms(), self.row_offsets) ** 2)


@dataclass(frozen=True)
class FactorGroup:
    """Factors of all examples over as many nodes each, which share their weights.

    Attributes
    ----------
    scopes : (n_factors, n_nodes)
        Numbers of nodes in their example, where nodes of one group follow those of another.
    offsets : (n_examples + 1,)
    table : FactorTable or None
        None for those that score nothing.
    tokens : TokenMatrix or None
        Their features; without them all factors of an example have the same parts.
    """

    scopes: LabelArray
    offsets: IntArray
    table: FactorTable | None
    tokens: TokenMatrix | None = None

    @property
    def shared(self) -> bool:
        return self.tokens is None

    @property
    def width(self) -> int:
        return 0 if self.table is None else self.table.width

    def of(self, i: int) -> LabelArray:
        """The scopes of an example."""
        return self.scopes[self.offsets[i] : self.offsets[i + 1]]

    def core(self) -> _core.FactorTemplate:
        assert self.table is not None
        scopes = np.ascontiguousarray(self.scopes, np.int32)
        arity = scopes.shape[1]
        return _core.FactorTemplate(self.offsets, scopes.ravel(), arity, self.table.columns, self.width, self.shared)

    def feature_totals(self) -> FloatArray:
        if self.table is None:
            return np.zeros(len(self.offsets) - 1)
        if self.tokens is None:
            return np.diff(self.offsets).astype(np.float64)
        return np.asarray(summed(self.tokens.totals("edge" if self.scopes.shape[1] == 2 else "factor"), self.offsets))

    def squared_radii(self) -> FloatArray:
        if self.table is None:
            return np.zeros(len(self.offsets) - 1)
        norms = np.diff(self.offsets) if self.tokens is None else summed(self.tokens.norms(), self.offsets)
        return np.asarray(2.0 * norms**2)
