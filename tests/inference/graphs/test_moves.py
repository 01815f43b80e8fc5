import gc
import weakref

import numpy as np
import pytest

from structlearn import _core
from structlearn.data import FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.inference.graphs import AlphaExpansion, best_labelling
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import SHAPES, edges_of, pairwise_graph

ENGINES = ("alpha_expansion", "alpha_beta_swap")


def metric_graph(shape, random, n_labels):
    n, edges = edges_of(shape, random)
    kind = [Potts(random.random(len(edges))), TruncatedLinear(random.random(len(edges)), 1.0)][random.integers(2)]
    return FactorGraph.pairwise(2.0 * random.normal(size=(n, n_labels)), edges, kind)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("engine", ENGINES)
def test_no_move_is_left_and_the_bound_is_one(engine, shape):
    random = np.random.default_rng(0)
    for _ in range(10):
        graph = metric_graph(shape, random, 3)
        scores = all_scores(graph)
        found = best_labelling(graph, engine)
        assert found.score == pytest.approx(graph.score(found.labels))
        assert found.score <= scores.max() + 1e-12
        assert found.bound >= scores.max() - 1e-12
        assert not found.exact or found.score == pytest.approx(scores.max())
        assert found.details["truncated"] == 0
        assert found.score == pytest.approx(max(_moved(engine, graph, scores, found.labels)))


def _moved(engine, graph, scores, labels):
    """The scores of all labellings that one move away are."""
    pairs = [(a, b) for a in range(3) for b in range(a)]
    sets = [{a} for a in range(3)] if engine == "alpha_expansion" else [set(pair) for pair in pairs]
    for chosen in sets:
        may = [
            sorted({now} | chosen) if engine == "alpha_expansion" or now in chosen else [now] for now in labels.tolist()
        ]
        yield scores[np.ix_(*may)].max()


def test_expansion_is_within_twice_the_least_cost_of_potts():
    random = np.random.default_rng(1)
    for shape in SHAPES:
        for _ in range(10):
            n, edges = edges_of(shape, random)
            costs = random.random((n, 4))
            # Costs are those of disagreement: Potts scores agreement, so their sum is to be taken off.
            strengths = random.random(len(edges))
            graph = FactorGraph.pairwise(-costs, edges, Potts(strengths))
            found = strengths.sum() - best_labelling(graph, "alpha_expansion").score
            assert found <= 2.0 * (strengths.sum() - all_scores(graph).max()) + 1e-12


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
@pytest.mark.parametrize("engine", ENGINES)
def test_any_tables_are_taken_and_truncation_is_told(engine, forbidden):
    random = np.random.default_rng(2)
    truncated, better = 0, 0
    for shape in SHAPES:
        for _ in range(10):
            graph = pairwise_graph(shape, random, forbidden=forbidden)
            scores = all_scores(graph)
            if scores.max() == -np.inf:
                continue
            found = best_labelling(graph, engine)
            start = [int(graph.unary(i).argmax()) for i in range(graph.n_variables)]
            assert found.score == pytest.approx(graph.score(found.labels)) or found.score == graph.score(found.labels)
            assert graph.score(start) - 1e-12 <= found.score <= scores.max() + 1e-12
            assert found.bound >= scores.max() - 1e-12
            assert [record.score for record in found.history] == sorted(record.score for record in found.history)
            truncated += found.details["truncated"]
            better += found.score > graph.score(start)
    assert truncated > 0
    assert better > 10


def truncated_choice(graph, now, zero, one):
    """The best choice of each variable between two labels, by enumeration; None where it makes nothing better.

    Pairs that are not submodular in it are dearer by what they lack where only one of both changes.
    """
    choices = np.stack([zero, one])
    seen = {}
    for bits in np.ndindex(*[2] * graph.n_variables):
        cost = -sum(graph.unary(i)[choices[bit, i]] for i, bit in enumerate(bits))
        for f in range(graph.n_factors):
            i, j = graph.scope(f)
            pair = -graph.table(f)[np.ix_(choices[:, i], choices[:, j])]
            lack = max(0.0, np.trace(pair) - pair[0, 1] - pair[1, 0])
            changes = [place for place in ((0, 1), (1, 0)) if place != (int(now[i] != zero[i]), int(now[j] != zero[j]))]
            cost += pair[bits[i], bits[j]] + (lack / len(changes) if (bits[i], bits[j]) in changes else 0.0)
        seen[bits] = cost
    best = choices[min(seen, key=seen.get), np.arange(graph.n_variables)]
    return best if graph.score(best) > graph.score(now) + 1e-9 else None


