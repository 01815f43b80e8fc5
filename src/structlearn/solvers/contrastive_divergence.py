"""Persistent contrastive divergence: the gradient of a likelihood from Markov chains (Tieleman 2008)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.options import real_option, whole_option
from structlearn.solvers.base import Solver
from structlearn.solvers.states import State
from structlearn.waist.objective import LikelihoodObjective, Objective


@dataclass
class ContrastiveDivergenceState(State):
    """Where the run and its chains stand.

    Attributes
    ----------
    iterate : (n_features,)
        The present point; `w` is the average.
    squares : (n_features,)
        Of the gradients so far, in sum.
    chains : (n_codes,)
        An output for every example, as codes, one after another.
    """

    iterate: FloatArray = field(default_factory=lambda: np.empty(0))
    squares: FloatArray = field(default_factory=lambda: np.empty(0))
    chains: LabelArray = field(default_factory=lambda: np.empty(0, np.int32))
    steps: int = 0
    random: np.random.Generator = field(default_factory=np.random.default_rng)


@dataclass(frozen=True, kw_only=True)
class ContrastiveDivergence(Solver):
    """min_w ½‖w‖² − (C/S) Σ_i s_i log P(y_i | x_i) by stochastic gradients, with outputs that Gibbs sampling draws.

    The gradient of an example is E Ψ(x_i, y) − Ψ(x_i, y_i). A chain for each example, which begins at the truth and is
    kept from one step to the next, stands for the expectation. It serves where no sums are to be had; but how far the
    chains are from P(y | x) nobody knows, so that the objective is not measured, nothing is certified, and a run ends
    after `max_iter` passes over the data.

    Parameters
    ----------
    batch_size : int, optional
        Examples of a step; by default about a tenth of the data.
    n_sweeps : int
        How often a chain draws every label anew before its output is used.
    step_size : float
        η of η g / √(Σ g²), a step for each weight by its own gradients so far (AdaGrad, Duchi et al. 2011).
    random_state : int
        Of the order of examples and of all draws.
    """

    max_iter: int = 100
    batch_size: int | None = None
    n_sweeps: int = 1
    step_size: float = 0.3
    random_state: int = 0

    objectives: ClassVar[tuple[type[Objective], ...]] = (LikelihoodObjective,)
    vectors: ClassVar[int] = 7

    def check(self, problem: Any, objective: Any) -> None:
        if not problem.likelihood.is_exact:
            raise ValueError(
                f"ContrastiveDivergence follows the likelihood itself; with likelihood={problem.likelihood.name!r} use "
                "solver='lbfgs'"
            )
        if "gibbs" not in problem.oracles:
            raise ValueError(
                f"ContrastiveDivergence needs Gibbs sampling, which {type(problem).__name__} does not have; labelled "
                "graphs do, and structures with exact sums are for the other solvers"
            )
        super().check(problem, objective)
        if objective.l1_ratio:
            raise ValueError(f"ContrastiveDivergence has no form for l1_ratio={objective.l1_ratio:g}")
        if self.batch_size is not None:
            whole_option("batch_size", self.batch_size, 1)
        whole_option("n_sweeps", self.n_sweeps, 1)
        real_option("step_size", self.step_size, positive=True)

    def oracle(self, objective: LikelihoodObjective) -> str:
        return "gibbs"

    def init_state(self, problem: Any, objective: LikelihoodObjective) -> ContrastiveDivergenceState:
        zero = np.zeros(problem.n_features)
        return ContrastiveDivergenceState(
            w=zero,
            iterate=zero.copy(),
            squares=zero.copy(),
            chains=problem.gibbs_start(),
            random=np.random.default_rng(self.random_state),
        )

    def update(
        self, state: ContrastiveDivergenceState, problem: Any, objective: LikelihoodObjective
    ) -> ContrastiveDivergenceState:
        n = problem.n_examples
        size = max(1, n // 10) if self.batch_size is None else self.batch_size
        order = state.random.permutation(n)
        for begin in range(0, n, size):
            batch = np.sort(order[begin : begin + size])
            with state.timed("oracle_seconds"):
                outputs = problem.gibbs(state.iterate, batch, state.chains, self.n_sweeps, state.random)
            rows, _ = problem.differences(batch, outputs)
            gradient = state.iterate.copy()
            rows.add_to(gradient, -objective.price * n / len(batch) * objective.sample_weight[batch])
            state.squares += gradient**2
            state.iterate -= self.step_size * gradient / np.sqrt(np.maximum(state.squares, 1e-300))
            state.steps += 1
            # Later points count for more: step t with weight t.
            state.w += 2.0 / (state.steps + 1) * (state.iterate - state.w)
        state.record = {"primal": np.nan}
        return state
