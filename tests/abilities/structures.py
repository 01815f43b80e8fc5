"""All rows of the table of abilities."""

import numpy as np

from tests.abilities import graphs_with_sums, others, with_sums


def structures(seed=0):
    """All rows of the table."""
    random = np.random.default_rng(seed)
    return [
        with_sums.multiclass(random),
        with_sums.chain(random, 1),
        with_sums.chain(random, 2),
        with_sums.segments(random),
        with_sums.grammar(random),
        with_sums.dependency_tree(np.random.default_rng([seed, 2])),
        with_sums.dependency_tree(np.random.default_rng([seed, 3]), order=2),
        with_sums.dependency_tree(np.random.default_rng([seed, 4]), projective=False),
        with_sums.alignment(random),
        graphs_with_sums.graph(random, with_features=False),
        graphs_with_sums.graph(random, with_features=True),
        graphs_with_sums.typed_graph(np.random.default_rng(seed)),
        # With numbers of its own, which leaves the others as they are.
        graphs_with_sums.grid(np.random.default_rng([seed, 1])),
        graphs_with_sums.multilabel(random),
        with_sums.hypergraph(random),
        others.homologues(random),
        others.ranking(random),
        others.precision_at_k(random),
        others.multivariate_binary(random),
        others.correlation_clustering(random),
        others.latent_forest(random),
        others.motif(random),
        others.latent_chain(random),
        others.matching(np.random.default_rng([seed, 2]), 1),
        others.matching(np.random.default_rng([seed, 2]), 2),
    ]
