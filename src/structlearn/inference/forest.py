"""Forests of links between items, on a plain matrix of scores.

The score of a forest is the sum of scores[i, j] of its links, and its trees are clusters of items. Both decoders are
Kruskal's algorithm, exact in O(n² log n) for n items; of links that score alike, those of the first items come first.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from structlearn.inference.pair_scores import PairScores

Links = tuple[tuple[int, int], ...]


def best_forest(scores: npt.ArrayLike) -> tuple[Links, float]:
    """The heaviest forest and its score; links of score 0 or less are in none.

    Parameters
    ----------
    scores : (n, n)
        Symmetric; the diagonal plays no part.

    Returns
    -------
    links : tuple of pairs (i, j), i < j
    score : float

    Examples
    --------
    >>> best_forest([[0, 2, -1, -5], [2, 0, 1, -5], [-1, 1, 0, -2], [-5, -5, -2, 0]])
    (((0, 1), (1, 2)), 3.0)
    """
    return _heaviest(scores, floor=0.0)


def best_spanning_forest(scores: npt.ArrayLike) -> tuple[Links, float]:
    """The heaviest of the forests that connect all items that can be connected, and its score.

    Parameters
    ----------
    scores : (n, n)
        Symmetric; the diagonal plays no part. A score of −∞ forbids a link.

    Examples
    --------
    >>> best_spanning_forest([[0, 2, -1, -5], [2, 0, 1, -5], [-1, 1, 0, -2], [-5, -5, -2, 0]])
    (((0, 1), (1, 2), (2, 3)), 1.0)
    """
    return _heaviest(scores, floor=-np.inf)


def _heaviest(scores: npt.ArrayLike, floor: float) -> tuple[Links, float]:
    pairs = PairScores.of(scores)
    found, _ = pairs.core().forests(pairs.values, np.zeros(1, np.int64), None, 0.0, 0.0, floor, 1)
    links = np.sort(found)
    chosen = zip(pairs.first[links].tolist(), pairs.second[links].tolist(), strict=True)
    return tuple(chosen), float(pairs.values[links].sum())
