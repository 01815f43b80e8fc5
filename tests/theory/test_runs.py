"""The theorems of Tsochantaridis et al. 2005 and Yu 2011, as far as runs of solvers can show them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.models import Multiclass
from structlearn.solvers import NSlack, OneSlack
from structlearn.theory import constraints_added, cutting_plane_iterations, dual_gain, line_search_gain
from structlearn.waist import MarginObjective
from tests.models.enumerated import bound
from tests.models.instances import chain_twins, multiclass_twins
from tests.solvers.full_qp import full_optimum

RESCALED = [("margin", "linear"), ("margin", "squared"), ("slack", "linear"), ("slack", "squared")]


def instance(seed):
    random = np.random.default_rng(seed)
    if seed % 2:
        return multiclass_twins(random, n=10)
    return chain_twins(random, lengths=(1, 2, 3, 2), n_labels=2)


def solved(problem, objective):
    return NSlack(tol=1e-10).run(problem, objective).w


def with_loss_times(twins, factor):
    return bound(Multiclass(classes=range(3), cost=factor * twins.reference.cost), np.array(twins.X), np.array(twins.Y))


@pytest.mark.parametrize("slack", ["linear", "squared"])
@pytest.mark.parametrize("eta", [0.1, 7.0])
def test_slack_rescaling_does_not_notice_the_unit_of_the_loss(eta, slack):
    twins = multiclass_twins(np.random.default_rng(0), n=12)
    objective = MarginObjective(np.ones(12), 3.0, "slack", slack)
    w = solved(twins.problem, objective)
    scaled = solved(with_loss_times(twins, eta), replace(objective, C=3.0 / eta))
    np.testing.assert_allclose(scaled, w, atol=1e-4)


def test_margin_rescaling_does_notice_the_unit_of_the_loss():
    twins = multiclass_twins(np.random.default_rng(0), n=12)
    objective = MarginObjective(np.ones(12), 3.0, "margin", "linear")
    scaled = solved(with_loss_times(twins, 7.0), replace(objective, C=3.0 / 7.0))
    assert np.abs(scaled - solved(twins.problem, objective)).max() > 0.1


@pytest.mark.parametrize(("rescaling", "slack"), RESCALED)
@settings(max_examples=30)
@given(seed=st.integers(0, 2**32))
def test_slacks_bound_the_training_loss_at_every_w(rescaling, slack, seed):
    twins = instance(seed)
    problem = twins.problem
    objective = MarginObjective(np.ones(problem.n_examples), 3.0, rescaling, slack)
    random = np.random.default_rng(seed)
    anywhere = [random.normal(size=problem.n_features) * size for size in (0.0, 0.1, 10.0)]
    for w in [*anywhere, NSlack(tol=1e-3).run(problem, objective).w]:
        slacks = np.maximum(problem.oracle(w, np.arange(problem.n_examples), objective.scaling).bounds, 0.0)
        losses = problem.losses(problem.predict(w))
        assert np.all((slacks if slack == "linear" else slacks**2) >= losses - 1e-9)


def extent(twins):
    """R̄ and Δ̄, from all outputs."""
    listed = twins.listed()
    lengths = [np.linalg.norm(each.rows, axis=1).max() for each in listed]
    return {"radius": max(lengths), "largest_loss": max(each.losses.max() for each in listed)}


@pytest.mark.parametrize(("rescaling", "slack"), [(None, "linear"), (None, "squared"), *RESCALED])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("eps", [0.5, 0.02])
def test_every_constraint_raises_the_dual_by_the_least_gain(rescaling, slack, seed, eps):
    twins = instance(seed)
    problem = twins.problem
    n = problem.n_examples
    objective = MarginObjective(np.random.default_rng(seed).uniform(0.5, 2.0, n), 5.0, rescaling, slack)
    listed = twins.listed()
    sets = problem.working_sets()
    sets.set_limits(*objective.limits)
    w, dual, added, changed = np.zeros(problem.n_features), 0.0, 0, True
    while changed:
        changed = False
        for i in range(n):
            planes = problem.oracle(w, np.array([i]), objective.scaling)
            violation = planes.bounds[0] - sets.largest_violation(i, w)
            if violation <= eps:
                continue
            a, b = objective.scaling(planes.losses)
            assert problem.keep(sets, planes, np.array([0]), a, b) == 1
            sets.solve(w, 1e-12, 100_000, added)
            before, dual = dual, sets.linear_part() - 0.5 * w @ w
            least = dual_gain(
                C=objective.C,
                eps=violation,
                n_examples=objective.sample_weight.sum() / objective.sample_weight[i],
                radius=np.linalg.norm(listed[i].rows, axis=1).max(),
                largest_loss=max(listed[i].losses.max(), 1e-9),
                rescaling=rescaling,
                slack=slack,
            )
            assert dual - before >= least * (1 - 1e-6) - 1e-10
            added, changed = added + 1, True
    assert added > n // 2


@pytest.mark.parametrize(("rescaling", "slack"), [(None, "linear"), (None, "squared"), *RESCALED])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_algorithm_1_adds_no_more_constraints_than_theorem_18(rescaling, slack, seed):
    twins = instance(seed)
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, twins.problem.n_examples)
    objective = MarginObjective(weight, 5.0, rescaling, slack)
    for eps in (1.0, 0.1, 0.01):
        most = constraints_added(
            C=5.0, eps=eps, n_examples=weight.sum() / weight.min(), **extent(twins), rescaling=rescaling, slack=slack
        )
        solution = NSlack(eps=eps, update_on="addition").run(twins.problem, objective)
        assert solution.converged
        assert solution.state.planes <= most
        for update_on in ("pass", "example"):
            assert NSlack(eps=eps, update_on=update_on).run(twins.problem, objective).state.iteration <= most


@pytest.mark.parametrize("update_on", ["addition", "example"])
def test_algorithm_1_begins_without_constraints(update_on):
    twins = instance(1)
    solver = NSlack(update_on=update_on)
    state = solver.init_state(twins.problem, MarginObjective(np.ones(10)))
    assert state.planes == 0
    assert state.record["violation"] > 0


@pytest.mark.parametrize("rescaling", [None, "margin", "slack"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_one_slack_needs_no_more_cuts_than_theorem_3_1(rescaling, seed):
    twins = instance(seed)
    for C, eps in [(0.1, 0.1), (5.0, 0.1), (50.0, 0.01)]:
        objective = MarginObjective(np.ones(twins.problem.n_examples), C, rescaling, "linear")
        most = cutting_plane_iterations(C=C, eps=eps, **extent(twins), rescaling=rescaling)
        for cache in (0, 10):
            solution = OneSlack(eps=eps, cache=cache).run(twins.problem, objective)
            assert solution.converged
            assert solution.state.iteration <= most


@pytest.mark.parametrize("rescaling", [None, "margin", "slack"])
@pytest.mark.parametrize("seed", [0, 1])
def test_every_cut_raises_the_dual_and_lowers_its_distance_as_the_proof_of_theorem_3_1_says(rescaling, seed):
    twins, C = instance(seed), 5.0
    objective = MarginObjective(np.ones(twins.problem.n_examples), C, rescaling, "linear")
    found = extent(twins)
    curvature = 4 * (found["radius"] * (found["largest_loss"] if rescaling == "slack" else 1.0)) ** 2
    optimum, _ = full_optimum(twins, objective)
    history = OneSlack(eps=1e-6, cache=0).run(twins.problem, objective).history
    assert len(history) > 5
    for before, after in pairwise(history):
        gain, distance = after["dual"] - before["dual"], optimum - before["dual"]
        assert C * before["violation"] >= distance - 1e-6
        for violation in (before["violation"], distance / C):
            assert gain >= (violation > 1e-5) * line_search_gain(violation, curvature, C) - 1e-6


@pytest.mark.parametrize("rescaling", [None, "margin", "slack"])
@pytest.mark.parametrize("seed", [0, 1, 2, 3])
def test_a_run_that_eps_stopped_is_within_C_eps_of_the_optimum(rescaling, seed):
    twins = instance(seed)
    objective = MarginObjective(np.ones(twins.problem.n_examples), 5.0, rescaling, "linear")
    optimum, _ = full_optimum(twins, objective)
    for eps in (0.5, 0.05, 0.005):
        for solver in (
            NSlack(eps=eps),
            NSlack(eps=eps, update_on="addition"),
            NSlack(eps=eps, update_on="example"),
            OneSlack(eps=eps),
            OneSlack(eps=eps, cache=0),
        ):
            solution = solver.run(twins.problem, objective)
            assert solution.converged
            assert solution.state.record["violation"] <= eps
            assert solution.state.primal - optimum <= objective.C * eps + 1e-9


def test_squared_one_slack_stopped_by_eps_is_within_C_eps_of_the_optimum():
    for seed in range(4):
        twins = instance(seed)
        objective = MarginObjective(np.ones(twins.problem.n_examples), 5.0, "margin", "squared")
        optimum, _ = full_optimum(twins, objective)
        for eps in (0.5, 0.05):
            state = OneSlack(eps=eps).run(twins.problem, objective).state
            assert state.primal - optimum <= objective.C * eps + 1e-9


def test_the_dual_never_exceeds_and_the_primal_never_undercuts_the_optimum():
    for seed in range(4):
        twins = instance(seed)
        for rescaling, slack in RESCALED:
            objective = MarginObjective(np.ones(twins.problem.n_examples), 5.0, rescaling, slack)
            optimum, _ = full_optimum(twins, objective)
            for solver in (NSlack(), NSlack(update_on="example"), OneSlack()):
                for record in solver.run(twins.problem, objective).history:
                    assert record["dual"] <= optimum * (1 + 1e-9)
                    assert record["primal"] >= optimum * (1 - 1e-9)


def test_the_objective_of_the_two_class_toy_problem():
    """Iglesias 2013, figure 3.1; C multiplies the sum of the slacks there."""
    problem = bound(Multiclass(), [[-10.0], [-4.0], [6.0], [5.0]], [1, 1, -1, -1])
    for C in (0.5, 1.0, 10.0):
        objective = MarginObjective(np.ones(4), 4 * C)
        for w, slacks in [((0.0, 0.0), 4.0), ((0.1, -0.1), 0.2)]:
            w = np.array(w)
            risk = problem.risk(w, objective).value
            assert 0.5 * w @ w + objective.price * risk == pytest.approx(0.5 * w @ w + C * slacks)
    risk = problem.risk(np.array([0.1, -0.1]), MarginObjective(np.ones(4), 4.0)).value
    assert 0.01 + risk == pytest.approx(0.21)
