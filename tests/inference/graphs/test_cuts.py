import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from structlearn.data import AtMostOne, Cardinality, FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.inference.graphs import CutSolver, best_labelling, max_marginals
from structlearn.inference.graphs.engines.enumeration import all_scores
from tests.inference.graphs.random_graphs import SHAPES, edges_of

#: Tables of pairs with forbidden labels that a cut can pay, and such as it cannot.
ZERO = -np.inf
SUBMODULAR = [
    [[1.0, ZERO], [0.5, 2.0]],
    [[1.0, 0.3], [ZERO, -1.0]],
    [[1.0, ZERO], [ZERO, -2.0]],
    [[ZERO, ZERO], [0.5, 2.0]],
    [[1.0, 2.0], [ZERO, ZERO]],
    [[ZERO, 1.0], [ZERO, 0.2]],
    [[1.0, ZERO], [0.4, ZERO]],
    [[ZERO, ZERO], [ZERO, 1.0]],
    [[ZERO, ZERO], [0.7, ZERO]],
]
NOT_SUBMODULAR = [
    [[0.0, 1.0], [0.0, 0.0]],
    [[ZERO, 1.0], [1.0, 5.0]],
    [[0.0, 1.0], [1.0, ZERO]],
    [[ZERO, 1.0], [2.0, ZERO]],
]


def submodular_table(random):
    table = random.normal(size=(2, 2))
    lack = table[0, 1] + table[1, 0] - table[0, 0] - table[1, 1]
    if lack > 0:
        table[0, 0] += lack * random.random() * 2.0
        table[1, 1] += max(table[0, 1] + table[1, 0] - table[0, 0] - table[1, 1], 0.0)
    return table


def submodular_graph(shape, random, forbidden=0.0):
    """Factors of all kinds for pairs, several of them on some edges."""
    n, edges = edges_of(shape, random)
    factors = [([i], 2.0 * random.normal(size=2)) for i in range(n)] + [([], random.normal(size=()))]
    for edge in edges:
        kinds = [
            submodular_table(random),
            Potts(random.random()),
            TruncatedLinear(random.random(), random.random()),
            Cardinality(np.array([1.0, random.normal(), 1.0]) * [1.0, 0.3, 1.0] + np.array([1.0, 0.0, 1.0])),
        ]
        for _ in range(1 + int(random.random() < 0.2)):
            table = SUBMODULAR[random.integers(len(SUBMODULAR))] if random.random() < forbidden else None
            factors.append((edge[:: random.choice([-1, 1])], kinds[random.integers(4)] if table is None else table))
    return FactorGraph.of(np.full(n, 2), factors)


def submodular_graphs():
    random = np.random.default_rng(0)
    return [
        pytest.param(submodular_graph(shape, random, forbidden), id=f"{shape}-{forbidden}-{k}")
        for shape in SHAPES
        for forbidden in (0.0, 0.2)
        for k in range(8)
    ]


GRAPHS = submodular_graphs()


@pytest.mark.parametrize("graph", GRAPHS)
def test_graph_cut_and_qpbo_agree_with_enumeration(graph):
    highest = all_scores(graph).max()
    for engine in ("graph_cut", "qpbo"):
        if highest == -np.inf:
            with pytest.raises(ValueError, match="every labelling is forbidden"):
                best_labelling(graph, engine)
            continue
        found = best_labelling(graph, engine)
        assert found.exact
        assert found.score == pytest.approx(highest)
        assert found.bound == pytest.approx(highest)
        assert graph.score(found.labels) == pytest.approx(highest)
        assert engine == "graph_cut" or found.details["labelled"].all()


@pytest.mark.parametrize("graph", GRAPHS)
def test_max_marginals_agree_with_enumeration(graph):
    scores = all_scores(graph)
    if scores.max() == -np.inf:
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            max_marginals(graph)
        return
    found = max_marginals(graph)
    for i in range(graph.n_variables):
        others = tuple(k for k in range(graph.n_variables) if k != i)
        np.testing.assert_allclose(found[i], scores.max(axis=others), rtol=1e-12, atol=1e-12)


def test_max_marginals_heed_evidence():
    graph = submodular_graph("grid", np.random.default_rng(1)).given({2: 1})
    scores = all_scores(graph)
    np.testing.assert_allclose(max_marginals(graph)[2], scores.max(axis=(0, 1, 3, 4, 5)))
    np.testing.assert_allclose(max_marginals(graph)[4], scores.max(axis=(0, 1, 2, 3, 5)))


