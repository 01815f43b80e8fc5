"""How many nodes of graphs or pixels of images are labelled rightly, and how far regions of a label agree.

Y has an array of labels for each example, of any shape: (n_nodes,) for a graph, (height, width) for an image. Nodes and
pixels whose true label is among `ignore`, such as those that nobody has labelled, count nowhere.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.labels import is_partial, read_label_sequences
from structlearn.metrics.measures import Columns, Formulas, Measures, class_columns, classes_in
from structlearn.metrics.resampled import quotient
from structlearn.metrics.scores import ratio

LabelArrays = Sequence[Any]
Ignored = Collection[Hashable]


def correct_nodes(Y: LabelArrays, Y_pred: LabelArrays, *, ignore: Ignored = ()) -> Flags:
    """(n_nodes,): whether each label is right, the examples one after another; for `mcnemar`.

    Examples
    --------
    >>> correct_nodes([[["a", "b"], ["?", "b"]]], [[["a", "a"], ["a", "b"]]], ignore=["?"])
    array([ True, False,  True])
    """
    coded = _coded(Y, Y_pred, ignore)
    return np.asarray(coded.true[coded.counted] == coded.predicted[coded.counted])


def node_accuracy(Y: LabelArrays, Y_pred: LabelArrays, *, ignore: Ignored = ()) -> float:
    """Part of the nodes, or of the pixels, whose label is right.

    Parameters
    ----------
    Y, Y_pred : sequences of arrays or lists of labels
        True and predicted, an array of any shape for each graph or image.
    ignore : collection of labels
        Nodes whose true label is one of these count nowhere.

    Examples
    --------
    >>> node_accuracy([["a", "b", "b"], ["a"]], [["a", "a", "b"], ["a"]])
    0.75
    """
    return float(correct_nodes(Y, Y_pred, ignore=ignore).mean())


def intersection_over_union(Y: LabelArrays, Y_pred: LabelArrays, *, ignore: Ignored = ()) -> dict[Any, float]:
    """The intersection over union (Jaccard index) of each label, c/(p + t − c).

    c nodes or pixels have the label rightly, p have it in the prediction, t in truth, summed over all examples. Labels
    are all that are true or predicted anywhere.

    Parameters
    ----------
    Y, Y_pred, ignore
        As in `node_accuracy`; a label that is ignored is not listed.

    Examples
    --------
    >>> intersection_over_union([["a", "a", "b", "b"]], [["a", "b", "b", "b"]])
    {'a': 0.5, 'b': 0.6666666666666666}
    """
    labels, counts = _counts(_coded(Y, Y_pred, ignore))
    return dict(zip(labels, _iou(counts.sum(axis=0)).tolist(), strict=True))


def mean_iou(Y: LabelArrays, Y_pred: LabelArrays, *, ignore: Ignored = ()) -> float:
    """The mean of `intersection_over_union` over labels.

    Examples
    --------
    >>> mean_iou([["a", "a", "b", "b"]], [["a", "a", "b", "c"]])
    0.5
    """
    return float(np.mean([*intersection_over_union(Y, Y_pred, ignore=ignore).values()]))


def node_measures(Y: LabelArrays, Y_pred: LabelArrays, *, ignore: Ignored = (), place: str = "node") -> Measures:
    """Accuracy of nodes and mean intersection over union, for `Model.measures`; right is an example without a mistake.

    The mean is over labels that occur in what is counted, so that one that a resample lacks does not count in it. The
    accuracy is named after the `place` of a label, as that of a pixel.

    Examples
    --------
    >>> found = node_measures([["a", "a"], ["b", "b"]], [["a", "a"], ["b", "c"]])
    >>> found.scores(), found.right
    ({'node_accuracy': 0.75, 'mean_iou': 0.5}, array([ True, False]))
    """
    coded = _coded(Y, Y_pred, ignore, some=False)
    labels, counts = _counts(coded)
    right = coded.counted & (coded.true == coded.predicted)
    n_right, n_counted = (np.bincount(coded.examples[flags], minlength=len(Y)) for flags in (right, coded.counted))
    return Measures(
        np.column_stack([n_right, n_counted, counts.reshape(len(Y), -1)]),
        partial(_formulas, place),
        np.asarray(n_right == n_counted),
        ["right", "counted", *class_columns(labels, _PARTS)],
    )


_PARTS = ("correct", "predicted", "true")


def _formulas(place: str, columns: Columns) -> Formulas:
    labels, by_label = classes_in(columns, _PARTS)
    if not labels:
        raise ValueError(_NOTHING_COUNTS)

    def mean_of_labels(sums: FloatArray) -> FloatArray:
        each = sums[..., by_label]
        occurs = each[..., 1:].sum(axis=-1) > 0
        return ratio(_iou(each).sum(axis=-1), occurs.sum(axis=-1))

    return {f"{place}_accuracy": quotient(0, 1), "mean_iou": mean_of_labels}


def typed_node_measures(Y: Sequence[Any], Y_pred: Sequence[Any]) -> Measures:
    """Accuracy of all nodes and of those of each type, where Y has a dict from types to labels for each example.

    Nodes whose label is None, one of several, or of a type that Y leaves out, count nowhere.

    Examples
    --------
    >>> Y = [{"word": ["a", "b"], "topic": ["x"]}, {"word": ["a", None]}]
    >>> found = typed_node_measures(Y, [{"word": ["a", "a"], "topic": ["x"]}, {"word": ["a", "b"], "topic": ["x"]}])
    >>> {name: round(score, 3) for name, score in found.scores().items()}
    {'node_accuracy': 0.75, 'word_accuracy': 0.667, 'topic_accuracy': 1.0}
    """
    types = list(dict.fromkeys(kind for y in Y_pred for kind in y))
    counts = np.zeros((len(Y), len(types), 2))
    for i, (y, guess) in enumerate(zip(Y, Y_pred, strict=True)):
        for k, kind in enumerate(types):
            for true, label in zip((y or {}).get(kind) or (), guess.get(kind, ()), strict=False):
                if not is_partial(true):
                    counts[i, k] += (true == label, 1)
    both = counts.sum(axis=1)
    return Measures(
        np.column_stack([both, counts.reshape(len(Y), -1)]),
        _typed_formulas,
        np.asarray(both[:, 0] == both[:, 1]),
        ["right", "counted", *class_columns(types, ("right", "counted"))],
    )


def _typed_formulas(columns: Columns) -> Formulas:
    both = {name[0]: k for k, name in enumerate(columns) if isinstance(name, tuple) and name[1] == "right"}
    return {"node_accuracy": quotient(0, 1)} | {f"{kind}_accuracy": quotient(k, k + 1) for kind, k in both.items()}


class _Coded(NamedTuple):
    """Labels of all nodes as codes, the example of each, and which count."""

    classes: tuple[Any, ...]
    ignored: Flags
    true: LabelArray
    predicted: LabelArray
    examples: IntArray
    n_examples: int

    @property
    def counted(self) -> Flags:
        return np.asarray(~self.ignored[self.true])


_NOTHING_COUNTS = "Y has no labels that count: there are none, or all are ignored"


def _coded(Y: LabelArrays, Y_pred: LabelArrays, ignore: Ignored, *, some: bool = True) -> _Coded:
    """Refused if no label counts, but where `some` need not."""
    if len(Y) != len(Y_pred):
        raise ValueError(f"Y has {len(Y)} examples but Y_pred has {len(Y_pred)}")
    if not len(Y):
        raise ValueError("Y has no examples")
    if isinstance(ignore, str):
        raise ValueError(f"ignore is {ignore!r}; expected a list of labels")
    pairs = [(_array(y, f"Y[{i}]"), _array(p, f"Y_pred[{i}]")) for i, (y, p) in enumerate(zip(Y, Y_pred, strict=True))]
    for i, (y, p) in enumerate(pairs):
        if y.shape != p.shape:
            raise ValueError(f"Y[{i}] has shape {y.shape} but Y_pred[{i}] has {p.shape}")
    both = read_label_sequences([y.ravel() for y, _ in pairs] + [p.ravel() for _, p in pairs])
    n = int(both.offsets[len(pairs)])
    ignored = np.array([label in ignore for label in both.classes], np.bool_)
    examples = np.repeat(np.arange(len(pairs)), both.lengths[: len(pairs)])
    coded = _Coded(both.classes, ignored, both.flat[:n], both.flat[n:], examples, len(pairs))
    if some and not coded.counted.any():
        raise ValueError(_NOTHING_COUNTS)
    return coded


def _array(labels: Any, where: str) -> Any:
    if isinstance(labels, np.ndarray) and labels.ndim:
        return labels
    if not isinstance(labels, list | tuple):
        raise ValueError(f"{where} is {labels!r}; expected an array of labels")
    if labels and isinstance(labels[0], list | np.ndarray):
        rows = [_array(row, f"{where}[{k}]") for k, row in enumerate(labels)]
        if len({row.shape for row in rows}) > 1:
            raise ValueError(f"{where} has rows of different lengths; expected an array of labels")
        return np.stack(rows)
    # An array that keeps its labels as they are; NumPy would make texts of a mixture, and rows of tuples.
    return np.fromiter(labels, object, len(labels))


def _counts(coded: _Coded) -> tuple[list[Any], IntArray]:
    """Labels, and (n_examples, n_labels, 3): how many nodes have each rightly, in the prediction and in truth."""
    n, n_classes = coded.n_examples, len(coded.classes)
    counted = coded.counted
    right = counted & (coded.true == coded.predicted)

    def counts(flags: Flags, codes: LabelArray) -> IntArray:
        places = coded.examples[flags] * n_classes + codes[flags]
        return np.bincount(places, minlength=n * n_classes).reshape(n, n_classes)

    all_counts = np.stack(
        [counts(right, coded.true), counts(counted, coded.predicted), counts(counted, coded.true)], axis=-1
    )
    shown = ~coded.ignored & (all_counts.sum(axis=(0, 2)) > 0)
    return [label for label, kept in zip(coded.classes, shown, strict=True) if kept], all_counts[:, shown]


def _iou(counts: Any) -> FloatArray:
    """c/(p + t − c) of counts (…, 3), 0 where that is 0/0."""
    correct, predicted, true = np.moveaxis(np.asarray(counts), -1, 0)
    return ratio(correct, predicted + true - correct)
