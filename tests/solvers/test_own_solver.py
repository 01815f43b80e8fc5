"""What a solver of one's own declares and what it leaves unsaid."""

from dataclasses import dataclass

import numpy as np
import pytest

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import Chain, Multiclass
from structlearn.solvers import Solver, State

ROWS, LABELS = np.eye(2), ["a", "b"]


@dataclass(frozen=True, kw_only=True)
class Steps(Solver):
    """Subgradient steps, as a user would write them, without any declaration."""

    def init_state(self, problem, objective):
        return State(w=np.zeros(problem.n_features))

    def update(self, state, problem, objective):
        planes = problem.oracle(state.w, np.arange(problem.n_examples), objective.scaling)
        state.record = {"primal": objective.primal(state.w, planes.violations(problem.n_examples))}
        a, _ = objective.scaling(planes.losses)
        gradient = state.w.copy()
        planes.rows.add_to(gradient, -a * objective.limits[0][planes.examples] * (planes.bounds > 0))
        state.w = state.w - gradient / (state.iteration + 1)
        return state


class Silent(Steps):
    def update(self, state, problem, objective):
        return state


class Empty(Steps):
    def update(self, state, problem, objective):
        state.record = {"planes": 3}
        return state


def test_a_solver_without_declarations_serves_margins_with_linear_slacks():
    found, best = (StructuralSVM(Multiclass(), C=2.0, solver=solver).fit(ROWS, LABELS) for solver in (Steps(), "auto"))
    assert found.objective_ == pytest.approx(best.objective_, rel=0.02)


def test_likelihoods_and_other_slacks_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Steps is not made for a likelihood .* it declares are MarginObjective"):
        ConditionalRandomField(Chain(), solver=Steps()).fit([ROWS], [LABELS])
    for options in ({"slack": "squared"}, {"slack": "hard", "rescaling": None}):
        with pytest.raises(ValueError, match="Steps has no form for slack="):
            StructuralSVM(Multiclass(), solver=Steps(), **options).fit(ROWS, LABELS)


@pytest.mark.parametrize("kind", [Silent, Empty])
def test_an_update_that_says_nothing_of_the_objective_is_refused(kind):
    with pytest.raises(ValueError, match=rf"{kind.__name__}\.update puts no 'primal' into state\.record"):
        StructuralSVM(Multiclass(), solver=kind()).fit(ROWS, LABELS)
