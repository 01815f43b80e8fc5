"""Graphs with features of their nodes and edges: the inputs of which every node gets a label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from structlearn.data.examples import EDGES, NODES, is_listed
from structlearn.data.factor_graphs.building import attribute_of, checked_edges, edges_of_adjacency, numbered_edges
from structlearn.data.ragged import Ragged, offsets_of
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.wording import count, shown


@dataclass(frozen=True, eq=False)
class Network:
    """An undirected graph with features of its nodes, and perhaps of its edges.

    Models take ``(nodes, edges)`` and ``(nodes, edges, edge_features)`` for it as well.

    Parameters
    ----------
    nodes : (n_nodes, n_features) array or sparse matrix, or list of dicts
        The features of the nodes.
    edges : (n_edges, 2)
        Pairs of nodes, numbered from 0, each pair once. Where scores of label pairs are not symmetric, the label of the
        first node comes first.
    edge_features : (n_edges, n_edge_features) array or sparse matrix, or list of dicts, optional

    Examples
    --------
    >>> Network(np.eye(3), [(0, 1), (1, 2)])
    Network(3 nodes, 2 edges)
    """

    nodes: Any
    edges: npt.ArrayLike
    edge_features: Any = None

    @classmethod
    def from_adjacency(cls, nodes: Any, adjacency: Any) -> Network:
        """Nodes that are neighbours where a symmetric matrix, dense or sparse, is not zero.

        An edge goes from the lower number to the higher one, row after row.

        >>> Network.from_adjacency(np.eye(2), [[0, 1], [1, 0]]).edges.tolist()
        [[0, 1]]
        """
        edges, n = edges_of_adjacency(adjacency, of="node")
        if n != _length(nodes):
            raise ValueError(f"adjacency has {count(n, 'row')} but there are {count(_length(nodes), 'node')}")
        return cls(nodes, edges)

    @classmethod
    def from_networkx(cls, graph: Any, features: str, edge_features: str | None = None) -> Network:
        """The nodes and edges of an undirected networkx graph, in its order.

        Parameters
        ----------
        graph : networkx.Graph
        features, edge_features : str
            The attributes that hold the features of a node, and of an edge: arrays, or dicts.
        """
        edges, listed = numbered_edges(graph)
        nodes = [attribute_of(data, features, f"node {shown(node)}") for node, data in graph.nodes(data=True)]
        if edge_features is None:
            return cls(_rows(nodes), edges)
        of_edges = [attribute_of(data, edge_features, f"edge {shown((u, v))}") for u, v, data in listed]
        return cls(_rows(nodes), edges, _rows(of_edges))

    def __repr__(self) -> str:
        return f"Network({count(_length(self.nodes), 'node')}, {count(_length(self.edges), 'edge')})"


class Networks(Sequence[Network]):
    """Many networks as flat arrays, all checked.

    Attributes
    ----------
    nodes : Sequences
        The features of the nodes of one network after another.
    edges : Ragged
        The edges of each, (n_edges, 2), by the numbers of the nodes in their network.
    edge_features : Sequences or None
        Those of the edges, if there are any.
    """

    def __init__(self, nodes: Sequences, edges: Ragged, edge_features: Sequences | None):
        self.nodes = nodes
        self.edges = edges
        self.edge_features = edge_features

    def __len__(self) -> int:
        return len(self.nodes)

    @overload
    def __getitem__(self, which: int) -> Network: ...
    @overload
    def __getitem__(self, which: slice) -> Networks: ...
    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, (int, np.integer)):
            features = None if self.edge_features is None else self.edge_features[int(which)]
            return Network(self.nodes[int(which)], self.edges[int(which)], features)
        return self.take(np.arange(len(self))[which])

    def take(self, which: npt.ArrayLike) -> Networks:
        """The chosen networks, in the order given."""
        features = None if self.edge_features is None else self.edge_features.take(which)
        return Networks(self.nodes.take(which), self.edges.take(which), features)


def read_networks(X: Any) -> Networks:
    """Networks in any of the forms that users have them in, refused by name where something is wrong with one.

    >>> read_networks([(np.eye(3), [(0, 1)]), (np.eye(3)[:1], [])]).edges.lengths
    array([1, 0])
    """
    if isinstance(X, Networks):
        return X
    if not is_listed(X) or isinstance(X, np.ndarray):
        raise ValueError(f"X is {shown(X)}; expected a list of networks, each (nodes, edges) or a Network")
    if len(X) == 0:
        raise ValueError("X is empty; at least one network is needed")
    given = [_network(x, i) for i, x in enumerate(X)]
    nodes = read_sequences([x.nodes for x in given], words=NODES)
    edges = []
    for i, (x, n) in enumerate(zip(given, nodes.lengths.tolist(), strict=True)):
        edges.append(checked_edges(x.edges, n, name=f"edge {{}} of X[{i}]", of="node"))
    lengths = np.array([len(one) for one in edges])
    flat = np.concatenate(edges).reshape(-1, 2)
    return Networks(nodes, Ragged(flat, offsets_of(lengths)), _edge_features(given, lengths))


def _network(x: Any, i: int) -> Network:
    if isinstance(x, (tuple, list)) and len(x) in (2, 3):
        x = Network(*x)
    if isinstance(x, Network):
        if isinstance(x.nodes, Mapping):
            raise ValueError(f"X[{i}].nodes is a dict, as of nodes of several types: these are for TypedGraph")
        return x
    raise ValueError(f"X[{i}] is {shown(x)}; expected (nodes, edges), (nodes, edges, edge_features) or a Network")


def _edge_features(given: list[Network], lengths: npt.NDArray[np.int64]) -> Sequences | None:
    """Of all edges, or of none."""
    has = np.array([x.edge_features is not None for x in given])
    lacking = np.flatnonzero(~has & (lengths > 0))
    if not has.any():
        return None
    if len(lacking):
        i, j = int(lacking[0]), int(np.argmax(has))
        raise ValueError(f"X[{j}] has features of edges but X[{i}] has none")
    features = [x.edge_features if there else [] for x, there in zip(given, has, strict=True)]
    for i, one in enumerate(features):
        if _length(one) != lengths[i]:
            raise ValueError(
                f"X[{i}] has {count(int(lengths[i]), 'edge')} but features of {count(_length(one), 'edge')}"
            )
    if not lengths.any():
        widths = [one.shape[1] for one in features if getattr(one, "ndim", 0) == 2]
        return Sequences(np.empty((0, max(widths, default=0))), lengths)
    return read_sequences(features, empty=True, words=EDGES)


def _rows(values: list[Any]) -> Any:
    """Arrays as the rows of one; dicts as they are."""
    return np.array(values, np.float64) if values and not isinstance(values[0], dict) else values


def _length(values: Any) -> int:
    return int(values.shape[0]) if hasattr(values, "shape") else len(values)
