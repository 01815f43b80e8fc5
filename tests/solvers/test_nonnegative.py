"""Weights that must be ≥ 0: the minimum of the quadratic program that says so, which another solver finds."""

from dataclasses import replace

import numpy as np
import pytest

from structlearn.models import PythonLatentModel, PythonModel
from structlearn.solvers import (
    BlockCoordinate,
    ConcaveConvex,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    InseparableError,
    NSlack,
    OneSlack,
    Subgradient,
)
from structlearn.waist import MarginObjective
from tests.models.enumerated import EnumeratedMulticlass, Twins, bound
from tests.models.instances import chain_twins, multiclass_twins
from tests.solvers.full_qp import full_optimum
from tests.solvers.latent_toy import OneOfSeveral, several
from tests.solvers.test_saved_state import assert_goes_on_exactly


def own_model(random):
    model = EnumeratedMulticlass(1 - np.eye(3))
    X = random.normal(size=(10, 2))
    Y = np.argmax(X @ random.normal(size=(2, 3)) + random.normal(size=(10, 3)), axis=1).tolist()
    return Twins(bound(PythonModel(model), list(X), Y), model, list(X), Y)


PROBLEMS = {
    "multiclass": lambda random: multiclass_twins(random, n=12),
    "multiclass with output features": lambda random: multiclass_twins(random, n=8, output_features=True),
    "chain": lambda random: chain_twins(random, lengths=(1, 2, 3, 3, 2), n_labels=2),
    "own model": own_model,
}
SOLVERS = {
    "block-coordinate ascent": BlockCoordinate(),
    "n-slack, pass": NSlack(),
    "n-slack, addition": NSlack(update_on="addition"),
    "n-slack, example": NSlack(update_on="example"),
    "1-slack": OneSlack(),
    "1-slack without cache": OneSlack(cache=0),
}
FORMULATIONS = [("margin", "linear"), ("margin", "squared"), ("slack", "linear")]


def instance(kind, which="all", rescaling="margin", slack="linear", C=20.0):
    random = np.random.default_rng(sum(map(ord, kind)))
    twins = PROBLEMS[kind](random)
    d = twins.problem.n_features
    chosen = np.arange(d) if which == "all" else np.flatnonzero(random.uniform(size=d) < 0.5)
    weight = random.uniform(0.5, 2.0, twins.problem.n_examples)
    return twins, MarginObjective(weight, C, rescaling, slack, chosen)


def free(objective):
    return replace(objective, nonnegative=np.empty(0, np.int64))


@pytest.mark.sample(3)
@pytest.mark.parametrize("which", ["all", "some"])
@pytest.mark.parametrize(("rescaling", "slack"), FORMULATIONS)
@pytest.mark.parametrize("kind", [kind for kind in PROBLEMS if kind != "own model"])
def test_every_solver_reaches_the_optimum_of_the_full_program(kind, rescaling, slack, which):
    twins, objective = instance(kind, which, rescaling, slack)
    optimum, w = full_optimum(twins, objective)
    assert optimum > 1.001 * full_optimum(twins, free(objective))[0]
    assert_all_reach(optimum, w, SOLVERS.values(), twins.problem, objective)


def test_an_own_model_with_weights_that_may_not_be_negative():
    twins, objective = instance("own model", "some")
    optimum, w = full_optimum(twins, objective)
    assert_all_reach(optimum, w, [BlockCoordinate(), NSlack(), OneSlack()], twins.problem, objective)


def assert_all_reach(optimum, w, solvers, problem, objective):
    accuracy = 1e-6
    for solver in solvers:
        solution = replace(solver, tol=0.1 * accuracy).run(problem, objective)
        assert solution.converged
        assert (solution.w[objective.nonnegative] >= 0.0).all()
        assert solution.state.primal == pytest.approx(optimum, rel=accuracy)
        assert solution.state.dual <= optimum * (1.0 + 1e-9)
        assert 0.5 * np.sum((solution.w - w) ** 2) <= accuracy * optimum


def test_an_average_of_points_is_certified_as_well():
    twins, objective = instance("chain")
    optimum, _ = full_optimum(twins, objective)
    solution = BlockCoordinate(averaging=True).run(twins.problem, objective)
    assert solution.converged
    assert (solution.w >= 0.0).all()
    assert solution.state.dual <= optimum <= solution.state.primal <= 1.002 * optimum


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_an_own_oracle_is_only_asked_at_weights_that_are_allowed(solver):
    lowest = []

    class Watched(EnumeratedMulticlass):
        def loss_augmented_inference(self, x, y, w):
            lowest.append(w.min())
            scores = w.reshape(-1, 3).T @ x + self.cost[y]
            return int(np.argmax(scores))

    random = np.random.default_rng(0)
    # So many weights that they are not looked at after every step.
    X, Y = list(random.normal(size=(8, 700))), random.integers(3, size=8).tolist()
    problem = bound(PythonModel(Watched(1 - np.eye(3))), X, Y)
    solution = replace(solver, max_iter=3).run(problem, MarginObjective(np.ones(8), 8.0, nonnegative=np.arange(2100)))
    assert len(lowest) >= 24
    assert min(lowest) >= 0.0
    assert solution.w.any()


