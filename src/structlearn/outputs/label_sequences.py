"""Outputs that are sequences of labels, a label a token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.labels import declared_classes, label_array, read_label_sequences
from structlearn.data.options import real_option
from structlearn.data.tokens.sequences import read_sequences
from structlearn.models.chain.chain import Chain
from structlearn.outputs.base import Columns, Rows, part_rows
from structlearn.outputs.coded import CodedOutputs
from structlearn.outputs.labels import check_similarity, label_vectors


class LabelSequenceOutputs(CodedOutputs):
    """A label a token: K_Y(y, y′) = Σ_t S(y_t, y′_t) + η Σ_t S(y_t, y′_t) S(y_{t+1}, y′_{t+1}).

    Every token has a vector: that of its label, and that of its label and the next one. So a kernel of tokens serves
    sequences of all lengths, and the nearest sequence is found exactly, by dynamic programming.

    Parameters
    ----------
    edges : float
        η ≥ 0, what pairs of neighbours count beside single labels; 0 leaves them out, and tokens are labelled each for
        itself.
    similarity : (n_labels, n_labels) array, optional
        S, positive semidefinite, labels in sorted order; S(a, b) = [a = b] without it.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> X = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    >>> ridge = VectorValuedRidge(LabelSequenceOutputs(), "linear", lam=0.01).fit(X, [["a", "b"], ["b", "a"]])
    >>> ridge.predict([[[0.9, 0.1], [0.2, 0.8], [1.0, 0.0]]])
    [['a', 'b', 'a']]
    """

    def __init__(self, edges: float = 1.0, similarity: npt.ArrayLike | None = None):
        self.edges = edges
        self.similarity = similarity

    def check_options(self) -> None:
        real_option("edges", self.edges)
        check_similarity(self.similarity)

    def read(self, X: Any, columns: Columns | None) -> Rows:
        return part_rows(read_sequences(X) if columns is None else X, columns)

    def fit(self, Y: Any) -> Self:
        self.classes_ = label_array(read_label_sequences(Y).classes)
        self.check_learnt()
        return self

    def model(self) -> Chain:
        return Chain(self.classes_.tolist())

    def n_coordinates(self) -> int:
        k = len(self.classes_)
        return k + k * k if self.edges else k

    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        return read_label_sequences(Y).coded(tuple(self.classes_.tolist()), offsets)

    def decode(self, codes: LabelArray, offsets: IntArray) -> list[list[Any]]:
        labels = [self.classes_.tolist()[c] for c in codes]
        return [labels[begin:end] for begin, end in pairwise(offsets)]

    def vectors(self, codes: LabelArray, offsets: IntArray) -> FloatArray:
        nodes = label_vectors(self.similarity, len(self.classes_))[codes]
        if not self.edges:
            return np.asarray(nodes)
        following = np.vstack([nodes[1:], np.zeros((1, nodes.shape[1]))])[: len(nodes)]
        following[offsets[1:] - 1] = 0.0
        pairs = np.einsum("ta,tb->tab", np.sqrt(float(self.edges)) * nodes, following)
        return np.hstack([nodes, pairs.reshape(len(nodes), nodes.shape[1] ** 2)])

    def nearest_codes(self, vectors: FloatArray, offsets: IntArray) -> LabelArray:
        nodes, pairs = self._scores(vectors)
        s = label_vectors(self.similarity, len(self.classes_))
        norms = (s * s).sum(axis=1)
        if pairs is not None:
            pairs = 2.0 * pairs - self.edges * np.multiply.outer(norms, norms)
        return best_paths(2.0 * nodes - norms, pairs, offsets)

    def best_codes(self, vectors: FloatArray, offsets: IntArray) -> LabelArray:
        return best_paths(*self._scores(vectors), offsets)

    def violating_codes(self, vectors: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        nodes, pairs = self._scores(vectors)
        return best_paths(nodes + (np.arange(nodes.shape[1]) != truths[:, None]), pairs, offsets)

    def _scores(self, vectors: FloatArray) -> tuple[FloatArray, FloatArray | None]:
        """⟨f, ỹ⟩ as scores of the labels of tokens, and of pairs of these with the next ones."""
        s, k = label_vectors(self.similarity, len(self.classes_)), len(self.classes_)
        nodes = vectors[:, :k] @ s.T
        if not self.edges:
            return nodes, None
        pairs = np.einsum("ac,tcd,bd->tab", s, vectors[:, k:].reshape(-1, k, k), s, optimize=True)
        return nodes, np.sqrt(float(self.edges)) * pairs

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """The share of labels that are right, of sequences with weights."""
        classes = tuple(self.classes_.tolist())
        truth, found = (read_label_sequences(y).coded(classes, offsets, allow_unknown=True) for y in (Y, predicted))
        return float(np.average(truth == found, weights=np.repeat(sample_weight, np.diff(offsets))))

    def check_learnt(self) -> None:
        self.classes_ = label_array(declared_classes(self.classes_, "classes_"))
        check_similarity(self.similarity, len(self.classes_))


def best_paths(nodes: FloatArray, pairs: FloatArray | None, offsets: IntArray) -> LabelArray:
    """`best_path` of every sequence; without pairs, the best label of every token."""
    if pairs is None:
        return np.asarray(nodes.argmax(axis=1), np.int32)
    found = [best_path(nodes[begin:end], pairs[begin:end]) for begin, end in pairwise(offsets)]
    return np.concatenate([np.empty(0, np.int32), *found])


def best_path(nodes: FloatArray, pairs: FloatArray) -> LabelArray:
    """The labels y with the largest Σ_t nodes[t, y_t] + Σ_t pairs[t, y_t, y_{t+1}]; the last table is not used.

    >>> best_path(np.array([[1.0, 0.0], [0.0, 0.5]]), np.array([[[1.0, 0.0], [0.0, 0.0]]] * 2)).tolist()
    [0, 0]
    """
    T, k = nodes.shape
    before = np.zeros((T, k), np.int32)
    best = nodes[0] if T else np.zeros(k)
    for t in range(1, T):
        reached = best[:, None] + pairs[t - 1]
        before[t] = reached.argmax(axis=0)
        best = reached.max(axis=0) + nodes[t]
    found = np.zeros(T, np.int32)
    if T:
        found[-1] = best.argmax()
    for t in range(T - 1, 0, -1):
        found[t - 1] = before[t, found[t]]
    return found
