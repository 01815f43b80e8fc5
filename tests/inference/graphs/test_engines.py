"""What holds for every engine: answers are what they say, bounds are bounds, proofs are proofs."""

import numpy as np
import pytest

from structlearn.data import FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.inference import best_labelling, labelling_marginals
from structlearn.inference.graphs import auto
from structlearn.inference.graphs.engines.enumeration import all_scores
from structlearn.inference.graphs.engines.junction_tree import CompiledTree
from structlearn.inference.graphs.engines.search_first import SearchFirst
from structlearn.inference.graphs.registry import MAP_ENGINES, SUM_ENGINES
from tests.inference.graphs.random_graphs import MANY, SHAPES, pairwise_graph


def iterations_of(engine):
    """Enough for small graphs; local search by forests never ends by itself."""
    return 1 if engine == "forest_moves" else 300


ALWAYS_EXACT = ("auto", "junction_tree", "branch_and_bound", "integer_program", "enumeration")


@pytest.mark.parametrize("engine", ["auto", *MAP_ENGINES])
@pytest.mark.parametrize("graph", MANY)
def test_answers_are_what_they_say(graph, engine):
    best = all_scores(graph).max()
    try:
        found = best_labelling(graph, engine, max_iterations=iterations_of(engine))
    except ValueError as refused:
        told = str(refused)
        assert (
            ("every labelling is forbidden" in told) if best == -np.inf else ("takes" in told or "submodular" in told)
        )
        assert best == -np.inf or engine not in ALWAYS_EXACT
        return
    assert found.score == pytest.approx(graph.score(found.labels))
    assert found.score <= best + 1e-9
    assert found.bound >= best - 1e-9 * max(1.0, abs(best))
    if found.exact:
        assert found.score == pytest.approx(best)
        assert found.stopped == "optimal"
    assert found.exact or engine not in ALWAYS_EXACT
    assert found.seconds >= 0.0
    assert all(record.bound >= best - 1e-9 * max(1.0, abs(best)) for record in found.history)


@pytest.mark.parametrize("engine", [name for name in MAP_ENGINES if name not in ("graph_cut", "qpbo")])
def test_grids_are_served_by_every_engine(engine):
    random = np.random.default_rng(1)
    for pairwise in (Potts(0.4), TruncatedLinear(0.3, 0.5), random.normal(size=(3, 3))):
        for neighbours in (4, 8):
            grid = GridGraph(random.normal(size=(2, 4, 3)), pairwise, neighbours=neighbours)
            best = all_scores(grid.factor_graph).max()
            found = best_labelling(grid, engine, max_iterations=iterations_of(engine))
            assert found.labels.shape == (2, 4)
            assert found.score == pytest.approx(grid.score(found.labels))
            assert found.score <= best + 1e-9 <= found.bound + 2e-9
            assert not found.exact or found.score == pytest.approx(best)


@pytest.mark.parametrize("engine", SUM_ENGINES)
@pytest.mark.parametrize("graph", MANY)
def test_marginals_are_probabilities_and_bounds_are_bounds(graph, engine):
    scores = all_scores(graph).ravel()
    try:
        found = labelling_marginals(graph, engine, max_iterations=50)
    except ValueError as error:
        if scores.max() > -np.inf and "Gibbs sampling found no labels" not in str(error):
            raise
        return
    for node in found.nodes:
        assert ((node >= 0.0) & (node <= 1.0 + 1e-12)).all()
        assert node.sum() == pytest.approx(1.0)
    if scores.max() > -np.inf:
        log_z = np.logaddexp.reduce(scores)
        assert found.lower - 1e-9 * abs(log_z) <= log_z <= found.upper + 1e-9 * abs(log_z) + 1e-9
        assert not found.exact or found.log_z == pytest.approx(log_z)


def test_exact_engines_agree_on_graphs_too_large_to_enumerate():
    random = np.random.default_rng(2)
    for _ in range(3):
        n = 16
        edges = [(i, j) for i in range(n) for j in range(i) if random.random() < 0.3]
        tables = [random.normal(size=(3, 3)) for _ in edges]
        graph = FactorGraph.pairwise(random.normal(size=(n, 3)), edges, tables)
        answers = [best_labelling(graph, engine) for engine in ("junction_tree", "branch_and_bound", "integer_program")]
        assert all(found.exact for found in answers)
        assert np.ptp([found.score for found in answers]) < 1e-6


