"""Outputs that are sequences of labels, a label a token."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.labels import declared_classes, label_array, partial_label, read_label_sequences
from structlearn.data.options import real_option
from structlearn.data.ragged import locate
from structlearn.data.tokens.sequences import read_sequences
from structlearn.inference.chain_tables import best_sequences, farthest_sequences, sequence_marginals
from structlearn.models.chain.chain import Chain
from structlearn.outputs.base import Columns, Rows, part_rows
from structlearn.outputs.coded import CodedOutputs, largest, most_worthwhile, softmax
from structlearn.outputs.labels import check_similarity, label_products, label_vectors, squared_distances
from structlearn.wording import shown


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
        read = read_label_sequences(Y)
        classes = read.classes
        if None in classes:
            i, t = locate(read.offsets, int(np.argmax(read.flat == classes.index(None))))
            raise partial_label(f"Y[{i}][{t}]", None)
        if len(classes) == 1:
            raise ValueError(f"all tokens of Y have one label, {shown(classes[0])}; two are needed")
        self.classes_ = label_array(classes)
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

    def n_parts(self) -> int:
        return self.n_coordinates()

    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        k, rows, labels = len(self.classes_), np.arange(len(codes)), codes.astype(np.int64)
        if not self.edges:
            return rows, labels
        followed = np.ones(len(rows), bool)
        followed[offsets[1:][np.diff(offsets) > 0] - 1] = False
        before = rows[followed]
        return np.concatenate([rows, before]), np.concatenate([labels, k + k * labels[before] + labels[before + 1]])

    def combined(self, parts: FloatArray) -> FloatArray:
        return self._turned(parts)

    def scores(self, vectors: FloatArray) -> FloatArray:
        return self._turned(vectors)

    def _turned(self, numbers: FloatArray) -> FloatArray:
        """Numbers of labels turned by s = √S, and √η times those of pairs by s ⊗ s: coordinates of parts, or back."""
        k = len(self.classes_)
        turned = np.array(numbers)
        turned[:, k:] *= np.sqrt(float(self.edges))
        if self.similarity is not None:
            s = label_vectors(self.similarity, k)
            turned[:, :k] = turned[:, :k] @ s
            if self.edges:
                turned[:, k:] = (s @ turned[:, k:].reshape(-1, k, k) @ s).reshape(len(turned), k * k)
        return turned

    def part_norms(self) -> FloatArray:
        norms = np.diag(label_products(self.similarity, len(self.classes_)))
        pairs = float(self.edges) * np.multiply.outer(norms, norms)
        return np.concatenate([norms, pairs.ravel()]) if self.edges else norms

    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray:
        return best_sequences(*self._tables(scores), offsets) if self.edges else largest(scores)

    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        if self.edges:
            return farthest_sequences(*self._tables(scores), offsets, truths, 2.0, 2.0 * float(self.edges))
        rows = np.arange(len(truths))
        others = scores.copy()
        others[rows, truths] = -np.inf
        found = truths.copy()
        gains = others.max(axis=1) - scores[rows, truths]
        for begin, end in pairwise(offsets):
            changed = begin + most_worthwhile(gains[begin:end], 2.0)
            found[changed] = largest(others[changed])
        return found

    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray:
        if not self.edges:
            return softmax(scores)
        nodes, pairs = sequence_marginals(*self._tables(scores), offsets)
        return np.hstack([nodes, pairs.reshape(len(pairs), nodes.shape[1] ** 2)])

    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray:
        found = np.zeros((len(truths), self.n_parts()))
        k = len(self.classes_)
        if loss == "hamming":
            found[:, :k] = np.arange(k) != truths[:, None]
            return found
        S = label_products(self.similarity, k)
        found[:, :k] = squared_distances(S)[truths]
        if self.edges:
            before, norms = self.parts(truths, offsets)[0][len(truths) :], np.diag(S)
            here, following = truths[before], truths[before + 1]
            own = np.multiply.outer(norms, norms) + (norms[here] * norms[following])[:, None, None]
            apart = own - 2.0 * S[here][:, :, None] * S[following][:, None, :]
            found[before, k:] = float(self.edges) * apart.reshape(len(before), k * k)
        return found

    def check_loss(self, loss: str) -> None:
        super().check_loss(loss)
        if loss == "distance" and self.similarity is not None:
            raise ValueError(
                "loss is 'distance', which counts the labels and pairs of sequences that are wrong, but with a "
                "similarity they are so by degrees; take loss='squared' or leave similarity out"
            )

    def _tables(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        k = len(self.classes_)
        return scores[:, :k], scores[:, k:].reshape(-1, k, k)

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """The share of labels that are right, of sequences with weights."""
        classes = tuple(self.classes_.tolist())
        truth, found = (read_label_sequences(y).coded(classes, offsets, allow_unknown=True) for y in (Y, predicted))
        return float(np.average(truth == found, weights=np.repeat(sample_weight, np.diff(offsets))))

    def check_learnt(self) -> None:
        self.classes_ = label_array(declared_classes(self.classes_, "classes_"))
        check_similarity(self.similarity, len(self.classes_))