@pytest.mark.parametrize("table", SUBMODULAR)
def test_forbidden_pairs_that_are_submodular_are_cut(table):
    random = np.random.default_rng(2)
    for _ in range(20):
        factors = [([i], random.normal(size=2)) for i in range(3)]
        factors += [([0, 1], table), ([2, 1], submodular_table(random))]
        graph = FactorGraph.of([2, 2, 2], factors)
        solver = CutSolver(graph)
        assert solver.best()[1] == pytest.approx(all_scores(graph).max())
        assert best_labelling(graph, "graph_cut").score == pytest.approx(all_scores(graph).max())


@pytest.mark.parametrize("table", NOT_SUBMODULAR)
def test_pairs_that_are_not_submodular_are_refused_by_name(table):
    graph = FactorGraph.of([2, 2, 2], [([0, 1], Potts(1.0)), ([1, 2], table)])
    with pytest.raises(ValueError, match=r"factor 1, of variables 1 and 2, is not submodular"):
        best_labelling(graph, "graph_cut")
    grid = GridGraph(np.zeros((2, 2, 2)), table)
    with pytest.raises(ValueError, match=r"not submodular"):
        best_labelling(grid, "graph_cut")


def test_a_table_that_is_submodular_but_for_rounding_is_taken():
    table = np.add.outer([0.1, 0.7], [0.3, 0.2])
    table[0, 1] += 1e-16
    assert best_labelling(FactorGraph.of([2, 2], [([0, 1], table)]), "graph_cut").exact


@pytest.mark.parametrize("engine", ["graph_cut", "qpbo"])
def test_large_factors_and_many_labels_are_refused_by_name(engine):
    with pytest.raises(ValueError, match="factor 1 has 3 variables"):
        best_labelling(
            FactorGraph.of([2, 2, 2], [([0, 1], Potts(1.0)), ([0, 1, 2], np.eye(8)[:1].reshape(2, 2, 2))]), engine
        )
    with pytest.raises(ValueError, match="variable 1 has 3 labels"):
        best_labelling(FactorGraph.of([2, 3], [([0, 1], np.zeros((2, 3)))]), engine)
    with pytest.raises(ValueError, match="variable 0 has 3 labels"):
        best_labelling(GridGraph(np.zeros((2, 2, 3)), Potts(1.0)), engine)


@pytest.mark.parametrize("neighbours", [4, 8])
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (4, 1), (3, 4), (4, 3)])
def test_cuts_of_grids_agree_with_enumeration(shape, neighbours):
    random = np.random.default_rng(3)
    for k in range(10):
        pairwise = [Potts(random.random()), submodular_table(random), TruncatedLinear(0.6, 0.5)][k % 3]
        grid = GridGraph(random.normal(size=(*shape, 2)), pairwise, neighbours=neighbours)
        weights = [random.random(size=array) for array in _weight_shapes(shape, neighbours)]
        for one in (grid, GridGraph(grid.unaries, pairwise, weights, neighbours)):
            found = best_labelling(one, "graph_cut")
            assert found.exact
            assert found.labels.shape == shape
            assert found.score == pytest.approx(all_scores(one.factor_graph).max())
            assert one.score(found.labels) == pytest.approx(found.score)


