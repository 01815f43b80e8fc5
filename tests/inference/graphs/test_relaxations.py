import numpy as np
import pytest

from structlearn import _core
from structlearn.data import AtMostOne, Cardinality, FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.inference.graphs import best_labelling
from structlearn.inference.graphs.engines.branch_and_bound import BranchAndBound
from structlearn.inference.graphs.engines.dual_ascent import DualAscent
from structlearn.inference.graphs.engines.enumeration import all_scores
from structlearn.inference.graphs.engines.linear_program import IntegerProgram, LinearProgram
from tests.inference.graphs.random_graphs import MANY, mixed_graph, pairwise_graph

RELAXATIONS = [LinearProgram(), DualAscent(tighten=False), DualAscent()]
EXACT = [IntegerProgram(), BranchAndBound(), BranchAndBound(tighten=False)]


def frustrated_cycle(n: int) -> FactorGraph:
    """Neighbours like to agree, but for one pair that likes not to."""
    unaries = np.random.default_rng(n).normal(scale=0.1, size=(n, 2))
    return FactorGraph.pairwise(unaries, [(i, (i + 1) % n) for i in range(n)], Potts(np.r_[-1.0, np.ones(n - 1)]))


def frustrated_grid(size: int, seed: int) -> FactorGraph:
    random = np.random.default_rng(seed)
    table = np.array([[1.0, -1.0], [-1.0, 1.0]])
    whole = GridGraph(random.normal(scale=0.3, size=(size, size, 2)), table).factor_graph
    return FactorGraph.pairwise(
        whole.unaries.reshape(-1, 2), whole.scopes.reshape(-1, 2), table * random.normal(size=(whole.n_factors, 1, 1))
    )


def parities(n: int, seed: int) -> FactorGraph:
    """Three variables near one another score if their sum is even, or odd: local search does not see what is best."""
    random = np.random.default_rng(seed)
    factors = [([i], random.normal(scale=0.02, size=2)) for i in range(n)]
    odd = np.indices((2, 2, 2)).sum(axis=0) % 2
    for i in range(n - 2):
        scope = i + np.sort(random.choice(min(6, n - i), 3, replace=False))
        factors.append((scope, np.where(odd == random.integers(2), random.uniform(0.1, 0.5), 0.0)))
    return FactorGraph.of(np.full(n, 2), factors)


@pytest.mark.parametrize("engine", RELAXATIONS, ids=repr)
@pytest.mark.parametrize("graph", MANY)
def test_bounds_are_bounds_and_scores_are_scores(graph, engine):
    best = all_scores(graph).max()
    if best == -np.inf:
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            best_labelling(graph, engine)
        return
    found = best_labelling(graph, engine)
    assert found.bound >= best - 1e-9
    assert found.score == graph.score(found.labels) <= best + 1e-9
    assert not found.exact or found.score == pytest.approx(best)
    bounds = [record.bound for record in found.history]
    assert bounds == sorted(bounds, reverse=True)


@pytest.mark.parametrize("engine", EXACT, ids=repr)
@pytest.mark.parametrize("graph", MANY)
def test_exact_engines_agree_with_enumeration(graph, engine):
    best = all_scores(graph).max()
    if best == -np.inf:
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            best_labelling(graph, engine)
        return
    found = best_labelling(graph, engine)
    assert found.exact
    assert found.score == pytest.approx(best)
    assert found.bound == pytest.approx(best)


@pytest.mark.parametrize("engine", RELAXATIONS, ids=repr)
def test_trees_are_tight(engine):
    random = np.random.default_rng(0)
    for shape in ("chain", "tree"):
        graph = pairwise_graph(shape, random, forbidden=0.1)
        found = best_labelling(graph, engine)
        assert found.bound == pytest.approx(all_scores(graph).max())
        assert found.exact


def test_groups_along_a_chain_are_tight():
    random = np.random.default_rng(1)
    factors = [([i, i + 1, i + 2], random.normal(size=(2, 3, 2) if i % 2 == 0 else (3, 2, 3))) for i in (0, 2)]
    graph = FactorGraph.of([2, 3, 2, 3, 2], [*factors, *(([i], random.normal(size=2 + i % 2)) for i in range(5))])
    for engine in RELAXATIONS:
        assert best_labelling(graph, engine).exact


