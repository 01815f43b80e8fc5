"""Forests and clusterings of a few items, all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st

from structlearn.data import ItemPairs

Links = tuple[tuple[int, int], ...]


def clusterings(n: int) -> Iterator[tuple[int, ...]]:
    """Every clustering of n items, as canonical labels."""
    if n == 0:
        yield ()
        return
    for labels in clusterings(n - 1):
        for label in range(max(labels, default=-1) + 2):
            yield (*labels, label)


def components(n: int, links: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Which component each item is in, by flooding."""
    found = [-1] * n
    for start in range(n):
        if found[start] >= 0:
            continue
        reached, frontier = {start}, [start]
        while frontier:
            item = frontier.pop()
            near = {b for a, b in links if a == item} | {a for a, b in links if b == item}
            frontier += near - reached
            reached |= near
        for item in reached:
            found[item] = max(found[:start], default=-1) + 1
    return tuple(found)


def forests(n: int, pairs: Sequence[tuple[int, int]]) -> Iterator[Links]:
    """Every set of pairs without a cycle."""
    for size in range(max(n, 1)):
        for links in combinations(pairs, size):
            if len(set(components(n, links))) == n - size:
                yield links


def score(x: ItemPairs, links: Sequence[tuple[int, int]], w: Any) -> float:
    """Σ ⟨w, x_ij⟩ over some pairs."""
    features = np.asarray(x.features)
    rows = range(len(x.pairs)) if x.kinds is None else x.kinds
    of = {pair: features[row] @ w for pair, row in zip(x.pairs, rows, strict=True)}
    return float(sum(of[pair] for pair in links))


@st.composite
def documents(draw: st.DrawFn, n_features: int = 2, most: int = 5) -> tuple[ItemPairs, tuple[int, ...]]:
    """Items, some of their pairs with small whole features, of kinds or not, and a clustering."""
    n = draw(st.integers(0, most))
    pairs = [pair for pair in combinations(range(n), 2) if draw(st.integers(0, 3))]
    by_kind = draw(st.booleans())
    n_rows = draw(st.integers(1, 3)) if by_kind else len(pairs)
    number = st.integers(-2, 2).map(float)
    features = np.array([[draw(number) for _ in range(n_features)] for _ in range(n_rows)]).reshape(-1, n_features)
    kinds = [draw(st.integers(0, n_rows - 1)) for _ in pairs] if by_kind else None
    labels = tuple(draw(st.integers(0, 2)) for _ in range(n))
    return ItemPairs(n, features, pairs, kinds), labels
