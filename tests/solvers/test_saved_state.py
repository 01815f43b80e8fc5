"""A state that was saved and put back goes on bit for bit."""

import json

import numpy as np
import pytest

from structlearn.models import Chain, PythonModel
from structlearn.persistence.codec import decode, encode
from structlearn.solvers import (
    LBFGS,
    BlockCoordinate,
    ContrastiveDivergence,
    DualCoordinate,
    ExcessiveGap,
    ExponentiatedGradient,
    Extragradient,
    IterativeScaling,
    NSlack,
    OneSlack,
    Perceptron,
    Subgradient,
)
from structlearn.solvers.saved_state import restore, save
from structlearn.waist import LikelihoodObjective, MarginObjective
from tests.models.enumerated import EnumeratedMulticlass, bound
from tests.models.graph.test_graph import twins_of
from tests.models.instances import chain_twins, multiclass_twins

CLOCKS = ("seconds", "oracle_seconds", "dual_seconds")


class Impatient(DualCoordinate):
    """Hands over to L-BFGS after two iterations of ascent."""

    patience = 2

    def update(self, state, problem, objective):
        state.earlier_gap = 0.0
        return super().update(state, problem, objective)


MARGIN = [
    BlockCoordinate(max_iter=12, tol=1e-12),
    BlockCoordinate(max_iter=12, tol=1e-12, averaging=True),
    NSlack(max_iter=8, tol=1e-12),
    NSlack(max_iter=8, tol=1e-12, update_on="example"),
    OneSlack(max_iter=12, tol=1e-12),
    OneSlack(max_iter=12, tol=1e-12, cache=0),
    Subgradient(max_iter=8, measure_every=3),
    Perceptron(max_iter=8),
    Extragradient(max_iter=9, tol=1e-12),
    ExcessiveGap(max_iter=9, tol=1e-12),
    ExponentiatedGradient(max_iter=9, tol=1e-12),
]
LIKELIHOOD = [
    DualCoordinate(max_iter=9, tol=1e-12),
    Impatient(max_iter=9, tol=1e-12),
    LBFGS(max_iter=9, tol=1e-12),
    ExponentiatedGradient(max_iter=9, tol=1e-12, online=False),
    IterativeScaling(max_iter=9, tol=1e-12),
    ContrastiveDivergence(max_iter=9),
]


def chain():
    """With so many labels that inner products depend, in their last bits, on the planes that were there before."""
    return chain_twins(np.random.default_rng(0), lengths=(1, 2, 3, 2, 6, 5, 4) * 4, n_labels=15).problem


def graphs():
    return twins_of(np.random.default_rng(3), sizes=(4, 5, 2, 6) * 3).problem


def classes():
    return multiclass_twins(np.random.default_rng(1), n=40, n_classes=5).problem


def own_model():
    random = np.random.default_rng(2)
    X, Y = list(random.normal(size=(12, 2))), random.integers(3, size=12).tolist()
    return bound(PythonModel(EnumeratedMulticlass(1 - np.eye(3))), X, Y)


def positive():
    """A chain whose features are not below zero."""
    twins = chain_twins(np.random.default_rng(0), lengths=(2, 3, 4) * 3)
    return bound(Chain(classes=[0, 1, 2]), [np.abs(x) for x in twins.X], twins.Y)


def without_clocks(history):
    return [{name: value for name, value in record.items() if name not in CLOCKS} for record in history]


def through_a_file(saved):
    tensors = {}
    return decode(json.loads(json.dumps(encode(saved, "state", tensors))), tensors)


def assert_goes_on_exactly(solver, make_problem, objective, stop_at):
    whole = solver.run(make_problem(), objective)
    history, saved = [], {}

    def interrupt(state):
        history.append(state.record)
        if state.iteration == stop_at:
            saved.update(through_a_file(save(state)))
        return state.iteration == stop_at

    solver.run(make_problem(), objective, observe=interrupt)
    problem = make_problem()
    state = restore(saved, solver, problem, objective)
    # The line that `finish` may have completed is not the one that was saved.
    history = through_a_file([*history[:-1], state.record])
    continued = solver.run(problem, objective, state=state, history=history)
    np.testing.assert_array_equal(continued.w, whole.w)
    np.testing.assert_equal(without_clocks(continued.history), without_clocks(whole.history))
    assert continued.state.seconds >= history[-1]["seconds"]
    assert type(continued.state) is type(whole.state)


