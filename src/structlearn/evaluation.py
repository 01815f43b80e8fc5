"""How well a fitted estimator does on data: one prediction, all scores, and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from structlearn.metrics import Confusion, Interval, f1, spans
from structlearn.models import Chain, Multiclass, Segments
from structlearn.models.labels import LabelCodes, observed_classes, plain
from structlearn.models.python_model import PythonModel, same_output
from structlearn.models.segments import checked_segments, to_bio
from structlearn.problem import FloatArray, IntArray

Kind = Literal["sequences", "segments", "examples", "outputs"]
Metric = Callable[[FloatArray], FloatArray]

#: Resamples of a bootstrap, and the numbers it may draw in all, which bounds its time on large data.
RESAMPLES, FEWEST_RESAMPLES, MOST_DRAWN = 2000, 200, 2 * 10**8
#: Numbers drawn at once, which bounds the memory.
DRAWN_AT_ONCE = 2**21


class ClassScore(NamedTuple):
    """Scores of a label or of a type of spans, and how often it is true and predicted."""

    precision: float
    recall: float
    f1: Interval
    support: int
    predicted: int


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
    right = np.array([same_output(y, p) for y, p in zip(truths, guesses, strict=True)])
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
    sums = _Sums(sp.csr_array(sp.hstack(blocks)), random_state)
    begin, middle = 5, 5 + 3 * len(labels)
    spans = slice(middle, middle + 3 * len(types))
    sequential = kind in ("sequences", "segments")
    return Evaluation(
        kind=kind,
        loss=sums.interval(lambda s: s[:, 1] / s[:, 0]),
        accuracy=sums.interval(lambda s: s[:, 4] / s[:, 3]),
        sequence_accuracy=sums.interval(lambda s: s[:, 2] / s[:, 0]) if sequential else None,
        precision=sums.interval(lambda s: _ratio(s[:, spans], 0, 1)) if types else None,
        recall=sums.interval(lambda s: _ratio(s[:, spans], 0, 2)) if types else None,
        f1=sums.interval(lambda s: f1(s[:, spans].reshape(len(s), -1, 3).sum(axis=1))) if types else None,
        labels=sums.classes(labels, begin),
        spans=sums.classes(types, middle),
        confusion=confusion,
        n_examples=len(losses),
        n_tokens=int(lengths.sum()),
        predicted=predicted,
        truths=truths,
        guesses=guesses,
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


class _Sums:
    """Counts summed over all examples, and over resamples of them."""

    def __init__(self, counts: sp.csr_array, random_state: int):
        n = counts.shape[0]
        self.total = np.asarray(counts.sum(axis=0))
        n_resamples = int(np.clip(MOST_DRAWN // n, FEWEST_RESAMPLES, RESAMPLES)) if n > 1 else 0
        batch = max(1, DRAWN_AT_ONCE // n)
        random = np.random.default_rng(random_state)
        columns = sp.csr_array(counts.T)
        drawn = []
        for begin in range(0, n_resamples, batch):
            size = min(batch, n_resamples - begin)
            places = random.integers(n, size=(size, n)) + n * np.arange(size)[:, None]
            times = np.bincount(places.ravel(), minlength=size * n).reshape(size, n)
            drawn.append((columns @ times.T.astype(np.float64)).T)
        self.resampled = np.concatenate(drawn) if drawn else np.empty((0, len(self.total)))

    def interval(self, metric: Metric) -> Interval:
        """The percentile interval (Efron and Tibshirani 1993, section 13.3); NaN for a single example."""
        estimate = float(metric(self.total[None])[0])
        if not len(self.resampled):
            return Interval(estimate, math.nan, math.nan)
        low, high = np.quantile(metric(self.resampled), [0.025, 0.975])
        return Interval(estimate, float(low), float(high))

    def classes(self, names: Sequence[Any], begin: int) -> dict[Any, ClassScore]:
        """The scores of classes of which each has three columns, correct, predicted and true, from `begin` on."""
        found = {}
        for k, name in enumerate(names):
            here = slice(begin + 3 * k, begin + 3 * k + 3)
            correct, predicted, true = self.total[here].tolist()
            found[name] = ClassScore(
                correct / predicted if predicted else 0.0,
                correct / true if true else 0.0,
                self.interval(lambda s, here=here: f1(s[:, here])),  # type: ignore[misc]
                int(true),
                int(predicted),
            )
        return found


def _ratio(counts: FloatArray, part: int, whole: int) -> FloatArray:
    sums = counts.reshape(len(counts), -1, 3).sum(axis=1)
    ratio: FloatArray = np.divide(sums[:, part], sums[:, whole], out=np.zeros(len(sums)), where=sums[:, whole] > 0)
    return ratio


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