@pytest.mark.parametrize("engine", ["linear_program", "dual_ascent"])
def test_relaxations_are_tight_on_trees_and_on_submodular_pairs(engine):
    random = np.random.default_rng(3)
    for shape in SHAPES:
        tree = pairwise_graph(shape, random) if shape in ("chain", "tree", "empty", "single", "disconnected") else None
        graph = pairwise_graph(shape, random, n_labels=2)
        unaries = graph.unaries.reshape(-1, 2)
        attractive = FactorGraph.pairwise(unaries, graph.scopes.reshape(-1, 2), Potts(random.random(graph.n_factors)))
        for tight in (attractive, tree if shape != "disconnected" else None):
            if tight is not None:
                assert best_labelling(tight, engine).bound == pytest.approx(all_scores(tight).max(), abs=1e-5)


def test_a_frustrated_cycle_is_not_tight_without_clusters():
    from structlearn.inference.graphs import DualAscent, LinearProgram

    triangle = FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    best = all_scores(triangle).max()
    for loose in (LinearProgram(), DualAscent(tighten=False)):
        assert best_labelling(triangle, loose).bound > best + 0.5
    assert best_labelling(triangle, DualAscent()).bound == pytest.approx(best, abs=1e-6)


def test_auto_searches_before_it_makes_a_dear_junction_tree():
    random = np.random.default_rng(5)
    grid = GridGraph(random.normal(size=(11, 11, 3)), random.normal(size=(3, 3)))
    found = best_labelling(grid)
    assert (found.engine, found.exact) == ("branch_and_bound", True)
    assert CompiledTree(grid.factor_graph, "1GB").nbytes > auto.CHEAP


def test_a_search_in_vain_gives_way_to_a_junction_tree():
    edges = [(i, i + 1) for i in range(5)]
    graph = FactorGraph.pairwise(np.random.default_rng(6).normal(size=(6, 3)), edges, Potts(-1.0))
    found = best_labelling(graph, SearchFirst(0.0, 10**9))
    assert (found.engine, found.exact, found.details["width"]) == ("junction_tree", True, 1)
    assert found.score == pytest.approx(all_scores(graph).max())


def test_auto_says_what_it_chose():
    random = np.random.default_rng(4)
    assert best_labelling(pairwise_graph("tree", random)).engine == "junction_tree"
    attractive = GridGraph(random.normal(size=(40, 40, 2)), Potts(0.5))
    assert best_labelling(attractive).engine == "graph_cut"
    mixed = GridGraph(random.normal(size=(40, 40, 2)), random.normal(size=(2, 2)))
    found = best_labelling(mixed, max_seconds=2)
    assert found.engine in ("branch_and_bound", "graph_cut")
    assert found.bound >= found.score
    assert labelling_marginals(mixed, max_iterations=1).engine == "tree_reweighted"


def with_known(n_labels, factors, known):
    """A graph behind variables whose labels are known, and factors of these."""
    sizes = [2, 2, 2, *n_labels]
    shifted = [([i + 3 for i in scope], scores) for scope, scores in factors]
    return FactorGraph.of(sizes, [([0, 1], np.zeros((2, 2))), ([1, 3], np.eye(2)), *shifted]).given(known)


@pytest.mark.parametrize(
    ("engine", "graph", "message"),
    [
        (
            "graph_cut",
            with_known([2, 2], [([0, 1], Potts(-1.0))], {0: 0, 1: 1, 2: 0}),
            "factor 2, of variables 3 and 4",
        ),
        ("qpbo", with_known([2, 3], [([0, 1], np.zeros((2, 3)))], {0: 0, 1: 1}), "variable 4 has 3 labels"),
        ("qpbo", with_known([2, 2], [([0, 1, -1], np.zeros((2, 2, 2)))], {0: 0, 1: 1}), "factor 2 has 3 variables"),
        (
            "linear_program",
            with_known([2, 4000, 4000], [([0, 1], np.zeros((2, 4000))), ([1, 2], Potts(1.0))], {0: 0, 1: 1, 2: 0}),
            "factor 3 alone",
        ),
    ],
)
def test_engines_refuse_in_the_numbers_of_the_whole_graph(engine, graph, message):
    with pytest.raises(ValueError, match=message):
        best_labelling(graph, engine)


def test_sums_are_refused_in_the_numbers_of_the_whole_graph():
    graph = with_known([2, 2000, 2000], [([1, 2], Potts(1.0))], {0: 0, 1: 1, 2: 0})
    with pytest.raises(ValueError, match="factor 2 has 4000000 joint labels"):
        labelling_marginals(graph, "tree_reweighted")
