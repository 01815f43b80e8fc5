"""What solvers say of their memory, against the bytes that NumPy allocates."""

import gc
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn import solvers
from structlearn.kernels import RBF
from structlearn.kernels.row_metric import RowMetric
from structlearn.models import Chain, Graph, Multiclass
from structlearn.solvers import (
    LBFGS,
    BlockCoordinate,
    ConcaveConvex,
    ContrastiveDivergence,
    DualCoordinate,
    ExcessiveGap,
    ExpectationMaximization,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
    KernelCuts,
    NSlack,
    OneSlack,
    Perceptron,
    SampledCuts,
    Solver,
    Subgradient,
    SubspacePursuit,
)
from structlearn.waist.objective import LikelihoodObjective, MarginObjective, Objective
from structlearn.waist.sharded import PartsHere, ShardedProblem

MARGIN = [
    BlockCoordinate(max_iter=8),
    BlockCoordinate(max_iter=8, averaging=True),
    NSlack(max_iter=8),
    OneSlack(max_iter=8),
    Subgradient(max_iter=4),
    ExponentiatedGradient(max_iter=8),
    Extragradient(max_iter=8),
    ExcessiveGap(max_iter=12),
]
LIKELIHOOD = [
    DualCoordinate(max_iter=8),
    LBFGS(max_iter=25, tol=1e-12),
    LBFGS(max_iter=25, tol=1e-12, memory=3),
    ExponentiatedGradient(max_iter=8),
    IterativeScaling(max_iter=8),
]
DRAWN = ContrastiveDivergence(max_iter=3)
PARTIAL = [ConcaveConvex(max_iter=20), ConcaveConvex(inner=NSlack(), max_iter=20), Subgradient(max_iter=4)]
SUMMED = [ExpectationMaximization(max_iter=6, tol=1e-12), LBFGS(max_iter=25, tol=1e-12)]
KERNELS = [KernelCuts(max_iter=25), SampledCuts(n_samples=20, max_iter=25), SubspacePursuit(n_basis=30, max_iter=40)]
RUNS = [
    *((solver, MarginObjective) for solver in MARGIN),
    *((solver, LikelihoodObjective) for solver in LIKELIHOOD),
    (Perceptron(max_iter=3), Objective),
]
SHARDED = solvers.ShardedAscent(max_iter=3)
#: What a part of it holds where it is: its point, the one before, what it proposes and what is merged.
OF_A_PART = 5
#: Compiled code has at most two vectors over the weights that NumPy does not know of.
COMPILED = 2


def sentences(n_examples, length, n_features, *, partial=False):
    random = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(n_examples):
        x = sp.lil_array((length, n_features))
        x[np.arange(length), random.integers(n_features, size=length)] = 1.0
        X.append(sp.csr_array(x))
        Y.append([None if partial and t % 2 else int(label) for t, label in enumerate(random.integers(3, size=length))])
    return X, Y


def bound(X, Y, *, partial=False):
    model = Chain(classes=[0, 1, 2])
    if partial:
        return model.bind_partial(model.specify_partial(X, Y), X, Y)
    return model.bind(model.specify(X, Y), X, Y)


def counted(solver, problem, kind):
    """The peak of a run in bytes."""
    weight = np.ones(problem.n_examples)
    objective = kind(weight) if kind is Objective else kind(weight, 100.0)
    solver.check(problem, objective)
    gc.collect()
    tracemalloc.start()
    solver.iterate(problem, objective)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_every_solver_is_measured():
    measured = {type(solver) for solver, _ in RUNS} | {
        type(solver) for solver in (*PARTIAL, *SUMMED, *KERNELS, DRAWN, SHARDED)
    }
    public = {getattr(solvers, name) for name in solvers.__all__}
    concrete = {
        kind for kind in public if isinstance(kind, type) and issubclass(kind, Solver) and kind.__subclasses__() == []
    }
    assert concrete <= measured


def test_vectors_of_parts_are_beside_those_that_are_declared():
    X, Y = sentences(20, 5, 50_000)
    problem = ShardedProblem(PartsHere([bound(X[:10], Y[:10]), bound(X[10:], Y[10:])]))
    most = SHARDED.nbytes(problem) + 2 * OF_A_PART * 8 * problem.n_features
    assert 0.4 * most <= counted(SHARDED, problem, MarginObjective) <= most


@pytest.mark.sample(2)
@pytest.mark.parametrize(("solver", "kind"), RUNS, ids=repr)
def test_vectors_over_the_weights_are_those_that_are_declared(solver, kind):
    problem = bound(*sentences(20, 5, 50_000))
    vectors = counted(solver, problem, kind) / (8 * problem.n_features)
    declared = solver.nbytes(problem) / (8 * problem.n_features)
    assert declared - COMPILED - 0.1 <= vectors <= declared + 0.1


