"""A kernel of labelled graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.options import real_option
from structlearn.kernels.base import BLOCK, Kernel
from structlearn.kernels.vectors import inner_products

#: Walks longer than this must not matter.
LONGEST_WALK = 10_000

#: Where the arcs of each graph begin, their two nodes, and what they weigh, (n_arcs, n_features).
Arcs = tuple[IntArray, IntArray, IntArray, FloatArray]


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
        arcs, first = _arcs(graphs), 0 if Z is X else len(X)
        found = np.empty((len(X), len(Z)))
        for i in range(len(X)):
            # What is known of the pair (j, i) already is not computed again for (i, j).
            end = i + 1 if Z is X else len(Z)
            self._with_some(graphs, arcs, i, first, found[i, :end])
            if Z is X:
                found[:i, i] = found[i, :i]
        return found

    def _with_some(self, graphs: Networks, arcs: Arcs, i: int, first: int, out: FloatArray) -> None:
        """The kernels of graph i with the graphs from a first one on, a few at a time."""
        nodes, own = graphs.nodes, graphs.nodes[i]
        begin, last = first, first + len(out)
        while begin < last:
            room = nodes.offsets[begin] + BLOCK // (8 * max(own.shape[0], 1))
            end = min(last, max(begin + 1, int(np.searchsorted(nodes.offsets, room, "right")) - 1))
            alike = np.ascontiguousarray(inner_products(own, nodes.tokens[nodes.offsets[begin] : nodes.offsets[end]]))
            some = out[begin - first : end - first]
            lost = _core.random_walks(nodes.offsets, *arcs, i, begin, alike, float(self.decay), LONGEST_WALK, some)
            if lost >= 0:
                raise ValueError(f"decay is {self.decay}, with which walks do not die out; choose it smaller")
            begin = end


def _arcs(graphs: Networks) -> Arcs:
    """Both directions of all edges, of weight 1 where these have no features."""
    edges = graphs.edges
    both = edges.flat.reshape(-1, 2).astype(np.int64)
    if graphs.edge_features is None:
        features = np.ones((len(both), 1))
    else:
        given = graphs.edge_features.tokens
        features = np.asarray(given.toarray() if sp.issparse(given) else given, np.float64)
    weights = np.repeat(features, 2, axis=0)
    return 2 * edges.offsets, both.ravel(), np.ascontiguousarray(both[:, ::-1]).ravel(), weights
