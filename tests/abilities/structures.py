"""All rows of the table of abilities."""

import numpy as np

from tests.abilities import with_sums, without_sums


def structures(seed=0):
    """All rows of the table."""
    random = np.random.default_rng(seed)
    return [
        with_sums.multiclass(random),
        with_sums.chain(random, 1),
        with_sums.chain(random, 2),
        with_sums.segments(random),
        with_sums.grammar(random),
        with_sums.alignment(random),
        with_sums.hypergraph(random),
        without_sums.homologues(random),
        without_sums.ranking(random),
        without_sums.precision_at_k(random),
        without_sums.multivariate_binary(random),
        without_sums.correlation_clustering(random),
        without_sums.latent_forest(random),
        without_sums.motif(random),
        without_sums.latent_chain(random),
    ]
