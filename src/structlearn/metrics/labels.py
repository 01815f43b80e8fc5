"""How many labels, and how many whole sequences, are right, and which labels are taken for which.

A label is right if it is equal to the true one, so a label that training never saw is simply wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.labels import LabelCodes, observed_classes
from structlearn.metrics._checks import paired
from structlearn.metrics.scores import Report, report

Labels = Sequence[Sequence[Any]]


def correct_tokens(Y: Labels, Y_pred: Labels) -> npt.NDArray[np.bool_]:
    """(n_tokens,): whether each label is right, the sequences one after the other.

    Examples
    --------
    >>> correct_tokens([["a", "b"], ["a"]], [["a", "a"], ["a"]])
    array([ True, False,  True])
    """
    right = [bool(a == b) for y, p in paired(Y, Y_pred) for a, b in zip(y, p, strict=True)]
    if not right:
        raise ValueError("Y has no labels: all its sequences are empty")
    return np.array(right)


def correct_sequences(Y: Labels, Y_pred: Labels) -> npt.NDArray[np.bool_]:
    """(n_sequences,): whether all labels of a sequence are right.

    Examples
    --------
    >>> correct_sequences([["a", "b"], ["a"]], [["a", "a"], ["a"]])
    array([False,  True])
    """
    return np.array([all(a == b for a, b in zip(y, p, strict=True)) for y, p in paired(Y, Y_pred)])


def token_accuracy(Y: Labels, Y_pred: Labels) -> float:
    """Part of the labels that are right.

    Examples
    --------
    >>> token_accuracy([["a", "b"], ["a", "a"]], [["a", "a"], ["a", "a"]])
    0.75
    """
    return float(correct_tokens(Y, Y_pred).mean())


def sequence_accuracy(Y: Labels, Y_pred: Labels) -> float:
    """Part of the sequences of which all labels are right.

    Examples
    --------
    >>> sequence_accuracy([["a", "b"], ["a", "a"]], [["a", "a"], ["a", "a"]])
    0.5
    """
    return float(correct_sequences(Y, Y_pred).mean())


@dataclass(frozen=True, slots=True)
class Confusion:
    """`counts[j, k]` tokens have the label `labels[j]` and were given `labels[k]`."""

    labels: tuple[Any, ...]
    counts: npt.NDArray[np.int64]

    def mistakes(self) -> list[tuple[Any, Any, int]]:
        """(true label, predicted label, count) of all mistakes, the most frequent first."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        order = np.argsort(-wrong, axis=None, kind="stable")[: np.count_nonzero(wrong)]
        rows, columns = np.unravel_index(order, wrong.shape)
        return [(self.labels[j], self.labels[k], int(wrong[j, k])) for j, k in zip(rows, columns, strict=True)]


def confusion(Y: Labels, Y_pred: Labels) -> Confusion:
    """Counts of true against predicted labels, over all labels that occur in either.

    Examples
    --------
    >>> found = confusion([["a", "b", "b"]], [["a", "c", "b"]])
    >>> found.labels, found.counts.tolist()
    (('a', 'b', 'c'), [[1, 0, 0], [0, 1, 1], [0, 0, 0]])
    >>> found.mistakes()
    [('b', 'c', 1)]
    """
    pairs = paired(Y, Y_pred)
    labels = observed_classes(label for pair in pairs for sequence in pair for label in sequence)
    codes = LabelCodes(labels)
    counts = np.zeros((len(labels), len(labels)), np.int64)
    for i, (y, p) in enumerate(pairs):
        np.add.at(counts, (codes.encode(y, f"Y[{i}]"), codes.encode(p, f"Y_pred[{i}]")), 1)
    return Confusion(labels, counts)


def label_report(Y: Labels, Y_pred: Labels) -> Report:
    """Precision, recall and F1 of every label; the micro average is the token accuracy.

    Examples
    --------
    >>> print(label_report([["DET", "NOUN"], ["NOUN", "VERB"]], [["DET", "NOUN"], ["VERB", "VERB"]]))
              precision  recall      F1  support
    DET          1.0000  1.0000  1.0000        1
    NOUN         1.0000  0.5000  0.6667        2
    VERB         0.5000  1.0000  0.6667        1
    <BLANKLINE>
    micro        0.7500  0.7500  0.7500        4
    macro        0.8333  0.8333  0.7778        4
    weighted     0.8750  0.7500  0.7500        4
    """
    found = confusion(Y, Y_pred)
    counts = found.counts
    return report(found.labels, np.column_stack([np.diag(counts), counts.sum(axis=0), counts.sum(axis=1)]))
