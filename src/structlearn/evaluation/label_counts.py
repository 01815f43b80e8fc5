"""How often labels, and types of spans, are correct, predicted and true in each example."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import Flags, IntArray
from structlearn.data.labels import is_partial, known_labels, observed_classes, plain
from structlearn.data.tokens.segments import to_bio
from structlearn.data.tokens.tags import Scheme, is_tag, spans
from structlearn.models.base import Kind


def token_labels(kind: Kind, Y: Any) -> list[list[Any]]:
    if kind == "examples":
        return [[plain(y)] for y in Y]
    if kind == "segments":
        return [list(to_bio(y)) for y in Y]
    if kind == "sequences":
        return [y.tolist() if isinstance(y, np.ndarray) else [plain(label) for label in y] for y in Y]
    return list(Y)


def known_in_part(kind: Kind, Y: Any) -> Flags:
    """Of which examples true labels are missing or uncertain."""
    if kind == "examples":
        return np.array([is_partial(y) for y in Y], bool)
    return np.array([y is None or (not isinstance(y, np.ndarray) and any(map(is_partial, y))) for y in Y], bool)


def known_only(kind: Kind, Y: Any, guesses: list[list[Any]]) -> tuple[list[list[Any]], list[list[Any]]]:
    """True and predicted labels of those places of which something is known.

    Where one of several labels is true, it is the predicted one if it can be.

    >>> known_only("sequences", [["a", None, {"a", "b"}, {"a", "b"}]], [["c", "c", "b", "c"]])
    ([['a', 'b', 'a']], [['c', 'b', 'c']])
    """
    truths, kept = [], []
    for y, guess in zip(Y, guesses, strict=True):
        said = [None] * len(guess) if y is None else [y] if kind == "examples" else y
        pairs = [(known_labels(entry), label) for entry, label in zip(said, guess, strict=True) if entry is not None]
        truths.append([label if label in known else plain(observed_classes(known)[0]) for known, label in pairs])
        kept.append([label for _, label in pairs])
    return truths, kept


class ClassCounts(NamedTuple):
    """How often each class is correct, predicted and true in each example, (n, 3 n_classes)."""

    classes: tuple[Any, ...]
    counts: sp.csr_array


def in_order(classes: Sequence[Any], seen: Iterable[Any]) -> tuple[Any, ...]:
    """The labels that were seen, those of the model first and in its order."""
    occur = dict.fromkeys(seen)
    known = [label for label in classes if label in occur]
    return (*known, *observed_classes(label for label in occur if label not in set(classes)))


def label_counts(truths: list[list[Any]], guesses: list[list[Any]]) -> tuple[ClassCounts, sp.coo_array]:
    """Counts of the labels that occur, as they come, and how often each is true where which is predicted."""
    labels = tuple(dict.fromkeys(chain.from_iterable((*truths, *guesses))))
    number = {label: code for code, label in enumerate(labels)}
    true, found = (np.array([number[label] for y in some for label in y], np.int64) for some in (truths, guesses))
    which = np.repeat(np.arange(len(truths)), [len(y) for y in truths])
    right = true == found
    rows = np.concatenate([which[right], which, which])
    columns = np.concatenate([3 * true[right], 3 * found + 1, 3 * true + 2])
    confusion = sp.coo_array((np.ones(len(true), np.int64), (true, found)), shape=(len(labels),) * 2)
    confusion.sum_duplicates()
    return ClassCounts(labels, _counted(rows, columns, len(truths), len(labels))), confusion


def span_counts(kind: Kind, Y: Any, predicted: Any, scheme: Scheme) -> ClassCounts:
    """Counts of each type of spans."""
    true, found = (
        [set(_spans(kind, y, scheme, f"{name}[{i}]")) for i, y in enumerate(outputs)]
        for name, outputs in (("Y", Y), ("Y_pred", predicted))
    )
    triples = [
        (i, kind, column)
        for i, (y, p) in enumerate(zip(true, found, strict=True))
        for column, some in enumerate((y & p, p, y))
        for kind, _, _ in some
    ]
    types = tuple(sorted({kind for _, kind, _ in triples}, key=str))
    number = {kind: k for k, kind in enumerate(types)}
    places = np.array([(i, 3 * number[kind] + column) for i, kind, column in triples], np.int64).reshape(-1, 2)
    return ClassCounts(types, _counted(places[:, 0], places[:, 1], len(true), len(types)))


def _counted(rows: IntArray, columns: IntArray, n: int, n_classes: int) -> sp.csr_array:
    """How often a row and a column come together, in as few bytes as they take."""
    # SciPy keeps the type of the numbers that say where.
    places = rows.astype(np.int32), columns.astype(np.int32)
    counts = sp.csr_array((np.ones(len(rows), np.int32), places), shape=(n, 3 * n_classes))
    return counts.astype(np.min_scalar_type(int(counts.data.max(initial=0))))


def _spans(kind: Kind, y: Any, scheme: Scheme, where: str) -> list[tuple[Any, int, int]]:
    if kind == "segments":
        return [(plain(label), int(begin), int(end)) for label, begin, end in y if label != "O"]
    # What is no tag is a span by itself, which no prediction can match.
    alone = [(str(label), t, t + 1) for t, label in enumerate(y) if not is_tag(label)]
    return spans([label if is_tag(label) else "O" for label in y], scheme, where) + alone
