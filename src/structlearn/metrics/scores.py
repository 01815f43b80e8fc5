"""Precision, recall and F1 from counts, and the report of them that a person reads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.tokens.tags import Scheme


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall, their harmonic mean F1, and the number of true instances."""

    precision: float
    recall: float
    f1: float
    support: int


@dataclass(frozen=True, slots=True)
class Report:
    """Scores of every class and their averages; `print` shows it as a table.

    Attributes
    ----------
    per_class : mapping from class to Score
        Also reached by `report[name]`.
    micro : Score
        Of the counts summed over classes; `precision`, `recall`, `f1` and `support` of the report are its.
    macro : Score
        The mean over classes.
    weighted : Score
        The mean over classes weighted by their support.
    scheme : str or None
        By which rule tags were read, see `structlearn.data.spans`; None where classes are no types of spans.
    """

    per_class: Mapping[Any, Score]
    micro: Score
    macro: Score
    weighted: Score
    scheme: Scheme | None = None

    @property
    def precision(self) -> float:
        return self.micro.precision

    @property
    def recall(self) -> float:
        return self.micro.recall

    @property
    def f1(self) -> float:
        return self.micro.f1

    @property
    def support(self) -> int:
        return self.micro.support

    def __getitem__(self, name: Any) -> Score:
        return self.per_class[name]

    def __str__(self) -> str:
        averages = [("micro", self.micro), ("macro", self.macro), ("weighted", self.weighted)]
        classes = [(str(name), score) for name, score in self.per_class.items()]
        width = max(len(name) for name, _ in classes + averages)
        head = f"{'':{width}}  precision  recall      F1  support"
        lines = [
            f"{name:{width}}  {score.precision:9.4f}  {score.recall:6.4f}  {score.f1:6.4f}  {score.support:7d}"
            for name, score in classes + averages
        ]
        rule = [] if self.scheme is None else ["", f"spans by the rule {self.scheme}"]
        return "\n".join([head, *lines[:-3], "", *lines[-3:], *rule])


def f1(counts: npt.ArrayLike) -> FloatArray:
    """F1 = 2 correct / (predicted + true), 0 where nothing is predicted nor true.

    Parameters
    ----------
    counts : (..., 3)
        How many are correct, predicted and true.

    Examples
    --------
    >>> f1([[1, 2, 2], [0, 0, 0]])
    array([0.5, 0. ])
    """
    counts = np.asarray(counts)
    return ratio(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


def report(classes: Sequence[Hashable], counts: npt.NDArray[np.int64], scheme: Scheme | None = None) -> Report:
    """The report of classes of which `counts` has a row each: correct, predicted, true."""
    scores = _scores(counts)
    support = counts[:, 2]
    n_true = int(support.sum())
    macro = scores.sum(axis=0) / max(len(classes), 1)
    weighted = support @ scores / max(n_true, 1)
    return Report(
        {name: _score(row, n) for name, row, n in zip(classes, scores, support, strict=True)},
        _score(_scores(counts.sum(axis=0)), n_true),
        _score(macro, n_true),
        _score(weighted, n_true),
        scheme,
    )


def _score(row: FloatArray, support: int) -> Score:
    precision, recall, f1 = row.tolist()
    return Score(precision, recall, f1, int(support))


def _scores(counts: npt.NDArray[np.int64]) -> FloatArray:
    correct, predicted, true = np.moveaxis(counts, -1, 0)
    return np.stack([ratio(correct, predicted), ratio(correct, true), f1(counts)], axis=-1)


def ratio(part: npt.ArrayLike, whole: npt.ArrayLike) -> FloatArray:
    """part/whole, 0 where the whole is none.

    >>> ratio([1, 0], [2, 0])
    array([0.5, 0. ])
    """
    whole = np.asarray(whole, np.float64)
    return np.asarray(np.divide(part, whole, out=np.zeros(whole.shape), where=whole > 0))
