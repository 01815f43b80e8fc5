"""Sets of labels of the experiment on vector-valued prediction: data, learners, settings and measures."""

from __future__ import annotations

from functools import cache
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from label_sets import represented
from label_sets_page import Judged

from structlearn import (
    ConditionalRandomField,
    KernelStructuralSVM,
    StructuralSVM,
    VectorValuedRidge,
    VectorValuedSVM,
)
from structlearn.datasets import fetch_multilabel
from structlearn.kernels import RBF, Decomposable, Kernel, Linear, Polynomial, median_gamma
from structlearn.metrics.label_sets import label_set_measures, micro_f1
from structlearn.models import MultiLabel
from structlearn.outputs import KernelOutputs, LabelSetOutputs

SVM, CRF, KERNEL_SVM, VECTOR_SVM = "structural SVM", "CRF", "kernel structural SVM", "vector-valued SVM"
INDEPENDENT = "one SVM a label"
IDENTITY, COVARIANCE, LEARNT = "ridge, A = I", "ridge, A covariance", "ridge, A learnt"
THRESHOLD, SETS_KERNEL = "ridge, A = I, threshold", "ridge, kernel of sets"
#: Pairs of labels of the structural learners: all, or for more than six labels two for each label.
PAIRS: dict[str, Any] = {"emotions": "full", "scene": "full", "yeast": "sparse", "bibtex": "sparse"}
THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)
MEASURES = {"Hamming loss": -1, "exact match": 1, "example F1": 1, "micro F1": 1, "macro F1": 1}

Grids = dict[str, list[list[Any]]]


def grids(data: str) -> Grids:
    """What each learner chooses its settings from; an empty list means those of ridge regression with A = I."""
    if data == "bibtex":
        return {
            INDEPENDENT: [[0.03], [0.1], [0.3]],
            SVM: [[0.03], [0.1]],
            IDENTITY: [["linear"], ["rbf 1"]],
            COVARIANCE: [[]],
            LEARNT: [[]],
            THRESHOLD: [[]],
            VECTOR_SVM: [["rbf 1", 1.0], ["rbf 1", 3.0]],
        }
    widths = ["rbf 0.5", "rbf 1"]
    return {
        INDEPENDENT: [[0.3], [1.0], [3.0]],
        SVM: [[0.3], [1.0], [3.0]],
        CRF: [[0.3], [1.0], [3.0]],
        KERNEL_SVM: [[width, price] for width in widths for price in (0.3, 1.0, 3.0)],
        IDENTITY: [["rbf 0.25"], ["rbf 0.5"], ["rbf 1"], ["rbf 2"]],
        COVARIANCE: [[]],
        LEARNT: [[]],
        THRESHOLD: [[]],
        SETS_KERNEL: [["quadratic"], ["rbf 1"]],
        VECTOR_SVM: [[width, price] for width in widths for price in (0.3, 1.0, 3.0)],
    }


@cache
def _fetched(data: str, part: str) -> Any:
    return fetch_multilabel(data, part)  # type: ignore[arg-type]


def parts(data: str, size: int, seed: int, test: bool) -> tuple[Any, Any, Any, Any]:
    """What is trained on and what is judged: the published parts, or two thirds and one third of the training part."""
    train = _fetched(data, "train")
    X, Y = train.X, np.asarray(train.Y)
    if test:
        other = _fetched(data, "test")
        X_other, Y_other = other.X, np.asarray(other.Y)
    else:
        held = np.arange(len(Y)) % 3 == 0
        X, Y, X_other, Y_other = X[~held], Y[~held], X[held], Y[held]
    X, X_other = represented(X, X_other)
    return X, Y, X_other, Y_other


def learner(data: str, name: str, setting: list[Any], X: Any, Y: Any) -> Any:
    if name in (INDEPENDENT, SVM):
        model = MultiLabel(pairs="independent" if name == INDEPENDENT else PAIRS[data])
        return StructuralSVM(model, C=setting[0] * X.shape[0], fit_intercept=True, random_state=0, n_jobs=1)
    if name == CRF:
        model = MultiLabel(pairs=PAIRS[data])
        return ConditionalRandomField(model, C=setting[0] * X.shape[0], fit_intercept=True, random_state=0, n_jobs=1)
    kernel, outputs = kernel_named(setting[0], X), LabelSetOutputs()
    if name == KERNEL_SVM:
        model, C = MultiLabel(pairs=PAIRS[data]), setting[1] * X.shape[0]
        return KernelStructuralSVM(model, kernel, C=C, solver="exact", fit_intercept=True, n_jobs=1)
    if name == VECTOR_SVM:
        return VectorValuedSVM(outputs, kernel, C=setting[1] * X.shape[0], tol=0.03, max_iter=100, n_jobs=1)
    if name == SETS_KERNEL:
        return VectorValuedRidge(KernelOutputs(kernel_named(setting[1], Y.astype(float))), kernel, n_jobs=1)
    if name == THRESHOLD:
        return Thresholded(VectorValuedRidge(outputs, kernel, n_jobs=1))
    return VectorValuedRidge(outputs, Decomposable(kernel, MATRICES[name]), n_jobs=1)


MATRICES: dict[str, Any] = {IDENTITY: "identity", COVARIANCE: "covariance", LEARNT: "learnt"}


class Thresholded:
    """Labels above a threshold, the one with the best micro F1 of every third training example, left out once."""

    def __init__(self, ridge: VectorValuedRidge):
        self.ridge = ridge

    def fit(self, X: Any, Y: Any) -> Self:
        held = np.arange(len(Y)) % 3 == 0
        scores = self.ridge.fit(X[~held], Y[~held]).decision_function(X[held])
        gains = [micro_f1(Y[held], (scores > t).astype(int)) for t in THRESHOLDS]
        self.threshold_ = THRESHOLDS[int(np.argmax(gains))]
        self.lam_ = self.ridge.fit(X, Y).lam_
        return self

    def predict(self, X: Any) -> Any:
        return (self.ridge.decision_function(X) > self.threshold_).astype(int)


def kernel_named(name: str, rows: Any) -> Kernel:
    """rbf has a multiple of 1 over the median squared distance; quadratic is (⟨x, z⟩/s + 1)², s the mean of ‖x‖²."""
    if name == "linear":
        return Linear()
    if name == "quadratic":
        squares = rows.multiply(rows).sum(axis=1) if sp.issparse(rows) else (rows**2).sum(axis=1)
        return Polynomial(2, 1.0 / float(np.mean(squares)))
    return RBF(float(name.split()[1]) * median_gamma(rows))


def listed(predicted: Any) -> list[list[int]]:
    return [np.flatnonzero(row).tolist() for row in np.asarray(predicted)]


def truth(data: str) -> Any:
    """The outputs of the test part."""
    return np.asarray(_fetched(data, "test").Y)


def judged(data: str, Y: Any, predicted: list[list[int]]) -> Judged:
    found = np.zeros_like(Y)
    for row, labels in zip(found, predicted, strict=True):
        row[labels] = 1
    return Judged.of(label_set_measures(Y, found))


def loss(Y: Any, predicted: list[list[int]]) -> float:
    """The share of labels that are wrong."""
    return float(
        np.mean([len(set(np.flatnonzero(y)) ^ set(p)) for y, p in zip(Y, predicted, strict=True)]) / Y.shape[1]
    )
