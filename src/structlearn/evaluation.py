"""How well a fitted estimator does on data: one prediction, all scores, and how sure they are."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from structlearn.metrics import Confusion, Interval, spans
from structlearn.metrics.resampled import ClassScore, ResampledSums
from structlearn.models import Chain, Multiclass, Segments
from structlearn.models.labels import LabelCodes, observed_classes, plain
from structlearn.models.python_model import PythonModel, same_output
from structlearn.models.segments import checked_segments, to_bio
from structlearn.problem import FloatArray, IntArray

Kind = Literal["sequences", "segments", "examples", "outputs"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Predictions beside the truth, and the scores that follow; intervals are of 95 %, resampled over examples.

    Attributes
    ----------
    kind : {"sequences", "segments", "examples", "outputs"}
        What the model predicts: labels of tokens, segments, one label an example, or outputs of the user's own making.
    loss : Interval
        Mean Δ of an example, of the model's own loss.
    accuracy : Interval
        Share of right labels; of right outputs where an output is one thing.
    sequence_accuracy : Interval or None
        Share of sequences without a mistake.
    precision, recall, f1 : Interval or None
        Of spans, for segments and where all labels are tags such as B-NP, I-NP and O, read as ``conlleval`` does.
    labels, spans : mapping to ClassScore
        By label, and by the type of spans.
    confusion : Confusion or None
    n_examples, n_tokens : int
    predicted : list or array
        What `predict` gives.
    truths, guesses : list of lists
        True and predicted labels of the tokens, for segments tags such as B-NP, I-NP and O; of outputs of the user's
        own, the outputs.
    right : (n_examples,)
        Whether the whole output is.
    losses, margins : (n_examples,)
        Δ(y, ŷ), and F(x, ŷ) − F(x, y), by how much the model prefers its answer to the truth; NaN where the model has
        no score for the truth, since training never saw such a label.
    """

    kind: Kind
    loss: Interval
    accuracy: Interval
    sequence_accuracy: Interval | None
    precision: Interval | None
    recall: Interval | None
    f1: Interval | None
    labels: Mapping[Any, ClassScore]
    spans: Mapping[str, ClassScore]
    confusion: Confusion | None
    n_examples: int
    n_tokens: int
    predicted: Any
    truths: list[list[Any]]
    guesses: list[list[Any]]
    right: npt.NDArray[np.bool_]
    losses: FloatArray
    margins: FloatArray

    @property
    def intervals(self) -> dict[str, Interval]:
        """Those of the six scores that there are, by name."""
        names = ("loss", "accuracy", "sequence_accuracy", "precision", "recall", "f1")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, without the predictions; an interval that cannot be had is null."""
        size = {"examples": self.n_examples}
        if self.kind in ("sequences", "segments"):
            size["tokens"] = self.n_tokens
        scores = {name: interval.estimate for name, interval in self.intervals.items()}
        sure = {name: _ends(interval) for name, interval in self.intervals.items()}
        classes = {
            kind: [_class_dict(name, score) for name, score in found.items()]
            for kind, found in (("labels", self.labels), ("spans", self.spans))
            if found
        }
        return {**size, **scores, "intervals": sure, **classes}

    def __rich__(self) -> RenderableType:
        rows = Table("", "", "95 % interval", box=None, pad_edge=False)
        for column in rows.columns[1:]:
            column.justify = "right"
        for name, interval in self.intervals.items():
            low_high = "–" if math.isnan(interval.low) else f"{interval.low:.4f} to {interval.high:.4f}"
            rows.add_row(name.replace("_", " "), f"{interval.estimate:.4f}", low_high)
        size = f"{self.n_examples} examples"
        if self.kind in ("sequences", "segments"):
            size += f" with {self.n_tokens} tokens"
        parts: list[RenderableType] = [size, "", rows]
        for title, found in (("span", self.spans), ("label", self.labels)):
            if found:
                parts += ["", _class_table(title, found)]
                break
        return Group(*parts)


def evaluate(estimator: Any, X: Any, Y: Any, *, random_state: int = 0) -> Evaluation:
    """Predicts X once and compares it with Y.

    Labels in Y that training never saw count as wrong. Where a matrix prices mistakes, it has no price for them, and
    they cost as much as the worst of all mistakes.

    Parameters
    ----------
    estimator : fitted estimator
        Or a scikit-learn pipeline that ends with one.
    X, Y : what `estimator.predict` takes, and the true outputs
    random_state : int
        Seed of the resampling.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> X = [[{"word": "the"}, {"word": "dog"}], [{"word": "a"}, {"word": "cat"}, {"word": "sleeps"}]]
    >>> Y = [["DET", "NOUN"], ["DET", "NOUN", "VERB"]]
    >>> tagger = StructuralSVM(Chain(), C=10).fit(X, Y)
    >>> found = evaluate(tagger, X, [["DET", "NOUN"], ["DET", "NOUN", "ADJ"]])
    >>> found.accuracy.estimate, found.sequence_accuracy.estimate, found.loss.estimate
    (0.8, 0.5, 0.5)
    >>> found.predicted[1]
    ['DET', 'NOUN', 'VERB']
    """
    final = last_step(estimator)
    if isinstance(estimator, Pipeline) and len(estimator) > 1:
        X = estimator[:-1].transform(X)
    model, spec = final.model_, final.spec_
    predicted, losses, margins = _judged(final, X, Y)
    kind = _kind(model)
    truths, guesses = _token_labels(kind, Y), _token_labels(kind, predicted)
    equal = same_output if kind == "outputs" else operator.eq
    right = np.array([equal(y, p) for y, p in zip(truths, guesses, strict=True)], bool)
    lengths = np.array([len(y) for y in truths]) if kind != "outputs" else np.ones(len(truths), np.int64)
    columns = [np.ones(len(losses)), losses, right, lengths]
    labels: tuple[Any, ...] = ()
    confusion = None
    if kind == "outputs":
        columns.append(right)
        blocks = [sp.csr_array(np.column_stack(columns))]
    else:
        labels = _in_order(spec.classes, truths, guesses)
        which = np.repeat(np.arange(len(lengths)), lengths)
        true, found = (_codes(labels, sequences) for sequences in (truths, guesses))
        columns.append(np.bincount(which, true == found, len(lengths)))
        blocks = [sp.csr_array(np.column_stack(columns)), _label_counts(which, true, found, len(lengths), len(labels))]
        counts = sp.coo_array((np.ones(len(true), np.int64), (true, found)), shape=(len(labels),) * 2)
        confusion = Confusion(labels, counts.toarray())
    types: tuple[str, ...] = ()
    if kind == "segments" or (kind == "sequences" and is_bio(spec.classes)):
        types, span_counts = _span_counts(kind, Y, predicted)
        blocks.append(span_counts)
    sums = ResampledSums(sp.csr_array(sp.hstack(blocks)), random_state)
    middle = 5 + 3 * len(labels)
    precision, recall, f1 = sums.average(slice(middle, None)) if types else (None, None, None)
    return Evaluation(
        kind=kind,
        loss=sums.ratio(1, 0),
        accuracy=sums.ratio(4, 3),
        sequence_accuracy=sums.ratio(2, 0) if kind in ("sequences", "segments") else None,
        precision=precision,
        recall=recall,
        f1=f1,
        labels=sums.classes(labels, 5),
        spans=sums.classes(types, middle),
        confusion=confusion,
        n_examples=len(losses),
        n_tokens=int(lengths.sum()),
        predicted=predicted,
        truths=truths,
        guesses=guesses,
        right=right,
        losses=losses,
        margins=margins,
    )


def last_step(estimator: Any) -> Any:
    """The estimator that predicts: the last step of a pipeline, or the estimator itself."""
    last = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(last, "model"):
        raise TypeError(
            f"estimator is a {type(last).__name__}; expected a StructuralSVM, ConditionalRandomField or "
            "StructuredPerceptron, or a pipeline that ends with one"
        )
    check_is_fitted(last)
    return last


def is_bio(labels: Sequence[Any]) -> bool:
    """Whether labels are tags of spans: B-NP, I-NP (E-NP, S-NP), O, or the bare letters.

    >>> is_bio(["B-NP", "I-NP", "O"]), is_bio(["NOUN", "VERB"]), is_bio(["O"])
    (True, False, False)
    """
    tags = [label for label in labels if label != "O"]
    return any(_is_tag(label) and label[0] == "B" for label in tags) and all(map(_is_tag, tags))


def _is_tag(label: Any) -> bool:
    return isinstance(label, str) and label[:1] in tuple("BIES") and (len(label) == 1 or label[1] == "-")


def _kind(model: Any) -> Kind:
    if isinstance(model, Multiclass):
        return "examples"
    if isinstance(model, Chain):
        return "sequences"
    return "segments" if isinstance(model, Segments) else "outputs"


def _judged(estimator: Any, X: Any, Y: Any) -> tuple[Any, FloatArray, FloatArray]:
    """Predictions, their losses, and by how much each is preferred to the truth."""
    model, spec = estimator.model_, estimator.spec_
    cost = model.cost_matrix(spec.classes) if isinstance(model, Multiclass) else None
    if cost is None:
        problem = estimator._bind(X, Y)
        unseen = _unseen(model, spec, Y)
    else:
        unseen = _unseen(model, spec, Y)
        problem = estimator._bind(X, [spec.classes[0] if new else y for y, new in zip(Y, unseen, strict=True)])
    outputs = problem.predict(estimator.w_)
    losses = problem.losses(outputs)
    if cost is not None:
        losses[unseen] = cost.max()
    margins = np.where(unseen, np.nan, 0.0)
    known = np.flatnonzero(~unseen)
    if len(known):
        rows, _ = problem.differences(known, [outputs[i] for i in known])
        # Rounding makes a right answer differ from itself by −0.
        margins[known] = 0.0 - rows.dot(estimator.w_)
    return problem.present(outputs), losses, margins


def _unseen(model: Any, spec: Any, Y: Any) -> npt.NDArray[np.bool_]:
    """Which true outputs the model cannot have, since training saw no such label or no so long segment."""
    if isinstance(model, PythonModel) or not hasattr(spec, "classes"):
        return np.zeros(len(Y), bool)
    codes = LabelCodes(spec.classes, allow_unknown=True)
    if isinstance(model, Multiclass):
        return np.asarray(codes.encode([plain(y) for y in Y], "Y") < 0)
    if isinstance(model, Segments):
        checked = [checked_segments(y, f"Y[{i}]") for i, y in enumerate(Y)]
        too_long = [any(end - begin > spec.max_length for _, begin, end in y) for y in checked]
        Y = [[label for label, _, _ in y] for y in checked]
        return np.array(too_long) | _unseen(None, spec, Y)
    return np.array([bool((codes.encode(y, f"Y[{i}]") < 0).any()) for i, y in enumerate(Y)])


def _token_labels(kind: Kind, Y: Any) -> list[list[Any]]:
    if kind == "examples":
        return [[plain(y)] for y in Y]
    if kind == "segments":
        return [list(to_bio(y)) for y in Y]
    if kind == "sequences":
        return [y.tolist() if isinstance(y, np.ndarray) else [plain(label) for label in y] for y in Y]
    return list(Y)


def _in_order(classes: Sequence[Any], truths: list[list[Any]], guesses: list[list[Any]]) -> tuple[Any, ...]:
    """The labels that occur, those of the model first and in its order."""
    seen = dict.fromkeys(label for sequences in (truths, guesses) for y in sequences for label in y)
    known = [label for label in classes if label in seen]
    return (*known, *observed_classes(label for label in seen if label not in set(classes)))


def _codes(labels: tuple[Any, ...], sequences: list[list[Any]]) -> IntArray:
    number = {label: code for code, label in enumerate(labels)}
    return np.array([number[label] for y in sequences for label in y], np.int64)


def _label_counts(which: IntArray, true: IntArray, found: IntArray, n: int, n_labels: int) -> sp.csr_array:
    """How often each label is correct, predicted and true in each example, (n, 3 n_labels)."""
    right = true == found
    rows = np.concatenate([which[right], which, which])
    columns = np.concatenate([3 * true[right], 3 * found + 1, 3 * true + 2])
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, 3 * n_labels))


def _span_counts(kind: Kind, Y: Any, predicted: Any) -> tuple[tuple[str, ...], sp.csr_array]:
    """How often each type of spans is correct, predicted and true in each example, (n, 3 n_types), and the types."""
    true, found = ([set(_spans(kind, y)) for y in outputs] for outputs in (Y, predicted))
    triples = [
        (i, kind, column)
        for i, (y, p) in enumerate(zip(true, found, strict=True))
        for column, some in enumerate((y & p, p, y))
        for kind, _, _ in some
    ]
    types = tuple(sorted({kind for _, kind, _ in triples}, key=str)) or ("_",)
    number = {kind: k for k, kind in enumerate(types)}
    places = np.array([(i, 3 * number[kind] + column) for i, kind, column in triples], np.int64).reshape(-1, 2)
    return types, sp.csr_array((np.ones(len(places)), tuple(places.T)), shape=(len(true), 3 * len(types)))


def _spans(kind: Kind, y: Any) -> list[tuple[Any, int, int]]:
    if kind == "segments":
        return [(plain(label), int(begin), int(end)) for label, begin, end in y if label != "O"]
    # What is no tag is a span by itself, which no prediction can match.
    return [*spans([label if label == "O" or _is_tag(label) else f"S-{label}" for label in y], "conlleval")]


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
    for name, score in found.items():
        numbers = (f"{value:.4f}" for value in (score.precision, score.recall, score.f1.estimate))
        table.add_row(Text(str(name)), *numbers, str(score.support))
    return table