def _weight_shapes(shape, neighbours):
    rows, columns = shape
    shapes = [(rows, columns - 1), (rows - 1, columns), (rows - 1, columns - 1), (rows - 1, columns - 1)]
    return shapes[: neighbours // 2]


def test_forbidden_pairs_of_grids_are_cut():
    grid = GridGraph(np.random.default_rng(4).normal(size=(3, 3, 2)), [[1.0, ZERO], [0.2, 0.5]])
    assert best_labelling(grid, "graph_cut").score == pytest.approx(all_scores(grid.factor_graph).max())


@pytest.mark.parametrize("neighbours", [4, 8])
def test_cuts_of_large_grids_agree_with_lists_of_edges(neighbours):
    random = np.random.default_rng(5)
    for strength in (0.3, 1.0, 3.0):
        grid = GridGraph(random.normal(size=(37, 53, 2)), Potts(strength), neighbours=neighbours)
        found, listed = best_labelling(grid, "graph_cut"), best_labelling(grid.factor_graph, "graph_cut")
        assert found.score == pytest.approx(listed.score, rel=1e-12)
        assert grid.score(found.labels) == pytest.approx(found.score, rel=1e-12)


def test_a_cut_that_is_stopped_has_a_bound():
    grid = GridGraph(np.random.default_rng(9).normal(size=(500, 500, 2)), Potts(0.8))
    whole = best_labelling(grid, "graph_cut")
    for graph in (grid, grid.factor_graph):
        part = best_labelling(graph, "graph_cut", max_iterations=1)
        assert (part.stopped, part.exact) == ("max_iterations", False)
        assert graph.score(part.labels) == pytest.approx(part.score)
        assert part.score < whole.score < part.bound < np.inf
        bounds = [record.bound for record in best_labelling(graph, "graph_cut").history]
        assert bounds == sorted(bounds, reverse=True)


def test_a_least_cut_costs_the_maximum_flow():
    """The flow of scipy, on whole numbers, of networks whose cuts are graphs."""
    random = np.random.default_rng(6)
    for _ in range(60):
        n = int(random.integers(2, 40))
        capacities = random.integers(0, 20, (n, n)) * (random.random((n, n)) < random.choice([0.1, 0.3, 0.8]))
        np.fill_diagonal(capacities, 0)
        source, sink = random.integers(0, 60, (2, n))
        network = np.zeros((n + 2, n + 2), np.int32)
        network[:n, :n], network[n, :n], network[:n, n + 1] = capacities, source, sink
        flow = maximum_flow(csr_array(network), n, n + 1).flow_value
        edges = [(i, j) for i in range(n) for j in range(n) if i < j and capacities[i, j] + capacities[j, i]]
        # Label 1 is the side of the sink: it cuts the arc from the source, label 0 the one to the sink.
        tables = [[[0, -capacities[i, j]], [-capacities[j, i], 0]] for i, j in edges]
        graph = FactorGraph.pairwise(-np.stack([sink, source], axis=1).astype(float), edges, tables)
        assert best_labelling(graph, "graph_cut").score == -flow


def test_reuse_is_as_good_as_from_scratch():
    random = np.random.default_rng(7)
    for strength in (0.2, 1.0, 4.0):
        grid = GridGraph(random.normal(size=(20, 30, 2)), Potts(strength)).factor_graph
        solver = CutSolver(grid)
        unaries = grid.unaries.reshape(-1, 2).copy()
        for k in range(30):
            changed = random.random(len(unaries)) < [0.0, 0.003, 0.05, 1.0][k % 4]
            unaries[changed] += 3.0 * random.normal(size=(changed.sum(), 2))
            labels, score = solver.best(unaries)
            fresh = FactorGraph.pairwise(unaries, grid.scopes.reshape(-1, 2), Potts(strength))
            assert score == pytest.approx(best_labelling(fresh, "graph_cut").score, rel=1e-12)
            assert fresh.score(labels) == pytest.approx(score, rel=1e-12)


def test_reuse_with_forbidden_pairs():
    random = np.random.default_rng(8)
    for _ in range(20):
        graph = submodular_graph("grid", random, forbidden=0.3)
        if all_scores(graph).max() == -np.inf:
            with pytest.raises(ValueError, match="every labelling is forbidden"):
                CutSolver(graph).best()
            continue
        solver = CutSolver(graph)
        for _ in range(10):
            unaries = random.normal(size=(6, 2))
            _, score = solver.best(unaries)
            change = graph.unaries.reshape(-1, 2) - unaries
            expected = all_scores(graph)
            for i in range(6):
                expected -= change[i].reshape([2 if k == i else 1 for k in range(6)])
            assert score == pytest.approx(expected.max())


def test_unaries_of_a_solver_are_checked():
    solver = CutSolver(FactorGraph.pairwise(np.zeros((3, 2)), [(0, 1)], Potts(1.0)))
    with pytest.raises(ValueError, match=r"unaries has shape \(2, 2\); expected \(3, 2\)"):
        solver.best(np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"unaries\[1, 0\] is nan"):
        solver.best([[0, 0], [np.nan, 0], [0, 0]])
    with pytest.raises(ValueError, match=r"unaries\[0, 1\] is -inf"):
        CutSolver(FactorGraph.pairwise([[0.0, ZERO]], [], Potts(1.0)))


def test_two_demands_that_nothing_can_meet():
    both = [[ZERO, ZERO], [0.0, 0.0]]
    graph = FactorGraph.of([2, 2, 2], [([0, 1], both), ([0, 2], [[0.0, 0.0], [ZERO, ZERO]])])
    for call in (
        lambda: CutSolver(graph).best(),
        lambda: best_labelling(graph, "graph_cut"),
        lambda: max_marginals(graph),
    ):
        with pytest.raises(ValueError, match="every labelling is forbidden"):
            call()


def test_at_most_one_of_two_is_refused_by_cuts():
    with pytest.raises(ValueError, match="factor 0, of variables 0 and 1, is not submodular"):
        best_labelling(FactorGraph.of([2, 2], [([0, 1], AtMostOne())]), "graph_cut")
