"""Outputs that are labels, one or a set of them an example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_flag
from structlearn.data.label_sets import read_label_sets
from structlearn.data.labels import (
    LabelCodes,
    declared_classes,
    label_array,
    observed_classes,
    partial_label,
    read_labels,
)
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.kernels.gram import check_psd
from structlearn.models.multiclass.multiclass import Multiclass
from structlearn.models.multilabel.multilabel import MultiLabel
from structlearn.outputs.coded import CodedOutputs, largest, most_worthwhile, softmax
from structlearn.outputs.vectors import check_length
from structlearn.wording import shown


class LabelOutputs(CodedOutputs):
    """One label an example: unit vectors, or vectors whose inner products say how alike labels are.

    Parameters
    ----------
    similarity : (n_labels, n_labels) array, optional
        S with ⟨ỹ, ỹ′⟩ = S(y, y′), positive semidefinite, labels in sorted order.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> ridge = VectorValuedRidge(LabelOutputs(), "linear", lam=0.01).fit([[1.0, 0.0], [0.0, 1.0]], ["east", "north"])
    >>> ridge.predict([[0.2, 0.7]]).tolist()
    ['north']
    """

    def __init__(self, similarity: npt.ArrayLike | None = None):
        self.similarity = similarity

    def check_options(self) -> None:
        check_similarity(self.similarity)

    def fit(self, Y: Any) -> Self:
        if Y is not None:
            check_examples("y", Y)
        labels = read_labels(Y)
        if None in labels:
            raise partial_label(f"y[{labels.index(None)}]", None)
        classes = observed_classes(labels)
        if not classes:
            raise ValueError("y is empty; at least one example is needed")
        if len(classes) < 2:
            raise ValueError(f"y has one class only, {shown(classes[0])}; two are needed")
        self.classes_ = label_array(classes)
        self.check_learnt()
        return self

    def model(self) -> Multiclass:
        return Multiclass(self.classes_.tolist())

    def n_coordinates(self) -> int:
        return len(self.classes_)

    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        labels = read_labels(Y)
        check_length(len(labels), offsets)
        return LabelCodes(self.classes_.tolist()).encode(labels, "Y")

    def decode(self, codes: LabelArray, offsets: IntArray) -> npt.NDArray[Any]:
        return np.asarray(self.classes_[codes])

    def n_parts(self) -> int:
        return len(self.classes_)

    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        return np.arange(len(codes)), codes.astype(np.int64)

    def combined(self, parts: FloatArray) -> FloatArray:
        return parts if self.similarity is None else parts @ label_vectors(self.similarity, len(self.classes_))

    def scores(self, vectors: FloatArray) -> FloatArray:
        return vectors if self.similarity is None else vectors @ label_vectors(self.similarity, len(self.classes_)).T

    def part_norms(self) -> FloatArray:
        return np.diag(label_products(self.similarity, len(self.classes_)))

    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray:
        return largest(scores)

    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        return largest(scores + np.sqrt(self.part_losses(truths, offsets, "squared")))

    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray:
        return softmax(scores)

    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray:
        if loss == "hamming":
            return np.asarray(np.arange(len(self.classes_)) != truths[:, None], np.float64)
        return np.asarray(squared_distances(label_products(self.similarity, len(self.classes_)))[truths])

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """The share of labels that are right."""
        codes = LabelCodes(self.classes_.tolist(), allow_unknown=True)
        truth, found = (codes.encode(read_labels(y), "Y") for y in (Y, predicted))
        check_length(len(truth), offsets)
        return float(np.average(truth == found, weights=sample_weight))

    def check_learnt(self) -> None:
        self.classes_ = label_array(declared_classes(self.classes_, "classes_"))
        check_similarity(self.similarity, len(self.classes_))


class LabelSetOutputs(CodedOutputs):
    """A set of labels an example: a coordinate for each label, 1 for those that it has.

    ‖f(x) − ỹ‖² is a sum over labels, so that the nearest set has the labels whose coordinate is above ½. Y are sets, or
    a table of zeros and ones, as `MultiLabel` takes them.

    Parameters
    ----------
    classes : sequence, optional
        The labels. None takes those observed in training, or the numbers of the columns where Y is a table.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> ridge = VectorValuedRidge(LabelSetOutputs(), "linear", lam=0.01)
    >>> ridge = ridge.fit([[1.0, 0.0], [0.0, 1.0]], [{"sea", "sun"}, {"snow", "sun"}])
    >>> [sorted(y) for y in ridge.predict([[1.0, 0.1]])]
    [['sea', 'sun']]
    """

    def __init__(self, classes: Sequence[Any] | None = None):
        self.classes = classes

    def check_options(self) -> None:
        if self.classes is not None:
            declared_classes(self.classes)

    def fit(self, Y: Any) -> Self:
        sets = read_label_sets(Y)
        self.by_name_ = sets.classes is not None
        observed = sets.classes if sets.classes is not None else tuple(range(sets.table.shape[1]))
        classes = observed if self.classes is None else declared_classes(self.classes)
        if not classes:
            raise ValueError("no example of y has a label")
        self.classes_ = label_array(classes)
        return self

    def model(self) -> MultiLabel:
        return MultiLabel(self.classes_.tolist())

    def n_coordinates(self) -> int:
        return len(self.classes_)

    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        sets = read_label_sets(Y)
        check_length(len(sets), offsets)
        return sets.coded(self.classes_.tolist(), by_name=self.by_name_)

    def decode(self, codes: LabelArray, offsets: IntArray) -> Any:
        if not self.by_name_:
            return codes.astype(np.int64)
        classes = self.classes_.tolist()
        return [{classes[k] for k in np.flatnonzero(row)} for row in codes]

    def n_parts(self) -> int:
        return len(self.classes_)

    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        rows, labels = np.nonzero(codes)
        return rows, labels

    def combined(self, parts: FloatArray) -> FloatArray:
        return parts

    def scores(self, vectors: FloatArray) -> FloatArray:
        return vectors

    def part_norms(self) -> FloatArray:
        return np.ones(len(self.classes_))

    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray:
        return (scores > 0.0).astype(np.int32)

    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        found = truths.copy()
        for codes, gains in zip(found, np.where(truths == 1, -scores, scores), strict=True):
            changed = most_worthwhile(gains, 1.0)
            codes[changed] = 1 - codes[changed]
        return found

    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray:
        return np.asarray(expit(scores))

    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray:
        # A label that is true costs 1 to leave out, another 1 to put in; so do these vectors, squared.
        return np.where(truths == 1, -1.0, 1.0)

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """The share of labels, of all examples, that are there or not as they should be."""
        wrong = self.encode(Y, offsets) != self.encode(predicted, offsets)
        return float(1.0 - np.average(wrong.mean(axis=1), weights=sample_weight))

    def check_learnt(self) -> None:
        check_flag("by_name_", self.by_name_)
        self.classes_ = label_array(declared_classes(self.classes_, "classes_"))


def check_similarity(similarity: Any, n_labels: int | None = None) -> None:
    if similarity is None:
        return
    S = checked_numbers(similarity, "similarity")
    if S.ndim != 2 or S.shape[0] != S.shape[1] or (n_labels is not None and len(S) != n_labels):
        size = "a square matrix" if n_labels is None else f"a matrix of {n_labels} × {n_labels} labels"
        raise ValueError(f"similarity has shape {S.shape}; expected {size}")
    check_finite(S, lambda i, j: f"similarity[{i}, {j}]")
    check_psd(S, name="similarity")


def label_products(similarity: Any, n_labels: int) -> FloatArray:
    return np.eye(n_labels) if similarity is None else np.asarray(similarity, np.float64)


def label_vectors(similarity: Any, n_labels: int) -> FloatArray:
    """√S: rows s_a with ⟨s_a, s_b⟩ = S(a, b); unit vectors without S."""
    return _root(label_products(similarity, n_labels).tobytes(), n_labels)


@lru_cache(maxsize=8)
def _root(S: bytes, n: int) -> FloatArray:
    values, vectors = np.linalg.eigh(np.frombuffer(S).reshape(n, n))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def squared_distances(S: FloatArray) -> FloatArray:
    """‖s_a − s_b‖² of vectors with the inner products S."""
    own = np.diag(S)
    return np.asarray(np.maximum(own[:, None] + own - 2.0 * S, 0.0))
