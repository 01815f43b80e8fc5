"""Every solver of likelihoods, against the enumerated objective and a generic minimiser."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize

from structlearn.models import Chain, PythonModel
from structlearn.solvers import LBFGS, BlockCoordinate, DualCoordinate, ExponentiatedGradient, IterativeScaling
from structlearn.waist import LikelihoodObjective, MarginObjective
from tests.models.enumerated import EnumeratedMulticlass, Twins, bound
from tests.models.instances import chain_twins, multiclass_twins
from tests.waist.test_parts import constrained_twins, distributions

SOLVERS = [
    DualCoordinate(tol=1e-9, max_iter=3000),
    LBFGS(tol=1e-9, max_iter=3000),
    ExponentiatedGradient(tol=1e-9, max_iter=3000),
    ExponentiatedGradient(online=False, tol=1e-9, max_iter=5000),
]
TWINS = {
    "chain": chain_twins,
    "constraints": constrained_twins,
    "pair features": lambda random: chain_twins(random, pair_features=True),
    "classes": lambda random: multiclass_twins(random, output_features=True),
}


def enumerated_minimum(twins, objective):
    def value(w):
        everything = distributions(twins, w)
        losses = np.array([loss for _, _, loss in everything])
        gradient = (1.0 - objective.l1_ratio) * w
        for weight, x, y, (features, p, _) in zip(
            objective.price * objective.sample_weight, twins.X, twins.Y, everything, strict=True
        ):
            gradient = gradient + weight * (p @ features - twins.reference.joint_feature(x, y))
        return 0.5 * (1.0 - objective.l1_ratio) * w @ w + objective.price * objective.sample_weight @ losses, gradient

    d = twins.problem.n_features
    if not objective.l1_ratio:
        return minimize(value, np.zeros(d), jac=True, method="BFGS", options={"gtol": 1e-10, "maxiter": 5000}).fun

    def split(parts):
        v, gradient = value(parts[:d] - parts[d:])
        slope = objective.l1_ratio
        return v + slope * parts.sum(), np.concatenate([gradient + slope, slope - gradient])

    options = {"ftol": 1e-15, "gtol": 1e-10, "maxiter": 20_000, "maxfun": 50_000}
    return minimize(split, np.zeros(2 * d), jac=True, bounds=[(0, None)] * 2 * d, options=options).fun


@pytest.mark.parametrize("kind", TWINS)
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_all_solvers_reach_the_enumerated_minimum(kind, C):
    random = np.random.default_rng(3)
    twins = TWINS[kind](random)
    objective = LikelihoodObjective(random.uniform(0.5, 2.0, twins.problem.n_examples), C)
    expected = enumerated_minimum(twins, objective)
    for solver in SOLVERS:
        solution = solver.run(twins.problem, objective)
        assert solution.converged, solver
        last = solution.history[-1]
        assert last["primal"] == pytest.approx(expected, rel=1e-8)
        assert last["dual"] <= expected * (1 + 1e-9)
        assert objective.primal(solution.w, twins.problem.log_losses(solution.w)) == pytest.approx(last["primal"])


@pytest.mark.parametrize("solver", SOLVERS)
def test_bounds_hold_and_the_dual_never_falls(solver):
    twins = chain_twins(np.random.default_rng(5), lengths=[3, 4, 2, 3])
    objective = LikelihoodObjective(np.ones(4), 10.0)
    expected = enumerated_minimum(twins, objective)
    history = solver.run(twins.problem, objective).history
    duals = [record["dual"] for record in history]
    assert all(a <= b + 1e-12 for a, b in pairwise(duals))
    assert all(record["dual"] <= expected + 1e-9 <= record["primal"] + 2e-9 for record in history)


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_owl_qn_reaches_the_minimum_of_an_l1_penalty(l1_ratio):
    twins = chain_twins(np.random.default_rng(2), lengths=[3, 2, 4])
    objective = LikelihoodObjective(np.ones(3), 15.0, l1_ratio)
    expected = enumerated_minimum(twins, objective)
    solution = LBFGS(tol=1e-6, max_iter=5000).run(twins.problem, objective)
    assert solution.history[-1]["primal"] == pytest.approx(expected, rel=1e-6)
    assert solution.history[-1]["dual"] <= expected + 1e-9
    assert solution.converged
    assert 0 < np.count_nonzero(solution.w) < len(solution.w)


def test_iterative_scaling_never_raises_the_objective_and_gets_there():
    random = np.random.default_rng(0)
    twins = chain_twins(random, lengths=[2, 1, 2])
    for x in twins.X:
        np.abs(x, out=x)
    twins = Twins(bound(Chain(classes=[0, 1, 2]), twins.X, twins.Y), twins.reference, twins.X, twins.Y)
    objective = LikelihoodObjective(np.ones(3), 3.0)
    solution = IterativeScaling(tol=1e-7, max_iter=20_000).run(twins.problem, objective)
    primals = [record["primal"] for record in solution.history]
    assert all(b <= a + 1e-12 for a, b in pairwise(primals))
    assert primals[-1] == pytest.approx(enumerated_minimum(twins, objective), rel=1e-6)
    assert solution.converged


def test_iterative_scaling_refuses_negative_features():
    twins = chain_twins(np.random.default_rng(0))
    with pytest.raises(ValueError, match="iterative scaling needs features ≥ 0"):
        IterativeScaling().run(twins.problem, LikelihoodObjective(np.ones(3)))


@pytest.mark.parametrize("online", [True, False])
def test_exponentiated_gradient_trains_margins_too(online):
    twins = chain_twins(np.random.default_rng(1), lengths=[2, 3, 2])
    objective = MarginObjective(np.ones(3), 5.0)
    expected = BlockCoordinate(tol=1e-9).run(twins.problem, objective).history[-1]["primal"]
    tol = 1e-3 if online else 0.02
    solution = ExponentiatedGradient(online=online, tol=tol, max_iter=20_000).run(twins.problem, objective)
    assert solution.converged
    assert expected - 1e-9 <= solution.history[-1]["primal"] <= expected * (1 + 2 * tol)
    assert solution.history[-1]["dual"] <= expected + 1e-9


@pytest.mark.parametrize("solver", [DualCoordinate, LBFGS])
def test_a_run_goes_on_under_another_price(solver):
    twins = chain_twins(np.random.default_rng(1), lengths=[2, 3, 2])
    first = solver(tol=1e-6).run(twins.problem, LikelihoodObjective(np.ones(3), 5.0))
    objective = LikelihoodObjective(np.ones(3), 6.0)
    again = solver(tol=1e-6).run(twins.problem, objective, state=first.state)
    fresh = solver(tol=1e-6).run(twins.problem, objective)
    assert again.history[-1]["primal"] == pytest.approx(fresh.history[-1]["primal"], rel=2e-6)
    assert len(again.history) <= len(fresh.history)


@pytest.mark.parametrize(
    ("solver", "objective", "message"),
    [
        (DualCoordinate(), MarginObjective(np.ones(3)), "DualCoordinate is not made for rescaling='margin'"),
        (BlockCoordinate(), LikelihoodObjective(np.ones(3)), "BlockCoordinate is not made for a likelihood"),
        (DualCoordinate(), LikelihoodObjective(np.ones(3), l1_ratio=0.5), "no form for l1_ratio=0.5"),
        (ExponentiatedGradient(), MarginObjective(np.ones(3), rescaling="slack"), "needs rescaling='margin'"),
    ],
)
def test_what_a_solver_cannot_do_is_refused_by_name(solver, objective, message):
    twins = chain_twins(np.random.default_rng(1))
    with pytest.raises(ValueError, match=message):
        solver.run(twins.problem, objective)


def test_a_zero_one_loss_is_refused_where_parts_are_needed():
    twins = chain_twins(np.random.default_rng(1), loss="zero_one")
    with pytest.raises(ValueError, match="a sum over parts"):
        ExponentiatedGradient().run(twins.problem, MarginObjective(np.ones(3)))


def test_a_python_model_that_lists_no_outputs_has_no_sums():
    class Bare:
        joint_feature = EnumeratedMulticlass.joint_feature
        loss = EnumeratedMulticlass.loss
        output_features, cost = np.eye(2), 1.0 - np.eye(2)

    problem = bound(PythonModel(Bare()), [np.ones(2)], [0])
    with pytest.raises(ValueError, match=r"needs the oracle 'sums', .*; write outputs in Bare"):
        DualCoordinate().run(problem, LikelihoodObjective(np.ones(1)))
