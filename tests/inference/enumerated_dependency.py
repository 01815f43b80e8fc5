"""All dependency trees of a few tokens, from the definition."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np


def leads_to_root(heads: tuple[int, ...], token: int) -> bool:
    for _ in heads:
        if token == 0:
            return True
        token = heads[token - 1]
    return token == 0


def crosses(heads: tuple[int, ...]) -> bool:
    """Whether two arcs cross, the root being place 0."""
    arcs = [sorted(arc) for arc in enumerate(heads, start=1)]
    return any(a < c < b < d for a, b in arcs for c, d in arcs)


@cache
def trees(n: int, projective: bool, single_root: bool) -> Any:
    """(n_trees, n) heads."""
    heads = product(*([h for h in range(n + 1) if h != m] for m in range(1, n + 1)))
    if single_root:
        heads = (y for y in heads if y.count(0) == 1)
    found = [y for y in heads if all(leads_to_root(y, m) for m in range(1, n + 1))]
    return np.array([y for y in found if not (projective and crosses(y))])


@cache
def siblings(n: int, single_root: bool) -> Any:
    """(n_trees, n): of every token of the projective trees, the modifier of the same head next to it, or the head."""
    return np.array([[sibling(y, m) for m in range(1, n + 1)] for y in trees(n, True, single_root)])


def sibling(heads: Any, token: int) -> int:
    head = heads[token - 1]
    between = range(min(head, token) + 1, max(head, token))
    others = [s for s in between if heads[s - 1] == head]
    if not others:
        return int(head)
    return max(others) if token > head else min(others)


def labelled(heads: Any, n_labels: int) -> tuple[Any, Any]:
    """Every tree with every choice of labels: heads and labels, (n_trees · n_labels^n, n) each."""
    n = heads.shape[1]
    labels = np.array(list(product(range(n_labels), repeat=n)))
    return np.repeat(heads, len(labels), axis=0), np.tile(labels, (len(heads), 1))
