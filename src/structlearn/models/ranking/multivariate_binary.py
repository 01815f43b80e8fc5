"""The labels of a whole set of examples of two classes, with a loss that is no mean over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.labels import (
    LabelSequences,
    declared_classes,
    label_array,
    read_label_sequences,
)
from structlearn.data.options import choice_option
from structlearn.data.ragged import Ragged, summed
from structlearn.data.tokens.sequences import Sequences, read_sequences
from structlearn.losses.binary_labels import BINARY_LOSSES, BinaryLabels, BinaryLoss
from structlearn.models.base import Ability, ByDecoder, LinearSpec, Model
from structlearn.models.description import WeightBlock, blocks_of, column_names
from structlearn.models.explanation import PartFeatures
from structlearn.models.ranking.documents import Documents
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


class MultivariateBinary(Model):
    """Ψ(x, y) = (1/2n) Σ_j y_j x_j: the labels y_j = ±1 of all n rows of x are one output (SVM^perf, Joachims 2005).

    An example's input is a matrix, its output one of two labels for each row: a whole training set, or a document whose
    sentences are marked. Every row is predicted by the sign of ⟨w, x_j⟩; `fit_intercept=True` gives it a threshold. For
    losses of rankings of the rows, such as the ROC area or precision at k, see `Ranking`.

    Parameters
    ----------
    loss : {"f1", "error_rate"}
        Δ = 1 − F1 = 1 − 2 TP/(2 TP + FP + FN), which is 0 where neither truth nor prediction has positives; or the
        share of wrong labels, with which the slack is the mean of max(0, 1 − y_j ⟨w, x_j⟩), the ordinary SVM's.
    classes : (negative, positive), optional
        The two labels; None takes those observed in training in their order, so that of −1 and 1, 0 and 1, "no" and
        "yes" the second is the positive one.

    Notes
    -----
    C is the price of the slack of a whole set: for one set of n rows with the error rate it is n times that of
    ``LinearSVC(loss="hinge")``. The loss-augmented problem is solved exactly, in O(n log n).

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> x = [[2.0, 1.0], [1.0, 3.0], [0.0, 1.0], [0.5, 0.0], [0.1, 2.0]]
    >>> svm = StructuralSVM(MultivariateBinary("f1"), C=100, fit_intercept=True)
    >>> svm = svm.fit([x], [["yes", "yes", "no", "no", "no"]])
    >>> svm.predict([[[1.5, 1.0], [0.2, 1.0]]])
    [array(['yes', 'no'], dtype='<U3')]
    """

    @property
    def abilities(self) -> frozenset[Ability]:
        return frozenset({"explain"})

    def loss_in_words(self) -> str:
        return BINARY_LOSSES[self.loss].in_words()

    refusals: ClassVar[ByDecoder] = {
        "second_best": "the labels of a whole set are nearly never right, so that to count them alike says nothing",
        "k_best": "the best labellings of a set differ in the labels with the least scores only: X @ w_ says the same",
        "loss_levels": "every pair of counts has a loss of its own; the oracle goes through them for margins only",
        "sums": "the labels of a set are independent of each other: a likelihood of single labels is Multiclass()",
        "partial": "labels that are not known can be left out of the set",
    }

    @property
    def costs(self) -> ByDecoder:
        return {"best": "d", "loss_augmented": "d log d"}

    def __init__(self, loss: Literal["f1", "error_rate"] = "f1", classes: Sequence[Any] | None = None):
        self.loss = loss
        self.classes = classes

    def read(self, X: Any, Y: Any) -> tuple[Sequences, LabelSequences]:
        return read_sequences(X), read_label_sequences(Y)

    def check_options(self) -> None:
        choice_option("loss", self.loss, tuple(BINARY_LOSSES))

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        self.check_options()
        X, Y = self.read(X, Y)
        classes = Y.classes if self.classes is None else declared_classes(self.classes)
        if len(classes) != 2:
            what = "classes has" if self.classes is not None else "Y has"
            raise ValueError(f"{what} {len(classes)} different labels; MultivariateBinary needs two, declare `classes`")
        return LinearSpec(classes, X.tokens.shape[1], X.names)

    def named_weights(
        self, spec: LinearSpec, w: FloatArray, feature_names: Sequence[str] | None = None
    ) -> tuple[WeightBlock, ...]:
        return blocks_of(w, (str(spec.classes[1]), (column_names(spec, feature_names),)))

    def alternative(self, problem: MultivariateBinaryProblem, w: FloatArray, output: Any) -> Any:
        """The second best: rows score by themselves, so that the least sure of them has the other label."""
        return problem.runner_up(w, 0)

    def n_weights(self, spec: LinearSpec) -> int:
        if len(spec.classes) != 2:
            raise ValueError(f"classes has {len(spec.classes)} labels; it must have two")
        return spec.n_columns

    def bind(
        self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False
    ) -> MultivariateBinaryProblem:
        documents = Documents.bound(spec, X, intercept=spec.intercept)
        positive = None
        if Y is not None:
            positive = read_label_sequences(Y).coded(spec.classes, documents.offsets).astype(np.uint8)
        return MultivariateBinaryProblem(documents, positive, spec.classes, BINARY_LOSSES[self.loss])


class MultivariateBinaryProblem(Problem):
    """A `MultivariateBinary` bound to data. Outputs are arrays: 1 for the positive rows, 0 for others."""

    oracles = frozenset({"best", "loss_augmented"})

    def __init__(self, documents: Documents, positive: BinaryLabels | None, classes: Sequence[Any], loss: BinaryLoss):
        self.n_examples = len(documents)
        self.n_features = documents.flat.shape[1]
        self._documents = documents
        self._positive = positive
        self._labels = label_array(classes)
        self._loss = loss

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        rows, offsets = self._documents.places(examples)
        return Ragged((self._documents.scores(w, rows) > 0.0).astype(np.uint8), offsets)

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Ragged:
        assert self._positive is not None
        rows, offsets = self._documents.places(examples)
        scores = self._documents.scores(w, rows)
        return Ragged(self._loss.most_violating(scores, self._positive[rows], offsets, self.n_threads), offsets)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        assert self._positive is not None
        rows, offsets = self._documents.places(examples)
        truth, found = self._positive[rows], Ragged.of(outputs, np.uint8).flat
        sizes = np.diff(offsets)
        coefficients = (truth - found.astype(np.float64)) / np.repeat(sizes, sizes)
        return self._documents.combined(coefficients, rows, offsets), self._loss.values(truth, found, offsets)

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """See `ComposedProblem.differing_parts`: the rows that only one of the outputs has as positive ones."""
        assert self._positive is not None
        truths = Ragged(self._positive, self._documents.offsets)
        change = truths[0].astype(np.float64) - truths[1]
        return [
            PartFeatures.of_row(
                f"row {row}: {self._labels[1]}", change[row] / len(change) * self._documents.flat[[row]], change[row]
            )
            for row in np.flatnonzero(change).tolist()
        ]

    def runner_up(self, w: FloatArray, i: int) -> npt.NDArray[Any]:
        """The second best output of an example."""
        rows, _ = self._documents.places(np.array([i]))
        scores = self._documents.scores(w, rows)
        labels = (scores > 0.0).astype(np.int64)
        labels[np.abs(scores).argmin()] ^= 1
        found: npt.NDArray[Any] = self._labels[labels]
        return found

    def max_losses(self) -> FloatArray:
        return np.ones(self.n_examples)

    def radii(self) -> FloatArray:
        offsets = self._documents.offsets
        return np.asarray(summed(self._documents.norms(), offsets) / np.diff(offsets))

    def present(self, outputs: Outputs) -> list[npt.NDArray[Any]]:
        return [self._labels[np.asarray(output, np.int64)] for output in outputs]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "rows": int(self._documents.offsets[-1])}

    def fingerprint(self) -> str:
        assert self._positive is not None
        return self._documents.digest(self._positive, np.frombuffer(type(self._loss).__name__.encode(), np.uint8))
