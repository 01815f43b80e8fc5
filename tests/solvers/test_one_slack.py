from dataclasses import replace

import numpy as np
import pytest

from structlearn.solvers import NSlack, OneSlack
from structlearn.waist import MarginObjective
from tests.models.instances import chain_twins, multiclass_twins


@pytest.fixture
def problem():
    return multiclass_twins(np.random.default_rng(0), n=30).problem


@pytest.mark.parametrize("rescaling", [None, "margin", "slack"])
def test_the_cache_saves_oracle_passes_and_keeps_the_optimum(problem, rescaling):
    objective = MarginObjective(np.ones(30), 30.0, rescaling)
    cached, exact = (OneSlack(tol=1e-6, cache=cache).run(problem, objective) for cache in (10, 0))
    assert cached.state.primal == pytest.approx(exact.state.primal, rel=2e-6)
    assert cached.state.iteration < exact.state.iteration


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_dropping_idle_cuts_keeps_the_optimum(problem, rescaling):
    objective = MarginObjective(np.ones(30), 30.0, rescaling)
    dropping, keeping = (
        OneSlack(tol=1e-6, cache=0, idle_cuts=idle_cuts).run(problem, objective) for idle_cuts in (5, 10_000)
    )
    assert dropping.converged
    assert dropping.state.primal == pytest.approx(keeping.state.primal, rel=2e-6)
    assert dropping.state.cuts.sizes()[0] < keeping.state.cuts.sizes()[0]


@pytest.mark.parametrize(
    ("rescaling", "slack"), [(r, s) for r in (None, "margin", "slack") for s in ("linear", "squared")]
)
def test_a_run_taken_up_under_another_price_reaches_the_same_optimum(problem, rescaling, slack):
    solver = OneSlack(tol=1e-4)
    objective = MarginObjective(np.random.default_rng(1).uniform(0.5, 2.0, 30), 1.0, rescaling, slack)
    state = solver.run(problem, objective).state
    for C in (10.0, 0.1, 1.0):
        changed = replace(objective, C=C)
        solution = solver.run(problem, changed, state=state)
        state = solution.state
        assert solution.converged
        assert state.primal == pytest.approx(NSlack(tol=1e-6).run(problem, changed).state.primal, rel=2e-4)


def test_cuts_do_not_serve_other_sample_weights(problem):
    state = OneSlack().run(problem, MarginObjective(np.ones(30))).state
    with pytest.raises(ValueError, match="other sample weights"):
        OneSlack().run(problem, MarginObjective(np.arange(1.0, 31.0)), state=state)
    doubled = OneSlack().run(problem, MarginObjective(np.full(30, 2.0)), state=state)
    assert doubled.converged


def test_every_cut_lies_below_the_risk(problem):
    random = np.random.default_rng(0)
    for rescaling, slack in [("margin", "linear"), ("slack", "squared"), (None, "squared")]:
        objective = MarginObjective(random.uniform(0.5, 2.0, 30), 10.0, rescaling, slack)
        state = OneSlack().run(problem, objective).state
        for size in (0.1, 1.0, 10.0):
            w = size * random.normal(size=problem.n_features)
            risk = problem.risk(w, objective).value
            below = state.cuts.largest_violation(0, w)
            assert below <= risk / objective.sample_weight.sum() * (1 + 1e-9)


def test_a_problem_without_any_constraint_is_solved_at_zero():
    problem = chain_twins(np.random.default_rng(0), n_labels=1).problem
    for rescaling in (None, "margin", "slack"):
        solution = OneSlack().run(problem, MarginObjective(np.ones(3), 3.0, rescaling))
        assert solution.converged
        assert not solution.w.any()


def test_the_hard_margin_has_no_one_slack_form(problem):
    with pytest.raises(ValueError, match="OneSlack has no form for slack='hard'"):
        OneSlack().run(problem, MarginObjective(np.ones(30), 1.0, None, "hard"))
