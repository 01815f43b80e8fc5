from dataclasses import replace

import numpy as np
import pytest

from structlearn.solvers import NSlack
from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins

SOFT = [(r, s) for r in (None, "margin", "slack") for s in ("linear", "squared")]


@pytest.fixture
def problem():
    return chain_twins(np.random.default_rng(0), lengths=(1, 2, 3, 2, 4)).problem


@pytest.mark.parametrize("update_on", ["pass", "addition", "example"])
@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
def test_a_run_taken_up_under_another_price_reaches_the_same_optimum(problem, rescaling, slack, update_on):
    solver = NSlack(tol=1e-7, update_on=update_on)
    objective = MarginObjective(np.ones(5), 1.0, rescaling, slack)
    state = solver.run(problem, objective).state
    for C in (30.0, 0.1, 1.0):
        changed = replace(objective, C=C)
        solution = solver.run(problem, changed, state=state)
        state = solution.state
        assert solution.converged
        assert state.primal == pytest.approx(solver.run(problem, changed).state.primal, rel=1e-6)


def test_a_run_taken_up_under_other_sample_weights_reaches_the_same_optimum(problem):
    solver = NSlack(tol=1e-7)
    state = solver.run(problem, MarginObjective(np.ones(5), 3.0)).state
    changed = MarginObjective(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 3.0)
    assert solver.run(problem, changed, state=state).state.primal == pytest.approx(
        solver.run(problem, changed).state.primal, rel=1e-6
    )


def test_a_run_taken_up_where_it_ended_is_done_at_once(problem):
    objective = MarginObjective(np.ones(5), 3.0)
    state = NSlack().run(problem, objective).state
    assert len(NSlack().run(problem, objective, state=state).history) == 1


def test_no_plane_is_stored_twice(problem):
    for update_on in ("pass", "addition", "example"):
        state = NSlack(tol=1e-10, update_on=update_on).run(problem, MarginObjective(np.ones(5), 30.0)).state
        assert state.sets.sizes().sum() == state.planes
        for i in range(5):
            offsets = state.sets.offsets(i)
            gram = state.sets.gram(i).reshape(len(offsets), len(offsets))
            squares = np.diag(gram)
            apart = squares[:, None] + squares[None, :] - 2 * gram + (offsets[:, None] - offsets[None, :]) ** 2
            assert np.all(apart + np.eye(len(offsets)) > 1e-9)


def test_the_weights_are_the_sum_of_the_planes(problem):
    state = NSlack(tol=1e-8).run(problem, MarginObjective(np.ones(5), 3.0)).state
    w = np.zeros(problem.n_features)
    state.sets.weights(w)
    np.testing.assert_allclose(state.iterate, w, atol=1e-12)


def test_a_problem_without_any_constraint_is_solved_at_zero():
    problem = chain_twins(np.random.default_rng(0), n_labels=1).problem
    for rescaling, slack in [*SOFT, (None, "hard")]:
        solution = NSlack().run(problem, MarginObjective(np.ones(3), 3.0, rescaling, slack))
        assert solution.converged
        assert solution.state.primal == 0.0
        assert not solution.w.any()


def test_threads_do_not_change_a_bit_of_the_solution():
    problem = multiclass_twins(np.random.default_rng(0), n=40).problem
    runs = []
    for problem.n_threads in (1, 3):
        runs.append(NSlack().run(problem, MarginObjective(np.ones(40), 10.0)).w)
    np.testing.assert_array_equal(*runs)
