"""A dependency tree that is drawn, whose arcs know whether another tree has them, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from structlearn.data.dependency_trees import check_tree, split_tree

#: Letters of a word or label that are shown.
LONGEST = 30


class Arc(NamedTuple):
    """What a token is, where it hangs, and whether it hangs there in the other tree as well, by the same label."""

    word: str
    head: int
    label: str
    differs: bool


def compared_arcs(x: Sequence[Any], y: Any, other: Any, where: str) -> list[Arc]:
    """An arc for each token, whose word is its first column where it has several.

    >>> compared_arcs([("Go", "VERB"), ("!", "PUNCT")], [(0, "root"), (1, "punct")], [(0, "root"), (1, "x")], "y")
    [Arc(word='Go', head=0, label='root', differs=False), Arc(word='!', head=1, label='punct', differs=True)]
    """
    heads, labels = split_tree(y, where)
    others, their_labels = split_tree(other, "the other tree")
    for found in (heads, others):
        if len(found) != len(x):
            raise ValueError(
                f"{where} has {len(heads)} entries, the other one {len(others)}, but x has {len(x)} tokens"
            )
    check_tree(heads, where)
    words = [_cut(str(token[0] if isinstance(token, (tuple, list)) else token)) for token in x]
    differs = [
        head != others[t] or (labels is not None and their_labels is not None and labels[t] != their_labels[t])
        for t, head in enumerate(heads)
    ]
    names = [""] * len(heads) if labels is None else [_cut(str(label)) for label in labels]
    return [
        Arc(word, head or 0, name, bool(d)) for word, head, name, d in zip(words, heads, names, differs, strict=True)
    ]


def _cut(text: str) -> str:
    text = "".join(character if character.isprintable() else "\ufffd" for character in text)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
