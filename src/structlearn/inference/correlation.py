"""Correlation clustering by a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.optimize import linprog

from structlearn.data.arrays import FloatArray, IntArray, LabelArray

#: A program of n(n − 1)/2 variables and up to n(n − 1)(n − 2)/2 constraints: more items take minutes.
MOST_ITEMS = 100

_TOLERANCE = 1e-6
_NEW_CONSTRAINTS = 5000


def relaxed_clustering(scores: npt.ArrayLike) -> tuple[LabelArray, float]:
    """max_e Σ_i<j s_ij e_ij with 0 ≤ e ≤ 1 and e_ij + e_jk − e_ik ≤ 1, rounded to a clustering.

    Clusterings are the solutions in whole numbers, e_ij saying whether i and j are together. Triangle inequalities
    are added as they are violated. A fractional solution is rounded: the first item left takes those along that are
    together with it by more than one half, until no item is left.

    Parameters
    ----------
    scores : (n, n)
        Symmetric; at most 100 items.

    Returns
    -------
    labels : (n,)
        The cluster of every item, numbered in the order of their first items.
    bound : float
        The value of the program, which no clustering exceeds. The clustering is best if it has this score.

    Examples
    --------
    >>> relaxed_clustering([[0, 2, -1], [2, 0, -3], [-1, -3, 0]])
    (array([0, 0, 1], dtype=int32), 2.0)
    """
    s = np.asarray(scores, np.float64)
    n = len(s)
    if s.shape != (n, n) or not np.array_equal(s, s.T):
        raise ValueError(f"scores have shape {s.shape}; expected a symmetric matrix")
    if n > MOST_ITEMS:
        raise ValueError(f"there are {n} items; the linear program is for at most {MOST_ITEMS}, use greedy clustering")
    if n < 2:
        return np.zeros(n, np.int32), 0.0
    upper = np.triu_indices(n, 1)
    place = np.zeros((n, n), np.int64)
    place[upper] = np.arange(len(upper[0]))
    place += place.T
    costs = -s[upper]
    together = _matrix((costs < 0).astype(np.float64), upper, n)
    constraints = sp.csr_array((0, len(costs)))
    while True:
        violated = _violated(together)
        if not len(violated):
            break
        constraints = sp.csr_array(sp.vstack([constraints, _triangles(violated, place, len(costs))], format="csr"))
        found = linprog(costs, A_ub=constraints, b_ub=np.ones(constraints.shape[0]), bounds=(0.0, 1.0), method="highs")
        if found.status != 0:
            raise RuntimeError(f"the linear program was not solved: {found.message}")
        together = _matrix(np.asarray(found.x), upper, n)
    return _rounded(together), float((s * together)[upper].sum())


def _matrix(values: FloatArray, upper: Any, n: int) -> FloatArray:
    matrix = np.zeros((n, n))
    matrix[upper] = values
    return matrix + matrix.T


def _violated(together: FloatArray) -> IntArray:
    """Triples (i, j, k), i < k, where i and j, j and k are together by more than i and k allow, the worst first."""
    n = len(together)
    found, excess = [], []
    for j in range(n):
        over = together[:, j, None] + together[j, None, :] - together - 1.0
        over[j] = over[:, j] = 0.0
        i, k = np.nonzero(np.triu(over > _TOLERANCE, 1))
        found.append(np.stack([i, np.full(len(i), j), k], axis=1))
        excess.append(over[i, k])
    worst = np.argsort(-np.concatenate(excess), kind="stable")[:_NEW_CONSTRAINTS]
    return np.concatenate(found)[worst]


def _triangles(triples: IntArray, place: IntArray, n_columns: int) -> sp.csr_array:
    i, j, k = triples.T
    columns = np.stack([place[i, j], place[j, k], place[i, k]], axis=1).ravel()
    values = np.tile([1.0, 1.0, -1.0], len(triples))
    rows = np.repeat(np.arange(len(triples)), 3)
    return sp.csr_array((values, (rows, columns)), shape=(len(triples), n_columns))


def _rounded(together: FloatArray) -> LabelArray:
    labels = np.full(len(together), -1, np.int32)
    for i in range(len(together)):
        if labels[i] < 0:
            taken = (labels < 0) & (together[i] > 0.5)
            taken[i] = True
            labels[taken] = labels.max() + 1
    return labels
