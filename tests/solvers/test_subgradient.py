import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import StructuralSVM
from structlearn.models import Chain
from structlearn.solvers import NSlack, Subgradient
from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins

SOFT = [(r, s) for r in (None, "margin", "slack") for s in ("linear", "squared")]


def instance(seed):
    random = np.random.default_rng(seed)
    twins = multiclass_twins(random, n=10) if seed % 2 else chain_twins(random, lengths=(1, 2, 3, 2, 1, 2, 1, 3, 2, 1))
    return twins, random


def objective_at(problem, objective, w):
    violations = np.full(problem.n_examples, -np.inf)
    planes = problem.oracle(w, np.arange(problem.n_examples), objective.scaling)
    violations[planes.examples] = planes.bounds
    return objective.primal(w, violations)


@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32))
def test_the_gradient_of_the_risk_agrees_with_finite_differences(rescaling, slack, seed):
    twins, random = instance(seed)
    problem = twins.problem
    objective = MarginObjective(random.uniform(0.5, 2.0, 10), 3.0, rescaling, slack)
    w, direction = random.normal(size=(2, problem.n_features))
    risk = problem.risk(w, objective)
    h = 1e-6
    ahead, back = (problem.risk(w + step * direction, objective).value for step in (h, -h))
    assert (ahead - back) / (2 * h) == pytest.approx(risk.gradient @ direction, rel=1e-4, abs=1e-4)
    assert 0.5 * w @ w + objective.price * risk.value == pytest.approx(objective_at(problem, objective, w), rel=1e-12)


@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
def test_the_gradient_is_a_subgradient_everywhere(rescaling, slack):
    twins, random = instance(1)
    objective = MarginObjective(random.uniform(0.5, 2.0, 10), 3.0, rescaling, slack)
    for w, v in random.integers(-1, 2, (50, 2, twins.problem.n_features)).astype(float):
        here, there = twins.problem.risk(w, objective), twins.problem.risk(v, objective)
        assert there.value >= here.value + here.gradient @ (v - w) - 1e-9


class Rotated:
    """Stands in for a random generator: the identity, turned by some places."""

    def __init__(self, by):
        self.by = by

    def permutation(self, n):
        return np.roll(np.arange(n), self.by)


@pytest.mark.parametrize("batch_size", [1, 3, 5, None])
@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
def test_the_mean_of_the_estimates_over_all_batches_is_the_subgradient(batch_size, rescaling, slack):
    twins, random = instance(3)
    problem = twins.problem
    objective = MarginObjective(random.uniform(0.5, 2.0, 10), 3.0, rescaling, slack)
    w = random.normal(size=problem.n_features)
    tiny = 1e-7
    solver = Subgradient(batch_size=batch_size, step="constant", step_size=tiny, average=False)
    estimates = []
    for by in range(10):
        state = solver.init_state(problem, objective)
        state.iterate, state.random = w.copy(), Rotated(by)
        state = solver.update(state, problem, objective)
        estimates.append((w - state.iterate) / (tiny * state.steps))
    gradient = problem.risk(w, objective).gradient
    np.testing.assert_allclose(np.mean(estimates, axis=0), w + objective.price * gradient, atol=1e-4)


@pytest.mark.sample(3)
@pytest.mark.parametrize("batch_size", [1, 4, None])
@pytest.mark.parametrize(("rescaling", "slack"), [("margin", "linear"), ("margin", "squared"), ("slack", "linear")])
def test_descent_comes_near_the_certified_optimum(batch_size, rescaling, slack):
    twins, _ = instance(5)
    objective = MarginObjective(np.ones(10), 2.0, rescaling, slack)
    optimum = NSlack(tol=1e-8).run(twins.problem, objective).state.primal
    passes = 3000 if batch_size is None else 400
    solution = Subgradient(batch_size=batch_size, max_iter=passes).run(twins.problem, objective)
    assert optimum * (1 - 1e-9) <= solution.history[-1]["primal"] <= 1.02 * optimum
    assert not solution.converged


def test_the_average_weighs_step_t_by_t():
    twins, _ = instance(1)
    objective = MarginObjective(np.ones(10))
    averaged, plain = Subgradient(batch_size=None), Subgradient(batch_size=None, average=False)
    left, right = (solver.init_state(twins.problem, objective) for solver in (averaged, plain))
    total = np.zeros(twins.problem.n_features)
    for t in range(1, 8):
        left = averaged.update(left, twins.problem, objective)
        right = plain.update(right, twins.problem, objective)
        total += t * right.w
        np.testing.assert_allclose(left.w, total / (t * (t + 1) / 2), atol=1e-12)


def test_the_history_measures_the_objective_now_and_then_and_at_the_end():
    twins, _ = instance(1)
    objective = MarginObjective(np.ones(10))
    solution = Subgradient(max_iter=7, measure_every=3).run(twins.problem, objective)
    measured = [record["iteration"] for record in solution.history if record["certified"]]
    assert measured == [0, 3, 6, 7]
    assert all(np.isnan(record["dual"]) and np.isnan(record["gap"]) for record in solution.history)
    assert solution.history[-1]["primal"] == pytest.approx(objective_at(twins.problem, objective, solution.w))


def test_the_same_seed_gives_the_same_weights():
    twins, _ = instance(1)
    objective = MarginObjective(np.ones(10))
    runs = [Subgradient(max_iter=3, random_state=seed).run(twins.problem, objective).w for seed in (1, 1, 2)]
    np.testing.assert_array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_the_hard_margin_has_no_subgradient_form():
    twins, _ = instance(1)
    with pytest.raises(ValueError, match="Subgradient has no form for slack='hard'"):
        Subgradient().run(twins.problem, MarginObjective(np.ones(10), 1.0, None, "hard"))


@pytest.mark.parametrize("options", [{"step": "constant", "step_size": 5.0}, {"step_size": 1e300}])
def test_a_step_that_diverges_is_reported(options):
    random = np.random.default_rng(0)
    X, Y = [random.normal(size=(4, 3)) for _ in range(10)], [[0, 1, 2, 1]] * 10
    with pytest.raises(FloatingPointError, match=r"without bound in iteration .* step_size=.* is too large"):
        StructuralSVM(Chain(), C=100, solver=Subgradient(max_iter=500, **options)).fit(X, Y)
