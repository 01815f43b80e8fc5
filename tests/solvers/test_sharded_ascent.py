"""Ascent on parts at the same time: the optimum of one problem, certified, whatever becomes of the parts."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from structlearn.models import Chain
from structlearn.solvers import LBFGS, BlockCoordinate, OneSlack, ShardedAscent, saved_state
from structlearn.solvers.sharded_ascent import best_factors
from structlearn.waist.objective import LikelihoodObjective, MarginObjective
from structlearn.waist.packed import add_packed, dot_packed, packed, packed_difference, scaled, set_zero
from structlearn.waist.sharded import PartsHere, ShardedProblem

random = np.random.default_rng(0)
N = 60
TRUE = random.normal(size=(12, 3))
X = [sp.csr_array((random.random((n, 12)) < 0.3).astype(float)) for n in random.integers(1, 6, size=N)]
Y = [["abc"[k] for k in np.argmax(x @ TRUE + random.normal(size=(x.shape[0], 3)), 1)] for x in X]
MODEL = Chain()
SPEC = MODEL.specify(X, Y)
WEIGHTS = random.uniform(0.5, 2.0, size=N)


def whole():
    return MODEL.bind(SPEC, X, Y)


def sharded(*cuts):
    edges = [0, *cuts, N]
    bound = [MODEL.bind(SPEC, X[a:b], Y[a:b]) for a, b in pairwise(edges)]
    return ShardedProblem(PartsHere(bound))


def objective(slack="linear", weights=None):
    return MarginObjective(np.ones(N) if weights is None else weights, 20.0, slack=slack)


def optimum(problem, objective):
    return BlockCoordinate(tol=1e-6).run(problem, objective).history[-1]["primal"]


@pytest.mark.parametrize("cuts", [(), (30,), (5, 6, 40)])
@pytest.mark.parametrize("slack", ["linear", "squared"])
def test_parts_reach_the_optimum_of_the_whole(cuts, slack):
    priced = objective(slack, WEIGHTS)
    solution = ShardedAscent(tol=1e-3).run(sharded(*cuts), priced)
    least = optimum(whole(), priced)
    assert solution.converged
    assert solution.state.primal == pytest.approx(priced.primal(solution.w, whole().violations(solution.w, priced)))
    assert solution.state.dual <= least * (1 + 1e-5)
    assert least * (1 - 1e-5) <= solution.state.primal <= least * (1 + 2e-3)


def test_the_shares_are_points_of_the_dual():
    # Σ_k l_k − ½‖Σ_k share_k‖² is below the minimum after every iteration, also with steps as large as they may be.
    priced, bounds = objective(), []
    least = optimum(whole(), priced)

    def observe(state):
        bounds.append(state.linear.sum() - 0.5 * state.point @ state.point)
        return False

    ShardedAscent(tol=1e-4, max_iter=15).run(sharded(20, 40), priced, observe=observe)
    assert np.all(np.diff(bounds) >= -1e-9)
    assert max(bounds) <= least * (1 + 1e-5)


@pytest.mark.parametrize("lost", [[0], [1, 2], [0, 1, 2]])
def test_parts_that_are_lost_cost_no_certificate(lost):
    problem, priced, bounds = sharded(20, 40), objective(), []

    def observe(state):
        bounds.append(state.linear.sum() - 0.5 * state.point @ state.point)
        if state.iteration in (2, 4):
            for k in lost:
                problem.parts.parts[k].kept.clear()
        return False

    solution = ShardedAscent(tol=1e-3).run(problem, priced, observe=observe)
    assert solution.converged
    assert sum(record.get("restarted", 0) for record in solution.history) == 2 * len(lost)
    assert np.all(np.diff(bounds) >= -1e-9)
    least = optimum(whole(), priced)
    assert least * (1 - 1e-5) <= solution.state.primal <= least * (1 + 2e-3)
    assert solution.state.slacks == pytest.approx(np.maximum(whole().violations(solution.w, priced), 0.0))


def test_an_answer_to_another_question_is_not_taken():
    # A part whose proposal was made twice knows more than what was merged: it begins anew.
    problem, priced = sharded(30), objective()

    def observe(state):
        if state.iteration == 2:
            problem.parts.parts[0].kept["local ascent"].number += 1
        return False

    solution = ShardedAscent(tol=1e-3).run(problem, priced, observe=observe)
    assert sum(record.get("restarted", 0) for record in solution.history) == 1
    assert solution.converged


def test_a_saved_state_goes_on_with_parts_that_know_nothing():
    priced = objective()
    first = ShardedAscent(tol=1e-4, max_iter=3).run(sharded(30), priced)
    problem, solver = sharded(30), ShardedAscent(tol=1e-3)
    state = saved_state.restore(saved_state.save(first.state), solver, problem, priced)
    solution = solver.run(problem, priced, state=state, history=first.history)
    assert solution.converged
    assert solution.state.dual >= first.state.dual
    assert solution.state.primal == pytest.approx(optimum(whole(), priced), rel=2e-3)


def test_runs_are_repeatable():
    first, second = (ShardedAscent(tol=1e-3).run(sharded(20, 40), objective()) for _ in range(2))
    assert np.array_equal(first.w, second.w)


def test_planes_are_given_up_beyond_max_memory():
    problem = sharded(30)
    problem.max_memory = 20_000
    solution = ShardedAscent(tol=0.05, max_iter=30).run(problem, objective())
    assert solution.state.primal >= optimum(whole(), objective()) * (1 - 1e-5)
    assert max(part.kept["local ascent"].sets.nbytes() for part in problem.parts.parts) < 40_000


def test_data_in_one_piece_are_refused():
    with pytest.raises(ValueError, match="ShardedAscent is for data in parts"):
        ShardedAscent().run(whole(), objective())


def test_sums_are_those_of_the_whole():
    w = random.normal(size=whole().n_features)
    for priced in (objective(weights=WEIGHTS), LikelihoodObjective(WEIGHTS, 30.0)):
        one, parts = whole().risk(w, priced), sharded(7, 33).risk(w, priced)
        assert parts.value == pytest.approx(one.value)
        assert parts.offset == pytest.approx(one.offset)
        assert parts.gradient == pytest.approx(one.gradient)
        assert parts.losses == pytest.approx(one.losses)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-3), BlockCoordinate(tol=1e-3), LBFGS(tol=1e-3)])
def test_other_solvers_do_not_notice(solver):
    priced = LikelihoodObjective(np.ones(N), 30.0) if isinstance(solver, LBFGS) else objective()
    one, parts = (solver.run(problem, priced).history[-1]["primal"] for problem in (whole(), sharded(30)))
    assert one == pytest.approx(parts, rel=2e-3)


def test_predictions_are_those_of_the_whole():
    w = random.normal(size=whole().n_features)
    one, parts = whole(), sharded(7, 33)
    assert parts.present(parts.predict(w)) == one.present(one.predict(w))
    assert parts.losses(parts.predict(w)) == pytest.approx(one.losses(one.predict(w)))
    assert parts.radii() == pytest.approx(one.radii())
    assert parts.max_losses() == pytest.approx(one.max_losses())
    assert parts.sizes() == one.sizes()


def test_parts_with_other_weights_are_refused():
    other = MODEL.bind(MODEL.specify(X, [["z"] * len(y) for y in Y]), X, [["z"] * len(y) for y in Y])
    with pytest.raises(ValueError, match="part 1 has 15 weights, but part 0 has 51"):
        ShardedProblem(PartsHere([whole(), other]))


def test_factors_maximise_the_dual_over_the_box():
    rows = random.normal(size=(4, 6)) + 1.0
    products, gains = rows @ rows.T, random.uniform(0.0, 10.0, size=4)
    t = best_factors(products, gains)
    slope = gains - products @ t
    assert np.all((t >= 0.0) & (t <= 1.0))
    assert np.all(np.abs(slope[(t > 0.0) & (t < 1.0)]) < 1e-6)
    assert np.all(slope[t == 1.0] >= -1e-6)
    assert np.all(slope[t == 0.0] <= 1e-6)


@pytest.mark.parametrize("density", [0.1, 0.9])
def test_packed_vectors_are_the_same_vectors(density):
    vector = random.normal(size=50) * (random.random(50) < density)
    grown = np.zeros(50)
    add_packed(grown, packed(vector))
    assert np.array_equal(grown, vector)
    add_packed(grown, scaled(packed(vector), 2.0))
    assert np.array_equal(grown, 3.0 * vector)
    add_packed(grown, packed(vector), -3.0)
    assert not grown.any()
    other = vector + random.normal(size=50) * (random.random(50) < 0.5 * density)
    add_packed(grown, packed_difference(other, vector, 2.0))
    assert grown == pytest.approx(0.5 * (other - vector))
    assert dot_packed(packed(vector), other) == pytest.approx(vector @ other)
    set_zero(other, packed(vector))
    assert not other[vector != 0.0].any()
