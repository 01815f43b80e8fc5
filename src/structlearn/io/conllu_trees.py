"""Dependency trees in the columns HEAD and DEPREL of CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from structlearn.data.dependency_trees import split_tree, tree_fault
from structlearn.io.format import UNKNOWN, check_written
from structlearn.io.text import quoted

EMPTY = "_"
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")


class WordError(ValueError):
    """What is wrong with a word of a sentence, counted from 0, and with which of its columns."""

    def __init__(self, word: int, column: str, message: str):
        super().__init__(message)
        self.word = word
        self.column = column


def without(word: int, column: str) -> WordError:
    """Of a word that lacks what others of its sentence have."""
    known = "trees" if column in ("head", "deprel") else "labels"
    told = f"this word has no {column}, but others of the sentence do (train --partial takes such {known})"
    return WordError(word, column, told)


def tree_of(heads: Sequence[str], labels: Sequence[str], *, partial: bool, single_root: bool) -> list[Any] | None:
    """The tree that two columns hold; None where all heads are "_".

    Where no arc has a label, it is a list of heads.

    >>> tree_of(["2", "0"], ["det", "root"], partial=False, single_root=True)
    [(2, 'det'), (0, 'root')]
    >>> tree_of(["_", "0", "_"], ["_", "_", "obj"], partial=True, single_root=True)
    [None, (0, None), (None, 'obj')]
    """
    unknown = UNKNOWN if partial else (EMPTY,)
    if not partial and all(head == EMPTY for head in heads):
        return None
    found = [None if head in unknown else _number(head, t, len(heads)) for t, head in enumerate(heads)]
    names = [None if label in unknown else label for label in labels]
    if not partial:
        _check_whole(found, names)
    fault = tree_fault(found, single_root=single_root)
    if fault is not None:
        several = "; --no-single-root takes several" if tree_fault(found) is None else ""
        raise WordError(fault[0] - 1, "head", fault[1].replace("token", "word") + several)
    if partial:
        pairs = zip(found, names, strict=True)
        return [None if head is None and name is None else (head, name) for head, name in pairs]
    return found if names[0] is None else list(zip(found, names, strict=True))


def _number(head: str, t: int, n: int) -> int:
    if not NUMBER.fullmatch(head):
        raise WordError(t, "head", f"expected the number of the head of word {t + 1}, 0 to {n}, found {quoted(head)}")
    return int(head)


def _check_whole(heads: list[int | None], labels: list[str | None]) -> None:
    for name, values in (("head", heads), ("deprel", labels)):
        if None in values and any(value is not None for value in values):
            raise without(values.index(None), name)


def columns_of(y: Any, n: int, *, partial: bool, single_root: bool) -> list[dict[str, str]]:
    """What stands in the two columns of every word.

    >>> columns_of([(0, "root")], 1, partial=False, single_root=True)
    [{'head': '0', 'deprel': 'root'}]
    """
    heads, labels = split_tree(y, "y", partial=partial)
    if len(heads) != n:
        raise ValueError(f"there are {len(heads)} heads for {n} tokens")
    fault = tree_fault(heads, single_root=single_root)
    if fault is not None:
        raise ValueError(f"y is no tree: {fault[1]}")
    unknown = UNKNOWN if partial else (EMPTY,)
    names = [EMPTY] * n
    for t, label in enumerate(labels or ()):
        if label in unknown:
            raise ValueError(f"the label {label!r} cannot be written: it stands for no deprel")
        names[t] = EMPTY if label is None else check_written(label, "label", "\t")
    texts = [EMPTY if head is None else str(head) for head in heads]
    return [{"head": head, "deprel": name} for head, name in zip(texts, names, strict=True)]
