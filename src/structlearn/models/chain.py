"""Label sequences: emissions, transitions between neighbours, and scores for the two ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal

import numpy as np

from structlearn.models.base import LinearSpec, Model
from structlearn.models.chain_problem import ChainProblem
from structlearn.models.labels import LabelCodes, declared_classes, observed_classes
from structlearn.models.sequences import feature_names, stack, token_width
from structlearn.models.tokens import TokenMatrix
from structlearn.problem import IntArray, LabelArray


class Chain(Model):
    """F(x, y) = Σ_t ⟨w_{y_t}, φ(x_t)⟩ + η Σ_t w_{y_t, y_{t+1}} (+ η w^start_{y_1} + η w^stop_{y_T}).

    Parameters
    ----------
    classes : sequence, optional
        The labels, of any hashable type. None takes those observed in training.
    loss : {"hamming", "zero_one"}
        Δ(y, ŷ): the number of wrong labels, or whether any label is wrong.
    boundaries : bool
        Whether there are scores for the first and the last label.
    balance : float
        η, the size of the transition features beside the emission features.
    label_weight : mapping, optional
        What a wrong label costs in the Hamming loss, by the true label; 1 for labels not named.

    Notes
    -----
    X is a list of (length, n_features) arrays or sparse matrices, a list of lists of feature dicts, or a
    `Sequences` object; Y is a list of label sequences.

    The weights are, one after another, the emissions (n_features, n_labels), the transitions (n_labels, n_labels) from
    row to column and, with boundaries, the start (n_labels) and the stop scores (n_labels).

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> StructuralSVM(Chain(), C=10).fit(X, Y).predict([[{"word": "the"}, {"word": "cat"}]])
    [['DET', 'NOUN']]
    """

    def __init__(
        self,
        classes: Sequence[Any] | None = None,
        loss: Literal["hamming", "zero_one"] = "hamming",
        boundaries: bool = True,
        balance: float = 1.0,
        label_weight: Mapping[Any, float] | None = None,
    ):
        self.classes = classes
        self.loss = loss
        self.boundaries = boundaries
        self.balance = balance
        self.label_weight = label_weight

    def specify(self, X: Any, Y: Any) -> LinearSpec:
        self._check_options()
        if Y is None or not hasattr(Y, "__len__") or len(Y) == 0:
            raise ValueError("Y is empty; training needs at least one sequence")
        for i, y in enumerate(Y):
            if isinstance(y, (str, bytes)) or not hasattr(y, "__len__"):
                raise ValueError(f"Y[{i}] is {y!r}; expected a sequence of labels")
        classes = observed_classes(_all_labels(Y)) if self.classes is None else declared_classes(self.classes)
        vocabulary = feature_names(X) if hasattr(X, "__len__") else None
        n_inputs = token_width(X) if vocabulary is None else len(vocabulary)
        return LinearSpec(classes=classes, n_inputs=n_inputs, vocabulary=vocabulary)

    def bind(self, spec: LinearSpec, X: Any, Y: Any = None, *, allow_unknown: bool = False) -> ChainProblem:
        self._check_options()
        matrix, offsets = stack(X, spec.columns, None if spec.vocabulary is not None else spec.n_inputs)
        codes = None if Y is None else _encode(spec, offsets, Y, allow_unknown)
        weights = np.array([float((self.label_weight or {}).get(label, 1.0)) for label in spec.classes])
        return ChainProblem(
            tokens=TokenMatrix.from_matrix(matrix, intercept=spec.intercept),
            offsets=offsets,
            codes=codes,
            classes=spec.classes,
            loss=self.loss,
            label_weight=weights,
            balance=float(self.balance),
            boundaries=self.boundaries,
        )

    def _check_options(self) -> None:
        if self.loss not in ("hamming", "zero_one"):
            raise ValueError(f"loss is {self.loss!r}; it may be 'hamming' or 'zero_one'")
        if not (np.isfinite(self.balance) and self.balance >= 0):
            raise ValueError(f"balance is {self.balance}; it must be a number ≥ 0")
        for label, weight in (self.label_weight or {}).items():
            if not (np.isfinite(weight) and weight >= 0):
                raise ValueError(f"label_weight[{label!r}] is {weight}; it must be a number ≥ 0")
        if self.label_weight and self.loss == "zero_one":
            raise ValueError("label_weight belongs to the Hamming loss; with loss='zero_one' leave it out")


def _all_labels(Y: Any) -> Iterator[Any]:
    return chain.from_iterable(y.tolist() if isinstance(y, np.ndarray) else y for y in Y)


def _encode(spec: LinearSpec, offsets: IntArray, Y: Any, allow_unknown: bool) -> LabelArray:
    if len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} sequences but Y has {len(Y)}")
    codes = LabelCodes(spec.classes, allow_unknown=allow_unknown)
    lengths = np.diff(offsets).tolist()
    if [len(y) for y in Y] == lengths:
        known = codes.known(_all_labels(Y))
        if known is not None:
            return known
    encoded = []
    for i, (y, length) in enumerate(zip(Y, lengths, strict=True)):
        if len(y) != length:
            raise ValueError(f"Y[{i}] has {len(y)} labels but X[{i}] has {length} rows")
        encoded.append(codes.encode(y, f"Y[{i}]"))
    return np.concatenate(encoded)
