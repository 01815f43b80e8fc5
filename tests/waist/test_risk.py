"""One method for all that solvers ask of the sum over examples, margins and likelihoods alike."""

import numpy as np
import pytest

from structlearn.solvers import OneSlack
from structlearn.waist import LikelihoodObjective, MarginObjective
from tests.models.instances import chain_twins

WEIGHT = np.array([0.5, 1.0, 2.0])
OBJECTIVES = [
    MarginObjective(WEIGHT, 3.0),
    MarginObjective(WEIGHT, 3.0, "margin", "squared"),
    MarginObjective(WEIGHT, 3.0, "slack", "linear"),
    MarginObjective(WEIGHT, 3.0, "slack", "squared"),
    MarginObjective(WEIGHT, 3.0, None, "linear"),
    LikelihoodObjective(WEIGHT, 3.0),
]


@pytest.fixture
def problem():
    problem = chain_twins(np.random.default_rng(0), lengths=[2, 3, 4]).problem
    problem._chunk = 2
    return problem


@pytest.fixture
def w(problem):
    return np.random.default_rng(1).normal(size=problem.n_features)


@pytest.mark.parametrize("objective", OBJECTIVES, ids=str)
def test_the_linearisation_touches_the_risk_at_w_and_is_nowhere_above(objective, problem, w):
    risk = problem.risk(w, objective)
    assert risk.offset + risk.gradient @ w == pytest.approx(risk.value, rel=1e-12)
    assert objective.primal(w, risk.losses) == pytest.approx(0.5 * w @ w + objective.price * risk.value, rel=1e-12)
    for v in np.random.default_rng(2).normal(size=(20, len(w))):
        assert problem.risk(v, objective).value >= risk.offset + risk.gradient @ v - 1e-9


def test_the_offset_of_a_likelihood_is_the_entropy(problem, w):
    risk = problem.risk(w, LikelihoodObjective(WEIGHT))
    assert risk.offset == pytest.approx(WEIGHT @ problem.output_entropies(w), rel=1e-12)
    np.testing.assert_allclose(risk.losses, -problem.log_probabilities(w))


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=str)
def test_violations_are_the_losses_of_the_risk(objective, problem, w):
    np.testing.assert_array_equal(problem.violations(w, objective), problem.risk(w, objective).losses)


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=str)
def test_observed_planes_with_the_coefficients_are_the_gradient(objective, problem, w):
    seen = []
    risk = problem.risk(w, objective, seen.append)
    gradient = np.zeros_like(w)
    for planes in seen:
        planes.rows.add_to(gradient, -risk.coefficients[planes.examples])
    np.testing.assert_allclose(gradient, risk.gradient, atol=1e-12)
    assert np.concatenate([planes.examples for planes in seen]).tolist() == [0, 1, 2]


@pytest.mark.parametrize("objective", OBJECTIVES[:-1], ids=str)
def test_a_cut_is_the_linearisation_over_the_sum_of_the_weights(objective, problem):
    state = OneSlack().init_state(problem, objective)
    saved = state.cuts.save()
    risk = problem.risk(np.zeros(problem.n_features), objective)
    cut = np.zeros(problem.n_features)
    cut[saved["indices"]] = saved["values"]
    np.testing.assert_allclose(cut, -risk.gradient / WEIGHT.sum(), atol=1e-12)
    assert saved["b"] == pytest.approx([risk.offset / WEIGHT.sum()])
    np.testing.assert_array_equal(state.slacks, np.maximum(risk.losses, 0.0))
