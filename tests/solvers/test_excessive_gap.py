import numpy as np
import pytest

from structlearn import StructuralSVM, load
from structlearn.models import Multiclass
from structlearn.solvers import BlockCoordinate, ExcessiveGap
from structlearn.solvers.part_margins import MarginSaddle
from structlearn.waist import MarginObjective
from tests.models.enumerated import bound
from tests.models.instances import chain_twins, multiclass_twins
from tests.solvers.full_qp import full_optimum
from tests.solvers.part_margins import PROBLEMS, WrittenOut, instance


def steps(problem, objective, count):
    """The states of a run, the first one included."""
    solver = ExcessiveGap()
    state = solver.init_state(problem, objective)
    yield state.copy()
    for iteration in range(1, count + 1):
        state = solver.update(state, problem, objective)
        state.iteration = iteration
        yield state.copy()


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_the_gap_closes_on_the_optimum_of_the_full_program(kind, C):
    twins, objective = instance(kind, C)
    optimum, w = full_optimum(twins, objective)
    solution = ExcessiveGap(tol=1e-4).run(twins.problem, objective)
    state = solution.state
    assert solution.converged
    assert state.dual <= optimum * (1 + 1e-9)
    assert optimum <= state.primal * (1 + 1e-9)
    assert state.primal - state.dual <= 1e-4 * state.primal
    assert 0.5 * np.sum((solution.w - w) ** 2) <= 1e-4 * state.primal
    other = BlockCoordinate(tol=1e-4).run(twins.problem, objective).state
    assert max(state.dual, other.dual) <= min(state.primal, other.primal) * (1 + 1e-9)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_smoothed_primal_never_exceeds_the_dual(kind):
    twins, objective = instance(kind, 20.0)
    written = WrittenOut(twins, objective)
    optimum, _ = full_optimum(twins, objective)
    for state in steps(twins.problem, objective, 60):
        w, mu, dual = state.smooth.w, state.smooth.smoothing, state.point.value
        assert state.smooth.value == pytest.approx(written.smoothed(w, mu), rel=1e-9)
        assert written.smoothed(w, mu) <= dual + 1e-9 * optimum
        assert dual <= optimum * (1 + 1e-9)
        assert written.primal(w) - dual <= mu * written.log_sizes() + 1e-9 * optimum


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_step_is_the_formula_written_out_over_all_outputs(kind):
    twins, objective = instance(kind, 20.0)
    written = WrittenOut(twins, objective)
    before, *after = steps(twins.problem, objective, 20)
    w, mu = before.smooth.w, before.smooth.smoothing
    uniform = written.softmax([np.zeros(len(each.losses)) for each in written.listed])
    np.testing.assert_allclose(w, written.w(uniform), atol=1e-10)
    m = written.softmax(written.map(lambda slope: slope / mu, written.slopes(w)))
    for state in after:
        tau = 1.0 - state.smooth.smoothing / mu
        alpha = written.softmax(written.map(lambda slope, mu=mu: slope / mu, written.slopes(w)))
        w_beta = written.w(written.map(lambda p, q, tau=tau: (1 - tau) * p + tau * q, m, alpha))
        ahead = written.softmax(
            written.map(
                lambda slope, new, mu=mu, tau=tau: slope / mu + tau / ((1 - tau) * mu) * new,
                written.slopes(w),
                written.slopes(w_beta),
            )
        )
        m = written.map(lambda p, q, tau=tau: (1 - tau) * p + tau * q, m, ahead)
        w = (1 - tau) * w + tau * w_beta
        mu = (1 - tau) * mu
        np.testing.assert_allclose(state.smooth.w, w, atol=1e-8)
        np.testing.assert_allclose(state.point.w, written.w(m), atol=1e-8)
        assert state.point.value == pytest.approx(written.dual(m), abs=1e-8)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_gap_falls_with_the_square_of_the_iterations(kind):
    twins, objective = instance(kind, 20.0)
    log_sizes = WrittenOut(twins, objective).log_sizes()
    for state in steps(twins.problem, objective, 60):
        if state.iteration:
            assert state.smooth.smoothing <= 8.0 * state.most_curvature / state.iteration**2
            assert state.primal - state.dual <= 8.0 * state.most_curvature / state.iteration**2 * log_sizes


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_bound_on_the_curvature_holds_for_any_two_distributions(kind):
    twins, objective = instance(kind, 20.0)
    written = WrittenOut(twins, objective)
    most = MarginSaddle.of(twins.problem, objective).curvature_bound(twins.problem)
    random = np.random.default_rng(0)
    for scale in (0.01, 1.0, 10.0):
        for _ in range(30):
            left, right = (
                written.softmax([random.normal(scale=scale, size=len(each.losses)) for each in written.listed])
                for _ in range(2)
            )
            moved = written.w(left) - written.w(right)
            assert 0.5 * moved @ moved <= most * written.divergence(left, right)


def test_features_that_are_all_zero_leave_nothing_to_learn():
    problem = bound(Multiclass(), np.zeros((4, 2)), ["a", "b", "a", "b"])
    state = ExcessiveGap(tol=1e-6).run(problem, MarginObjective(np.ones(4), 3.0)).state
    np.testing.assert_array_equal(state.w, 0.0)
    assert state.primal == pytest.approx(3.0)
    assert state.dual == pytest.approx(3.0, rel=1e-6)


def test_losses_that_are_no_sums_over_parts_are_refused():
    random = np.random.default_rng(0)
    chain = chain_twins(random, loss="zero_one").problem
    with pytest.raises(ValueError, match="ExcessiveGap needs a loss that is a sum over parts"):
        ExcessiveGap().run(chain, MarginObjective(np.ones(3)))
    with pytest.raises(ValueError, match="needs rescaling='margin'"):
        ExcessiveGap().run(multiclass_twins(random).problem, MarginObjective(np.ones(8), 1.0, "slack"))
    with pytest.raises(ValueError, match="has no form for slack='squared'"):
        ExcessiveGap().run(multiclass_twins(random).problem, MarginObjective(np.ones(8), 1.0, "margin", "squared"))


def test_numbers_that_overflow_are_reported():
    twins = chain_twins(np.random.default_rng(0))
    with pytest.raises(FloatingPointError, match="ExcessiveGap finds no finite step at iteration 0"):
        ExcessiveGap().run(twins.problem, MarginObjective(np.ones(3), 1e200))
    problem = bound(Multiclass(), [[1.0], [1e200], [2.0]], ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"X\[1\] has features too large"):
        ExcessiveGap().run(problem, MarginObjective(np.ones(3)))


def test_the_estimator_takes_it_by_name_and_files_keep_it(tmp_path):
    X, y = np.eye(3), ["a", "b", "c"]
    named = StructuralSVM(Multiclass(), solver="excessive_gap", tol=0.01).fit(X, y)
    given = StructuralSVM(Multiclass(), solver=ExcessiveGap(tol=0.01)).fit(X, y)
    np.testing.assert_array_equal(named.w_, given.w_)
    assert named.duality_gap_ <= 0.01
    given.save(tmp_path / "model.slm")
    assert load(tmp_path / "model.slm").solver == ExcessiveGap(tol=0.01)
