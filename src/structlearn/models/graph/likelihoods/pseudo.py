"""The pseudo-likelihood: each label given those of its neighbours."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.ragged import summed
from structlearn.models.graph.likelihoods.parts import ChosenParts


def pseudo_losses(theta: FloatArray, parts: ChosenParts, codes: LabelArray) -> tuple[FloatArray, FloatArray]:
    """−Σ_i log P(y_i | y of its neighbours, x) of every graph (Besag 1975), and the slopes in the scores of the parts.

    `codes` are the true labels of the nodes.
    """
    L, (first, second) = parts.graphs.n_labels, parts.ends
    # Parts of the pair if one end has each of its labels and the other its true one.
    of_first = parts.at_pairs(parts.columns[:, codes[second]].T)
    of_second = parts.at_pairs(parts.columns[codes[first], :])
    scores = theta[parts.at_nodes]
    for end, at in ((first, of_first), (second, of_second)):
        cells = (end[:, None] * L + np.arange(L)).ravel()
        scores += np.bincount(cells, parts.gathered(theta, at).ravel(), scores.size).reshape(scores.shape)
    if parts.allowed is not None:
        scores[~parts.allowed] = -np.inf
    log_z = logsumexp(scores, axis=1)
    true = (np.arange(len(codes)), codes)
    losses = summed(log_z - scores[true], parts.node_offsets)
    excess = np.exp(scores - log_z[:, None])
    excess[true] -= 1.0
    slopes = parts.scattered(excess, parts.at_nodes)
    slopes += parts.scattered(excess[first], of_first) + parts.scattered(excess[second], of_second)
    return losses, slopes
