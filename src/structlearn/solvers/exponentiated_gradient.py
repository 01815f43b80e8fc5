"""Exponentiated gradient on the dual of a likelihood or of a margin (Collins et al. 2008)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.solvers.base import GapSolver
from structlearn.solvers.part_ascent import exponentiate
from structlearn.solvers.part_margins import check_part_losses, price_margins
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import LikelihoodObjective, MarginObjective, Objective
from structlearn.waist.parts import PartProblem


@dataclass
class ExponentiatedGradientState(DualState):
    """The distributions of the dual, μ_i ∝ exp⟨θ_i, ·⟩, and where they put w.

    Attributes
    ----------
    iterate : (n_features,)
    theta, marginals : (n_parts,)
    entropies : (n_examples,)
    steps : (n_examples,)
        η of each example; all equal in the batch form.
    losses : (n_parts,) or None
        ℓ of a margin.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    theta: FloatArray = field(default_factory=lambda: np.empty(0))
    marginals: FloatArray = field(default_factory=lambda: np.empty(0))
    entropies: FloatArray = field(default_factory=lambda: np.empty(0))
    steps: FloatArray = field(default_factory=lambda: np.empty(0))
    losses: FloatArray | None = None
    random: np.random.Generator = field(default_factory=np.random.default_rng)


@dataclass(frozen=True, kw_only=True)
class ExponentiatedGradient(GapSolver):
    """max_μ Σ_i u_i (κ H(μ_i) + ⟨ℓ_i, μ_i⟩) − ½‖w(μ)‖² by θ_i ← θ_i + η (ℓ_i + A_i w − κ θ_i), μ_i ∝ exp⟨θ_i, ·⟩.

    κ = 1 and ℓ = 0 is the conditional random field, κ = 0 the max-margin Markov network with the loss ℓ of each part.
    The distributions stay products over the cliques of the model, so a step is one sum-product pass.

    Parameters
    ----------
    online : bool
        Whether w moves after each example, in random order, each example with its own η; otherwise after each pass,
        with one η.
    step_size : float
        The first η. Steps that do not raise the dual are halved, others grow.
    random_state : int
    """

    online: bool = True
    step_size: float = 0.5
    random_state: int = 0

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective, MarginObjective)
    slacks: ClassVar[tuple[str, ...]] = ("linear",)
    part_vectors: ClassVar[int] = 5
    #: θ of the truth's parts at the start: distributions near the truth, so that w begins near 0.
    start: ClassVar[float] = 5.0

    def check(self, problem: PartProblem, objective: LikelihoodObjective | MarginObjective) -> None:
        super().check(problem, objective)
        if isinstance(objective, MarginObjective):
            check_part_losses(self, problem, objective)
        elif objective.l1_ratio:
            raise ValueError(f"ExponentiatedGradient has no form for l1_ratio={objective.l1_ratio:g}")
        real_option("step_size", self.step_size, positive=True)

    def oracle(self, objective: LikelihoodObjective | MarginObjective) -> str:
        return "sums"

    def init_state(
        self, problem: PartProblem, objective: LikelihoodObjective | MarginObjective
    ) -> ExponentiatedGradientState:
        examples = np.arange(problem.n_examples)
        truths = problem.true_parts(examples)
        theta = self.start * np.minimum(truths, 1.0)
        log_z, marginals = problem.expectations(theta, examples)
        state = ExponentiatedGradientState(
            w=np.zeros(problem.n_features),
            iterate=np.zeros(problem.n_features),
            theta=theta,
            marginals=marginals,
            entropies=problem.entropies(theta, log_z, marginals, examples),
            steps=np.full(problem.n_examples, float(self.step_size)),
            losses=problem.part_losses(examples) if isinstance(objective, MarginObjective) else None,
            random=np.random.default_rng(self.random_state),
            objective=objective,
            dual=-np.inf,
        )
        problem.push(truths - marginals, examples, objective.price * objective.sample_weight, state.iterate)
        self._certify(state, problem, objective)
        return state

    def update(
        self,
        state: ExponentiatedGradientState,
        problem: PartProblem,
        objective: LikelihoodObjective | MarginObjective,
    ) -> ExponentiatedGradientState:
        limits = objective.price * objective.sample_weight
        with state.timed("dual_seconds"):
            if self.online:
                order = state.random.permutation(problem.n_examples)
                kappa = 0.0 if isinstance(objective, MarginObjective) else 1.0
                exponentiate(
                    problem,
                    order,
                    limits,
                    kappa,
                    state.losses,
                    state.theta,
                    state.marginals,
                    state.entropies,
                    state.steps,
                    state.iterate,
                )
            else:
                self._batch_step(state, problem, limits)
        self._certify(state, problem, objective)
        return state

    def template(
        self, problem: PartProblem, objective: LikelihoodObjective | MarginObjective
    ) -> ExponentiatedGradientState:
        state = self.init_state(problem, objective)
        state.losses = np.zeros_like(state.theta)
        return state

    def _batch_step(self, state: ExponentiatedGradientState, problem: PartProblem, limits: FloatArray) -> None:
        examples = np.arange(problem.n_examples)
        slope = problem.scores(state.iterate, examples)
        if state.losses is None:
            slope -= state.theta
        else:
            slope += state.losses
        before = self._dual(state, problem, limits)
        old = state.theta, state.marginals, state.entropies, state.iterate
        for _ in range(50):
            theta = old[0] + state.steps[0] * slope
            log_z, marginals = problem.expectations(theta, examples)
            iterate = old[3].copy()
            problem.push(old[1] - marginals, examples, limits, iterate)
            state.theta, state.marginals, state.iterate = theta, marginals, iterate
            state.entropies = problem.entropies(theta, log_z, marginals, examples)
            if self._dual(state, problem, limits) >= before:
                state.steps *= 1.2
                if state.losses is None:
                    np.minimum(state.steps, 1.0, out=state.steps)
                return
            state.steps *= 0.5
        state.theta, state.marginals, state.entropies, state.iterate = old

    @staticmethod
    def _dual(state: ExponentiatedGradientState, problem: PartProblem, limits: FloatArray) -> float:
        if state.losses is None:
            gain = state.entropies
        else:
            gain = problem.part_dots(state.losses, state.marginals, np.arange(problem.n_examples))
        return float(limits @ gain) - 0.5 * float(state.iterate @ state.iterate)

    def _certify(
        self,
        state: ExponentiatedGradientState,
        problem: PartProblem,
        objective: LikelihoodObjective | MarginObjective,
    ) -> None:
        if isinstance(objective, MarginObjective):
            price_margins(state, state.iterate, problem, objective)
        else:
            with state.timed("oracle_seconds"):
                losses = problem.log_losses(state.iterate)
            state.certify(state.iterate, losses, objective)
        state.dual = max(state.dual, self._dual(state, problem, objective.price * objective.sample_weight))
        state.record = dual_record(state, problem)
