from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.datasets import make_motifs
from structlearn.models import Motif, PythonLatentModel
from structlearn.models.motif.problem import MotifProblem
from structlearn.models.own.python_model import PythonSpec
from structlearn.solvers import BlockCoordinate, ConcaveConvex, DualState, NSlack, OneSlack, Solver, Subgradient
from structlearn.solvers.concave_convex import ConcaveConvexState
from structlearn.solvers.saved_state import restore, save
from structlearn.waist import LatentProblem, MarginObjective, SparseRows, Start
from tests.solvers.latent_toy import OneOfSeveral, several

INNER: list[Solver] = [BlockCoordinate(), OneSlack(), NSlack(), OneSlack(cache=0), Subgradient(max_iter=20)]
SEEDS = st.integers(0, 10_000)


def problem_of(seed: int, n: int = 15) -> tuple[OneOfSeveral, Any]:
    model = OneOfSeveral(3, 4)
    X, Y = several(np.random.default_rng(seed), n)
    return model, PythonLatentModel(model).bind(PythonSpec(model.n_features), X, Y)


def objective_of(problem: LatentProblem, C: float = 10.0, **options: Any) -> MarginObjective:
    return MarginObjective(np.ones(problem.n_examples), C, **options)


def value_by_enumeration(problem: Any, w: Any, objective: MarginObjective) -> float:
    """The objective with both maxima over all outputs written out."""
    model, slacks = problem._model, []
    for x, y in zip(problem._X, problem._Y, strict=True):
        truth = max(model.joint_feature(x, y, h) @ w for h in model.completions(x, y))
        scaled = (objective.scaling(np.array([model.loss(y, *pair)])) for pair in model.outputs(x))
        scores = (model.joint_feature(x, *pair) @ w for pair in model.outputs(x))
        slacks.append(max(b[0] - a[0] * (truth - score) for (a, b), score in zip(scaled, scores, strict=True)))
    return objective.primal(w, np.array(slacks))


@pytest.mark.sample(3)
@pytest.mark.parametrize("inner", INNER, ids=lambda solver: type(solver).__name__)
@given(seed=SEEDS)
@settings(max_examples=4)
def test_the_objective_never_rises(inner: Solver, seed: int) -> None:
    _, problem = problem_of(seed)
    solution = ConcaveConvex(inner=inner, max_iter=25, start="random").run(problem, objective_of(problem))
    values = [record["primal"] for record in solution.history]
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))
    assert values[-1] <= values[0]


@pytest.mark.sample(3)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["linear", "squared"])
@given(seed=SEEDS)
@settings(max_examples=3)
def test_the_recorded_objective_is_that_of_the_definition(rescaling: Any, slack: Any, seed: int) -> None:
    _, problem = problem_of(seed, 12)
    objective = objective_of(problem, rescaling=rescaling, slack=slack)
    solution = ConcaveConvex(max_iter=30).run(problem, objective)
    assert solution.state.value == pytest.approx(value_by_enumeration(problem, solution.w, objective), rel=1e-9)


