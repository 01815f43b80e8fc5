"""The concave-convex procedure: large margins where the truths have a latent part (Yu 2011, Algorithm 5.1)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Literal

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.options import choice_option
from structlearn.solvers.base import Solver
from structlearn.solvers.block_coordinate import BlockCoordinate
from structlearn.solvers.states import State
from structlearn.waist.latent import LatentProblem, Start
from structlearn.waist.objective import MarginObjective
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows
from structlearn.wording import shown


@dataclass
class ConcaveConvexState(State):
    """A run of the concave-convex procedure. `w` is the last point at which the truths were completed.

    Attributes
    ----------
    inner : State
        Of the inner solver, on the convex problem with the present completions.
    completions : Outputs
        The truths with their latent parts, the best ones at `w`.
    completion : int
        How often they were completed.
    value : float
        The objective at `w`.
    drop : float
        By which part of itself the last completion lowered it.
    objective : Objective
        What the state was made for.
    """

    inner: Any = None
    completions: Any = None
    completion: int = 0
    value: float = np.inf
    drop: float = 1.0
    objective: Any = None

    @property
    def stationarity(self) -> float:
        """By which part of itself, at most, the objective at `w` exceeds the minimum of its convex upper bound.

        NaN where the inner solver proves no bound, or one that cannot be.
        """
        if self.value == 0.0:
            return 0.0
        gap = (self.value - getattr(self.inner, "dual", np.nan)) / self.value
        return np.nan if gap < -1e-6 else max(0.0, float(gap))


@dataclass(frozen=True, kw_only=True)
class ConcaveConvex(Solver):
    """min_w ½‖w‖² + (C/S) Σ_i s_i ℓ(ξ_i) with ξ_i = max_{ŷ,ĥ} [Δ + ⟨w, Ψ(x_i, ŷ, ĥ)⟩] − max_h ⟨w, Ψ(x_i, y_i, h)⟩.

    With the latent parts of the truths fixed at those that are best at w_t, the objective becomes a convex one that
    lies above it and touches it at w_t. Its minimum is the next point, so that the objective never rises. A run ends
    where w_t nearly minimises its own upper bound, which is what a stationary point does.

    Parameters
    ----------
    inner : Solver
        For the convex problems. One iteration here is one of this solver's; it may take its own `max_iter` for each.
    tol : float
        Stop when the objective exceeds the minimum of its upper bound by at most this part of itself; with an inner
        solver that proves no bounds, when a completion lowers the objective by less.
    carry_over : bool
        Whether the inner solver goes on with the planes and multipliers that it has, moved to the new truths, instead
        of beginning anew after every completion.
    start : {"model", "random"}, Start or callable
        Where to begin: as the model does by itself, from completions at random, or from given weights or completions;
        or a function of the problem and a random generator that returns a `Start`.
    random_state : int

    Notes
    -----
    The minimum of an upper bound is not where the run will end, and going all the way there before the truths are
    completed anew often leads to worse ends: the latent parts of the beginning are learnt by heart. So they are
    completed as soon as a quarter of the way down from the objective to that minimum is certain.
    """

    inner: Solver = field(default_factory=BlockCoordinate)
    tol: float = 1e-3
    carry_over: bool = True
    start: Literal["model", "random"] | Start | Callable[[LatentProblem, np.random.Generator], Start] = "model"
    random_state: int = 0

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_latent: ClassVar[bool] = True
    #: As far as the inner solver can.
    takes_nonnegative: ClassVar[bool] = True

    def check(self, problem: Any, objective: Any) -> None:
        if not isinstance(problem, LatentProblem):
            raise TypeError(
                f"{type(problem).__name__} has no latent parts to complete: use StructuralSVM, or give the model a "
                "method complete(x, y, w)"
            )
        if not isinstance(self.inner, Solver):
            raise ValueError(f"inner is {shown(self.inner)}; it must be a Solver")
        self.inner.check(problem.completed(()), objective)
        super().check(problem, objective)

    def nbytes(self, problem: LatentProblem) -> int:
        return self.inner.nbytes(problem) + 24 * problem.n_features

    def expected_nbytes(self, problem: LatentProblem) -> int:
        return self.inner.expected_nbytes(problem) + 24 * problem.n_features

    def most_nbytes(self, problem: LatentProblem) -> int:
        return self.inner.most_nbytes(problem) + 24 * problem.n_features

    def init_state(self, problem: LatentProblem, objective: MarginObjective) -> ConcaveConvexState:
        start = self._started(problem)
        w = np.zeros(problem.n_features) if start.w is None else start.w.copy()
        objective.project(w)
        completions = start.completions
        if completions is None:
            completions = problem.complete(w, np.arange(problem.n_examples))
        # At w = 0 all completions are equally good: the upper bound touches the objective there whichever they are.
        violations = problem.violations(w, objective)
        state = ConcaveConvexState(
            w=w,
            inner=self.inner.init_state(problem.completed(completions), objective),
            completions=completions,
            value=objective.primal(w, violations),
            objective=objective,
        )
        state.record = self._record(state, problem)
        return state

    def resume(
        self, state: ConcaveConvexState, problem: LatentProblem, objective: MarginObjective
    ) -> ConcaveConvexState:
        """Goes on under another C, with the completions of the earlier run."""
        if not isinstance(state, ConcaveConvexState):
            raise ValueError(f"ConcaveConvex cannot go on from a {type(state).__name__}")
        objective.project(state.w)
        violations = problem.violations(state.w, objective)
        fresh = ConcaveConvexState(
            w=state.w,
            inner=self.inner.resume(state.inner, problem.completed(state.completions), objective),
            completions=state.completions,
            value=objective.primal(state.w, violations),
            objective=objective,
        )
        fresh.record = self._record(fresh, problem)
        return fresh

    def update(
        self, state: ConcaveConvexState, problem: LatentProblem, objective: MarginObjective
    ) -> ConcaveConvexState:
        convex = problem.completed(state.completions)
        # Planes that were carried over may be all that is needed.
        if not self._settled(state):
            iteration = state.inner.iteration + 1
            state.inner = self._inner(state).update(state.inner, convex, objective)
            state.inner.iteration = iteration
        if self._settled(state):
            self.inner.finish(state.inner, convex, objective)
            self._move(state, problem, objective)
        state.oracle_seconds, state.dual_seconds = state.inner.oracle_seconds, state.inner.dual_seconds
        state.record = self._record(state, problem)
        return state

    def done(self, state: ConcaveConvexState) -> bool:
        # Before the first completion w is where the run began, mostly 0. That it almost minimises an upper bound that
        # comes from latent parts at random says little; only if there is nothing below at all, this is the end.
        if state.completion == 0 and not state.stuck:
            return False
        if hasattr(state.inner, "dual"):
            return state.stationarity <= self.tol
        return state.drop <= self.tol

    def unfinished(self, state: ConcaveConvexState) -> str:
        if state.stuck:
            return (
                f"the convex problem after {state.completion} completions could not be solved well enough to go on: "
                f"the objective may be {state.stationarity:.2g} of itself above the minimum of its upper bound "
                f"(tol={self.tol:g}); loosen tol, lower C, or let the inner solver take more iterations"
            )
        return (
            f"stopped after max_iter={self.max_iter} iterations and {state.completion} completions, where the "
            f"objective may be {state.stationarity:.2g} of itself above the minimum of its upper bound "
            f"(tol={self.tol:g}); raise max_iter, loosen tol or lower C"
        )

    def template(self, problem: LatentProblem, objective: MarginObjective) -> ConcaveConvexState:
        state = self.init_state(problem, objective)
        state.inner = self.inner.template(problem.completed(state.completions), objective)
        return state

    def _started(self, problem: LatentProblem) -> Start:
        random = np.random.default_rng(self.random_state)
        if isinstance(self.start, Start):
            return self.start
        if callable(self.start):
            return self.start(problem, random)
        choice_option("start", self.start, ("model", "random"))
        if self.start == "random":
            return Start(completions=problem.random_completions(random))
        return problem.start(random)

    def _inner(self, state: ConcaveConvexState) -> Solver:
        """The inner solver with the precision that is worth its time now.

        Between V, the objective, and D, the lower bound on the minimum of its upper bound, P is a quarter of the way
        down at (3V + D)/4, where its relative gap is (3V − 3D)/(3V + D).
        """
        if "tol" not in {option.name for option in fields(self.inner)} or not hasattr(state.inner, "dual"):
            return self.inner
        value, dual = state.value, state.inner.dual
        gap = (3.0 * value - 3.0 * dual) / (3.0 * value + dual) if value > 0.0 else 0.0
        # Where there is next to no way down, a part of it is not worth looking for; and while there is no bound yet,
        # every point has a gap of 1.
        return replace(self.inner, tol=min(max(gap, 0.1 * self.tol, 1e-13), 0.5))  # type: ignore[call-arg]

    def _settled(self, state: ConcaveConvexState) -> bool:
        """Whether the inner solver has done what it should, or what it can."""
        solver, inner = self._inner(state), state.inner
        return bool(solver.done(inner) or inner.stuck or inner.iteration >= solver.max_iter)

    def _move(self, state: ConcaveConvexState, problem: LatentProblem, objective: MarginObjective) -> None:
        """Goes to the point that the inner solver has found, if it is lower, and completes the truths there."""
        solver = self._inner(state)
        upper = getattr(state.inner, "primal", state.inner.record.get("primal"))
        if upper is None:
            raise ValueError(f"{type(solver).__name__} does not say what the objective is: it must be record['primal']")
        if getattr(state.inner, "dual", -np.inf) > upper * (1.0 + 1e-6):
            warnings.warn(
                f"the dual {state.inner.dual:.6g} of {type(solver).__name__} is above the objective {upper:.6g}: it is "
                "no lower bound, or an oracle of the model does not find the most violating output",
                RuntimeWarning,
                stacklevel=2,
            )
        if not upper < state.value:
            state.stuck = True
            state.drop = 0.0
            return
        w = state.inner.w.copy()
        everything = np.arange(problem.n_examples)
        completions = problem.complete(w, everything)
        shifts = problem.between(everything, completions, state.completions)
        if not problem.user_oracles and (worse := np.flatnonzero(shifts.dot(w) < 0.0)).size:
            # An engine that need not find the best one has found one that is worse than what was known.
            completions = _with(completions, state.completions, worse)
            shifts = problem.between(everything, completions, state.completions)
        value = _value(w, upper, state.inner, problem, objective, shifts)
        if value > upper * (1.0 + 1e-9) and problem.exactness != "approximate":
            warnings.warn(
                f"completing the truths raised the objective from {upper:.6g} to {value:.6g}: complete of the model "
                "does not find the best latent part (see structlearn.testing.check_model)",
                RuntimeWarning,
                stacklevel=2,
            )
        state.drop = (state.value - value) / state.value
        state.w, state.value = w, value
        state.completion += 1
        if len(shifts.indices):
            state.completions = completions
            convex = problem.completed(completions)
            spent = state.inner.oracle_seconds, state.inner.dual_seconds
            state.inner = (
                solver.rebase(state.inner, convex, objective, shifts)
                if self.carry_over
                else solver.init_state(convex, objective)
            )
            state.inner.oracle_seconds += spent[0]
            state.inner.dual_seconds += spent[1]

    def _record(self, state: ConcaveConvexState, problem: LatentProblem) -> dict[str, Any]:
        certified = problem.exactness != "approximate"
        return {
            "primal": state.value if certified else np.nan,
            "planes": state.inner.record.get("planes", 0),
            "certified": certified,
            "completion": state.completion,
            "stationarity": state.stationarity if certified else np.nan,
        }


def _with(outputs: Outputs, others: Outputs, which: IntArray) -> Outputs:
    """Outputs of all examples, some of them taken from others."""
    mixed = outputs.copy()
    for i in which.tolist():
        mixed[i] = others[i]
    return mixed


def _value(
    w: FloatArray, upper: float, inner: Any, problem: LatentProblem, objective: MarginObjective, shifts: SparseRows
) -> float:
    """The objective at w, of which the inner solver knows the upper bound with the completions before the shifts."""
    if not len(shifts.indices):
        return upper
    if objective.rescaling == "margin" and hasattr(inner, "slacks"):
        # Every constraint of an example moves by ⟨w, shift⟩, so no oracle need be asked.
        return objective.primal(w, inner.slacks - shifts.dot(w))
    return objective.primal(w, problem.violations(w, objective))
