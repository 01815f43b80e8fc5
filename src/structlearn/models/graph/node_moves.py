"""Distributions over the labellings of graphs that improve node by node, see ``core/network/node_moves.hpp``."""

from __future__ import annotations

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import Ragged
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows

#: How often the nodes are gone over between two calls of the oracle.
SWEEPS = 3


class NodeMixtures:
    """The `Mixtures` of graphs with these truths: marginals of the labels of nodes, then of the pairs at edges."""

    def __init__(self, moves: _core.NodeMoves, truths: Ragged):
        self._moves = moves
        self._truths = truths
        self.n_marginals = int(moves.offsets()[-1])

    def at_truths(self) -> FloatArray:
        marginals = np.empty(self.n_marginals)
        self.begin(np.arange(len(self._truths)), self._truths, marginals)
        return marginals

    def begin(self, examples: IntArray, outputs: Outputs, marginals: FloatArray) -> None:
        for i, labels in zip(examples.tolist(), outputs, strict=True):
            self._moves.begin(i, labels, marginals)

    def climb(self, examples: IntArray, masses: FloatArray, marginals: FloatArray, w: FloatArray, seed: int) -> None:
        self._moves.climb(examples, masses, marginals, w, SWEEPS, seed)

    def planes(self, examples: IntArray, marginals: FloatArray) -> tuple[SparseRows, FloatArray]:
        truths = self._truths
        indptr, indices, values, losses = self._moves.rows(examples, truths.flat, truths.offsets, marginals)
        return SparseRows(indptr, indices, values), losses
