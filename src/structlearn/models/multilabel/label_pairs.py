"""Which labels are scored together: those that say most about each other."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree

from structlearn.data.arrays import FloatArray, LabelArray

PairChoice = Literal["independent", "tree", "sparse", "full"]


def chosen_pairs(choice: PairChoice, table: LabelArray, n_pairs: int | None) -> tuple[tuple[int, int], ...]:
    """Pairs of columns of a table of zeros and ones, the lower number first.

    "tree" is the spanning tree with the most mutual information (Chow and Liu 1968), "sparse" the `n_pairs` pairs with
    the most, by default two for each label.

    >>> chosen_pairs("tree", np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]]), None)[0]
    (0, 1)
    """
    K = table.shape[1]
    upper = np.triu_indices(K, 1)
    if choice == "independent" or K < 2:
        return ()
    if choice == "full":
        return tuple(zip(*(side.tolist() for side in upper), strict=True))
    shared = mutual_information(table)
    if choice == "tree":
        # Lengths above zero, so that labels that tell nothing of each other are joined as well.
        tree = minimum_spanning_tree(np.triu(1.0 + shared.max() - shared, 1)).tocoo()
        return tuple(sorted((int(min(pair)), int(max(pair))) for pair in zip(tree.row, tree.col, strict=True)))
    most = min(2 * K if n_pairs is None else n_pairs, len(upper[0]))
    order = np.argsort(-shared[upper], kind="stable")[:most]
    return tuple(sorted((int(upper[0][k]), int(upper[1][k])) for k in order))


def mutual_information(table: LabelArray) -> FloatArray:
    """I(Y_k; Y_l) in nats, from relative frequencies, (n_labels, n_labels)."""
    has = (table == 1).astype(np.float64)
    n = max(len(table), 1)
    both = has.T @ has / n
    alone = has.mean(axis=0) if len(table) else np.zeros(table.shape[1])
    found: FloatArray = np.zeros(both.shape)
    joint = (both, alone[:, None] - both, alone[None, :] - both, 1.0 - alone[:, None] - alone[None, :] + both)
    sides = ((alone, alone), (alone, 1.0 - alone), (1.0 - alone, alone), (1.0 - alone, 1.0 - alone))
    for p, (first, second) in zip((joint[0], joint[1], joint[2], joint[3]), sides, strict=True):
        product = np.outer(first, second)
        there = (p > 0.0) & (product > 0.0)
        found[there] += p[there] * np.log(p[there] / product[there])
    return found
