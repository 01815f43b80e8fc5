"""Links between nodes as edges of an undirected graph."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import IntArray


def undirected(links: IntArray) -> tuple[IntArray, int, int]:
    """Edges once each with the lower number first, in increasing order; how many self loops and duplicates there were.

    >>> edges, n_self_loops, n_duplicates = undirected(np.array([[2, 0], [1, 1], [0, 2], [0, 1]]))
    >>> edges.tolist(), n_self_loops, n_duplicates
    ([[0, 1], [0, 2]], 1, 1)
    """
    ends = np.sort(links.reshape(-1, 2).astype(np.int64), axis=1)
    loops = ends[:, 0] == ends[:, 1]
    edges: IntArray = np.unique(ends[~loops], axis=0)
    n_self_loops = int(np.count_nonzero(loops))
    return edges, n_self_loops, len(ends) - n_self_loops - len(edges)
