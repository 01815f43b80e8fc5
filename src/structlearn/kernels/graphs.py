"""A kernel of labelled graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.options import real_option
from structlearn.kernels.base import Kernel
from structlearn.kernels.vectors import inner_products

#: Walks longer than this must not matter.
LONGEST_WALK = 10_000


class RandomWalk(Kernel):
    """k(G, H) = Σ_ℓ λ^ℓ Σ_{walks of ℓ steps in G, in H} Π_t ⟨g_t, h_t⟩, the geometric random-walk kernel.

    Two walks are as alike as the features of the nodes g_t and h_t that they meet: with one feature for each label,
    walks count whose labels are the same. Where edges have features, their inner products are factors as well.

    Parameters
    ----------
    decay : float
        λ > 0, so small that long walks do not matter: below 1 over the product of the largest degrees, if nodes have
        labels.

    Notes
    -----
    Gärtner et al. 2003, Vishwanathan et al. 2010. With the adjacency matrices A of G and B of H, and V of the inner
    products of their nodes, it is Σ V ∘ R, where R = 1 + λ A (V ∘ R) B: the fixed point is found by adding up walks of
    0, 1, 2, … steps, without the matrix of all pairs of nodes.

    Examples
    --------
    >>> from structlearn.data import Network
    >>> water = Network([{"atom": "H"}, {"atom": "O"}, {"atom": "H"}], [(0, 1), (1, 2)])
    >>> hydroxide = Network([{"atom": "O"}, {"atom": "H"}], [(0, 1)])
    >>> RandomWalk(decay=0.1)([water, hydroxide]).round(3)
    array([[6.042, 3.469],
           [3.469, 2.222]])
    """

    def __init__(self, decay: float = 0.1):
        self.decay = decay

    @property
    def of_rows(self) -> bool:
        return False

    def check_options(self) -> None:
        real_option("decay", self.decay, positive=True)

    def read(self, X: Any, name: str) -> list[Network]:
        read_networks(X)
        return [x if isinstance(x, Network) else Network(*x) for x in X]

    def values(self, X: list[Network], Z: list[Network]) -> FloatArray:
        # Read together, so that labels have the same columns.
        graphs = read_networks([*X, *([] if Z is X else Z)])
        channels = [_adjacency(graphs, i) for i in range(len(graphs))]
        first = 0 if Z is X else len(X)
        found = np.empty((len(X), len(Z)))
        for i in range(len(X)):
            for j in range(len(Z)):
                known = Z is X and j < i
                found[i, j] = found[j, i] if known else self._of_pair(graphs, channels, i, first + j)
        return found

    def _of_pair(self, graphs: Networks, channels: list[list[sp.csr_array]], i: int, j: int) -> float:
        alike = inner_products(graphs.nodes[i], graphs.nodes[j])
        steps = list(zip(channels[i], channels[j], strict=True))
        walks = np.ones_like(alike)
        total = walks.copy()
        for _ in range(LONGEST_WALK):
            last = alike * walks
            walks = self.decay * sum((B @ (A @ last).T).T for A, B in steps)
            total += walks
            largest = np.abs(total).max()
            if not np.isfinite(largest):
                break
            if np.abs(walks).max() <= 1e-16 * largest:
                return float((alike * total).sum())
        raise ValueError(f"decay is {self.decay}, with which walks do not die out; choose it smaller")


def _adjacency(graphs: Networks, i: int) -> list[sp.csr_array]:
    """A symmetric matrix of the edges for each of their features, or one of ones."""
    edges, n = graphs.edges[i], graphs.nodes[i].shape[0]
    if graphs.edge_features is None:
        columns = np.ones((1, len(edges)))
    else:
        features = graphs.edge_features[i]
        columns = np.asarray(features.toarray() if sp.issparse(features) else features, np.float64).T
    both = np.concatenate([edges, edges[:, ::-1]]).astype(np.int64).reshape(-1, 2)
    return [sp.csr_array((np.tile(weights, 2), (both[:, 0], both[:, 1])), shape=(n, n)) for weights in columns]
