import numpy as np
import pytest

from structlearn.data import FactorGraph
from structlearn.inference import markov_violations
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import SHAPES, edges_of, pairwise_graph


@pytest.mark.parametrize("shape", SHAPES)
def test_the_distribution_of_a_graph_is_markov_for_it(shape):
    _, edges = edges_of(shape, np.random.default_rng(0))
    graph = pairwise_graph(shape, np.random.default_rng(0))
    probabilities = np.exp(all_scores(graph))
    assert markov_violations(probabilities, edges) == []
    # Without one of its edges it is not.
    for left_out in range(len(edges)):
        kept = edges[:left_out] + edges[left_out + 1 :]
        (found,) = markov_violations(probabilities, kept)
        assert {found.first, found.second} == set(edges[left_out])


def test_a_factor_of_three_joins_all_its_variables():
    table = np.random.default_rng(1).normal(size=(2, 2, 2))
    probabilities = np.exp(all_scores(FactorGraph.of([2] * 3, [([0, 1, 2], table)])))
    assert len(markov_violations(probabilities, [])) == 3
    with pytest.raises(ValueError, match="finite numbers"):
        markov_violations([[0.0, -1.0], [0.0, 0.0]], [])
