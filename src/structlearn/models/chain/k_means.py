"""Means of clusters of rows, from which latent states begin."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray


def k_means(matrix: Any, count: int, random: np.random.Generator) -> FloatArray:
    """The means of `count` clusters of rows."""
    if count == 1:
        return np.asarray(matrix.mean(axis=0), np.float64).reshape(1, -1)
    # Takes seconds to import, which only training need wait for.
    from sklearn.cluster import KMeans

    if sp.issparse(matrix):
        # scikit-learn takes no wider indices.
        indices, indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        matrix = sp.csr_array((matrix.data, indices, indptr), shape=matrix.shape)
    search = KMeans(count, n_init=3, max_iter=20, random_state=int(random.integers(2**31)))
    return np.asarray(search.fit(matrix).cluster_centers_, np.float64)
