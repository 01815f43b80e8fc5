"""Which of two fitted estimators does better on the same examples, and whether that is more than chance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from structlearn.data.arrays import FloatArray
from structlearn.data.tokens.segments import from_bio
from structlearn.data.tokens.tags import Scheme
from structlearn.evaluation.judging import kind_of, loss_of
from structlearn.evaluation.result import Evaluation, as_text
from structlearn.evaluation.scoring import evaluate
from structlearn.metrics import Comparison, Interval, mcnemar
from structlearn.models.base import Kind
from structlearn.wording import count


class ScoreDifference(NamedTuple):
    """A score of both, the first minus the second with a 95 % interval, and the p-value of no difference.

    Resamples of the examples are the same for both (a paired bootstrap). The p-value is two-sided, twice the share of
    resamples in which the difference has the other sign or is zero, each counted with one resample more, at most 1.
    """

    first: Interval
    second: Interval
    difference: Interval
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class ModelComparison:
    """Two evaluations on the same examples beside each other; it prints as a table.

    Attributes
    ----------
    first, second : Evaluation
    differences : dict from name to ScoreDifference
        Of all scores that both have; of losses only if they are the same one.
    whole_outputs : structlearn.metrics.Comparison
        McNemar's test of which outputs are right in full.
    """

    first: Evaluation
    second: Evaluation
    differences: dict[str, ScoreDifference]
    whole_outputs: Comparison

    @property
    def headline(self) -> tuple[str, ScoreDifference]:
        """The score to look at first, by name; see `Evaluation.headline`."""
        name = self.first.headline[0]
        name = name if name in self.differences else "accuracy"
        return name, self.differences[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; an interval that cannot be had is null."""
        scores = {
            name: {
                "first": _plain(found.first),
                "second": _plain(found.second),
                "difference": _plain(found.difference),
                "p_value": None if math.isnan(found.p_value) else found.p_value,
            }
            for name, found in self.differences.items()
        }
        only_first, only_second = self._only_right
        whole: dict[str, float] = {"only_first_right": only_first, "only_second_right": only_second}
        whole |= {"difference": self.whole_outputs.difference, "p_value": self.whole_outputs.p_value}
        return {"examples": self.first.n_examples, "scores": scores, "whole_outputs": whole}

    def __rich__(self) -> RenderableType:
        table = Table("", "first", "second", "difference", "p", box=None, pad_edge=False)
        for column in table.columns[1:]:
            column.justify = "right"
        for name, found in self.differences.items():
            p_value = "–" if math.isnan(found.p_value) else f"{found.p_value:.2g}"
            scores = (_with_ends(found.first), _with_ends(found.second), _with_ends(found.difference, "+"))
            table.add_row(name.replace("_", " "), *scores, p_value)
        only_first, only_second = self._only_right
        whole = f"only the first is right on {count(only_first, 'example')}, only the second on {only_second:,}"
        return Group(
            count(self.first.n_examples, "example"),
            "",
            table,
            "",
            f"whole outputs: {whole}; McNemar's test p = {self.whole_outputs.p_value:.2g}",
        )

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        name, found = self.headline
        return f"<ModelComparison: {name.replace('_', ' ')} {found.difference.estimate:+.4f}, p = {found.p_value:.2g}>"

    @property
    def _only_right(self) -> tuple[int, int]:
        a, b = self.first.right, self.second.right
        return int(np.sum(a & ~b)), int(np.sum(b & ~a))


def compare(
    first: Any, second: Any, X: Any, Y: Any, *, scheme: Scheme = "conlleval", random_state: int = 0
) -> ModelComparison:
    """Evaluates two estimators on the same data, and tests whether one is better.

    Parameters
    ----------
    first, second : fitted estimators
        Or scikit-learn pipelines that end with one.
    X, Y : what both take
        Where one predicts segments and the other tags such as B-NP and I-NP, Y are tags.
    scheme, random_state
        As for `evaluate`.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Multiclass
    >>> X, y = [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]] * 5, ["a", "a", "b", "b"] * 5
    >>> good, bad = StructuralSVM(Multiclass()).fit(X, y), StructuralSVM(Multiclass(["a", "b"])).fit(X, ["a"] * 20)
    >>> found = compare(good, bad, X, y)
    >>> found.differences["accuracy"].difference.estimate, found.whole_outputs.p_value
    (0.5, 0.001953125)
    """
    kinds = {kind_of(estimator) for estimator in (first, second)}
    judged = [
        evaluate(each, X, _outputs(each, Y, kinds), scheme=scheme, random_state=random_state)
        for each in (first, second)
    ]
    same_loss = loss_of(first) == loss_of(second)
    return compare_evaluations(*judged, with_loss=same_loss)


def compare_evaluations(first: Evaluation, second: Evaluation, *, with_loss: bool = True) -> ModelComparison:
    """Two evaluations of the same examples, made with the same `random_state`; refused if they are of others."""
    if first.n_examples != second.n_examples:
        raise ValueError(f"the first was evaluated on {first.n_examples} examples, the second on {second.n_examples}")
    both_kept = len(first.truths) == len(second.truths)
    if both_kept and first.kind == second.kind != "outputs" and first.truths != second.truths:
        i = next(i for i, (a, b) in enumerate(zip(first.truths, second.truths, strict=True)) if a != b)
        raise ValueError(f"the two were evaluated on other examples: the truths of number {i} differ")
    names = [name for name in first.intervals if name in second.intervals and (with_loss or name != "loss")]
    differences = {
        name: ScoreDifference(
            first.intervals[name],
            second.intervals[name],
            *_difference(
                first.intervals[name].estimate - second.intervals[name].estimate,
                first.resampled[name] - second.resampled[name],
            ),
        )
        for name in names
    }
    return ModelComparison(first, second, differences, mcnemar(first.right, second.right))


def _outputs(estimator: Any, Y: Any, kinds: set[Kind]) -> Any:
    """Tags as segments for the one of two estimators that predicts these."""
    if kinds != {"segments", "sequences"} or kind_of(estimator) != "segments":
        return Y
    return [from_bio(y, f"Y[{i}]") for i, y in enumerate(Y)]


def _difference(estimate: float, resampled: FloatArray) -> tuple[Interval, float]:
    if not len(resampled):
        return Interval(estimate, math.nan, math.nan), math.nan
    low, high = np.quantile(resampled, [0.025, 0.975])
    n = len(resampled) + 1
    p_value = min(1.0, 2.0 * min(np.sum(resampled <= 0) + 1, np.sum(resampled >= 0) + 1) / n)
    return Interval(estimate, float(low), float(high)), float(p_value)


def _with_ends(interval: Interval, sign: str = "") -> Text:
    ends = "" if math.isnan(interval.low) else f" [{interval.low:{sign}.3f}, {interval.high:{sign}.3f}]"
    return Text(f"{interval.estimate:{sign}.3f}{ends}")


def _plain(interval: Interval) -> dict[str, Any]:
    ends = None if math.isnan(interval.low) else [interval.low, interval.high]
    return {"estimate": interval.estimate, "interval": ends}
