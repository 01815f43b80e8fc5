"""What stands for the likelihood of label images, on shifted arrays: no list of edges is made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, LabelArray
from structlearn.data.factor_graphs.grid_graph import first_of, second_of
from structlearn.models.graph.likelihoods.piecewise import normalised
from structlearn.models.graph.pair_tables import PairTable
from structlearn.models.grid.neighbours import Neighbours

#: Scores of pairs that are held at a time.
_AT_ONCE = 2**21


class Slopes(NamedTuple):
    """Of a sum in the scores of labels, (rows, columns, n_labels), and in the weights of pairs, which are shaped."""

    labels: FloatArray
    pairs: FloatArray


@dataclass(frozen=True)
class ImagePairs:
    """The pairs of neighbouring pixels of an image, and their weights.

    Attributes
    ----------
    image : (n_rows, n_columns, n_channels)
    neighbours : Neighbours
    table : PairTable
    weights : (n_groups, n_features, n_pair_weights)
    """

    image: FloatArray
    neighbours: Neighbours
    table: PairTable
    weights: FloatArray

    def features(self, k: int) -> FloatArray:
        """Of the pairs in one direction, (n_pairs, n_features)."""
        return self.neighbours.features(self.image, k).reshape(-1, self.neighbours.n_features)

    def group(self, k: int) -> int:
        return k % self.neighbours.n_groups

    def tables(self, k: int) -> FloatArray:
        """What each feature of such a pair scores, (n_features, n_labels, n_labels)."""
        return self.table.expanded(self.weights[self.group(k)])


def pseudo_loss(
    unaries: FloatArray, pairs: ImagePairs | None, truth: LabelArray, n_threads: int = 1
) -> tuple[float, Slopes]:
    """−Σ_p log P(y_p | y of its neighbours, x) of an image (Besag 1975), see `models/graph/likelihoods/pseudo.py`.

    `unaries` are −∞ for labels that pixels may not have.
    """
    L, steps = unaries.shape[2], [] if pairs is None else pairs.neighbours.steps
    n_features, tables, features = 1, np.empty((0, 1, L, L)), np.empty(0)
    if pairs is not None:
        n_features = pairs.neighbours.n_features
        tables = np.array([pairs.tables(k) for k in range(len(steps))])
        if pairs.neighbours.contrast is not None:
            features = np.concatenate([pairs.features(k).ravel() for k in range(len(steps))])
    excess, of_tables = np.empty(unaries.shape), np.empty(tables.shape)
    loss = _core.grid_pseudo_loss(
        len(unaries),
        L,
        n_features,
        np.array(steps, np.int32).ravel(),
        tables.ravel(),
        features,
        np.ascontiguousarray(unaries).ravel(),
        np.ascontiguousarray(truth, np.int32).ravel(),
        excess.ravel(),
        of_tables.ravel(),
        n_threads,
    )
    found = np.zeros(0 if pairs is None else pairs.weights.shape)
    for k in range(len(steps)):
        assert pairs is not None
        for e in range(n_features):
            found[pairs.group(k), e] += pairs.table.folded(of_tables[k, e])
    return loss, Slopes(excess, found)


def piecewise_sums(unaries: FloatArray, pairs: ImagePairs | None, allowed: Flags | None) -> tuple[float, Slopes]:
    """Σ_f log Z_f of an image over its pixels and pairs (Sutton and McCallum 2005), see `piecewise_sums` of graphs.

    `unaries` are −∞ for labels that pixels may not have, which are those that `allowed`, of their shape, leaves.
    """
    log_z, shares = normalised(unaries.reshape(-1, unaries.shape[2]), None)
    total, found = float(log_z.sum()), np.zeros(0 if pairs is None else pairs.weights.shape)
    for k, step in _steps(pairs):
        assert pairs is not None
        for features, counts, copies in _pieces(pairs, k, step, allowed, unaries.shape[2]):
            scores = features @ pairs.weights[pairs.group(k)]
            # The last column is for the pairs of labels that have no weight and score 0.
            of_pairs, parts = normalised(np.append(scores, np.zeros((len(scores), 1)), axis=1), counts)
            total += copies * float(of_pairs.sum())
            found[pairs.group(k)] += copies * (features.T @ parts[:, :-1])
    return total, Slopes(shares.reshape(unaries.shape), found)


def _pieces(
    pairs: ImagePairs, k: int, step: tuple[int, int], allowed: Flags | None, n_labels: int
) -> Iterator[tuple[FloatArray, FloatArray, int]]:
    """Features of some pairs, how many pairs of labels have each weight or none, and how many pairs are like that."""
    kinds = np.eye(pairs.table.width + 1)[pairs.table.columns.reshape(n_labels, n_labels)]
    features = pairs.features(k)
    if allowed is None:
        counts = kinds.sum(axis=(0, 1))[None]
        if pairs.neighbours.contrast is None:
            yield from [(features[:1], counts, len(features))] if len(features) else []
            return
    else:
        first = first_of(allowed, *step).reshape(-1, n_labels).astype(np.float64)
        second = second_of(allowed, *step).reshape(-1, n_labels).astype(np.float64)
    for begin in range(0, len(features), max(1, _AT_ONCE // kinds.shape[2])):
        some = slice(begin, begin + max(1, _AT_ONCE // kinds.shape[2]))
        if allowed is not None:
            counts = np.einsum("ek,klc,el->ec", first[some], kinds, second[some], optimize=True)
        yield features[some], counts, 1


def expected_pairs(shares: FloatArray, pairs: ImagePairs) -> FloatArray:
    """How often each weight of pairs is expected if pixels have labels with these shares, whatever others have."""
    found, L = np.zeros(pairs.weights.shape), shares.shape[2]
    for k, step in enumerate(pairs.neighbours.steps):
        first, second = first_of(shares, *step).reshape(-1, L), second_of(shares, *step).reshape(-1, L)
        for e, values in enumerate(pairs.features(k).T):
            found[pairs.group(k), e] += pairs.table.folded((values[:, None] * first).T @ second)
    return found


def _steps(pairs: ImagePairs | None) -> Iterator[tuple[int, tuple[int, int]]]:
    return iter(()) if pairs is None else enumerate(pairs.neighbours.steps)
