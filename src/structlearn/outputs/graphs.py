"""Outputs that are labels of the nodes of graphs, with a vector for every node."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.examples import NODES
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.labels import declared_classes, label_array, read_label_sequences
from structlearn.data.networks import read_networks
from structlearn.data.options import choice_option, real_option
from structlearn.data.ragged import Ragged
from structlearn.inference.graphs import best_labelling
from structlearn.inference.graphs.registry import MAP_ENGINES
from structlearn.outputs.base import Columns, Outputs, Preimages, Rows, part_rows
from structlearn.outputs.labels import check_similarity, label_vectors
from structlearn.wording import shown


class Nodes(NamedTuple):
    """Where the nodes of graphs begin among those of all, and the edges of each by the numbers of its nodes."""

    offsets: IntArray
    edges: Ragged

    @property
    def ends(self) -> IntArray:
        """All edges by the numbers that nodes have among those of all graphs, (n_edges, 2)."""
        return np.asarray(self.edges.flat + np.repeat(self.offsets[:-1], self.edges.lengths)[:, None])


class GraphOutputs(Outputs):
    """A label a node: K_Y(y, y′) = Σ_i S(y_i, y′_i) + η Σ_ij S(y_i, y′_i) S(y_j, y′_j) over nodes i and edges ij.

    Every node has a vector: that of its label, and the mean of those of its label and a neighbour's. Of f(x) each edge
    has the vectors that its two nodes have for pairs, so that a kernel of nodes serves graphs of all shapes. The
    nearest labels are found by an engine for graphs: exactly on trees and where the engine can prove it, which
    `VectorValuedRidge.preimages` tells. X are networks and Y labels of their nodes, as `Graph` takes them; features of
    edges play no part and are refused.

    Parameters
    ----------
    edges : float
        η ≥ 0, what pairs of neighbours count beside single labels; 0 leaves them out, and nodes are labelled each for
        itself.
    similarity : (n_labels, n_labels) array, optional
        S, positive semidefinite, labels in sorted order; S(a, b) = [a = b] without it.
    engine : str
        What finds the nearest labels: an engine of `structlearn.inference.best_labelling` by name.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> path = [(0, 1), (1, 2)]
    >>> X = [([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], path), ([[0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], path)]
    >>> ridge = VectorValuedRidge(GraphOutputs(), "linear", lam=0.01).fit(X, [["a", "a", "b"], ["b", "b", "a"]])
    >>> ridge.preimages([([[0.9, 0.1], [0.2, 0.8]], [(0, 1)])])
    Preimages(outputs=[['a', 'b']], exact=array([ True]))
    """

    def __init__(self, edges: float = 1.0, similarity: npt.ArrayLike | None = None, engine: str = "auto"):
        self.edges = edges
        self.similarity = similarity
        self.engine = engine

    def check_options(self) -> None:
        real_option("edges", self.edges)
        check_similarity(self.similarity)
        choice_option("engine", self.engine, ("auto", *MAP_ENGINES))

    def read(self, X: Any, columns: Columns | None) -> Rows:
        networks = read_networks(X)
        if networks.edge_features is not None:
            i = int(np.argmax(networks.edge_features.lengths > 0))
            raise ValueError(f"X[{i}] has features of edges, but vectors are learnt from those of nodes")
        rows = part_rows(networks.nodes, columns, NODES)
        return rows._replace(places=Nodes(rows.offsets, networks.edges))

    def fit(self, Y: Any) -> Self:
        classes = read_label_sequences(Y, NODES).classes
        if len(classes) == 1:
            raise ValueError(f"all nodes of Y have one label, {shown(classes[0])}; two are needed")
        self.classes_ = label_array(classes)
        self.check_learnt()
        return self

    def n_coordinates(self) -> int:
        k = len(self.classes_)
        return k + k * k if self.edges else k

    def targets(self, Y: Any, places: Nodes) -> FloatArray:
        codes = read_label_sequences(Y, NODES).coded(tuple(self.classes_.tolist()), places.offsets, words=NODES)
        labels = label_vectors(self.similarity, len(self.classes_))[codes]
        if not self.edges:
            return np.asarray(labels)
        neighbours, degrees = np.zeros_like(labels), np.zeros(len(labels))
        for here, there in (places.ends.T, places.ends.T[::-1]):
            np.add.at(neighbours, here, labels[there])
            np.add.at(degrees, here, 1.0)
        means = neighbours / np.maximum(degrees, 1.0)[:, None]
        # Half of η at either end.
        pairs = np.sqrt(self.edges / 2.0) * labels[:, :, None] * means[:, None, :]
        return np.hstack([labels, pairs.reshape(len(labels), -1)])

    def nearest(self, vectors: FloatArray, places: Nodes) -> list[list[Any]]:
        found: list[list[Any]] = self.preimages(vectors, places).outputs
        return found

    def preimages(self, vectors: FloatArray, places: Nodes) -> Preimages:
        nodes, pairs = self._scores(vectors, places)
        classes, outputs, exact = self.classes_.tolist(), [], []
        bounds = zip(pairwise(places.offsets.tolist()), pairwise(places.edges.offsets.tolist()), strict=True)
        for i, ((begin, end), (first, last)) in enumerate(bounds):
            tables = None if pairs is None else pairs[first:last]
            codes, proven = self._best(nodes[begin:end], places.edges[i], tables)
            outputs.append([classes[c] for c in codes.tolist()])
            exact.append(proven)
        return Preimages(outputs, np.array(exact, np.bool_))

    def _best(self, nodes: FloatArray, edges: IntArray, pairs: FloatArray | None) -> tuple[LabelArray, bool]:
        if pairs is None or not len(pairs):
            return np.asarray(nodes.argmax(axis=1), np.int32), True
        found = best_labelling(FactorGraph.pairwise(nodes, edges, pairs), self.engine)
        return found.labels, found.exact

    def _scores(self, vectors: FloatArray, places: Nodes) -> tuple[FloatArray, FloatArray | None]:
        """2⟨f, ỹ⟩ − ‖ỹ‖² as scores of the labels of nodes, and of the pairs at edges."""
        k = len(self.classes_)
        s = label_vectors(self.similarity, k)
        norms = (s * s).sum(axis=1)
        nodes = 2.0 * vectors[:, :k] @ s.T - norms
        if not self.edges:
            return nodes, None
        at_nodes = np.einsum("ac,tcd,bd->tab", s, vectors[:, k:].reshape(-1, k, k), s, optimize=True)
        left, right = places.ends.T
        both = at_nodes[left] + at_nodes[right].transpose(0, 2, 1)
        return nodes, np.sqrt(2.0 * self.edges) * both - self.edges * np.multiply.outer(norms, norms)

    def score(self, Y: Any, predicted: Any, places: Nodes, sample_weight: FloatArray) -> float:
        """The share of labels that are right, of graphs with weights."""
        classes, offsets = tuple(self.classes_.tolist()), places.offsets
        truth, found = (
            read_label_sequences(y, NODES).coded(classes, offsets, allow_unknown=True, words=NODES)
            for y in (Y, predicted)
        )
        return float(np.average(truth == found, weights=np.repeat(sample_weight, np.diff(offsets))))

    def check_learnt(self) -> None:
        self.classes_ = label_array(declared_classes(self.classes_, "classes_"))
        check_similarity(self.similarity, len(self.classes_))
