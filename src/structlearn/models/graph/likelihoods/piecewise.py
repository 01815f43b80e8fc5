"""The piecewise likelihood: each factor normalised on its own."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.ragged import summed
from structlearn.models.graph.likelihoods.parts import ChosenParts


def piecewise_sums(theta: FloatArray, parts: ChosenParts) -> tuple[FloatArray, FloatArray]:
    """Σ_f log Z_f of every graph, and its slopes in the scores of the parts (Sutton and McCallum 2005).

    Every factor is a piece: Z_i sums over the labels of a node and has the scores of nodes, Z_ij over the pairs of
    labels of an edge and has the scores of pairs alone. The product of all Z_f has the terms of Z and others above 0,
    so that Σ_f log Z_f ≥ log Z.
    """
    allowed = parts.allowed
    counts = None if allowed is None else allowed.astype(np.float64)
    of_nodes, shares = normalised(theta[parts.at_nodes], counts)
    log_z = summed(of_nodes, parts.node_offsets)
    expected = parts.scattered(shares, parts.at_nodes)
    if parts.width and len(parts.at_edges):
        cells = parts.at_edges[:, None] + np.append(np.arange(parts.width), 0)
        scores = theta[cells]
        # The last column is for the pairs that have no part and score 0.
        scores[:, -1], cells[:, -1] = 0.0, -1
        of_edges, shares = normalised(scores, _pairs_of_parts(parts))
        log_z += summed(of_edges, parts.edge_offsets)
        expected += parts.scattered(shares, cells)
    return log_z, expected


def normalised(scores: FloatArray, counts: FloatArray | None) -> tuple[FloatArray, FloatArray]:
    """log Σ_k n_k exp s_k of every row, and the share of each term."""
    if counts is not None:
        scores = scores + np.log(counts, out=np.full(counts.shape, -np.inf), where=counts > 0.0)
    top = scores.max(axis=1, keepdims=True)
    terms = np.exp(scores - top)
    total = terms.sum(axis=1, keepdims=True)
    return (top + np.log(total))[:, 0], terms / total


def _pairs_of_parts(parts: ChosenParts) -> FloatArray:
    """How many pairs of labels have each part, and how many none: of any edge, or of each where some are forbidden."""
    kinds = np.eye(parts.width + 1)[parts.columns]
    if parts.allowed is None:
        return np.asarray(kinds.sum(axis=(0, 1)))[None]
    first, second = (parts.allowed[end].astype(np.float64) for end in parts.ends)
    return np.asarray(np.einsum("ek,klc,el->ec", first, kinds, second, optimize=True))