@pytest.mark.sample(3)
@pytest.mark.parametrize("inner", INNER[:3], ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("carry_over", [True, False])
def test_a_run_ends_where_its_upper_bound_is_nearly_minimal(inner: Solver, carry_over: bool) -> None:
    for seed in range(2):
        _, problem = problem_of(seed)
        objective = objective_of(problem)
        solution = ConcaveConvex(inner=inner, carry_over=carry_over, tol=1e-3).run(problem, objective)
        assert solution.converged
        everything = np.arange(problem.n_examples)
        convex = problem.completed(problem.complete(solution.w, everything))
        least = BlockCoordinate(tol=1e-6).run(convex, objective).state.dual
        assert (solution.state.value - least) / solution.state.value <= 1e-3 + 1e-6


@given(seed=SEEDS)
@settings(max_examples=10)
def test_moved_planes_are_those_of_the_new_truths(seed: int) -> None:
    """After rebasing, the dual value and its w are those of a working set built anew with the same multipliers."""
    _, problem = problem_of(seed, 8)
    objective = objective_of(problem)
    random = np.random.default_rng(seed)
    everything = np.arange(problem.n_examples)
    old, new = (problem.random_completions(random) for _ in range(2))
    solver = NSlack(max_iter=3)
    state = solver.run(problem.completed(old), objective).state
    shifts = problem.between(everything, new, old)
    convex = problem.completed(new)
    alphas = [state.sets.alpha(i) for i in range(problem.n_examples)]
    grams = [state.sets.gram(i).reshape(len(a), len(a)) for i, a in enumerate(alphas)]
    rebased = state.rebased(convex, objective, shifts)
    dense = np.zeros((problem.n_examples, problem.n_features))
    for i in everything:
        dense[i, shifts.indices[shifts.indptr[i] : shifts.indptr[i + 1]]] = shifts.values[
            shifts.indptr[i] : shifts.indptr[i + 1]
        ]
    moved = state.iterate + sum(alpha.sum() * shift for alpha, shift in zip(alphas, dense, strict=True))
    np.testing.assert_allclose(rebased.iterate, moved, atol=1e-10)
    for i, gram in enumerate(grams):
        after = rebased.sets.gram(i).reshape(gram.shape)
        spread = np.diag(after)[:, None] + np.diag(after)[None] - 2 * after
        before = np.diag(gram)[:, None] + np.diag(gram)[None] - 2 * gram
        np.testing.assert_allclose(spread, before, atol=1e-8)
    exact = BlockCoordinate(tol=1e-7).run(convex, objective).state
    assert rebased.dual <= exact.primal * (1 + 1e-9)


@pytest.mark.sample(3)
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("slack", ["linear", "squared"])
@given(seed=SEEDS)
@settings(max_examples=2)
def test_moved_cuts_lie_below_the_risk_of_the_new_truths(rescaling: Any, slack: Any, seed: int) -> None:
    _, problem = problem_of(seed, 8)
    objective = objective_of(problem, rescaling=rescaling, slack=slack)
    random = np.random.default_rng(seed)
    old, new = (problem.random_completions(random) for _ in range(2))
    solver = OneSlack(max_iter=12, idle_cuts=3, tol=1e-9)
    state = solver.run(problem.completed(old), objective).state
    before, coefficients = state.cuts.save(), np.array(state.coefficients)
    shifts = problem.between(np.arange(problem.n_examples), new, old)
    convex = problem.completed(new)
    rebased = OneSlack(cache=0).rebase(state, convex, objective, shifts)
    n_cuts = len(before["b"])
    after = rebased.cuts.save()
    for _ in range(5):
        w = random.normal(size=problem.n_features)
        rows = (SparseRows(cuts["indptr"], cuts["indices"], cuts["values"]) for cuts in (before, after))
        at_old, at_new = (rows.dot(w)[:n_cuts] for rows in rows)
        np.testing.assert_allclose(at_new - at_old, coefficients @ shifts.dot(w), atol=1e-10)
        risk = convex.risk(w, objective).value
        assert np.max(after["b"][:n_cuts] - at_new) <= risk / problem.n_examples + 1e-9
    exact = BlockCoordinate(tol=1e-7).run(convex, objective).state
    assert rebased.dual <= exact.primal * (1 + 1e-9)


@pytest.mark.sample(2)
@pytest.mark.parametrize("inner", [BlockCoordinate(), OneSlack()], ids=lambda solver: type(solver).__name__)
def test_carried_planes_save_at_least_half_of_the_oracle_calls(inner: Solver) -> None:
    class Counted(MotifProblem):
        def most_violating(self, w: Any, examples: Any, scaling: Any) -> Any:
            decoded[carry_over] += len(examples)
            return super().most_violating(w, examples, scaling)

    decoded = {True: 0, False: 0}
    for seed in range(2):
        data, model = make_motifs(random_state=seed), Motif(width=11)
        for carry_over in decoded:
            problem = model.bind(model.specify(data.X, data.Y), data.X, data.Y)
            problem.__class__ = Counted
            solver = ConcaveConvex(inner=inner, carry_over=carry_over, start="random", random_state=seed)
            assert solver.run(problem, objective_of(problem, 0.1 * problem.n_examples)).converged
    assert decoded[True] <= 0.5 * decoded[False]


def test_a_start_is_kept_to() -> None:
    _, problem = problem_of(0)
    objective = objective_of(problem)
    w = np.random.default_rng(0).normal(size=problem.n_features)
    state = ConcaveConvex(start=Start(w=w)).init_state(problem, objective)
    assert state.value == pytest.approx(value_by_enumeration(problem, w, objective))
    np.testing.assert_array_equal(state.w, w)
    completions = problem.random_completions(np.random.default_rng(1))
    state = ConcaveConvex(start=lambda problem, random: Start(completions=completions)).init_state(problem, objective)
    assert state.completions == completions
    assert not state.w.any()


def test_a_stationary_start_is_left_alone() -> None:
    _, problem = problem_of(3)
    objective = objective_of(problem)
    solution = ConcaveConvex(tol=1e-4).run(problem, objective)
    again = ConcaveConvex(tol=1e-3, start=Start(w=solution.w)).run(problem, objective)
    assert again.converged
    assert again.state.value <= solution.state.value
    assert again.state.value >= solution.state.value * (1 - 2e-3)


@pytest.mark.parametrize("inner", INNER[:3], ids=lambda solver: type(solver).__name__)
def test_a_saved_run_goes_on_exactly(inner: Solver) -> None:
    _, problem = problem_of(5)
    objective = objective_of(problem)
    solver = ConcaveConvex(inner=inner, tol=1e-5)
    whole = solver.run(problem, objective)
    first = ConcaveConvex(inner=inner, tol=1e-5, max_iter=4).run(problem, objective)
    state = restore(save(first.state), solver, problem, objective)
    rest = solver.run(problem, objective, state=state, history=first.history)
    np.testing.assert_array_equal(rest.w, whole.w)
    assert [r["primal"] for r in rest.history] == [r["primal"] for r in whole.history]


def test_a_completion_that_is_not_the_best_is_noticed() -> None:
    model, problem = problem_of(1)
    best = model.complete
    model.complete = lambda x, y, w: int(np.argmin(x @ w.reshape(3, -1)[y]))  # type: ignore[method-assign]
    with pytest.warns(RuntimeWarning, match="complete of the model does not find the best latent part"):
        ConcaveConvex(max_iter=30).run(problem, objective_of(problem))
    model.complete = best  # type: ignore[method-assign]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ConcaveConvex(max_iter=30).run(problem, objective_of(problem))


def test_truths_without_latent_variables_are_refused() -> None:
    class Plain:
        latent = False
        oracles = frozenset({"loss_augmented"})

    with pytest.raises(TypeError, match="Plain has no latent parts to complete: use StructuralSVM"):
        ConcaveConvex().check(Plain(), MarginObjective(np.ones(1)))


def test_solvers_of_convex_problems_refuse_latent_variables() -> None:
    _, problem = problem_of(0)
    with pytest.raises(ValueError, match="BlockCoordinate is not made for truths with latent parts"):
        BlockCoordinate().run(problem, objective_of(problem))


def test_differences_need_completed_truths() -> None:
    _, problem = problem_of(0)
    with pytest.raises(ValueError, match="complete them first"):
        problem.differences(np.arange(2), [(0, 0), (0, 0)])


@dataclass(frozen=True, kw_only=True)
class Boasting(NSlack):
    """Claims a lower bound above the objective."""

    def update(self, state: Any, problem: Any, objective: Any) -> Any:
        state = super().update(state, problem, objective)
        state.dual = 1.5 * state.primal
        return state


def test_a_false_certificate_is_noticed_and_not_believed() -> None:
    _, problem = problem_of(0)
    with pytest.warns(RuntimeWarning, match="of Boasting is above the objective"):
        solution = ConcaveConvex(inner=Boasting(), max_iter=10).run(problem, objective_of(problem))
    assert not solution.converged
    assert np.isnan(solution.state.stationarity)


@pytest.mark.parametrize(("dual", "tol"), [(0.6, 1 / 3), (0.0, 0.5), (1.0 - 1e-9, 1e-3)])
def test_convex_problems_are_left_after_a_quarter_of_the_way(dual: float, tol: float) -> None:
    """From 1 down to 0.6 that is 0.9, with a relative gap of a third; where there is no way, it is not looked for."""
    state = ConcaveConvexState(w=np.zeros(1), value=1.0, inner=DualState(w=np.zeros(1), dual=dual))
    assert ConcaveConvex(tol=0.01)._inner(state).tol == pytest.approx(tol)
