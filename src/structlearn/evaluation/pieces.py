"""Evaluation of examples piece by piece: what is kept of a piece, and the scores of all."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.data.ragged import offsets_of
from structlearn.data.tokens.tags import Scheme, are_tags
from structlearn.evaluation.judging import Judged
from structlearn.evaluation.label_counts import (
    ClassCounts,
    in_order,
    known_only,
    label_counts,
    span_counts,
    token_labels,
)
from structlearn.evaluation.result import BUILT_IN, Evaluation
from structlearn.metrics import Confusion, Measures
from structlearn.metrics.measures import joined
from structlearn.metrics.resampled import Formula, ResampledSums, WholeCounts, averages, quotient
from structlearn.models.base import Kind, Model


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """What an evaluation keeps of some of its examples: what is counted in each, without inputs and outputs.

    See `structlearn.evaluation.evaluate_piece`. It is small, some hundred bytes an example, and can be pickled.
    """

    kind: Kind
    example: str
    place: str
    classes: tuple[Any, ...]
    """Labels of the model."""
    scheme: Scheme
    losses: FloatArray
    margins: FloatArray
    right: Flags
    lengths: IntArray
    """How many labels each example has, and how many of these are right; of whole outputs, one."""
    n_right: IntArray
    labels: ClassCounts | None
    confusion: sp.coo_array | None
    spans: ClassCounts | None
    measures: Measures | None

    def __len__(self) -> int:
        return len(self.losses)

    def __repr__(self) -> str:
        return f"<Piece of an evaluation: {len(self)} {self.example}s>"


class Outputs(NamedTuple):
    """See `Evaluation`."""

    predicted: Any
    truths: Sequence[list[Any]]
    guesses: Sequence[list[Any]]


def counted(
    model: Model, classes: Sequence[Any], X: Any, Y: Any, judged: Judged, scheme: Scheme
) -> tuple[Piece, Outputs]:
    """What there is to count of predictions, and outputs in the form in which they were compared."""
    kind, predicted, partial = model.kind, judged.predicted, judged.partial
    guesses = token_labels(kind, predicted)
    truths, guesses = known_only(kind, Y, guesses) if partial else (token_labels(kind, Y), guesses)
    measures = model.measures(X, Y, predicted) if len(predicted) else None
    if measures is not None and len(measures.counts) != len(predicted):
        raise ValueError(f"measures has counts of {len(measures.counts)} examples, but there are {len(predicted)}")
    if measures is None or measures.right is None:
        equal = same_output if kind == "outputs" else operator.eq
        right = np.array([equal(y, p) for y, p in zip(truths, guesses, strict=True)], bool)
    else:
        right = np.asarray(measures.right, bool)
    labels = confusion = spans = None
    lengths, n_right = np.ones(len(right), np.int64), right.astype(np.int64)
    if kind != "outputs":
        labels, confusion = label_counts(truths, guesses)
        lengths = np.array([len(y) for y in truths], np.int64)
        n_right = labels.counts[:, 0::3].sum(axis=1).astype(np.int64)
    if kind == "segments" or (kind == "sequences" and are_tags(classes) and not partial):
        spans = span_counts(kind, Y, predicted, scheme)
    piece = Piece(
        kind=kind,
        example=model.example,
        place=model.place,
        classes=tuple(classes),
        scheme=scheme,
        losses=judged.losses,
        margins=judged.margins,
        right=right,
        lengths=lengths,
        n_right=n_right,
        labels=labels,
        confusion=confusion,
        spans=spans,
        measures=measures,
    )
    return piece, Outputs(predicted, truths, guesses)


def evaluation_of(pieces: Iterable[Piece], *, random_state: int = 0) -> Evaluation:
    """The evaluation of all examples from those of pieces, in their order.

    Every number is that of `evaluate` on all examples at once; what are missing are the outputs themselves.

    Parameters
    ----------
    pieces : iterable of Piece
        What `evaluate_piece` gave of one estimator; pieces without examples change nothing.
    random_state : int
        Seed of the resampling.

    Examples
    --------
    >>> from structlearn import StructuralSVM
    >>> from structlearn.evaluation import evaluate, evaluate_piece
    >>> from structlearn.models import Multiclass
    >>> X, y = [[1.0, 0.0], [0.9, 0.1], [0.1, 0.9], [0.0, 1.0]], ["a", "a", "b", "a"]
    >>> svm = StructuralSVM(Multiclass()).fit(X, y)
    >>> found = evaluation_of(evaluate_piece(svm, X[k : k + 2], y[k : k + 2]) for k in (0, 2))
    >>> found.to_dict() == evaluate(svm, X, y).to_dict()
    True
    """
    kept = list(pieces)
    pieces = [piece for piece in kept if len(piece)]
    if not pieces:
        raise ValueError("there are no examples to evaluate")
    first = pieces[0]
    for k, piece in enumerate(kept):
        if (piece.kind, piece.classes, piece.scheme) != (first.kind, first.classes, first.scheme):
            raise ValueError(f"piece {k} is of another estimator, or of another scheme, than those before it")
    columns, own = _columns(pieces)
    labels: tuple[Any, ...] = ()
    types: tuple[Any, ...] = ()
    whole: list[WholeCounts] = []
    confusion = None
    middle = columns.shape[1]
    labelled = [piece.labels for piece in pieces if piece.labels is not None]
    if labelled:
        labels = in_order(first.classes, chain.from_iterable(part.classes for part in labelled))
        whole += _placed(labelled, labels, middle)
        confusion = _confusion(labels, pieces)
    last = middle + 3 * len(labels)
    spans = [piece.spans for piece in pieces if piece.spans is not None]
    if len(spans) == len(pieces):
        types = tuple(sorted({kind for part in spans for kind in part.classes}, key=str)) or ("_",)
        whole += _placed(spans, types, last)
    end = last + 3 * len(types)
    sums = ResampledSums(sp.csr_array(columns), random_state, whole, end)
    formulas: dict[str, Formula] = {"loss": quotient(1, 0), "accuracy": quotient(4, 3)}
    if first.kind in ("sequences", "segments"):
        formulas["sequence_accuracy"] = quotient(2, 0)
    if types:
        formulas |= zip(("precision", "recall", "f1"), averages(slice(last, end)), strict=True)
    intervals = {name: sums.interval(formula) for name, formula in formulas.items()}
    return Evaluation(
        kind=first.kind,
        **{name: intervals.get(name) for name in BUILT_IN},  # type: ignore[arg-type]
        scheme=first.scheme if types and first.kind == "sequences" else None,
        labels=sums.classes(labels, middle),
        spans=sums.classes(types, last),
        scores={name: sums.interval(formula) for name, formula in own.items()},
        confusion=confusion,
        n_examples=len(columns),
        n_tokens=int(sums.total[3]),
        right=_of_all(pieces, "right"),
        losses=_of_all(pieces, "losses"),
        margins=_of_all(pieces, "margins"),
        resampled={name: formula(sums.resampled) for name, formula in (formulas | own).items()},
        example=first.example,
        place=first.place,
    )


def _of_all(pieces: Sequence[Piece], name: str) -> Any:
    return np.concatenate([getattr(piece, name) for piece in pieces])


def _columns(pieces: Sequence[Piece]) -> tuple[FloatArray, dict[str, Formula]]:
    """A column of ones, losses, whole outputs that are right, labels, right ones, and what the model measures."""
    columns = [_of_all(pieces, name) for name in ("losses", "right", "lengths", "n_right")]
    columns = [np.ones(len(columns[0])), *columns]
    measured = [piece.measures for piece in pieces if piece.measures is not None]
    if not measured:
        return np.column_stack(columns), {}
    if len(measured) < len(pieces):
        raise ValueError("there are measures of some pieces only")
    measures = joined(measured)
    taken = {"loss", "accuracy"} if pieces[0].kind == "outputs" else set(BUILT_IN)
    for name in measures.formulas:
        if name in taken:
            raise ValueError(f"measures has a score {name!r}, which every evaluation has; name it otherwise")
    columns.append(measures.counts)
    own = slice(5, 5 + measures.counts.shape[1])
    return np.column_stack(columns), {name: _of_columns(own, formula) for name, formula in measures.formulas.items()}


def _of_columns(columns: slice, formula: Formula) -> Formula:
    return lambda sums: formula(sums[:, columns])


def _placed(parts: Sequence[ClassCounts], classes: Sequence[Any], first: int) -> list[WholeCounts]:
    """Counts of pieces whose columns stand, by class, from `first` on."""
    number = {name: first + 3 * k for k, name in enumerate(classes)}
    begins = offsets_of([part.counts.shape[0] for part in parts])
    return [
        WholeCounts(begin, part.counts, np.array([number[name] + k for name in part.classes for k in range(3)], int))
        for begin, part in zip(begins.tolist(), parts, strict=False)
    ]


def _confusion(labels: tuple[Any, ...], pieces: Sequence[Piece]) -> Confusion:
    number = {label: k for k, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), np.int64)
    for piece in pieces:
        assert piece.labels is not None
        assert piece.confusion is not None
        places = np.array([number[label] for label in piece.labels.classes], np.int64)
        true, found = piece.confusion.coords
        np.add.at(counts, (places[true], places[found]), piece.confusion.data)
    return Confusion(labels, counts)