@pytest.mark.parametrize("engine", RELAXATIONS, ids=repr)
def test_two_labels_that_like_to_agree_are_tight(engine):
    random = np.random.default_rng(2)
    for _ in range(5):
        grid = GridGraph(random.normal(size=(4, 4, 2)), Potts(random.random()))
        found = best_labelling(grid.factor_graph, engine)
        assert found.bound == pytest.approx(all_scores(grid.factor_graph).max(), abs=1e-5)


@pytest.mark.parametrize("n", [3, 4, 6, 9])
def test_clusters_tighten_frustrated_cycles(n):
    graph = frustrated_cycle(n)
    best = all_scores(graph).max()
    for engine in (LinearProgram(), DualAscent(tighten=False)):
        loose = best_labelling(graph, engine)
        assert loose.bound > best + 0.5
        assert not loose.exact
    assert best_labelling(graph, LinearProgram()).details["fractional"] == 1.0
    found = best_labelling(graph, DualAscent())
    assert found.exact
    assert found.score == pytest.approx(best)
    assert found.details["clusters"] == n - 2


def test_chords_count_in_the_bound():
    # Three of the four pairs can have their way. The first pass splits a contradiction of 1/3 evenly between the two
    # pairs of a cluster and the chord, of which no variable hears.
    graph = FactorGraph.pairwise(np.zeros((4, 2)), [(0, 1), (1, 2), (2, 3), (3, 0)], Potts([-1.0, 1.0, 1.0, 1.0]))
    dual = _core.DualAscent(graph.core)
    dual.passes(10)
    assert (dual.bound, dual.tighten(20)) == (3.0, 2)
    dual.passes(1)
    assert dual.bound == pytest.approx(3.0 - 1.0 / 3.0)


