"""Places for the nodes of a graph in a plane, the same for the same graph."""

from __future__ import annotations

from math import pi, sqrt

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from structlearn.data.arrays import FloatArray, IntArray

Points = npt.NDArray[np.complex128]

STEPS = 150
#: The golden angle, by which a spiral fills a disc evenly.
ANGLE = pi * (3.0 - sqrt(5.0))
#: Room between parts of a graph that are not connected, where edges are about as long as 1.
GAP = 1.5


def spring_layout(edges: IntArray, n_nodes: int) -> FloatArray:
    """Places (n_nodes, 2) at which nodes with an edge are near each other.

    In each connected part nodes repel each other by 1/d at distance d and edges attract by d², in steps that get
    smaller (Fruchterman and Reingold 1991), from coordinates on that are eigenvectors of the Laplacian. Parts stand
    side by side, the largest first. Nothing is drawn at random.

    >>> places = spring_layout(np.array([[0, 1], [1, 2], [3, 4]]), 5)
    >>> bool(np.linalg.norm(places[0] - places[1]) < np.linalg.norm(places[0] - places[2]))
    True
    """
    # Slow to import, and models that draw something else import this file.
    from scipy.sparse.csgraph import connected_components

    links = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
    n_parts, part_of = connected_components(links, directed=False)
    sizes = np.bincount(part_of, minlength=n_parts)
    places = np.zeros(n_nodes, np.complex128)
    groups = []
    for part in np.argsort(-sizes, kind="stable"):
        nodes = np.flatnonzero(part_of == part)
        inside = edges[part_of[edges[:, 0]] == part]
        places[nodes] = _of_connected(np.searchsorted(nodes, inside), len(nodes))
        groups.append(nodes)
    _pack(places, groups)
    return np.column_stack([places.real, places.imag])


def _of_connected(edges: IntArray, n: int) -> Points:
    """Places of the nodes of a connected graph; a point of the plane is a complex number."""
    places = _spectral(edges, n)
    begins, ends = edges[edges[:, 0] != edges[:, 1]].T
    for step in range(STEPS):
        apart = places[:, None] - places[None]
        np.fill_diagonal(apart, np.inf)
        # Of length 1/d and away from the other: d/|d|² = 1/conj(d).
        moves = (1.0 / np.conj(apart)).sum(axis=1)
        along = places[ends] - places[begins]
        pull = along * np.abs(along)
        np.add.at(moves, begins, pull)
        np.add.at(moves, ends, -pull)
        lengths = np.maximum(np.abs(moves), 1e-9)
        largest = 0.1 * sqrt(n) * (1.0 - step / STEPS) + 0.01
        places += moves / lengths * np.minimum(lengths, largest)
    return places


def _pack(places: Points, groups: list[IntArray]) -> None:
    """Moves groups of points, the largest first, side by side into rows about as wide as all are high together."""
    corners = [complex(places[nodes].real.min(), places[nodes].imag.min()) for nodes in groups]
    boxes = [(np.ptp(places[nodes].real) + GAP, np.ptp(places[nodes].imag) + GAP) for nodes in groups]
    width = max(boxes[0][0], 1.2 * sqrt(sum(wide * high for wide, high in boxes)))
    x = y = row = 0.0
    for nodes, corner, (wide, high) in zip(groups, corners, boxes, strict=True):
        if x and x + wide > width:
            x, y, row = 0.0, y + row, 0.0
        places[nodes] += complex(x, y) - corner
        x, row = x + wide, max(row, high)


def _spectral(edges: IntArray, n: int) -> Points:
    """The two slowest waves of the graph as coordinates, which unfold it; a spiral parts nodes that share both."""
    weights = np.zeros((n, n))
    weights[edges[:, 0], edges[:, 1]] = weights[edges[:, 1], edges[:, 0]] = 1.0
    np.fill_diagonal(weights, 0.0)
    _, waves = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    chosen = np.pad(waves, ((0, 0), (0, 2)))[:, 1:3]
    # The sign of a wave is arbitrary.
    chosen *= np.where(chosen[np.abs(chosen).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    k = np.arange(n)
    spiral: Points = np.sqrt(k + 0.5) * np.exp(1j * ANGLE * k)
    return np.asarray(n * (chosen[:, 0] + 1j * chosen[:, 1]) + 0.2 * spiral)
