"""How often labels, and types of spans, are correct, predicted and true in each example."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import IntArray
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


def known_in_part(kind: Kind, Y: Any) -> bool:
    """Whether true labels are missing or uncertain."""
    if kind == "examples" or any(y is None for y in Y):
        return any(map(is_partial, Y))
    return any(is_partial(label) for y in Y if not isinstance(y, np.ndarray) for label in y)


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


def in_order(classes: Sequence[Any], truths: list[list[Any]], guesses: list[list[Any]]) -> tuple[Any, ...]:
    """The labels that occur, those of the model first and in its order."""
    seen = dict.fromkeys(label for sequences in (truths, guesses) for y in sequences for label in y)
    known = [label for label in classes if label in seen]
    return (*known, *observed_classes(label for label in seen if label not in set(classes)))


def label_codes(labels: tuple[Any, ...], sequences: list[list[Any]]) -> IntArray:
    number = {label: code for code, label in enumerate(labels)}
    return np.array([number[label] for y in sequences for label in y], np.int64)


def label_counts(which: IntArray, true: IntArray, found: IntArray, n: int, n_labels: int) -> sp.csr_array:
    """How often each label is correct, predicted and true in each example, (n, 3 n_labels)."""
    right = true == found
    rows = np.concatenate([which[right], which, which])
    columns = np.concatenate([3 * true[right], 3 * found + 1, 3 * true + 2])
    return sp.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, 3 * n_labels))


def span_counts(kind: Kind, Y: Any, predicted: Any, scheme: Scheme) -> tuple[tuple[str, ...], sp.csr_array]:
    """How often each type of spans is correct, predicted and true in each example, (n, 3 n_types), and the types."""
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
    types = tuple(sorted({kind for _, kind, _ in triples}, key=str)) or ("_",)
    number = {kind: k for k, kind in enumerate(types)}
    places = np.array([(i, 3 * number[kind] + column) for i, kind, column in triples], np.int64).reshape(-1, 2)
    return types, sp.csr_array((np.ones(len(places)), tuple(places.T)), shape=(len(true), 3 * len(types)))


def _spans(kind: Kind, y: Any, scheme: Scheme, where: str) -> list[tuple[Any, int, int]]:
    if kind == "segments":
        return [(plain(label), int(begin), int(end)) for label, begin, end in y if label != "O"]
    # What is no tag is a span by itself, which no prediction can match.
    alone = [(str(label), t, t + 1) for t, label in enumerate(y) if not is_tag(label)]
    return spans([label if is_tag(label) else "O" for label in y], scheme, where) + alone
