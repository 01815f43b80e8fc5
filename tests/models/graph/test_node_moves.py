"""Distributions over labellings that climb the dual node by node."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.inference.graphs import DualAscent
from structlearn.models import Graph
from structlearn.models.graph import searched_problem
from structlearn.models.graph.node_moves import NodeMixtures
from structlearn.solvers import BlockCoordinate
from structlearn.waist import MarginObjective, Scaling
from tests.models.graph.test_graph import noisy_cycles, twins_of
from tests.solvers.test_saved_state import assert_goes_on_exactly

ENGINE = {"engine": "branch_and_bound"}


@pytest.fixture(autouse=True)
def all_graphs_are_large(monkeypatch):
    monkeypatch.setattr(searched_problem, "LARGE", 1)


def climbed(twins, w, masses, n_times=3):
    """Marginals, and w, after some climbing from the truths."""
    mixtures, every = twins.problem.mixtures(), np.arange(twins.problem.n_examples)
    marginals, w = mixtures.at_truths(), w.copy()
    for seed in range(n_times):
        mixtures.climb(every, masses, marginals, w, seed)
    return marginals, w


@pytest.mark.parametrize("features", [False, True])
@pytest.mark.parametrize("pairwise", ["free", "symmetric", "potts"])
def test_marginals_stay_those_of_a_distribution_over_labellings(pairwise, features):
    random = np.random.default_rng(0)
    for _ in range(4):
        twins = twins_of(random, sizes=(4,), n_labels=2, pairwise=pairwise, features=features, **ENGINE)
        marginals, _ = climbed(twins, np.zeros(twins.problem.n_features), np.array([5.0]))
        (_, edges, *_), n = twins.X[0], 4
        labellings = list(product(range(2), repeat=n))
        columns = []
        for y in labellings:
            pairs = [np.eye(2)[[y[i]]].T @ np.eye(2)[[y[j]]] for i, j in edges]
            columns.append(np.concatenate([np.eye(2)[list(y)].ravel(), *map(np.ravel, pairs)]))
        found = linprog(np.zeros(len(columns)), A_eq=np.array(columns).T, b_eq=marginals, bounds=(0, None))
        assert found.status == 0
        assert len(set(marginals.tolist())) > 2  # they have moved to where no labelling is


def test_rows_and_losses_are_means_and_weights_follow():
    random = np.random.default_rng(1)
    for features in (False, True):
        twins = twins_of(random, sizes=(3, 4), n_labels=3, features=features, **ENGINE)
        masses, begin = np.array([0.2, 0.7]), random.normal(size=twins.problem.n_features)
        marginals, w = climbed(twins, begin, masses)
        rows, losses = twins.problem.mixtures().planes(np.arange(2), marginals)
        dense = spread(rows, twins.problem.n_features)
        np.testing.assert_allclose(w - begin, masses @ dense, atol=1e-10)
        at = 0
        for i, (x, y) in enumerate(zip(twins.X, twins.Y, strict=True)):
            n, edges = len(x[0]), x[1]
            nodes = marginals[at : at + 3 * n].reshape(n, 3)
            pairs = marginals[at + 3 * n : at + 3 * n + 9 * len(edges)].reshape(-1, 3, 3)
            at += 3 * n + 9 * len(edges)
            edge_rows = x[2] if features else np.ones((len(edges), 1))
            mean = np.concatenate([(x[0].T @ nodes).ravel(), np.einsum("ef,eab->fab", edge_rows, pairs).ravel()])
            np.testing.assert_allclose(dense[i], twins.reference.joint_feature(x, y) - mean, atol=1e-10)
            assert losses[i] == pytest.approx(n - sum(nodes[v, label] for v, label in enumerate(y)))


def spread(rows, n_features):
    dense = np.zeros((len(rows.indptr) - 1, n_features))
    for k, (begin, end) in enumerate(zip(rows.indptr, rows.indptr[1:], strict=False)):
        dense[k, rows.indices[begin:end]] = rows.values[begin:end]
    return dense


def test_every_climb_raises_the_dual():
    random = np.random.default_rng(2)
    twins = twins_of(random, sizes=(5, 5), n_labels=3, **ENGINE)
    mixtures, every, masses = twins.problem.mixtures(), np.arange(2), np.array([0.5, 0.5])
    marginals, w, duals = mixtures.at_truths(), np.zeros(twins.problem.n_features), [0.0]
    for seed in range(6):
        mixtures.climb(every, masses, marginals, w, seed)
        duals.append(masses @ mixtures.planes(every, marginals)[1] - 0.5 * w @ w)
    assert duals[1] > 0.1
    assert np.all(np.diff(duals) >= -1e-10)


@pytest.mark.parametrize("options", [{}, {"nonnegative": "pairs"}])
def test_training_ends_at_the_same_minimum(options, monkeypatch):
    X, Y = noisy_cycles()
    model = Graph(pairwise="potts", **ENGINE)
    with_moves = StructuralSVM(model, C=5, tol=1e-5, **options).fit(X, Y)
    monkeypatch.setattr(searched_problem, "LARGE", 10**9)
    without = StructuralSVM(model, C=5, tol=1e-5, **options).fit(X, Y)
    assert with_moves.objective_ == pytest.approx(without.objective_, rel=1e-4)
    assert with_moves.duality_gap_ <= 1e-5
    assert max(record["dual"] for record in with_moves.history_) <= without.objective_ * (1 + 1e-9)


def test_a_saved_run_goes_on_bit_for_bit():
    def problem():
        return twins_of(np.random.default_rng(3), sizes=(5, 4, 5), n_labels=3, **ENGINE).problem

    solver = BlockCoordinate(max_iter=12, tol=1e-12)
    assert_goes_on_exactly(solver, problem, MarginObjective(np.ones(3), 6.0), stop_at=4)


def test_labels_known_in_part():
    X, Y = noisy_cycles()
    known = [[label if k % 3 else None for k, label in enumerate(y)] for y in Y]
    svm = LatentStructuralSVM(Graph(pairwise="potts", **ENGINE), C=5, tol=1e-3).fit(X, known)
    assert svm.stationarity_ <= 1e-3
    assert svm.score(X, Y) > 0.6


def test_bounds_of_engines_that_stop_early_are_kept_where_labels_are_known_in_part():
    random = np.random.default_rng(4)
    twins = twins_of(random, sizes=(5, 5), n_labels=3, engine=DualAscent(tighten=False), max_seconds=1e-9)
    known = [[label if k else None for k, label in enumerate(y)] for y in twins.Y]
    model = Graph(classes=[0, 1, 2], engine=DualAscent(tighten=False), max_seconds=1e-9)
    spec = model.specify_partial(twins.X, known)
    problem, w = model.bind_partial(spec, twins.X, known), 3.0 * random.normal(size=twins.problem.n_features)
    planes = problem.oracle(w, np.arange(2), Scaling("margin", "linear"))
    scores = problem.truths(w, np.arange(2))
    for i, x in enumerate(twins.X):
        best = max(
            twins.reference.joint_feature(x, y) @ w + sum(a != b for a, b in zip(y[1:], twins.Y[i][1:], strict=True))
            for y in twins.reference.outputs(x)
        )
        assert planes.bounds[i] >= best - twins.reference.joint_feature(x, scores[i]) @ w - 1e-9


def test_graphs_of_ordinary_size_do_without(monkeypatch):
    twins = twins_of(np.random.default_rng(5), **ENGINE)
    assert isinstance(twins.problem.mixtures(), NodeMixtures)
    monkeypatch.setattr(searched_problem, "LARGE", 300)
    assert twins.problem.mixtures() is None
