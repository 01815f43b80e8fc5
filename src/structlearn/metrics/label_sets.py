"""How good predicted sets of labels are: multi-label classification.

Sets are rows of a table (n_examples, n_labels) of zeros and ones, an array or sparse, or collections of labels, one an
example: ``[{"red", "round"}, set()]``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.data.labels import observed_classes
from structlearn.metrics.measures import Columns, Formulas, Measures, class_columns, classes_in
from structlearn.metrics.resampled import Formula, quotient
from structlearn.metrics.scores import Report, f1, ratio, report

#: A table of zeros and ones, or a collection of labels for each example.
LabelSets = Any


def label_accuracy(Y: LabelSets, Y_pred: LabelSets, *, labels: Sequence[Any] | None = None) -> float:
    """Part of all decisions, one for each example and label, that are right: 1 − Hamming loss.

    Parameters
    ----------
    Y, Y_pred : (n_examples, n_labels) of zeros and ones, or a collection of labels for each example
    labels : sequence of labels, optional
        All there are, where sets are collections; by default those that occur in either. The more labels hardly ever
        occur, the higher the accuracy.

    Examples
    --------
    >>> label_accuracy([{"red"}, {"red", "round"}], [{"red"}, {"red"}])
    0.75
    """
    true, found, _ = _tables(Y, Y_pred, labels)
    return float((true == found).mean())


def hamming_loss(Y: LabelSets, Y_pred: LabelSets, *, labels: Sequence[Any] | None = None) -> float:
    """Part of all decisions that are wrong; parameters as in `label_accuracy`.

    >>> hamming_loss(np.array([[1, 0], [1, 1]]), np.array([[1, 0], [1, 0]]))
    0.25
    """
    return 1.0 - label_accuracy(Y, Y_pred, labels=labels)


def correct_sets(Y: LabelSets, Y_pred: LabelSets) -> Flags:
    """(n_examples,): whether the whole set is right; for `mcnemar`.

    >>> correct_sets([{"red"}, {"red", "round"}], [{"red"}, {"red"}])
    array([ True, False])
    """
    true, found, _ = _tables(Y, Y_pred)
    return np.asarray((true == found).all(axis=1))


def exact_match(Y: LabelSets, Y_pred: LabelSets) -> float:
    """Part of the examples whose whole set is right, also called subset accuracy.

    >>> exact_match([{"red"}, {"red", "round"}], [{"red"}, {"red"}])
    0.5
    """
    return float(correct_sets(Y, Y_pred).mean())


def example_f1(Y: LabelSets, Y_pred: LabelSets) -> float:
    """The mean over examples of 2c/(p + t), with c correct, p predicted and t true labels; 1 where all are 0.

    >>> round(example_f1([{"red"}, {"red", "round"}, set()], [{"red"}, {"red"}, set()]), 4)
    0.8889
    """
    true, found, _ = _tables(Y, Y_pred)
    return float(_f1_of_each(_counts(true, found, axis=1)).mean())


def label_set_report(Y: LabelSets, Y_pred: LabelSets, *, labels: Sequence[Any] | None = None) -> Report:
    """Precision, recall and F1 of every label, and their averages; parameters as in `label_accuracy`.

    Labels of a table without names are numbered from 0; `labels` names them.

    Examples
    --------
    >>> print(label_set_report([{"red"}, {"red", "round"}], [{"red"}, {"red"}]))
              precision  recall      F1  support
    red          1.0000  1.0000  1.0000        2
    round        0.0000  0.0000  0.0000        1
    <BLANKLINE>
    micro        1.0000  0.6667  0.8000        3
    macro        0.5000  0.5000  0.5000        3
    weighted     0.6667  0.6667  0.6667        3
    """
    true, found, names = _tables(Y, Y_pred, labels)
    return report(names, _counts(true, found, axis=0))


def micro_f1(Y: LabelSets, Y_pred: LabelSets) -> float:
    """F1 of all decisions together, 2c/(p + t) with c correct, p predicted and t true labels of all examples.

    >>> micro_f1([{"red"}, {"red", "round"}], [{"red"}, {"red"}])
    0.8
    """
    true, found, _ = _tables(Y, Y_pred)
    return float(f1(_counts(true, found, axis=0).sum(axis=0)))


def macro_f1(Y: LabelSets, Y_pred: LabelSets, *, labels: Sequence[Any] | None = None) -> float:
    """The mean over labels of their F1, 0 for one that is neither true nor predicted anywhere.

    >>> macro_f1([{"red"}, {"red", "round"}], [{"red"}, {"red"}])
    0.5
    """
    true, found, _ = _tables(Y, Y_pred, labels)
    return float(f1(_counts(true, found, axis=0)).mean())


def label_set_measures(
    Y: LabelSets, Y_pred: LabelSets, *, labels: Sequence[Any] | None = None, first: str = "label_accuracy"
) -> Measures:
    """All these scores, for `Model.measures`; right is an example whose whole set is.

    Parameters
    ----------
    Y, Y_pred, labels
        As in `label_accuracy`.
    first : {"label_accuracy", "example_f1", "micro_f1", "macro_f1"}
        The one to choose settings by; the others follow.

    Examples
    --------
    >>> found = label_set_measures([{"red"}, {"red", "round"}], [{"red"}, {"red"}]).scores()
    >>> {name: round(score, 4) for name, score in found.items()}
    {'label_accuracy': 0.75, 'example_f1': 0.8333, 'micro_f1': 0.8, 'macro_f1': 0.5}
    """
    if first not in _SCORES:
        raise ValueError(f"first is {first!r}; it may be {', '.join(map(repr, _SCORES))}")
    true, found, names = _tables(Y, Y_pred, labels, some=False)
    n = len(true)
    by_example = _counts(true, found, axis=1)
    # Correct, predicted and true of each label, which one example has once at most.
    by_label = np.stack([true & found, found, true], axis=-1).reshape(n, -1)
    counts = [(true != found).sum(axis=1), _f1_of_each(by_example), np.ones(n), by_example, by_label]
    columns = [*range(6), *class_columns(names, _PARTS)]
    return Measures(np.column_stack(counts), partial(_formulas, first), (true == found).all(axis=1), columns)


_SCORES = ("label_accuracy", "example_f1", "micro_f1", "macro_f1")
_PARTS = ("correct", "predicted", "true")


def _formulas(first: str, columns: Columns) -> Formulas:
    names, by_label = classes_in(columns, _PARTS)
    if not names:
        raise ValueError(_NO_LABELS)

    def accuracy(sums: FloatArray) -> FloatArray:
        decisions = len(names) * sums[..., 2]
        return ratio(decisions - sums[..., 0], decisions)

    formulas: dict[str, Formula] = {
        "label_accuracy": accuracy,
        "example_f1": quotient(1, 2),
        "micro_f1": lambda sums: f1(sums[..., 3:6]),
        "macro_f1": lambda sums: f1(sums[..., by_label]).mean(axis=-1),
    }
    return {first: formulas[first]} | formulas


class _Tables(NamedTuple):
    true: Flags
    found: Flags
    labels: tuple[Any, ...]


_NO_LABELS = "no example has a label, and labels does not say which there are"


def _tables(Y: LabelSets, Y_pred: LabelSets, labels: Sequence[Any] | None = None, *, some: bool = True) -> _Tables:
    """Both as tables of the same labels; refused if there are none, but where `some` need not be."""
    n, n_pred = (each.shape[0] if sp.issparse(each) else len(each) for each in (Y, Y_pred))
    if n != n_pred:
        raise ValueError(f"Y has {n} examples but Y_pred has {n_pred}")
    if not n:
        raise ValueError("Y has no examples")
    if _is_table(Y) != _is_table(Y_pred):
        raise ValueError("one of Y and Y_pred is a table, the other has collections of labels")
    if not _is_table(Y):
        tables = _from_collections(Y, Y_pred, labels)
        if some and not tables.labels:
            raise ValueError(_NO_LABELS)
        return tables
    true, found = _table(Y, "Y"), _table(Y_pred, "Y_pred")
    if true.shape != found.shape:
        raise ValueError(f"Y has {true.shape[1]} labels but Y_pred has {found.shape[1]}")
    names = tuple(range(true.shape[1])) if labels is None else tuple(labels)
    if not names or len(names) != true.shape[1]:
        raise ValueError(f"there are {len(names)} names for {true.shape[1]} labels")
    return _Tables(true, found, names)


def _is_table(sets: LabelSets) -> bool:
    return sp.issparse(sets) or (isinstance(sets, np.ndarray) and sets.ndim == 2)


def _table(sets: Any, name: str) -> Flags:
    values = sets.toarray() if sp.issparse(sets) else sets
    bad = np.argwhere((values != 0) & (values != 1))
    if len(bad):
        i, k = bad[0].tolist()
        raise ValueError(f"{name}[{i}, {k}] is {values[i, k]}; expected 0 or 1")
    return np.asarray(values, np.bool_)


def _from_collections(Y: Any, Y_pred: Any, labels: Sequence[Any] | None) -> _Tables:
    sets = [
        [_collection(y, f"{name}[{i}]") for i, y in enumerate(each)] for name, each in (("Y", Y), ("Y_pred", Y_pred))
    ]
    names = observed_classes(label for some in sets for y in some for label in y) if labels is None else tuple(labels)
    places = {label: k for k, label in enumerate(names)}
    tables = np.zeros((2, len(Y), len(names)), np.bool_)
    for which, some in enumerate(sets):
        for i, y in enumerate(some):
            for label in y:
                if label not in places:
                    raise ValueError(f"{('Y', 'Y_pred')[which]}[{i}] has {label!r}, which is not among labels")
                tables[which, i, places[label]] = True
    return _Tables(tables[0], tables[1], names)


def _collection(labels: Any, where: str) -> list[Any]:
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise ValueError(f"{where} is {labels!r}; expected a set of labels")
    found = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    if len(set(found)) < len(found):
        raise ValueError(f"{where} is {found!r}; a set has each label once")
    return found


def _counts(true: Flags, found: Flags, axis: int) -> IntArray:
    """Correct, predicted and true, summed over examples (axis 0) or labels (axis 1)."""
    return np.stack([each.sum(axis=axis) for each in (true & found, found, true)], axis=-1)


def _f1_of_each(counts: IntArray) -> FloatArray:
    return np.where(counts.sum(axis=1) > 0, f1(counts), 1.0)
