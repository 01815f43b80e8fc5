"""What all solvers have in common: states, steps, and the problems they refuse."""

import re

import numpy as np
import pytest

from structlearn.models import PythonModel
from structlearn.solvers import BlockCoordinate, ExcessiveGap, Extragradient, NSlack, OneSlack, Perceptron, Subgradient
from structlearn.waist import MarginObjective
from tests.models.enumerated import EnumeratedMulticlass, bound
from tests.models.instances import chain_twins, multiclass_twins

SOLVERS = [
    BlockCoordinate(max_iter=6),
    NSlack(max_iter=6),
    NSlack(max_iter=6, update_on="addition"),
    NSlack(max_iter=6, update_on="example"),
    OneSlack(max_iter=6),
    Subgradient(max_iter=6),
    Perceptron(max_iter=6),
    Extragradient(max_iter=6),
    ExcessiveGap(max_iter=6),
]


@pytest.fixture
def problem():
    return chain_twins(np.random.default_rng(0), lengths=(1, 2, 3, 2, 4)).problem


@pytest.fixture
def objective():
    return MarginObjective(np.ones(5), 10.0)


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_steps_by_hand_equal_a_run(solver, problem, objective):
    solution = solver.run(problem, objective)
    state = solver.init_state(problem, objective)
    for iteration in range(1, solution.state.iteration + 1):
        state = solver.update(state, problem, objective)
        state.iteration = iteration
    np.testing.assert_array_equal(state.w, solution.w)
    assert len(solution.history) == solution.state.iteration + 1


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_a_copied_state_steps_twice_to_the_same_point(solver, problem, objective):
    state = solver.update(solver.init_state(problem, objective), problem, objective)
    before = state.w.copy()
    kept = state.copy()
    first = solver.update(state, problem, objective)
    np.testing.assert_array_equal(kept.w, before)
    second = solver.update(kept, problem, objective)
    np.testing.assert_array_equal(first.w, second.w)
    assert first.record.keys() == second.record.keys()


@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
def test_an_observer_can_end_a_run(solver, problem, objective):
    solution = solver.run(problem, objective, observe=lambda state: state.iteration == 2)
    assert solution.state.iteration == 2
    assert len(solution.history) == 3


class Refuses:
    """A model without oracles for training, that must not be asked anything either."""

    def joint_feature(self, x, y):
        return np.array([x * y])

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def inference(self, x, w):
        raise AssertionError("training began")


@pytest.mark.parametrize(
    "solver", [BlockCoordinate(), NSlack(), OneSlack(), Subgradient()], ids=lambda solver: type(solver).__name__
)
@pytest.mark.parametrize(
    ("rescaling", "slack", "oracle", "methods"),
    [
        (None, "linear", "second_best", "k_best or outputs"),
        ("margin", "linear", "loss_augmented", "loss_augmented_inference or best_per_loss_level or outputs"),
        ("margin", "squared", "loss_levels", "best_per_loss_level or outputs"),
        ("slack", "linear", "loss_levels", "best_per_loss_level or outputs"),
    ],
)
def test_a_missing_oracle_is_named_before_training(solver, rescaling, slack, oracle, methods):
    problem = bound(PythonModel(Refuses()), [1.0, 2.0], [1, -1])
    message = f"{type(solver).__name__} with .* needs the oracle '{oracle}'.*has best.*write {methods} in Refuses"
    with pytest.raises(ValueError, match=message):
        solver.run(problem, MarginObjective(np.ones(2), 1.0, rescaling, slack))


def test_loss_levels_that_are_too_many_are_named_before_training():
    problem = chain_twins(np.random.default_rng(0), label_weight={0: np.pi, 1: 1.0}).problem
    assert NSlack().run(problem, MarginObjective(np.ones(3))).converged
    with pytest.raises(ValueError, match=r"'loss_levels'.*3.14159.*256 loss levels.*rescaling='margin'"):
        NSlack().run(problem, MarginObjective(np.ones(3), 1.0, "slack"))


class Approximate(EnumeratedMulticlass):
    exactness = "approximate"


class FindsNothing(Approximate):
    def loss_augmented_inference(self, x, y, w):
        return y


@pytest.mark.parametrize(
    "solver", [BlockCoordinate(max_iter=8), NSlack(max_iter=8), OneSlack(max_iter=8), Subgradient(max_iter=8)], ids=repr
)
@pytest.mark.parametrize("kind", [Approximate, FindsNothing])
def test_an_approximate_oracle_never_certifies(kind, solver):
    random = np.random.default_rng(0)
    X, Y = list(random.normal(size=(6, 2))), random.integers(3, size=6).tolist()
    problem = bound(PythonModel(kind(1 - np.eye(3))), X, Y)
    solution = solver.run(problem, MarginObjective(np.ones(6), 3.0))
    assert not any(record["certified"] for record in solution.history)
    assert all(np.isnan(record["primal"]) and np.isnan(record["gap"]) for record in solution.history)


