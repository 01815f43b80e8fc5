import numpy as np
import pytest

from structlearn.data import FactorGraph
from structlearn.inference.graphs import ForestMoves, best_labelling
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import MANY
from tests.inference.graphs.test_relaxations import frustrated_grid


@pytest.mark.parametrize("graph", MANY)
def test_small_graphs_are_solved(graph):
    best = all_scores(graph).max()
    if best == -np.inf:
        return
    found = best_labelling(graph, ForestMoves(), max_iterations=1)
    assert found.score == graph.score(found.labels) == pytest.approx(best)


def test_frustrated_grids_are_solved():
    for seed in range(3):
        graph = frustrated_grid(12, seed)
        found = best_labelling(graph, ForestMoves(), max_iterations=3)
        assert found.score == pytest.approx(best_labelling(graph, "junction_tree").score)


def test_the_same_state_gives_the_same_labels():
    graph = frustrated_grid(20, 0)
    first, again, other = (
        best_labelling(graph, ForestMoves(random_state=state), max_iterations=1) for state in (0, 0, 1)
    )
    assert first.labels.tolist() == again.labels.tolist()
    assert first.labels.tolist() != other.labels.tolist()


def test_no_variables_at_all():
    found = best_labelling(FactorGraph.of([], [([], 2.0)]), ForestMoves())
    assert found.score == 2.0
