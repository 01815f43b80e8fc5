"""Expectation maximization: likelihoods where the truths have a latent part (Dempster, Laird and Rubin 1977)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import GapSolver
from structlearn.solvers.lbfgs import LBFGS, LBFGSState
from structlearn.solvers.states import DualState, latent_record
from structlearn.waist.latent_parts import LatentPartProblem
from structlearn.waist.objective import LikelihoodObjective, Objective
from structlearn.wording import shown


@dataclass
class ExpectationMaximizationState(DualState):
    """A run of expectation maximization. `dual` is a lower bound on the minimum of the upper bound that touches at `w`.

    Attributes
    ----------
    inner_iterations : int
        Iterations of all convex problems so far.
    """

    inner_iterations: int = 0


@dataclass(frozen=True, kw_only=True)
class ExpectationMaximization(GapSolver):
    """min_w Ω(w) − (C/S) Σ_i s_i log P(y_i | x_i) with P(y | x) = Σ_h P(y, h | x), by convex problems above it.

    With the latent parts distributed as P(h | x_i, y_i; w_t), whatever w is, the objective becomes a convex one that
    lies above it and touches it at w_t:

        Ω(w) + (C/S) Σ_i s_i (log Z_i(w) − E_t⟨w, Ψ(x_i, y_i, h)⟩ − H_t(h)).

    Finding the distributions is the E-step; going down from w_t on the convex objective, a conditional random field
    with soft truths, the M-step. The objective never rises.

    Parameters
    ----------
    inner : LBFGS
        For the M-steps.
    tol : float, optional
        Stop when the objective at w_t exceeds the minimum of its upper bound by at most this part of itself; None is
        0.001. At a stationary point it does not exceed it at all.

    Notes
    -----
    An M-step ends when half of the way from the objective down to the minimum of the upper bound is certain, or with
    the iterations that `inner` may take: the rest is better spent on a new upper bound. The expected parts of all
    truths are held, one number a part.
    """

    inner: LBFGS = field(default_factory=lambda: LBFGS(max_iter=20))

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective,)
    takes_latent: ClassVar[bool] = True
    #: The part of the way down that an M-step goes.
    way: ClassVar[float] = 0.5

    def oracle(self, objective: LikelihoodObjective) -> str:
        return "sums"

    def check(self, problem: LatentPartProblem, objective: LikelihoodObjective) -> None:
        super().check(problem, objective)
        if not isinstance(self.inner, LBFGS):
            raise ValueError(f"inner is {shown(self.inner)}; it must be an LBFGS solver")
        if not isinstance(problem, LatentPartProblem):
            raise TypeError(f"{type(problem).__name__} has no latent parts: use ConditionalRandomField")

    def nbytes(self, problem: LatentPartProblem) -> int:
        # The distributions of the latent parts stay as they are while the inner solver runs.
        return self.inner.nbytes(problem) + 8 * int(problem.part_offsets[-1])

    def init_state(self, problem: LatentPartProblem, objective: LikelihoodObjective) -> ExpectationMaximizationState:
        return self.begin(np.zeros(problem.n_features), problem, objective)

    def begin(
        self, w: FloatArray, problem: LatentPartProblem, objective: LikelihoodObjective
    ) -> ExpectationMaximizationState:
        """The state before the first step from a given point."""
        state = ExpectationMaximizationState(w=w, objective=objective)
        self._move(state, w, problem, objective)
        return state

    def resume(
        self, state: ExpectationMaximizationState, problem: LatentPartProblem, objective: LikelihoodObjective
    ) -> ExpectationMaximizationState:
        if not isinstance(state, ExpectationMaximizationState):
            raise ValueError(f"ExpectationMaximization cannot go on from a {type(state).__name__}")
        return self.begin(state.w, problem, objective)

    def update(
        self, state: ExpectationMaximizationState, problem: LatentPartProblem, objective: LikelihoodObjective
    ) -> ExpectationMaximizationState:
        with state.timed("oracle_seconds"):
            soft = problem.expected(state.w)
        assert soft.truth_entropies is not None
        entropy = objective.price * float(objective.sample_weight @ soft.truth_entropies)
        with state.timed("dual_seconds"):
            inner = self.inner.begin(state.w, soft, objective)
            while not self._far_enough(inner, state, entropy):
                inner = self.inner.update(inner, soft, objective)
                inner.iteration += 1
        state.inner_iterations += inner.iteration
        if inner.primal - entropy < state.primal:
            self._move(state, inner.w, problem, objective)
        else:
            state.stuck = True
        return state

    def _far_enough(self, inner: LBFGSState, state: ExpectationMaximizationState, entropy: float) -> bool:
        upper, lower = inner.primal - entropy, inner.dual - entropy
        done = state.primal - upper >= self.way * (state.primal - lower)
        return done or inner.stuck or inner.iteration >= self.inner.max_iter

    @staticmethod
    def _move(
        state: ExpectationMaximizationState,
        w: FloatArray,
        problem: LatentPartProblem,
        objective: LikelihoodObjective,
    ) -> None:
        """Goes to a lower point: the objective there, and how far below its next upper bound may go."""
        with state.timed("oracle_seconds"):
            risk = problem.risk(w, objective)
        state.certify(w, risk.losses, objective)
        state.dual = objective.dual(-objective.price * risk.gradient, risk.offset)
        state.record = latent_record(state) | {"inner_iterations": state.inner_iterations}
