"""Whether a distribution has the conditional independences that a graph promises."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray


class Dependence(NamedTuple):
    """Two variables that depend on each other given all others, and by how much."""

    first: int
    second: int
    difference: float


def markov_violations(probabilities: npt.ArrayLike, edges: npt.ArrayLike, tol: float = 1e-9) -> list[Dependence]:
    """The pairs of variables that a graph does not join although they depend on each other given all others.

    A distribution is Markov for a graph if P(y_i, y_j | rest) = P(y_i | rest) P(y_j | rest) for all i and j that are
    not neighbours (Saha 2010, Definition 1). For a chain this says that the past and the future are independent given
    the present, his (4.1) and (5.1). The distribution of a `FactorGraph` is Markov for the graph that joins the
    variables of each factor.

    Parameters
    ----------
    probabilities : an axis a variable
        Of all labellings; they need not sum to one.
    edges : (n_edges, 2)
    tol : float
        The largest difference of the two sides, in probability, that counts as none.

    Examples
    --------
    >>> from structlearn.data import FactorGraph, Potts
    >>> from structlearn.inference.graphs.engines.enumeration import all_scores
    >>> chain = FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1), (1, 2)], Potts(1.0))
    >>> markov_violations(np.exp(all_scores(chain)), [(0, 1), (1, 2)])
    []
    >>> [found] = markov_violations(np.exp(all_scores(chain)), [(0, 1)])
    >>> found.first, found.second, round(found.difference, 3)
    (1, 2, 0.045)
    """
    joint = np.asarray(probabilities, np.float64)
    if not np.isfinite(joint).all() or (joint < 0.0).any() or not joint.sum() > 0.0:
        raise ValueError("probabilities must be finite numbers ≥ 0, not all of them 0")
    joint = joint / joint.sum()
    joined = {frozenset(edge) for edge in np.asarray(edges, np.int64).reshape(-1, 2).tolist()}
    found = []
    for i, j in combinations(range(joint.ndim), 2):
        difference = _dependence(joint, i, j)
        if frozenset((i, j)) not in joined and difference > tol:
            found.append(Dependence(i, j, difference))
    return found


def _dependence(joint: FloatArray, i: int, j: int) -> float:
    """max |P(y_i, y_j, rest) − P(y_i, rest) P(y_j, rest) / P(rest)|"""
    first, second = joint.sum(axis=j, keepdims=True), joint.sum(axis=i, keepdims=True)
    rest = first.sum(axis=i, keepdims=True)
    product = np.divide(first * second, rest, out=np.zeros_like(joint), where=np.broadcast_to(rest > 0.0, joint.shape))
    return float(np.abs(joint - product).max())
