"""All seven formulations reach the optimum of the full quadratic program, which another solver finds."""

from dataclasses import replace

import numpy as np
import pytest

from structlearn.solvers import BlockCoordinate, InseparableError, NSlack, OneSlack
from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins
from tests.solvers.full_qp import full_optimum

SOFT = [
    (None, "linear"),
    (None, "squared"),
    ("margin", "linear"),
    ("margin", "squared"),
    ("slack", "linear"),
    ("slack", "squared"),
]
PROBLEMS = {
    "multiclass": lambda random: multiclass_twins(random, n=12),
    "multiclass with output features": lambda random: multiclass_twins(random, n=8, output_features=True),
    "chain": lambda random: chain_twins(random, lengths=(1, 2, 3, 3, 2), n_labels=2),
    "chain with label weights": lambda random: chain_twins(
        random, lengths=(2, 3, 2), balance=0.5, boundaries=False, label_weight={0: 2.0, 1: 0.5}
    ),
    "chain, zero-one": lambda random: chain_twins(random, lengths=(2, 3, 2, 1), loss="zero_one"),
}
SOLVERS = {
    "block-coordinate ascent": BlockCoordinate(),
    "n-slack, pass": NSlack(update_on="pass"),
    "n-slack, addition": NSlack(update_on="addition"),
    "n-slack, example": NSlack(update_on="example"),
    "1-slack": OneSlack(),
    "1-slack without cache": OneSlack(cache=0),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_every_solver_reaches_the_optimum_of_the_full_program(kind, rescaling, slack, C):
    random = np.random.default_rng(sum(map(ord, kind)))
    twins = PROBLEMS[kind](random)
    objective = MarginObjective(random.uniform(0.5, 2.0, twins.problem.n_examples), C, rescaling, slack)
    optimum, w = full_optimum(twins, objective)
    for solver in SOLVERS.values():
        accuracy = 1e-6
        solution = replace(solver, tol=0.1 * accuracy).run(twins.problem, objective)
        assert solution.converged
        state = solution.state
        assert state.primal == pytest.approx(state.dual, rel=accuracy)
        assert state.primal == pytest.approx(optimum, rel=accuracy)
        assert state.dual == pytest.approx(optimum, rel=accuracy)
        # The objective is strongly convex: ½‖w − w*‖² is at most what is left to gain.
        assert 0.5 * np.sum((solution.w - w) ** 2) <= accuracy * optimum


def test_the_primal_is_the_objective_by_enumeration():
    random = np.random.default_rng(0)
    twins = PROBLEMS["chain"](random)
    for rescaling, slack in SOFT:
        objective = MarginObjective(random.uniform(0.5, 2.0, twins.problem.n_examples), 3.0, rescaling, slack)
        state = NSlack(tol=1e-8).run(twins.problem, objective).state
        slacks = np.array([max(0.0, each.violations(state.w, objective.scaling).max()) for each in twins.listed()])
        np.testing.assert_allclose(state.slacks, slacks, atol=1e-9)
        paid = slacks if slack == "linear" else 0.5 * slacks**2
        share = objective.sample_weight / objective.sample_weight.sum()
        assert state.primal == pytest.approx(0.5 * state.w @ state.w + 3.0 * share @ paid, rel=1e-12)


@pytest.mark.parametrize("update_on", ["pass", "addition", "example"])
@pytest.mark.parametrize("seed", range(3))
def test_the_hard_margin_is_the_widest_one(seed, update_on):
    random = np.random.default_rng(seed)
    for twins in (separable_multiclass(random), separable_chain(random)):
        objective = MarginObjective(np.ones(twins.problem.n_examples), 1.0, None, "hard")
        optimum, w = full_optimum(twins, objective)
        state = NSlack(tol=1e-8, update_on=update_on).run(twins.problem, objective).state
        assert state.primal == pytest.approx(optimum, rel=1e-6)
        assert state.dual == pytest.approx(optimum, rel=1e-6)
        margin = min(np.delete(each.rows @ state.w, np.flatnonzero(each.true)).min() for each in twins.listed())
        np.testing.assert_allclose(state.w / margin, w, atol=1e-3 * np.abs(w).max())


def separable_multiclass(random):
    while True:
        twins = multiclass_twins(random, n=5, n_inputs=4, cost="zero_one")
        if full_optimum(twins, MarginObjective(np.ones(5), 1.0, None, "hard")) is not None:
            return twins


def separable_chain(random):
    while True:
        twins = chain_twins(random, lengths=(2, 2, 3), n_labels=2, n_inputs=3)
        if full_optimum(twins, MarginObjective(np.ones(3), 1.0, None, "hard")) is not None:
            return twins


@pytest.mark.parametrize("update_on", ["pass", "addition", "example"])
def test_a_hard_margin_on_inseparable_data_is_an_error(update_on):
    twins = multiclass_twins(np.random.default_rng(0), n=30, n_inputs=2)
    objective = MarginObjective(np.ones(30), 1.0, None, "hard")
    assert full_optimum(twins, objective) is None
    with pytest.raises(InseparableError, match=r"no margin above .* exists, while the features have radius"):
        NSlack(update_on=update_on).run(twins.problem, objective)


def test_two_equal_inputs_with_different_labels_have_no_hard_margin():
    twins = multiclass_twins(np.random.default_rng(0), n=2)
    twins.X[1] = twins.X[0]
    twins.Y[:] = [0, 1]
    with pytest.raises(InseparableError, match="cannot be separated"):
        NSlack().run(twins.python_problem(), MarginObjective(np.ones(2), 1.0, None, "hard"))


def test_a_hard_margin_takes_no_rescaling():
    with pytest.raises(ValueError, match="give rescaling=None, not 'margin'"):
        MarginObjective(np.ones(2), 1.0, "margin", "hard")


def test_for_zero_one_loss_all_formulations_of_a_slack_coincide():
    twins = multiclass_twins(np.random.default_rng(1), n=15, cost="zero_one")
    for slack in ("linear", "squared"):
        optima = [
            NSlack(tol=1e-9).run(twins.problem, MarginObjective(np.ones(15), 4.0, rescaling, slack)).state.primal
            for rescaling in (None, "margin", "slack")
        ]
        np.testing.assert_allclose(optima, optima[0], rtol=1e-7)


@pytest.mark.parametrize(("rescaling", "slack"), SOFT)
def test_an_example_of_weight_two_equals_two_copies(rescaling, slack):
    twins = multiclass_twins(np.random.default_rng(2), n=6)
    twice = np.array([0, 0, 1, 2, 3, 3, 4, 5])
    copies = twins._replace(X=[twins.X[i] for i in twice], Y=[twins.Y[i] for i in twice]).python_problem()
    weighted = MarginObjective(np.bincount(twice).astype(float), 4.0, rescaling, slack)
    for solver in (NSlack(tol=1e-6), OneSlack(tol=1e-6)):
        left = solver.run(twins.problem, weighted).state
        right = solver.run(copies, replace(weighted, sample_weight=np.ones(8))).state
        assert left.primal == pytest.approx(right.primal, rel=1e-5)
