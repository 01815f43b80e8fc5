"""Sentences as a grammar takes them, beside their trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structlearn.data.examples import is_listed
from structlearn.data.trees import Tree, leaves
from structlearn.models.grammar.spec import Inputs
from structlearn.wording import shown


def read_tokens(x: Any, where: str, inputs: Inputs) -> list[tuple[str, str]]:
    """(tag, word) of every token; the tag also stands for a word that is not given, and the other way round."""
    if not is_listed(x):
        raise ValueError(f"{where} is {shown(x)}; expected a list of {inputs} or of (word, tag) pairs")
    if len(x) == 0:
        raise ValueError(f"{where} has no tokens")
    found = []
    for t, token in enumerate(x):
        if isinstance(token, str):
            found.append((token, token))
        elif isinstance(token, (tuple, list)) and len(token) == 2 and all(isinstance(part, str) for part in token):
            found.append((token[1], token[0]))
        else:
            raise ValueError(f"{where}[{t}] is {shown(token)}; expected a string or a pair (word, tag)")
    return found


def check_leaves(x: Sequence[Any], tree: Tree, i: int, inputs: Inputs) -> None:
    """Refuses a tree whose leaves are not the tokens of its sentence."""
    found = leaves(tree)
    if len(found) != len(x):
        raise ValueError(f"Y[{i}] has {len(found)} leaves but X[{i}] has {len(x)} tokens")
    for t, (token, (tag, word)) in enumerate(zip(x, found, strict=True)):
        given = token if isinstance(token, str) else tuple(token)
        leaf = (word, tag) if not isinstance(token, str) else tag if inputs == "tags" else word
        if given != leaf:
            raise ValueError(f"Y[{i}] has the leaf {shown(leaf)} where X[{i}][{t}] is {shown(given)}")