@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_a_constraint_that_does_not_bind_changes_nothing_and_one_that_always_does_leaves_zero(solver):
    X = [np.array([x]) for x in (0.5, 1.0, 2.0)]
    model = EnumeratedMulticlass(1 - np.eye(2), np.array([[0.0], [1.0]]))
    objective = MarginObjective(np.ones(3), 1.0, nonnegative=np.arange(1))
    solver = replace(solver, tol=1e-9)
    rising = bound(PythonModel(model), X, [1, 1, 1])
    expected = solver.run(rising, free(objective)).w
    assert expected[0] > 0.1
    np.testing.assert_allclose(solver.run(rising, objective).w, expected, rtol=1e-6)
    falling = solver.run(bound(PythonModel(model), X, [0, 0, 0]), objective)
    assert falling.w.tolist() == [0.0]
    assert falling.state.primal == falling.state.dual == 1.0


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("solver", [BlockCoordinate(), NSlack(), OneSlack()], ids=repr)
def test_a_run_goes_on_under_another_price_and_other_constraints(solver, slack):
    twins, objective = instance("multiclass", slack=slack)
    solver = replace(solver, tol=1e-5)
    state = solver.run(twins.problem, objective).state
    half = objective.nonnegative[::2]
    for changes in ({"C": 100.0}, {"C": 0.5}, {"nonnegative": half}, {"nonnegative": half[:0]}, {"C": 20.0}):
        changed = replace(objective, **changes)
        state = solver.run(twins.problem, changed, state=state).state
        assert state.primal == pytest.approx(full_optimum(twins, changed)[0], rel=1e-5)


@pytest.mark.filterwarnings("ignore:planes with weight")
@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("room", [None, 1000])
@pytest.mark.parametrize(
    "solver",
    [
        BlockCoordinate(max_iter=9, tol=1e-12),
        NSlack(max_iter=9, tol=1e-12),
        OneSlack(max_iter=9, tol=1e-12),
    ],
    ids=repr,
)
def test_a_saved_state_goes_on_exactly(solver, room, slack):
    _, objective = instance("chain", "some", slack=slack)

    def problem():
        made = instance("chain")[0].problem
        made.max_memory = None if room is None else solver.nbytes(made) + room
        return made

    assert_goes_on_exactly(solver, problem, objective, 4)


def test_multipliers_that_cannot_be_are_refused():
    twins, objective = instance("chain")
    saved = NSlack(max_iter=2).run(twins.problem, objective).state.sets.save()
    sets = twins.problem.working_sets()
    with pytest.raises(ValueError, match="12 weights are kept nonnegative where 0 must be"):
        sets.restore(saved)
    sets.set_nonnegative(objective.nonnegative)
    with pytest.raises(ValueError, match="a multiplier below zero"):
        sets.restore(saved | {"beta": saved["beta"] - 1e3})
    for weight in (-1, 12):
        with pytest.raises(ValueError, match=f"weight {weight} cannot be kept nonnegative: there are 12 weights"):
            sets.set_nonnegative(np.array([weight]))


def test_a_hard_margin_with_weights_that_may_not_be_negative():
    model = EnumeratedMulticlass(1 - np.eye(2), np.array([[1.0, 0.0], [0.0, 1.0]]))
    X = [np.array(x) for x in ([1.0, 0.2], [0.8, -0.5], [-0.2, 1.0], [-0.5, 2.0])]
    twins = Twins(bound(PythonModel(model), X, [0, 0, 1, 1]), model, X, [0, 0, 1, 1])
    objective = MarginObjective(np.ones(4), 1.0, None, "hard", np.arange(4))
    optimum, _ = full_optimum(twins, objective)
    assert optimum > 1.01 * full_optimum(twins, free(objective))[0]
    solution = NSlack(tol=1e-7).run(twins.problem, objective)
    assert solution.state.primal == pytest.approx(optimum, rel=1e-6)


@pytest.mark.parametrize("x", [[1.0, 0.0], [1.0, 0.5], [0.1, 0.0]])
def test_data_that_only_weights_below_zero_separate_have_no_hard_margin(x):
    model = EnumeratedMulticlass(1 - np.eye(2), np.array([[0.0], [1.0]]))
    falling = bound(PythonModel(model), [np.array(x), np.array([1.0, 0.2])], [0, 0])
    objective = MarginObjective(np.ones(2), 1.0, None, "hard", np.arange(2))
    assert NSlack().run(falling, free(objective)).converged
    with pytest.raises(InseparableError):
        NSlack().run(falling, objective)


@pytest.mark.parametrize("inner", [BlockCoordinate(), NSlack(), OneSlack()], ids=repr)
def test_latent_parts(inner):
    X, Y = several(np.random.default_rng(0), n=12)
    problem = bound(PythonLatentModel(OneOfSeveral(3, 4)), X, Y)
    objective = MarginObjective(np.ones(12), 12.0, nonnegative=np.arange(12))
    solution = ConcaveConvex(inner=inner, start="random").run(problem, objective)
    assert solution.converged
    assert (solution.w >= 0.0).all()
    assert solution.w.any()
    assert solution.state.value == pytest.approx(
        0.5 * solution.w @ solution.w + objective.price * problem.risk(solution.w, objective).value
    )


@pytest.mark.parametrize("solver", [ExcessiveGap(), ExponentiatedGradient(), Extragradient(), Subgradient()], ids=repr)
def test_other_solvers_refuse(solver):
    twins, objective = instance("chain")
    name = type(solver).__name__
    with pytest.raises(ValueError, match=f"{name} cannot keep weights nonnegative: use BlockCoordinate, NSlack or"):
        solver.run(twins.problem, objective)
