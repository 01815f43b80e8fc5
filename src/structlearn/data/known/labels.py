"""What is known of an output: one label, one of several, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, IntArray, LabelArray
from structlearn.data.examples import SEQUENCES, Words, is_listed
from structlearn.data.labels import check_label, known_labels, observed_classes
from structlearn.data.ragged import locate
from structlearn.wording import shown


def check_allowed(allowed: Any, n: int, what: str, *, name: str = "allowed") -> None:
    """Refuses what is no list with an entry for each of the n examples, which are called `what`."""
    if not is_listed(allowed) or len(allowed) != n:
        raise ValueError(f"{name} must say something about each of the {n} {what}, or be None")


def called(name: str, i: int, one: str | None) -> tuple[str, str]:
    """What messages call what is said of example i, and its input: by number, or not where there is but one input.

    >>> called("allowed", 3, None), called("allowed", 0, "emission")
    (('allowed[3]', 'X[3]'), ('allowed', 'emission'))
    """
    return (f"{name}[{i}]", f"X[{i}]") if one is None else (name, one)


def label_flags(entry: Any, codes: Mapping[Any, int], where: str, *, allow_unknown: bool = False) -> Flags:
    """Which labels an entry allows: None any, a set, frozenset or list those in it, everything else that one.

    Parameters
    ----------
    codes : mapping
        From labels to 0, 1, ….
    where : str
        What the entry is called in messages.
    allow_unknown : bool
        Whether labels without a code are passed over, perhaps until none is left.

    Examples
    --------
    >>> label_flags({"a", "c"}, {"a": 0, "b": 1, "c": 2}, "allowed[0]")
    array([ True, False,  True])
    """
    if entry is None:
        return np.ones(len(codes), bool)
    flags = np.zeros(len(codes), bool)
    for label in known_labels(entry):
        check_label(label, where)
        if label in codes:
            flags[codes[label]] = True
        elif not allow_unknown:
            raise ValueError(f"{where} is {shown(entry)}, but {shown(label)} is not one of the labels")
    if not (flags.any() or allow_unknown):
        raise ValueError(f"{where} is {shown(entry)}: no label is left")
    return flags


def label_mask(
    allowed: Any,
    classes: Sequence[Any],
    offsets: IntArray,
    *,
    name: str = "allowed",
    one: str | None = None,
    allow_unknown: bool = False,
    words: Words = SEQUENCES,
) -> Flags:
    """What is said about each token, as flags (n_tokens, n_labels).

    Parameters
    ----------
    allowed : sequence of sequences
        For each token None (any label), a label (this one), or a set, frozenset or list of labels (one of these).
    name, one : str
        What `allowed` is called in messages, and what the only input is, see `called`.
    allow_unknown : bool
        Whether labels that are not among the classes are passed over, perhaps until none is left.
    words : Words
        For messages.
    """
    codes = {label: code for code, label in enumerate(classes)}
    lengths = np.diff(offsets).tolist()
    check_allowed(allowed, len(lengths), f"{words.example}s", name=name)
    mask = np.ones((int(offsets[-1]), len(classes)), bool)
    for i, (tokens, length) in enumerate(zip(allowed, lengths, strict=True)):
        if tokens is None:
            continue
        where, sequence = called(name, i, one)
        if not is_listed(tokens):
            raise ValueError(f"{where} is {shown(tokens)}; expected None or an entry for each {words.place}")
        if len(tokens) != length:
            raise ValueError(f"{where} has {len(tokens)} entries but {sequence} has {length} {words.places}")
        for t, entry in enumerate(tokens):
            if entry is not None:
                mask[offsets[i] + t] = label_flags(entry, codes, f"{where}[{t}]", allow_unknown=allow_unknown)
    return mask


def labels_in(Y: Any, words: Words = SEQUENCES) -> tuple[Any, ...]:
    """All labels that partly labelled sequences name, alone or among several; `words` are for messages."""
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError(f"Y is empty; training needs at least one {words.example}")
    found: dict[Any, None] = {}
    for i, y in enumerate(Y):
        if y is None:
            continue
        if not is_listed(y):
            raise ValueError(f"Y[{i}] is {shown(y)}; expected a sequence of labels")
        for t, entry in enumerate(y.tolist() if isinstance(y, np.ndarray) else y):
            for label in known_labels(entry):
                check_label(label, f"Y[{i}][{t}]")
                found[label] = None
    return observed_classes(found)


def check_allowed_truth(codes: LabelArray, classes: Sequence[Any], offsets: IntArray, labels: Flags | None) -> None:
    """Refuses training labels that are not among those that are allowed, (n_tokens, n_labels)."""
    if labels is not None:
        refuse_labels(~labels[np.arange(len(codes)), codes], codes, classes, offsets, "is not allowed there")


def refuse_labels(barred: Flags, codes: LabelArray, classes: Sequence[Any], offsets: IntArray, why: str) -> None:
    """Refuses training labels that are barred, naming the first; `why` may speak of the one before it."""
    if not barred.any():
        return
    token = int(np.argmax(barred))
    i, t = locate(offsets, token)
    before = classes[codes[token - 1]] if token else None
    raise ValueError(f"Y[{i}][{t}] is {classes[codes[token]]!r}, which {why.format(before=before)}")