def test_those_of_a_learner_of_graphs_too():
    X, Y = sentences(20, 5, 50_000)
    graphs, model = [(x, [(0, 1), (1, 2)]) for x in X], Graph(classes=[0, 1, 2])
    problem = model.bind(model.specify(graphs, Y), graphs, Y)
    vectors = counted(DRAWN, problem, LikelihoodObjective) / (8 * problem.n_features)
    assert DRAWN.vectors - COMPILED - 0.1 <= vectors <= DRAWN.vectors + 0.1


def of_kernels(n_rows, *, keep):
    """Unit rows with the metric of a kernel."""
    random = np.random.default_rng(0)
    rows, labels = random.normal(size=(n_rows, 2)), random.integers(2, size=n_rows)
    model, units = Multiclass(), sp.eye_array(n_rows, format="csr")
    problem = model.bind(model.specify(units, labels), units, labels)
    problem.metric = RowMetric(RBF(1.0), rows, 2, np.arange(n_rows + 1), max_memory=8 * n_rows**2 if keep else 0)
    return problem


@pytest.mark.parametrize("solver", KERNELS, ids=repr)
@pytest.mark.parametrize("keep", [False, True])
def test_functions_of_kernels_take_what_is_declared(solver, keep):
    problem = of_kernels(1000, keep=keep)
    # A cut has its values at all rows, or its coordinates, and its coefficients; blocks of kernels come to it.
    cuts = solver.max_iter * 2 * 8 * problem.n_features
    blocks = 3 * 8 * problem.n_examples**2
    assert counted(solver, problem, MarginObjective) <= solver.nbytes(problem) + cuts + blocks


def test_cuts_get_what_vectors_leave_and_the_optimum_stays():
    problem = of_kernels(100, keep=False)
    objective = MarginObjective(np.ones(100), 1000.0)
    solver = KernelCuts(tol=1e-3)
    sizes = []

    def observe(state):
        sizes.append(state.cuts.nbytes())
        return False

    free = solver.run(problem, objective, observe=observe)
    most = max(sizes)
    sizes.clear()
    problem.max_memory = solver.nbytes(problem) + most // 2
    bounded = solver.run(problem, objective, observe=observe)
    assert max(sizes) < most
    assert bounded.converged
    assert bounded.state.primal == pytest.approx(free.state.primal, rel=2e-3)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("solver", "kind"),
    [*((solver, MarginObjective) for solver in PARTIAL), *((solver, LikelihoodObjective) for solver in SUMMED)],
    ids=repr,
)
def test_those_of_latent_learners_too(solver, kind):
    problem = bound(*sentences(20, 5, 50_000, partial=True), partial=True)
    vectors = counted(solver, problem, kind) / (8 * problem.n_features)
    declared = solver.nbytes(problem) / (8 * problem.n_features)
    assert declared - 6.1 <= vectors <= declared + 0.1


@pytest.mark.sample(2)
@pytest.mark.parametrize(("solver", "kind"), [run for run in RUNS if run[0].part_vectors], ids=repr)
def test_vectors_over_the_parts_are_those_that_are_declared(solver, kind):
    problem = bound(*sentences(300, 40, 4))
    vectors = counted(solver, problem, kind) / (8 * problem.part_offsets[-1])
    assert solver.part_vectors - 1.1 <= vectors <= solver.part_vectors + 0.5


def test_dual_coordinate_ascent_hands_over_only_if_there_is_memory_for_it():
    problem = bound(*sentences(20, 5, 30))
    objective = LikelihoodObjective(np.ones(20), 1e7)
    solver = DualCoordinate(max_iter=60, tol=1e-12)
    assert solver.run(problem, objective).state.descent is not None
    problem.max_memory = solver.most_nbytes(problem) - 1
    assert solver.run(problem, objective).state.descent is None


@pytest.mark.parametrize(
    ("solver", "share"),
    [(BlockCoordinate(tol=1e-6, idle_passes=1000), 0.8), (NSlack(tol=1e-6), 0.5), (OneSlack(tol=1e-6), 0.8)],
    ids=repr,
)
def test_planes_get_what_vectors_leave_and_the_optimum_stays(solver, share):
    problem = bound(*sentences(30, 8, 40))
    objective = MarginObjective(np.ones(30), 30.0)
    free = solver.run(problem, objective)
    sizes = []

    def observe(state):
        sizes.append(state.sets.nbytes() if hasattr(state, "sets") else state.cuts.nbytes() + state.cached.nbytes())
        return False

    solver.run(problem, objective, observe=observe)
    most = max(sizes)
    sizes.clear()
    problem.max_memory = solver.nbytes(problem) + int(share * most)
    bounded = solver.run(problem, objective, observe=observe)
    assert max(sizes) < most
    assert bounded.converged
    assert bounded.state.relative_gap <= 1e-6
    assert bounded.state.primal == pytest.approx(free.state.primal, rel=2e-6)