@pytest.mark.parametrize("stop_at", [0, 1, 5])
@pytest.mark.parametrize("solver", MARGIN, ids=repr)
def test_margin_solvers_go_on_exactly(solver, stop_at):
    assert_goes_on_exactly(solver, chain, MarginObjective(np.linspace(0.5, 2, 28), 40.0), stop_at)


@pytest.mark.filterwarnings("ignore:planes with weight")
@pytest.mark.parametrize(
    "solver",
    [BlockCoordinate(max_iter=12, tol=1e-12), NSlack(max_iter=8, tol=1e-12), OneSlack(max_iter=12, tol=1e-12)],
    ids=repr,
)
def test_runs_that_are_short_of_memory_go_on_exactly(solver):
    def short():
        problem = chain()
        problem.max_memory = solver.nbytes(problem) + 8000
        return problem

    objective = MarginObjective(np.linspace(0.5, 2, 28), 40.0)
    free, bounded = (solver.run(make(), objective).state.iterate for make in (chain, short))
    assert not np.array_equal(free, bounded)
    assert_goes_on_exactly(solver, short, objective, 5)


@pytest.mark.parametrize("make_problem", [classes, own_model])
@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("solver", [BlockCoordinate(max_iter=9), NSlack(max_iter=9), OneSlack(max_iter=9)], ids=repr)
def test_every_kind_of_planes_is_saved(solver, slack, make_problem):
    objective = MarginObjective(np.ones(make_problem().n_examples), 60.0, "margin", slack)
    assert_goes_on_exactly(solver, make_problem, objective, 3)


@pytest.mark.parametrize("stop_at", [0, 1, 5])
@pytest.mark.parametrize("solver", LIKELIHOOD, ids=repr)
def test_likelihood_solvers_go_on_exactly(solver, stop_at):
    make_problem = {IterativeScaling: positive, ContrastiveDivergence: graphs}.get(type(solver), chain)
    assert_goes_on_exactly(solver, make_problem, LikelihoodObjective(np.ones(make_problem().n_examples), 40.0), stop_at)


def test_orthant_wise_steps_go_on_exactly():
    assert_goes_on_exactly(LBFGS(max_iter=9, tol=1e-12), chain, LikelihoodObjective(np.ones(28), 40.0, 0.5), 5)


def test_parts_that_no_state_of_the_solver_has_are_refused():
    problem, objective = chain(), MarginObjective(np.ones(28), 40.0)
    solver = BlockCoordinate()
    saved = save(solver.init_state(problem, objective))
    wrong = {
        "w": [np.zeros(3), np.zeros(problem.n_features, np.float32), "w"],
        "average": [np.zeros(3)],
        "sets": [{}, None, NSlack().init_state(classes(), MarginObjective(np.ones(40))).sets.save()],
        "random": [{}, "PCG64", {"bit_generator": "MT19937"}],
        "iteration": ["one", np.zeros(2)],
        "iterate": [saved],
    }
    for name, values in wrong.items():
        for value in values:
            with pytest.raises(ValueError, match=f"BlockCoordinateState.{name}"):
                restore({**saved, "fields": saved["fields"] | {name: value}}, solver, problem, objective)
    with pytest.raises(ValueError, match="is a LBFGSState, not a BlockCoordinateState with w, iteration"):
        restore({"state": "LBFGSState", "fields": {}}, solver, problem, objective)
    fields = saved["fields"] | {"record": {"nested": saved}}
    with pytest.raises(ValueError, match=r"of which the solver's template\(\) has none"):
        restore({**saved, "fields": fields}, solver, problem, objective)