@pytest.mark.parametrize("n_labels", [3, 4])
@pytest.mark.parametrize("cost", [0.1, 1.0, 10.0])
def test_labels_that_nobody_wants_hide_no_contradiction(n_labels, cost):
    unaries = np.zeros((3, n_labels))
    unaries[:, 2:] = -cost
    triangle = FactorGraph.pairwise(unaries, [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    assert best_labelling(triangle, DualAscent(tighten=False)).bound == pytest.approx(0.0)
    found = best_labelling(triangle, DualAscent())
    assert found.exact
    assert found.score == pytest.approx(all_scores(triangle).max()) == pytest.approx(-min(cost, 1.0))
    assert found.details["clusters"] == 1


def test_clusters_tighten_pairs_of_many_labels():
    random = np.random.default_rng(3)
    tight = {False: 0, True: 0}
    for _ in range(20):
        graph = pairwise_graph("complete", random, scale=2.0)
        for tighten in tight:
            tight[tighten] += best_labelling(graph, DualAscent(tighten=tighten)).exact
    assert tight[True] >= tight[False] + 5


@pytest.mark.parametrize("graph", MANY)
def test_dual_ascent_stays_above_the_linear_program(graph):
    if all_scores(graph).max() == -np.inf:
        return
    program = best_labelling(graph, LinearProgram())
    ascent = best_labelling(graph, DualAscent(tighten=False))
    assert ascent.bound >= program.bound - 1e-6


def test_every_step_keeps_the_promise():
    random = np.random.default_rng(4)
    for k in range(30):
        graph = mixed_graph(random, forbidden=0.1 * (k % 2))
        best = all_scores(graph).max()
        for engine in (DualAscent(), BranchAndBound()):
            search = engine.search(graph)
            before, more = np.inf, True
            while more:
                more = search.step()
                assert search.score - 1e-9 <= best <= search.bound + 1e-9
                assert search.bound <= before + 1e-12
                before = search.bound


def test_warm_start_with_other_unaries():
    random = np.random.default_rng(5)
    graph = frustrated_grid(4, 0)
    search = DualAscent().search(graph)
    for _ in range(20):
        search.step()
    for _ in range(5):
        other = FactorGraph(**{**vars_of(graph), "unaries": graph.unaries + random.normal(scale=0.1, size=32)})
        search.set_unaries(other.unaries)
        first = None
        for _ in range(20):
            search.step()
            first = search.bound if first is None else first
        best = all_scores(other).max()
        cold = DualAscent().search(other)
        cold.step()
        assert search.score == other.score(search.labels) <= best + 1e-9
        assert best - 1e-9 <= first <= cold.bound + 1e-9
    with pytest.raises(ValueError, match=r"unaries has shape \(3,\); expected \(32,\)"):
        search.set_unaries(np.zeros(3))


@pytest.mark.parametrize("tighten", [False, True])
def test_warm_start_with_an_earlier_answer(tighten):
    random = np.random.default_rng(3)
    graph, engine = frustrated_grid(4, 0), DualAscent(tighten=tighten)
    found = best_labelling(graph, engine, max_iterations=30)
    assert found.details["messages"].any()
    for _ in range(5):
        other = FactorGraph(**{**vars_of(graph), "unaries": graph.unaries + random.normal(scale=0.05, size=32)})
        warm, cold = (best_labelling(other, engine, max_iterations=1, start=start) for start in (found, None))
        best = all_scores(other).max()
        assert best - 1e-9 <= warm.bound < cold.bound
        assert warm.score == other.score(warm.labels)
        # Other engines answer as they do without, and leave nothing for dual ascent.
        exact = best_labelling(other, "junction_tree", start=found)
        assert exact.score == pytest.approx(best)
        assert best_labelling(other, engine, max_iterations=1, start=exact).bound == cold.bound
    with pytest.raises(ValueError, match="there are 48 messages; expected 24"):
        best_labelling(frustrated_grid(3, 0), engine, start=found)


def vars_of(graph):
    return {name: getattr(graph, name) for name in graph.__dataclass_fields__}


@pytest.mark.parametrize("engine", [*RELAXATIONS, *EXACT], ids=repr)
def test_no_variables_at_all(engine):
    found = best_labelling(FactorGraph.of([], [([], 2.0)]), engine)
    assert (found.score, found.bound, found.exact) == (2.0, pytest.approx(2.0), True)


@pytest.mark.parametrize("engine", [*RELAXATIONS, *EXACT], ids=repr)
def test_a_batch_is_solved_as_one(engine):
    random = np.random.default_rng(8)
    several = [pairwise_graph(shape, random) for shape in ("chain", "single", "tree")]
    found = best_labelling(FactorGraph.batch(several), engine)
    assert found.score == pytest.approx(sum(all_scores(graph).max() for graph in several))
    assert found.exact


def test_the_tree_is_searched_to_its_end():
    for n, seed in ((40, 1), (40, 2), (50, 3), (50, 4)):
        graph = parities(n, seed)
        found = best_labelling(graph, BranchAndBound())
        assert found.exact
        assert found.score == pytest.approx(best_labelling(graph, "junction_tree").score)
        assert found.details["nodes"] > 100
        assert found.details["open"] == 0


def test_only_labels_that_cannot_be_best_are_dropped():
    random = np.random.default_rng(9)
    dropped = 0
    for k in range(40):
        graph = mixed_graph(random) if k % 2 else pairwise_graph("complete", random)
        scores = all_scores(graph)
        dual = _core.DualAscent(graph.core)
        dual.passes(3)
        dual.set_cutoff(scores.max() - 0.5)
        dual.passes(10)
        alive = dual.alive().astype(bool)
        dropped += int((~alive).sum())
        for labels in np.argwhere(scores > scores.max() - 0.5):
            assert alive[graph.unary_offsets[:-1] + labels].all()
    assert dropped > 100


def test_large_scores_that_cancel():
    graph = frustrated_grid(4, 1)
    shifted = FactorGraph(**vars_of(graph) | {"unaries": graph.unaries + 1e9, "constants": np.array([-16e9])})
    found = best_labelling(shifted, BranchAndBound())
    assert found.score == pytest.approx(all_scores(graph).max(), abs=1e-4)


def test_exact_engines_agree_on_medium_graphs():
    for seed in range(3):
        graph = frustrated_grid(8, seed)
        exact = best_labelling(graph, "junction_tree")
        for engine in (BranchAndBound(), BranchAndBound(tighten=False), IntegerProgram()):
            found = best_labelling(graph, engine)
            assert found.exact
            assert found.score == pytest.approx(exact.score)


def test_counts_of_many_variables():
    random = np.random.default_rng(6)
    n = 60
    unaries = random.normal(size=(n, 2))
    values = np.where(np.abs(np.arange(n + 1) - 10) <= 2, 0.0, -np.inf)
    factors = [([i], unaries[i]) for i in range(n)] + [(range(n), Cardinality(values)), ([3, 5, 7], AtMostOne())]
    graph = FactorGraph.of(np.full(n, 2), factors)
    scores = [best_labelling(graph, engine).score for engine in (IntegerProgram(), BranchAndBound())]
    assert scores[0] == pytest.approx(scores[1])
    found = best_labelling(graph, LinearProgram())
    assert found.bound >= scores[0] - 1e-9
    alone = FactorGraph.of(np.full(n, 2), factors[:-1])
    gains = np.sort(unaries[:, 1] - unaries[:, 0])[::-1]
    best = unaries[:, 0].sum() + max(gains[:c].sum() for c in range(8, 13))
    for engine in RELAXATIONS:
        assert best_labelling(alone, engine).score == pytest.approx(best)
        assert best_labelling(alone, engine).exact


@pytest.mark.parametrize("most", [1, 2, 30, 199, 200])
def test_counts_that_are_forbidden_above_some_number(most):
    random = np.random.default_rng(most)
    unaries = random.normal(size=(200, 2))
    counted = Cardinality(np.where(np.arange(201) <= most, 0.0, -np.inf))
    graph = FactorGraph.of(np.full(200, 2), [*(([i], unary) for i, unary in enumerate(unaries)), (range(200), counted)])
    gains = np.sort(unaries[:, 1] - unaries[:, 0])[::-1]
    best = unaries[:, 0].sum() + np.maximum(gains[:most], 0.0).sum()
    found = best_labelling(graph, DualAscent())
    assert found.exact
    assert found.score == pytest.approx(best)


def test_truncated_linear_and_potts_equal_their_tables():
    random = np.random.default_rng(7)
    unaries = random.normal(size=(9, 5))
    edges = [(i, j) for i in range(9) for j in (i + 1, i + 3) if j < 9 and (j != i + 1 or j % 3)]
    for compact in (Potts(0.7), Potts(-0.7), TruncatedLinear(0.4, 0.9), TruncatedLinear(0.4, np.inf)):
        graph = FactorGraph.pairwise(unaries, edges, compact)
        table = FactorGraph.pairwise(unaries, edges, graph.table(0))
        one, other = (best_labelling(each, DualAscent(), max_iterations=3) for each in (graph, table))
        assert one.bound == pytest.approx(other.bound, abs=1e-9)
        assert one.score == pytest.approx(other.score)


def test_options_and_sizes_are_checked():
    graph = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], Potts(1.0))
    with pytest.raises(ValueError, match="tighten is 'yes'"):
        DualAscent(tighten="yes").search(graph)
    with pytest.raises(ValueError, match="tol is -1"):
        DualAscent(tol=-1).search(graph)
    wide = FactorGraph.of([4000, 4000], [([0, 1], Potts(1.0))])
    with pytest.raises(ValueError, match=r"1.6e\+07 unknowns"):
        best_labelling(wide, "linear_program")


def test_a_program_that_ran_out_of_time_says_what_it_knows():
    graph = frustrated_grid(12, 0)
    for engine in (LinearProgram(), IntegerProgram()):
        found = best_labelling(graph, engine, max_seconds=0.0)
        assert found.stopped == "max_seconds"
        assert not found.exact
        assert np.isfinite(found.bound)


def test_a_graph_without_scores_has_any_labels():
    graph = FactorGraph.pairwise(np.zeros((2, 2)), [(0, 1)], np.zeros((2, 2)))
    for engine in ("integer_program", "linear_program", "dual_ascent", "branch_and_bound"):
        found = best_labelling(graph, engine)
        assert (found.score, found.exact) == (0.0, True)


@pytest.mark.parametrize("engine", ["linear_program", "integer_program"])
def test_programs_end_in_time(engine):
    random = np.random.default_rng(0)
    edges = [(i, j) for i in range(25) for j in range(i)]
    graph = FactorGraph.pairwise(random.normal(size=(25, 8)), edges, random.normal(size=(len(edges), 8, 8)))
    found = best_labelling(graph, engine, max_seconds=0.2)
    assert found.stopped == "max_seconds"
    assert found.seconds < 10.0
    assert found.bound >= best_labelling(graph, "icm").score
