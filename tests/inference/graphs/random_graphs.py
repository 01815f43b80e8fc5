"""Random factor graphs of all shapes, small enough to enumerate."""

from __future__ import annotations

import numpy as np
import pytest

from structlearn.data import AtMostOne, Cardinality, FactorGraph, Potts, TruncatedLinear

SHAPES = ("empty", "single", "chain", "tree", "cycle", "complete", "grid", "disconnected")


def edges_of(shape: str, random: np.random.Generator) -> tuple[int, list[tuple[int, int]]]:
    """How many variables there are, and which of them are neighbours."""
    n = int(random.integers(3, 7))
    if shape == "empty":
        return n, []
    if shape == "single":
        return 1, []
    if shape == "chain":
        return n, [(i, i + 1) for i in range(n - 1)]
    if shape == "tree":
        return n, [(int(random.integers(i)), i) for i in range(1, n)]
    if shape == "cycle":
        return n, [(i, (i + 1) % n) for i in range(n)]
    if shape == "complete":
        return 5, [(i, j) for i in range(5) for j in range(i)]
    if shape == "grid":
        return 6, [(0, 1), (1, 2), (3, 4), (4, 5), (0, 3), (1, 4), (2, 5)]
    return 6, [(0, 1), (3, 4), (4, 5), (5, 3)]


def pairwise_graph(
    shape: str, random: np.random.Generator, n_labels: int | None = None, scale: float = 1.0, forbidden: float = 0.0
) -> FactorGraph:
    """Tables on the edges of a shape; variables have two to four labels unless told, and some scores are −∞."""
    n, edges = edges_of(shape, random)
    sizes = np.full(n, n_labels) if n_labels else random.integers(2, 5, n)
    unaries = [random.normal(size=size) for size in sizes]
    tables = [scale * random.normal(size=(sizes[i], sizes[j])) for i, j in edges]
    for table in tables:
        table[random.random(table.shape) < forbidden] = -np.inf
    return FactorGraph.pairwise(unaries, edges, tables)


def mixed_graph(random: np.random.Generator, forbidden: float = 0.0) -> FactorGraph:
    """Factors of all kinds and of one to four variables, of two or three labels."""
    sizes = np.array([2, 2, 2, 2, 3, 3, 3])
    factors: list[tuple[list[int], object]] = [([i], random.normal(size=size)) for i, size in enumerate(sizes)]
    factors.append(([], random.normal(size=())))
    for _ in range(int(random.integers(2, 6))):
        scope = random.permutation(len(sizes))[: random.integers(1, 5)]
        table = random.normal(size=sizes[scope])
        table[random.random(table.shape) < forbidden] = -np.inf
        factors.append((scope.tolist(), table))
    compact = [
        ([4, 6], Potts(random.normal())),
        ([6, 5], TruncatedLinear(random.random(), 1.5 * random.random())),
        (random.permutation(4)[:3].tolist(), Cardinality(random.normal(size=4))),
        (random.permutation(4)[:2].tolist(), AtMostOne()),
    ]
    factors += [factor for factor in compact if random.random() < 0.5]
    return FactorGraph.of(sizes, factors)


def many_graphs() -> list[object]:
    """Graphs of all shapes with and without forbidden pairs, and of factors of all kinds, as parameters of a test."""
    random = np.random.default_rng(0)
    found = [
        pytest.param(pairwise_graph(shape, random, forbidden=forbidden), id=f"{shape}-{forbidden}")
        for shape in SHAPES
        for forbidden in (0.0, 0.2)
    ]
    return found + [pytest.param(mixed_graph(random, forbidden=0.2 * (k % 2)), id=f"mixed-{k}") for k in range(20)]


MANY = many_graphs()
