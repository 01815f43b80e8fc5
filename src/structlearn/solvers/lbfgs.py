"""Limited-memory BFGS for likelihoods, and its orthant-wise form for an L1 penalty."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import GapSolver
from structlearn.solvers.states import DualState, dual_record, latent_record, substitute_record
from structlearn.waist.objective import LikelihoodObjective, Objective
from structlearn.waist.parts import PartProblem


@dataclass
class LBFGSState(DualState):
    """The present point with its risk and gradient, and the last steps.

    Attributes
    ----------
    iterate, gradient : (n_features,)
        Where the search stands, and the gradient there of all but the L1 penalty.
    value : float
        The objective there.
    steps : deque of (s, y, 1/⟨s, y⟩)
        Differences of points and of gradients.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    gradient: FloatArray = field(default_factory=lambda: np.empty(0))
    value: float = np.inf
    steps: deque[tuple[FloatArray, FloatArray, float]] = field(default_factory=deque)


@dataclass(frozen=True, kw_only=True)
class LBFGS(GapSolver):
    """min_w Ω(w) − (C/S) Σ_i s_i log P(y_i | x_i) by L-BFGS, or OWL-QN where Ω has an L1 part (Andrew and Gao 2007).

    The gradient at w also gives a bound: the distributions P(· | x_i; w) are a point of the dual, and for a ridge
    penalty the gap there is ½‖∇‖². Where the penalty has an L1 part w has exact zeros.

    Truths may have latent parts. The objective is then not convex and has no dual; the same number, for a ridge ½‖∇‖²
    as a part of the objective, bounds by how much the objective at w exceeds the minimum of the convex function that
    lies above it and touches it there (see `ExpectationMaximization`). It is the `stationarity` of the history, and
    `tol` is for it.

    Where the problem has another likelihood than the exact one, everything here is about that; the gap is there if its
    values and gradients are exact and convex. Otherwise `tol` is for the same number, which then proves nothing and is
    the `slope` of the history.

    Parameters
    ----------
    memory : int
        How many past steps shape the direction.
    """

    memory: int = 8

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective,)
    takes_latent: ClassVar[bool] = True
    takes_any_likelihood: ClassVar[bool] = True
    takes_sharded: ClassVar[bool] = True
    #: Beside two for each of the past steps; an L1 penalty takes three more.
    vectors: ClassVar[int] = 10

    def nbytes(self, problem: PartProblem) -> int:
        return super().nbytes(problem) + 16 * self.memory * problem.n_features

    def oracle(self, objective: LikelihoodObjective) -> str:
        return "sums"

    def init_state(self, problem: PartProblem, objective: LikelihoodObjective) -> LBFGSState:
        return self.begin(np.zeros(problem.n_features), problem, objective)

    def begin(self, w: FloatArray, problem: PartProblem, objective: LikelihoodObjective) -> LBFGSState:
        """The state before the first step from a given point."""
        state = LBFGSState(w=w, steps=deque(maxlen=self.memory), objective=objective)
        self._look(state, w.copy(), problem, objective)
        return state

    def resume(self, state: LBFGSState, problem: PartProblem, objective: LikelihoodObjective) -> LBFGSState:
        if not isinstance(state, LBFGSState):
            raise ValueError(f"LBFGS cannot go on from a {type(state).__name__}")
        state.steps.clear()
        state.objective, state.primal, state.dual, state.iteration = objective, np.inf, 0.0, 0
        self._look(state, state.iterate, problem, objective)
        return state

    def update(self, state: LBFGSState, problem: PartProblem, objective: LikelihoodObjective) -> LBFGSState:
        l1 = objective.l1_ratio
        slope = _pseudo_gradient(state.iterate, state.gradient, l1)
        direction = -_inverse_hessian(state.steps, slope)
        if l1:
            direction[direction * slope >= 0.0] = 0.0
            orthant = np.where(state.iterate != 0.0, np.sign(state.iterate), -np.sign(slope))
        descent = float(direction @ slope)
        if not descent < 0.0:
            direction, descent = -slope, -float(slope @ slope)
            state.steps.clear()
        length = 1.0 if state.steps else 1.0 / max(1.0, float(np.linalg.norm(slope)))
        before, gradient, value = state.iterate, state.gradient, state.value
        for _ in range(40):
            point = before + length * direction
            if l1:
                point[point * orthant < 0.0] = 0.0
            self._look(state, point, problem, objective)
            if state.value <= value + 1e-4 * float(slope @ (point - before)):
                break
            length *= 0.5
        else:
            # Rounding, not descent, decides from here on.
            state.iterate, state.gradient, state.value, state.stuck = before, gradient, value, True
            return state
        s, y = state.iterate - before, state.gradient - gradient
        curvature = float(s @ y)
        if curvature > 1e-12 * float(y @ y):
            state.steps.append((s, y, 1.0 / curvature))
        return state

    @staticmethod
    def _look(state: LBFGSState, point: FloatArray, problem: PartProblem, objective: LikelihoodObjective) -> None:
        """Value, gradient and bound at a point, which becomes the iterate."""
        with state.timed("oracle_seconds"):
            risk = problem.risk(point, objective)
        state.iterate = point
        state.value = objective.primal(point, risk.losses)
        slope = objective.price * risk.gradient
        state.gradient = slope + (1.0 - objective.l1_ratio) * point
        # The offset is the entropy of the distributions that w gives: they are a point of the dual.
        bound = objective.dual(-slope, risk.offset)
        likelihood = problem.likelihood
        if likelihood.certifies and not problem.latent:
            state.dual = max(state.dual, bound)
        elif state.value <= state.primal:
            # It is one of the upper bound at this point, and of no other; or none, and as far off as it is steep.
            state.dual = bound
        state.certify(point, risk.losses, objective)
        if problem.latent:
            state.record = latent_record(state)
        elif likelihood.is_exact:
            state.record = dual_record(state, problem)
        else:
            state.record = substitute_record(state, likelihood)


def _pseudo_gradient(w: FloatArray, gradient: FloatArray, l1: float) -> FloatArray:
    """The slope of steepest descent of a smooth function plus l1 ‖w‖₁."""
    if not l1:
        return gradient
    at_zero = np.where(gradient > l1, gradient - l1, np.where(gradient < -l1, gradient + l1, 0.0))
    return np.where(w != 0.0, gradient + l1 * np.sign(w), at_zero)


def _inverse_hessian(steps: deque[tuple[FloatArray, FloatArray, float]], slope: FloatArray) -> FloatArray:
    """The two-loop recursion."""
    q = slope.copy()
    shares = []
    for s, y, inverse in reversed(steps):
        share = inverse * float(s @ q)
        q -= share * y
        shares.append(share)
    if steps:
        _, y, inverse = steps[-1]
        q *= 1.0 / (inverse * float(y @ y))
    for (s, y, inverse), share in zip(steps, reversed(shares), strict=True):
        q += (share - inverse * float(y @ q)) * s
    return q
