from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import log_softmax

from structlearn import StructuralSVM, load
from structlearn.models import Multiclass
from structlearn.solvers import BlockCoordinate, Extragradient
from structlearn.waist import MarginObjective
from tests.models.enumerated import bound
from tests.models.instances import chain_twins, multiclass_twins
from tests.solvers.full_qp import full_optimum
from tests.solvers.part_margins import PROBLEMS, WrittenOut, instance


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_the_gap_closes_on_the_optimum_of_the_full_program(kind, C):
    twins, objective = instance(kind, C)
    optimum, w = full_optimum(twins, objective)
    solution = Extragradient(tol=1e-3).run(twins.problem, objective)
    state = solution.state
    assert solution.converged
    assert state.dual <= optimum * (1 + 1e-9)
    assert optimum <= state.primal * (1 + 1e-9)
    assert state.primal - state.dual <= 1e-3 * state.primal
    assert 0.5 * np.sum((solution.w - w) ** 2) <= 1e-3 * state.primal
    other = BlockCoordinate(tol=1e-5).run(twins.problem, objective).state
    assert max(state.dual, other.dual) <= min(state.primal, other.primal) * (1 + 1e-9)


def near_truth(reference, truth, output):
    """⟨θ, μ(y)⟩ at the start: 5 for every part of the output that the truth has too."""
    if isinstance(truth, int):
        return 5.0 * (truth == output)
    shared = sum(left == right for left, right in zip(truth, output, strict=True))
    shared += sum(pair in set(pairwise(truth)) for pair in pairwise(output))
    shared += reference.boundaries * ((truth[0] == output[0]) + (truth[-1] == output[-1]))
    return 5.0 * shared


class Run(NamedTuple):
    """A state, and its point and the beginning of its average as (w, scores of all outputs) by the formulas."""

    state: object
    now: tuple
    begin: tuple


def written_out_run(twins, objective, written, count):
    solver = Extragradient()
    state = solver.init_state(twins.problem, objective)
    w = np.zeros(twins.problem.n_features)
    scores = [
        np.array([near_truth(twins.reference, truth, output) for output in each.outputs])
        for truth, each in zip(twins.Y, written.listed, strict=True)
    ]
    for iteration in range(1, count + 1):
        weight = state.weight
        if iteration in (1, 2, 4, 8, 16, 32):
            begin, weight = (w, scores), 0.0
        state = solver.update(state, twins.problem, objective)
        state.iteration = iteration
        eta = state.weight - weight
        pull = eta * state.balance
        m = written.softmax(scores)
        ahead_w = (w + pull * written.w(m)) / (1 + pull)
        ahead = written.softmax([s + eta * slope for s, slope in zip(scores, written.slopes(w), strict=True)])
        w = (w + pull * written.w(ahead)) / (1 + pull)
        scores = [s + eta * slope for s, slope in zip(scores, written.slopes(ahead_w), strict=True)]
        yield Run(state, (w, scores), begin)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_a_step_is_the_formula_written_out_over_all_outputs(kind):
    twins, objective = instance(kind, 20.0)
    written = WrittenOut(twins, objective)
    for state, (w, scores), _ in written_out_run(twins, objective, written, 20):
        np.testing.assert_allclose(state.now.w, w, atol=1e-8)
        np.testing.assert_allclose(state.now.m.point.w, written.w(written.softmax(scores)), atol=1e-8)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_the_gap_of_the_average_falls_with_the_sum_of_the_steps(kind):
    twins, objective = instance(kind, 20.0)
    written = WrittenOut(twins, objective)
    for state, _, (w, scores) in written_out_run(twins, objective, written, 40):
        gap = written.primal(state.mean_w) - state.mean_m.value
        # The distance from the beginning to where the saddle function is worst for the average.
        best = [slope.argmax() for slope in written.slopes(state.mean_w)]
        surprise = [-log_softmax(each)[y] for each, y in zip(scores, best, strict=True)]
        distance = np.sum((state.mean_m.w - w) ** 2) / (2 * state.balance) + written.u @ surprise
        assert gap + 1e-9 >= 0.0
        assert gap <= distance / state.weight


@pytest.mark.parametrize("step_size", [1e-6, 1e6])
def test_the_first_step_size_is_corrected(step_size):
    twins, objective = instance("chain", 20.0)
    solution = Extragradient(tol=1e-2, step_size=step_size).run(twins.problem, objective)
    assert solution.converged
    assert solution.state.primal == pytest.approx(full_optimum(twins, objective)[0], rel=1e-2)


@pytest.mark.parametrize("step_size", [0.0, -1.0, np.inf, np.nan])
def test_a_step_size_that_is_none_is_refused(step_size):
    twins, objective = instance("chain", 20.0)
    with pytest.raises(ValueError, match="step_size is"):
        Extragradient(step_size=step_size).run(twins.problem, objective)


def test_features_that_are_all_zero_leave_nothing_to_learn():
    problem = bound(Multiclass(), np.zeros((4, 2)), ["a", "b", "a", "b"])
    state = Extragradient(tol=-1.0, max_iter=1100).iterate(problem, MarginObjective(np.ones(4), 3.0)).state
    np.testing.assert_array_equal(state.w, 0.0)
    assert state.primal == pytest.approx(3.0)
    assert state.dual == pytest.approx(3.0, rel=1e-6)


def test_losses_that_are_no_sums_over_parts_are_refused():
    random = np.random.default_rng(0)
    chain = chain_twins(random, loss="zero_one").problem
    with pytest.raises(ValueError, match="Extragradient needs a loss that is a sum over parts"):
        Extragradient().run(chain, MarginObjective(np.ones(3)))
    with pytest.raises(ValueError, match="needs rescaling='margin'"):
        Extragradient().run(multiclass_twins(random).problem, MarginObjective(np.ones(8), 1.0, "slack"))


def test_numbers_that_overflow_are_reported():
    twins = chain_twins(np.random.default_rng(0))
    with pytest.raises(FloatingPointError, match="Extragradient finds no finite step at iteration 1 "):
        Extragradient().run(twins.problem, MarginObjective(np.ones(3), 1e200))
    problem = bound(Multiclass(), [[1.0], [1e200], [2.0]], ["a", "b", "a"])
    with pytest.raises(ValueError, match=r"X\[1\] has features too large"):
        Extragradient().run(problem, MarginObjective(np.ones(3)))


def test_the_estimator_takes_it_by_name_and_files_keep_it(tmp_path):
    X, y = np.eye(3), ["a", "b", "c"]
    named = StructuralSVM(Multiclass(), solver="extragradient", tol=0.01).fit(X, y)
    given = StructuralSVM(Multiclass(), solver=Extragradient(tol=0.01)).fit(X, y)
    np.testing.assert_array_equal(named.w_, given.w_)
    assert named.duality_gap_ <= 0.01
    given.save(tmp_path / "model.slm")
    assert load(tmp_path / "model.slm").solver == Extragradient(tol=0.01)
