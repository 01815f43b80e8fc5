"""Outputs that are vectors of numbers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_flag, check_whole
from structlearn.data.matrices import check_finite, check_squares, checked_numbers
from structlearn.outputs.base import Outputs
from structlearn.wording import count


class VectorOutputs(Outputs):
    """Numbers, one or several an example: f(x) itself is what is predicted.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> ridge = VectorValuedRidge(VectorOutputs(), "linear", lam=1e-9).fit([[1.0], [2.0]], [[1.0, 0.0], [2.0, 0.0]])
    >>> ridge.predict([[3.0]]).round(3)
    array([[3., 0.]])
    """

    def fit(self, Y: Any) -> Self:
        table = _read(Y)
        self.flat_ = table.ndim == 1
        self.n_columns_ = 1 if self.flat_ else int(table.shape[1])
        return self

    def n_coordinates(self) -> int:
        return self.n_columns_

    def targets(self, Y: Any, offsets: IntArray) -> FloatArray:
        table = _read(Y)
        check_length(len(table), offsets)
        table = table.reshape(len(table), -1)
        if table.shape[1] != self.n_columns_:
            raise ValueError(f"Y has {count(table.shape[1], 'column')} but training had {self.n_columns_}")
        return table

    def nearest(self, vectors: FloatArray, offsets: IntArray) -> FloatArray:
        return vectors[:, 0] if self.flat_ else vectors

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """R² = 1 − Σ(y − f)²/Σ(y − ȳ)², the mean over columns."""
        from sklearn.metrics import r2_score

        targets = self.targets(Y, offsets)
        return float(r2_score(targets, predicted.reshape(targets.shape), sample_weight=sample_weight))

    def check_learnt(self) -> None:
        check_flag("flat_", self.flat_)
        check_whole("n_columns_", self.n_columns_, 1)


def _read(Y: Any) -> FloatArray:
    if Y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    check_examples("y", Y)
    table = checked_numbers(Y, "y").astype(np.float64)
    if table.ndim not in (1, 2) or (table.ndim == 2 and not table.shape[1]):
        raise ValueError(f"y has shape {table.shape}; expected a number or a row of numbers an example")
    if not table.size:
        raise ValueError("y is empty; at least one example is needed")
    by_rows = table.reshape(len(table), -1)
    check_finite(by_rows, lambda i, j: f"y[{i}, {j}]" if table.ndim == 2 else f"y[{i}]")
    check_squares(by_rows, lambda i, j: f"y[{i}, {j}]")
    return np.asarray(table)


def check_length(n: int, offsets: IntArray) -> None:
    if n != len(offsets) - 1:
        raise ValueError(f"X has {count(len(offsets) - 1, 'example')} but y has {count(n, 'entry')}")
