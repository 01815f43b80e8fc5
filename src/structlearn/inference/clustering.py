"""Correlation clustering, on a plain matrix of scores.

The score of a clustering is the sum of scores[i, j] over all pairs of items i < j in the same cluster; a score of −∞
keeps two items apart, and the diagonal plays no part. To find the best clustering is NP-hard. Clusterings are labels,
numbered in the order of the first items.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.clusterings import to_labels
from structlearn.inference.pair_scores import PairScores

#: A program of n(n − 1)/2 variables and up to n(n − 1)(n − 2)/2 constraints: more items take minutes.
MOST_ITEMS = 100

_TOLERANCE = 1e-6
_NEW_CONSTRAINTS = 5000


def greedy_clustering(scores: npt.ArrayLike) -> tuple[LabelArray, float]:
    """A clustering by agglomeration, and its score.

    Starts with every item alone and joins the two clusters with the largest sum of scores between them, while that is
    positive: O(n²) for most matrices, O(n³) at worst.

    Parameters
    ----------
    scores : (n, n)
        Symmetric.

    Returns
    -------
    labels : (n,)
    score : float

    Examples
    --------
    >>> greedy_clustering([[0, 2, -1], [2, 0, -3], [-1, -3, 0]])
    (array([0, 0, 1], dtype=int32), 2.0)
    """
    pairs = PairScores.of(scores)
    found, none = np.empty(pairs.n_items, np.int32), np.zeros(1)
    pairs.core().agglomerate(pairs.values, np.zeros(1, np.int64), None, none, none, found, 1)
    labels = to_labels(found, pairs.n_items)
    return labels, pairs.within(labels)


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
    bound : float
        The value of the program, which no clustering exceeds. The clustering is best if it has this score.

    Examples
    --------
    >>> relaxed_clustering([[0, 2, -1], [2, 0, -3], [-1, -3, 0]])
    (array([0, 0, 1], dtype=int32), 2.0)
    """
    program = _Program(scores)
    together, bound = program.solved(whole=False)
    return program.rounded(together), bound


def best_clustering(scores: npt.ArrayLike) -> tuple[LabelArray, float]:
    """The best clustering, and its score, in a time that may grow exponentially with the number of items.

    The program of `relaxed_clustering` in whole numbers, unless its relaxation is as good as a clustering already.

    Parameters
    ----------
    scores : (n, n)
        Symmetric; at most 100 items.

    Returns
    -------
    labels : (n,)
    score : float

    Examples
    --------
    Three items which each go well with a fourth but not with one another; the relaxation has 1.5:

    >>> best_clustering([[0, 1, 1, 1], [1, 0, -1, -1], [1, -1, 0, -1], [1, -1, -1, 0]])[1]
    1.0
    """
    program = _Program(scores)
    together, bound = program.solved(whole=False)
    labels = program.rounded(together)
    if program.pairs.within(labels) < bound - _TOLERANCE * program.largest:
        labels = program.rounded(program.solved(whole=True)[0])
    return labels, program.pairs.within(labels)


class _Program:
    """The linear program with the triangle inequalities that were violated so far; −∞ keeps a variable at 0.

    Attributes
    ----------
    largest : float
        The largest absolute score, by which all are divided: the solver's tolerances are absolute.
    """

    def __init__(self, scores: npt.ArrayLike):
        self.pairs = PairScores.of(scores)
        n = self.pairs.n_items
        if n > MOST_ITEMS:
            raise ValueError(
                f"there are {n} items; the linear program is for at most {MOST_ITEMS}, use greedy_clustering"
            )
        allowed = self.pairs.values > -np.inf
        self._values = np.where(allowed, self.pairs.values, 0.0)
        self.largest = float(np.abs(self._values).max(initial=0.0)) or 1.0
        self._bounds = np.stack([np.zeros(len(allowed)), allowed], axis=1)
        self._place = self._matrix(np.arange(len(allowed)))
        self._triangles = sp.csr_array((0, len(allowed)))

    def solved(self, *, whole: bool) -> tuple[FloatArray, float]:
        """e as a matrix, and the value of the program, over whole numbers or all between."""
        together = self._optimum(whole)
        while len(violated := _violated(self._matrix(together))):
            rows = [self._triangles, self._inequalities(violated)]
            self._triangles = sp.csr_array(sp.vstack(rows, format="csr"))
            together = self._optimum(whole)
        return self._matrix(together), float(self._values @ together)

    def _optimum(self, whole: bool) -> FloatArray:
        n_triangles = self._triangles.shape[0]
        if not n_triangles:
            return (self._values > 0.0).astype(np.float64)
        found = scipy.optimize.linprog(
            -self._values / self.largest,
            A_ub=self._triangles,
            b_ub=np.ones(n_triangles),
            bounds=self._bounds,
            method="highs",
            integrality=int(whole),
            options={"mip_rel_gap": 0.0} if whole else None,
        )
        if found.status != 0:
            raise RuntimeError(f"the linear program was not solved: {found.message}")
        return np.round(found.x) if whole else np.asarray(found.x)

    def rounded(self, together: FloatArray) -> LabelArray:
        labels = np.full(len(together), -1, np.int32)
        for i in range(len(together)):
            if labels[i] < 0:
                # By more than one half beyond the tolerance: then no two that must stay apart are taken along.
                taken = (labels < 0) & (together[i] > 0.5 + _TOLERANCE)
                taken[i] = True
                labels[taken] = labels.max() + 1
        return labels

    def _matrix(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        matrix = np.zeros((self.pairs.n_items, self.pairs.n_items), values.dtype)
        matrix[self.pairs.first, self.pairs.second] = values
        return matrix + matrix.T

    def _inequalities(self, triples: IntArray) -> sp.csr_array:
        i, j, k = triples.T
        columns = np.stack([self._place[i, j], self._place[j, k], self._place[i, k]], axis=1).ravel()
        values = np.tile([1.0, 1.0, -1.0], len(triples))
        rows = np.repeat(np.arange(len(triples)), 3)
        return sp.csr_array((values, (rows, columns)), shape=(len(triples), len(self._values)))


def _violated(together: FloatArray) -> IntArray:
    """Triples (i, j, k), i < k, where i and j, j and k are together by more than i and k allow, the worst first."""
    n = len(together)
    found, excess = [np.empty((0, 3), np.int64)], [np.empty(0)]
    for j in range(n):
        over = together[:, j, None] + together[j, None, :] - together - 1.0
        over[j] = over[:, j] = 0.0
        i, k = np.nonzero(np.triu(over > _TOLERANCE, 1))
        found.append(np.stack([i, np.full(len(i), j), k], axis=1))
        excess.append(over[i, k])
    worst = np.argsort(-np.concatenate(excess), kind="stable")[:_NEW_CONSTRAINTS]
    return np.concatenate(found)[worst]