@pytest.mark.parametrize("kind", ["expand", "swap", "fuse"])
def test_a_move_is_the_best_of_truncated_pairs(kind):
    random = np.random.default_rng(6)
    better = 0
    for _ in range(30):
        graph = pairwise_graph("complete", random, n_labels=3)
        now, others = random.integers(3, size=(2, 5)).astype(np.int32)
        zero, one = {
            "expand": (now, np.full(5, 1)),
            "swap": (np.where(now < 2, 0, now), np.where(now < 2, 1, now)),
            "fuse": (now, others),
        }[kind]
        expected = truncated_choice(graph, now, zero, one)
        fusion = _core.SparseFusion(graph.core)
        fusion.take(now)
        moved = getattr(fusion, kind)(*{"expand": (1,), "swap": (0, 1), "fuse": (others,)}[kind])
        assert moved == (expected is not None)
        assert fusion.labels().tolist() == (now if expected is None else expected).tolist()
        better += moved
    assert better > 5


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("engine", ENGINES)
def test_grids_and_lists_of_edges_agree(engine, neighbours):
    random = np.random.default_rng(3)
    for pairwise in (Potts(0.7), TruncatedLinear(0.4, 1.0), random.normal(size=(4, 4))):
        grid = GridGraph(random.normal(size=(9, 13, 4)), pairwise, neighbours=neighbours)
        found, listed = best_labelling(grid, engine), best_labelling(grid.factor_graph, engine)
        assert found.labels.shape == (9, 13)
        assert found.score == pytest.approx(grid.score(found.labels))
        assert found.bound == pytest.approx(listed.bound)
        assert found.score == pytest.approx(listed.score, rel=0.02)
        weights = [random.random(shape) for shape in [(9, 12), (8, 13), (8, 12), (8, 12)][: neighbours // 2]]
        weighted = GridGraph(grid.unaries, pairwise, weights, neighbours)
        found, listed = best_labelling(weighted, engine), best_labelling(weighted.factor_graph, engine)
        assert found.score == pytest.approx(weighted.score(found.labels))
        assert found.bound == pytest.approx(listed.bound)


def test_grids_with_forbidden_pairs():
    table = [[0.0, 0.0, -np.inf], [0.0, 0.0, 0.0], [-np.inf, 0.0, 0.0]]
    grid = GridGraph(np.random.default_rng(4).normal(size=(3, 3, 3)), table)
    for engine in ENGINES:
        found = best_labelling(grid, engine)
        assert -np.inf < found.score <= all_scores(grid.factor_graph).max()


@pytest.mark.parametrize("engine", ENGINES)
def test_agreement_is_proven_where_nothing_is_in_conflict(engine):
    unaries = np.zeros((4, 3))
    unaries[:, 1] = 1.0
    found = best_labelling(FactorGraph.pairwise(unaries, [(0, 1), (1, 2), (2, 3)], Potts(1.0)), engine)
    assert found.exact
    assert found.labels.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("engine", ENGINES)
def test_one_label_leaves_no_choice(engine):
    found = best_labelling(GridGraph(np.ones((2, 3, 1)), Potts(1.0)), engine)
    assert (found.score, found.exact) == (13.0, True)
    assert best_labelling(FactorGraph.pairwise(np.ones((2, 1)), [(0, 1)], Potts(1.0)), engine).score == 3.0


@pytest.mark.parametrize("engine", ENGINES)
def test_limits_stop_between_moves(engine):
    grid = GridGraph(np.random.default_rng(5).normal(size=(20, 20, 5)), Potts(1.0))
    found = best_labelling(grid, engine, max_iterations=2)
    assert (found.iterations, found.stopped) == (2, "max_iterations")
    assert best_labelling(grid, engine).stopped == "converged"


@pytest.mark.parametrize("engine", ENGINES)
def test_large_factors_are_refused_by_name(engine):
    graph = FactorGraph.of([2, 2, 2], [([0, 1], Potts(1.0)), ([0, 1, 2], np.zeros((2, 2, 2)))])
    with pytest.raises(ValueError, match="factor 1 has 3 variables"):
        best_labelling(graph, engine)


def test_a_search_that_ended_is_freed_at_once():
    search = AlphaExpansion().search(metric_graph("grid", np.random.default_rng(0), 3))
    while search.step():
        pass
    gone = weakref.ref(search)
    gc.disable()
    try:
        del search
        assert gone() is None
    finally:
        gc.enable()
