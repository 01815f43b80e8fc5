"""Stochastic dual coordinate ascent for likelihoods, with a duality gap."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.solvers.base import GapSolver
from structlearn.solvers.lbfgs import LBFGS, LBFGSState
from structlearn.solvers.part_ascent import mix, n_copies
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import LikelihoodObjective, Objective
from structlearn.waist.parts import PartProblem


@dataclass
class DualCoordinateState(DualState):
    """A distribution over the outputs of every example, by its marginals, and where it puts w.

    Attributes
    ----------
    iterate : (n_features,)
        Σ_i u_i (Ψ(x_i, y_i) − E_i Ψ), where the dual stands; `w` is the best point that was priced.
    marginals : (n_parts,)
    entropies : (n_examples,)
        Lower bounds on the entropies of the distributions.
    ratios : (n_examples,)
        ‖Aᵀ(μ − p)‖² over ‖μ − p‖² of each example when it was last visited, 0 before.
    visits, earlier_gap : int, float
        How many iterations of ascent there were, and the gap some iterations ago.
    descent : LBFGSState, optional
        Where L-BFGS stands, once it has taken over.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    marginals: FloatArray = field(default_factory=lambda: np.empty(0))
    entropies: FloatArray = field(default_factory=lambda: np.empty(0))
    ratios: FloatArray = field(default_factory=lambda: np.empty(0))
    random: np.random.Generator = field(default_factory=np.random.default_rng)
    visits: int = 0
    earlier_gap: float = np.inf
    descent: LBFGSState | None = None

    #: Of the iterate, for other threads, one after another; no part of a saved state.
    copies = np.empty(0)


@dataclass(frozen=True, kw_only=True)
class DualCoordinate(GapSolver):
    """min_w ½‖w‖² − (C/S) Σ_i s_i log P(y_i | x_i) by ascent on its dual, one example at a time.

    The dual, max_μ Σ_i u_i H(μ_i) − ½‖w(μ)‖² with u_i = C s_i/S, has a distribution over outputs for every example, and
    w(μ) = Σ_i u_i (Ψ(x_i, y_i) − E_i Ψ(x_i, y)). A visit mixes the example's distribution with the one that w gives,

        μ_i ← (1 − γ) μ_i + γ P(· | x_i; w),

    with the γ that is best for the lower bound H((1 − γ)μ + γp) ≥ (1 − γ)H(μ) + γH(p). The bound makes the dual a
    parabola in γ, so the step has a closed form. For structures in the core its curvature is taken from the example's
    last visit, and a step by which the dual would fall is shortened. At the optimum all distributions are those of w
    and the bound is exact, so the gap closes. An iteration visits every example once, and ends with a pass that prices
    w.

    Threads share the visits: w of a visit lacks the last three before it, whatever the number of threads, and each
    thread, three at most, has a w of its own that goes through all steps. The result does not depend on their number.

    Where examples compete for few features at a large C, steps are short. When twenty iterations did not halve the
    gap, L-BFGS goes on from the best point, if there is memory for its vectors.

    Parameters
    ----------
    random_state : int
        Seed for the order of the visits.
    """

    random_state: int = 0

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective,)
    #: Those of a second and a third thread among them: what fits must not depend on their number.
    vectors: ClassVar[int] = 5
    part_vectors: ClassVar[int] = 1
    #: So many iterations must halve the gap.
    patience: ClassVar[int] = 20

    def check(self, problem: PartProblem, objective: LikelihoodObjective) -> None:
        super().check(problem, objective)
        if objective.l1_ratio:
            raise ValueError(f"DualCoordinate has no form for l1_ratio={objective.l1_ratio:g}; use solver='lbfgs'")

    def oracle(self, objective: LikelihoodObjective) -> str:
        return "sums"

    def most_nbytes(self, problem: PartProblem) -> int:
        return self.nbytes(problem) + LBFGS().nbytes(problem)

    def init_state(self, problem: PartProblem, objective: LikelihoodObjective) -> DualCoordinateState:
        n = problem.n_examples
        # At the truth, which has entropy 0, w is 0: with many outputs, a uniform start would put it far away.
        state = DualCoordinateState(
            w=np.zeros(problem.n_features),
            iterate=np.zeros(problem.n_features),
            marginals=problem.true_parts(np.arange(n)),
            entropies=np.zeros(n),
            ratios=np.zeros(n),
            random=np.random.default_rng(self.random_state),
            objective=objective,
        )
        self._certify(state, problem, objective)
        return state

    def resume(
        self, state: DualCoordinateState, problem: PartProblem, objective: LikelihoodObjective
    ) -> DualCoordinateState:
        if not isinstance(state, DualCoordinateState):
            raise ValueError(f"DualCoordinate cannot go on from a {type(state).__name__}")
        state.iterate[:] = 0.0
        examples = np.arange(problem.n_examples)
        limits = objective.price * objective.sample_weight
        problem.push(problem.true_parts(examples) - state.marginals, examples, limits, state.iterate)
        state.objective, state.primal, state.dual, state.iteration = objective, np.inf, 0.0, 0
        state.visits, state.earlier_gap, state.descent, state.stuck = 0, np.inf, None, False
        state.copies = np.empty(0)
        self._certify(state, problem, objective)
        return state

    def update(
        self, state: DualCoordinateState, problem: PartProblem, objective: LikelihoodObjective
    ) -> DualCoordinateState:
        gap = state.primal - state.dual
        due = state.visits % self.patience == 0
        slow = due and gap > 0.5 * state.earlier_gap
        room = problem.max_memory is None or self.most_nbytes(problem) <= problem.max_memory
        if state.descent is not None or (slow and room):
            return self._descend(state, problem, objective)
        state.visits += 1
        if due:
            state.earlier_gap = gap
        limits = objective.price * objective.sample_weight
        with state.timed("dual_seconds"):
            order = state.random.permutation(problem.n_examples)
            if len(state.copies) != n_copies(problem) * problem.n_features:
                state.copies = np.tile(state.iterate, n_copies(problem))
            mix(problem, order, limits, state.marginals, state.entropies, state.ratios, state.iterate, state.copies)
        self._certify(state, problem, objective)
        return state

    def template(self, problem: PartProblem, objective: LikelihoodObjective) -> DualCoordinateState:
        state = self.init_state(problem, objective)
        state.descent = LBFGS().begin(state.w, problem, objective)
        return state

    @staticmethod
    def _descend(
        state: DualCoordinateState, problem: PartProblem, objective: LikelihoodObjective
    ) -> DualCoordinateState:
        with state.timed("oracle_seconds"):
            if state.descent is None:
                state.descent = LBFGS().begin(state.w, problem, objective)
            state.descent = LBFGS().update(state.descent, problem, objective)
        if state.descent.primal <= state.primal:
            state.w, state.primal, state.slacks = state.descent.w, state.descent.primal, state.descent.slacks
        state.dual, state.stuck = max(state.dual, state.descent.dual), state.descent.stuck
        state.record = dual_record(state, problem)
        return state

    @staticmethod
    def _certify(state: DualCoordinateState, problem: PartProblem, objective: LikelihoodObjective) -> None:
        with state.timed("oracle_seconds"):
            losses = problem.log_losses(state.iterate)
        state.certify(state.iterate, losses, objective)
        dual = objective.dual(state.iterate, float(objective.sample_weight @ state.entropies))
        state.dual = max(state.dual, dual)
        state.record = dual_record(state, problem)
