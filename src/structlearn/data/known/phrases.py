"""Phrases of trees that are known, whatever else the trees have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import combinations
from typing import Any

import numpy as np

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.known.labels import called, check_allowed
from structlearn.data.ragged import offsets_of
from structlearn.data.tokens.segments import checked_triple
from structlearn.data.trees import Tree, as_tree, leaves, nodes
from structlearn.wording import shown

#: A label, or None for any, and the tokens begin, …, end − 1 that it spans.
Phrase = tuple[Any, int, int]


class KnownPhrases(list[list[Phrase]]):
    """Known phrases of several sentences, each once; none crosses another."""

    @classmethod
    def read(
        cls,
        given: Any,
        labels: Sequence[Any],
        lengths: Sequence[int],
        *,
        name: str = "allowed",
        one: str | None = None,
        allow_unknown: bool = False,
    ) -> KnownPhrases:
        """From a collection of (label, begin, end) for each sentence, None for any label; a whole tree; or None.

        With `allow_unknown` there may be labels that the grammar does not know. `name` and `one` are for messages, see
        `called`.
        """
        check_allowed(given, len(lengths), "sentences", name=name)
        known = None if allow_unknown else set(labels)
        return cls(
            [] if y is None else _checked(y, known, length, *called(name, i, one))
            for i, (y, length) in enumerate(zip(given, lengths, strict=True))
        )

    def rows(self, labels: Sequence[Any]) -> tuple[LabelArray, IntArray]:
        """(begin, end, label) of all phrases in this order, and where those of each sentence begin.

        Labels are −1 for any and −2 for those that the grammar does not know.
        """
        codes = {label: k for k, label in enumerate(labels)}
        rows = [sorted((b, e, -1 if label is None else codes.get(label, -2)) for label, b, e in some) for some in self]
        flat = np.array([row for some in rows for row in some], np.int32).reshape(-1, 3)
        return flat, offsets_of([len(some) for some in rows])

    def check_truths(self, trees: Iterable[Tree]) -> None:
        """Refuses trees that lack a known phrase, naming the first."""
        for i, (known, tree) in enumerate(zip(self, trees, strict=True)):
            phrases = set(nodes(tree))
            spans = {(begin, end) for _, begin, end in phrases}
            for phrase in known:
                if not (phrase in phrases or (phrase[0] is None and phrase[1:] in spans)):
                    raise ValueError(f"Y[{i}] lacks the phrase {shown(phrase)}, which allowed[{i}] has")


def _checked(y: Any, labels: Set[Any] | None, length: int, where: str, sentence: str) -> list[Phrase]:
    """The phrases of a tree, or those listed, within a sentence and without crossing; names the first that is not."""
    found: list[Phrase]
    if is_tree(y):
        tree = as_tree(y, where)
        if len(leaves(tree)) != length:
            raise ValueError(f"{where} has {len(leaves(tree))} leaves but {sentence} has {length} tokens")
        found = list(nodes(tree))
    elif isinstance(y, (list, tuple, Set)):
        found = [checked_triple(phrase, f"a phrase of {where}") for phrase in y]
    else:
        raise ValueError(f"{where} is {shown(y)}; expected None, phrases (label, begin, end) or a tree")
    for phrase in found:
        label, begin, end = phrase
        if end <= begin:
            raise ValueError(f"{where} has the phrase {shown(phrase)}; it must end after it begins")
        if not 0 <= begin <= end <= length:
            raise ValueError(f"{where} has the phrase {shown(phrase)}, but {sentence} has {length} tokens")
        if label is not None and not (isinstance(label, str) if labels is None else label in labels):
            raise ValueError(f"{where} has the phrase {shown(phrase)}, but {shown(label)} is no label of the grammar")
    found = list(dict.fromkeys(found))
    for left, right in combinations(sorted(found, key=lambda phrase: phrase[1:]), 2):
        if left[1] < right[1] < left[2] < right[2]:
            raise ValueError(f"{where}: no tree has {shown(left)} and {shown(right)}, which cross")
    return found


def is_tree(y: Any) -> bool:
    """Whether something is meant to be a tree, in one of the forms of `as_tree`, and no collection of phrases."""
    nested = isinstance(y, (list, tuple)) and len(y) > 0 and isinstance(y[0], str)
    return nested or isinstance(y, str) or callable(getattr(y, "label", None))
