"""What an evaluation found, as a value, as JSON and as tables."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from structlearn.data.arrays import FloatArray
from structlearn.data.tokens.tags import Scheme
from structlearn.metrics import Confusion, Interval
from structlearn.metrics.resampled import ClassScore
from structlearn.models.base import Kind
from structlearn.wording import count, several

#: A printed table has at most this many labels, the most frequent ones.
MOST_LABELS = 30
BUILT_IN = ("loss", "accuracy", "sequence_accuracy", "precision", "recall", "f1")


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """Predictions beside the truth, and the scores that follow; intervals are of 95 %, resampled over examples.

    It prints as tables with the scores and the most frequent labels; `labels` and `spans` have all.

    Attributes
    ----------
    kind : {"sequences", "segments", "examples", "outputs"}
        What the model predicts: labels of tokens, segments, one label an example, or whole outputs such as trees,
        alignments and those of the user's own making.
    loss : Interval
        Mean Δ of an example, of the model's own loss.
    accuracy : Interval
        Share of right labels; of right outputs where an output is one thing.
    sequence_accuracy : Interval or None
        Share of sequences without a mistake.
    precision, recall, f1 : Interval or None
        Of spans, for segments and where all labels are tags such as B-NP, I-NP and O.
    scheme : str or None
        By which rule tags were read as spans, see `structlearn.data.spans`; None where there was nothing to read.
    labels, spans : mapping to ClassScore
        By label, and by the type of spans.
    scores : mapping to Interval
        What the model measures beyond these, see `Model.measures`: of trees, the F1 of their brackets.
    confusion : Confusion or None
    n_examples, n_tokens : int
    right : (n_examples,)
        Whether the whole output is.
    resampled : mapping to arrays
        Every score of the resamples that its interval comes from. Two evaluations of as many examples with one seed
        have the same resamples.
    losses, margins : (n_examples,)
        Δ(y, ŷ), and F(x, ŷ) − F(x, y), by how much the model prefers its answer to the truth; NaN where the model has
        no score for the truth, since training never saw such a label.
    example, place : str
        What an input is called, and what has a label: a token or, in graphs, a node.
    predicted : list or array
        What `predict` gives; empty, as are the next two, where examples were evaluated piece by piece.
    truths, guesses : list of lists
        True and predicted labels of the tokens, for segments tags such as B-NP, I-NP and O; of whole outputs,
        these.
    """

    kind: Kind
    loss: Interval
    accuracy: Interval
    sequence_accuracy: Interval | None
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None
    scheme: Scheme | None
    labels: Mapping[Any, ClassScore]
    spans: Mapping[str, ClassScore]
    scores: Mapping[str, Interval]
    confusion: Confusion | None
    n_examples: int
    n_tokens: int
    right: npt.NDArray[np.bool_]
    losses: FloatArray
    margins: FloatArray
    resampled: Mapping[str, FloatArray]
    example: str = "example"
    place: str = "token"
    predicted: Any = ()
    truths: Sequence[list[Any]] = ()
    guesses: Sequence[list[Any]] = ()

    @property
    def intervals(self) -> dict[str, Interval]:
        """All scores that there are, by name: of the six above, and the model's own."""
        of_all = {name: getattr(self, name) for name in BUILT_IN if getattr(self, name) is not None}
        return {**of_all, **self.scores}

    @property
    def headline(self) -> tuple[str, Interval]:
        """The score to look at first, by name, which is the one that ``structlearn tune`` chooses by.

        That is the first of the model's own, F1 of trees or nDCG of rankings; of segments and of tags such as B-NP,
        the F1 of their spans; otherwise the accuracy.
        """
        name = next(iter(self.scores), "accuracy" if self.f1 is None else "f1")
        return name, self.intervals[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the predictions; an interval that cannot be had is null."""
        size = {"examples": self.n_examples}
        if self.kind in ("sequences", "segments"):
            size[several(self.place)] = self.n_tokens
        scores = {name: interval.estimate for name, interval in self.intervals.items()}
        sure = {name: _ends(interval) for name, interval in self.intervals.items()}
        classes = {
            kind: [_class_dict(name, score) for name, score in found.items()]
            for kind, found in (("labels", self.labels), ("spans", self.spans))
            if found
        }
        rule = {} if self.scheme is None else {"scheme": self.scheme}
        return {**size, **scores, **rule, "intervals": sure, **classes}

    def __rich__(self) -> RenderableType:
        rows = Table("", "", "95 % interval", box=None, pad_edge=False)
        for column in rows.columns[1:]:
            column.justify = "right"
        for name, interval in self.intervals.items():
            low_high = "–" if math.isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"
            called = f"{self.example}_accuracy" if name == "sequence_accuracy" else name
            rows.add_row(called.replace("_", " "), f"{interval.estimate:.4f}", low_high)
        parts: list[RenderableType] = [self._size, "", rows]
        for title, found in (("span", self.spans), ("label", self.labels)):
            if found:
                parts += ["", _class_table(title, found)]
                if len(found) > MOST_LABELS:
                    parts.append(f"and {count(len(found) - MOST_LABELS, title)} more, less frequent ones")
                break
        if self.scheme is not None:
            parts += ["", f"spans by the rule {self.scheme}"]
        return Group(*parts)

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        name, interval = self.headline
        return f"<Evaluation of {self._size}: {name.replace('_', ' ')} {interval.estimate:.4f}>"

    @property
    def _size(self) -> str:
        sequential = self.kind in ("sequences", "segments")
        size = count(self.n_examples, "example" if sequential else self.example)
        return f"{size} with {count(self.n_tokens, self.place)}" if sequential else size


def as_text(printed: RenderableType) -> str:
    """What a terminal of 100 columns would show, without colours."""
    console = Console(file=io.StringIO(), width=100, color_system=None)
    with console.capture() as captured:
        console.print(printed)
    return "\n".join(line.rstrip() for line in captured.get().rstrip().splitlines())


def _ends(interval: Interval) -> list[float] | None:
    return None if math.isnan(interval.low) else [interval.low, interval.high]


def _class_dict(name: Any, score: ClassScore) -> dict[str, Any]:
    return {
        "label": name if isinstance(name, (bool, int, float, str)) else str(name),
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1.estimate,
        "f1_interval": _ends(score.f1),
        "support": score.support,
        "predicted": score.predicted,
    }


def _class_table(title: str, found: Mapping[Any, ClassScore]) -> Table:
    table = Table(title, "precision", "recall", "F1", "support", box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    frequent = set(sorted(found, key=lambda name: -found[name].support)[:MOST_LABELS])
    for name, score in ((name, score) for name, score in found.items() if name in frequent):
        numbers = (f"{value:.4f}" for value in (score.precision, score.recall, score.f1.estimate))
        table.add_row(Text(str(name)), *numbers, str(score.support))
    return table