@pytest.mark.parametrize("solver", [BlockCoordinate(), NSlack(), OneSlack()], ids=lambda solver: type(solver).__name__)
def test_a_run_with_an_approximate_oracle_ends_where_the_oracle_sees_nothing_more(solver):
    random = np.random.default_rng(0)
    X, Y = list(random.normal(size=(6, 2))), random.integers(3, size=6).tolist()
    exact, approximate = (bound(PythonModel(kind(1 - np.eye(3))), X, Y) for kind in (EnumeratedMulticlass, Approximate))
    objective = MarginObjective(np.ones(6), 3.0)
    solution = solver.run(approximate, objective)
    assert solution.converged
    np.testing.assert_array_equal(solution.w, solver.run(exact, objective).w)


@pytest.mark.parametrize("solver", [BlockCoordinate(), NSlack(), OneSlack()], ids=lambda solver: type(solver).__name__)
def test_constraints_do_not_serve_another_formulation(solver, problem, objective):
    state = solver.run(problem, objective).state
    with pytest.raises(ValueError, match=r"was for rescaling='margin' and slack='linear'.* serve rescaling='slack'"):
        solver.run(problem, MarginObjective(np.ones(5), 10.0, "slack", "linear"), state=state)


def test_a_solver_does_not_take_up_the_state_of_another(problem, objective):
    with pytest.raises(ValueError, match="OneSlack cannot go on from a NSlackState"):
        OneSlack().run(problem, objective, state=NSlack().run(problem, objective).state)
    with pytest.raises(ValueError, match=r"Perceptron cannot go on .* implement resume\(state, problem, objective\)"):
        Perceptron().run(problem, objective, state=NSlack().run(problem, objective).state)


def test_tol_is_the_relative_gap_that_ends_a_run():
    problem = multiclass_twins(np.random.default_rng(0), n=30).problem
    for solver in (NSlack, OneSlack):
        for tol in (0.3, 1e-2, 1e-5):
            history = solver(tol=tol).run(problem, MarginObjective(np.ones(30), 30.0)).history
            gaps = [record["gap"] / record["primal"] for record in history]
            assert gaps[-1] <= tol
            assert all(gap > tol for gap in gaps[:-1])


@pytest.mark.parametrize(
    ("w", "record", "message"),
    [
        (np.nan, {"primal": 1.0}, "‖w‖² is nan after 3 iterations of Derailed; scale the features or lower C"),
        (1e200, {"primal": 1.0}, "‖w‖² is inf after 3 iterations of Derailed; scale the features"),
        (0.0, {"primal": np.nan, "certified": True}, "the objective is no number after 3 iterations"),
    ],
)
def test_a_run_ends_where_its_numbers_do(w, record, message, problem, objective):
    class Derailed(Perceptron):
        def update(self, state, problem, objective):
            state = super().update(state, problem, objective)
            if state.iteration == 2:
                state.w, state.record = np.full(problem.n_features, w), record
            return state

    with pytest.raises(FloatingPointError, match=re.escape(message)):
        Derailed(max_iter=9).run(problem, objective)


@pytest.mark.parametrize(
    ("w", "found"),
    [(np.ones(3), "float64 of the shape (3,)"), ([1.0], "list"), (np.ones(1, complex), "complex128 of the shape (1,)")],
)
def test_weights_that_are_none_of_the_problem_are_refused(w, found, problem, objective):
    class Wrong(Perceptron):
        def update(self, state, problem, objective):
            state = super().update(state, problem, objective)
            state.w = w
            return state

    with pytest.raises(ValueError, match=re.escape(f"the weights of Wrong are {found}; expected float64")):
        Wrong(max_iter=9).run(problem, objective)


def test_a_bound_that_is_no_number_certifies_nothing(problem, objective):
    class Unbounded(BlockCoordinate):
        def update(self, state, problem, objective):
            state = super().update(state, problem, objective)
            state.dual = np.nan
            return state

    with pytest.raises(FloatingPointError, match=r"its lower bound is no number after \d iterations of Unbounded"):
        Unbounded(max_iter=9).run(problem, objective)


@pytest.mark.parametrize("twins", [chain_twins, multiclass_twins])
def test_questions_beyond_the_problem_are_refused(twins, objective):
    problem = twins(np.random.default_rng(0)).problem
    w, scaling = np.zeros(problem.n_features), objective.scaling
    planes = problem.oracle(w, np.arange(2), scaling)
    for few in (w[:-1], w[:1]):
        for ask in (
            lambda w: problem.oracle(w, np.arange(2), scaling),
            problem.predict,
            planes.rows.dot,
            lambda w: planes.rows.add_to(w, np.ones(2)),
        ):
            with pytest.raises(ValueError, match=re.escape(f"w is an array of the shape {few.shape}; there are")):
                ask(few)
    for examples in ([problem.n_examples], [-1], [0, 10**6]):
        with pytest.raises(IndexError, match=f"examples are .* but there are {problem.n_examples}"):
            problem.oracle(w, np.array(examples), scaling)
    with pytest.raises(ValueError, match="there are 3 coefficients of 2 rows"):
        planes.rows.add_to(w, np.ones(3))
