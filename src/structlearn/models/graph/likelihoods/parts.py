"""Where the parts of some graphs stand in the flat array of their scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.ragged import offsets_of, owners_of, places_of, ranks_of
from structlearn.models.graph.factor_tables import FactorTable


@dataclass(frozen=True)
class GraphParts:
    """The nodes and edges of all examples, and what their parts are.

    Attributes
    ----------
    offsets, edge_offsets : (n_examples + 1,)
    edges : (n_edges, 2)
        Numbers of nodes in their graph.
    n_labels : int
    table : FactorTable or None
    shared : bool
        Whether all edges of a graph have the same parts, since they have no features.
    allowed : (n_nodes, n_labels) or None
    """

    offsets: IntArray
    edges: LabelArray
    edge_offsets: IntArray
    n_labels: int
    table: FactorTable | None
    shared: bool
    allowed: Flags | None

    def of(self, examples: IntArray) -> ChosenParts:
        """Those of some examples, one after another."""
        return ChosenParts(self, examples)


class ChosenParts:
    """The parts of some examples.

    Attributes
    ----------
    nodes : (n_nodes,)
        Their numbers among those of all examples.
    node_offsets, edge_offsets : (n_chosen + 1,)
    at_nodes : (n_nodes, n_labels)
        Where the parts of each node stand.
    ends : (2, n_edges)
        First and second nodes, counted through all chosen examples.
    at_edges : (n_edges,)
        Where the parts of each edge begin.
    """

    def __init__(self, graphs: GraphParts, examples: IntArray):
        self.graphs = graphs
        L, width = graphs.n_labels, self.width
        self.nodes, self.node_offsets = places_of(graphs.offsets, examples)
        edges, self.edge_offsets = places_of(graphs.edge_offsets, examples)
        n_nodes, n_edges = np.diff(self.node_offsets), np.diff(self.edge_offsets)
        self.begins = offsets_of(L * n_nodes + (width if graphs.shared else width * n_edges))
        of_edge = owners_of(self.edge_offsets)
        first = self.begins[:-1][owners_of(self.node_offsets)] + L * ranks_of(self.node_offsets)
        self.at_nodes: IntArray = first[:, None] + np.arange(L)
        self.ends: IntArray = (graphs.edges[edges] + self.node_offsets[of_edge][:, None]).T.astype(np.int64)
        self.at_edges: IntArray = (self.begins[:-1] + L * n_nodes)[of_edge]
        if not graphs.shared:
            self.at_edges = self.at_edges + width * ranks_of(self.edge_offsets)

    @property
    def n_examples(self) -> int:
        return len(self.begins) - 1

    @property
    def n_parts(self) -> int:
        return int(self.begins[-1])

    @property
    def width(self) -> int:
        return 0 if self.graphs.table is None else self.graphs.table.width

    @cached_property
    def columns(self) -> IntArray:
        """The part of each pair of labels, −1 for none, (n_labels, n_labels)."""
        L, table = self.graphs.n_labels, self.graphs.table
        return np.full((L, L), -1) if table is None else table.columns.reshape(L, L).astype(np.int64)

    @property
    def allowed(self) -> Flags | None:
        return None if self.graphs.allowed is None else self.graphs.allowed[self.nodes]

    def gathered(self, values: FloatArray, at: IntArray) -> FloatArray:
        """The values of some parts, 0 for those below zero, which are none."""
        if not len(values):
            return np.zeros(at.shape)
        return np.where(at >= 0, values[np.maximum(at, 0)], 0.0)

    def scattered(self, values: FloatArray, at: IntArray) -> FloatArray:
        """What all parts get in sum, from values of some of them."""
        there = at >= 0
        return np.bincount(at[there], values[there], self.n_parts).astype(np.float64)

    def at_pairs(self, columns: IntArray) -> IntArray:
        """Where parts of edges stand, from their columns; (n_edges, …)."""
        return np.where(columns >= 0, self.at_edges.reshape(-1, *[1] * (columns.ndim - 1)) + columns, -1)
