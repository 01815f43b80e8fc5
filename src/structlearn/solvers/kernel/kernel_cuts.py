"""Cutting planes in a space with a kernel: exact ones, and such from samples (Yu 2011, Algorithms 6.1 and 6.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn.kernels.row_metric import RowMetric
from structlearn.solvers.base import DualSolver
from structlearn.solvers.kernel.cuts import Cut, Cuts, Expansion, RowCuts, best_mixture
from structlearn.solvers.states import DualState, dual_record
from structlearn.waist.objective import MarginObjective
from structlearn.waist.problem import Problem


@dataclass
class KernelCutsState(DualState):
    """`cuts` have their multipliers and the best w so far; `surveys` counts the passes over all examples."""

    cuts: Any = None
    surveys: int = 0


@dataclass(frozen=True, kw_only=True)
class KernelCuts(DualSolver):
    """min_w ½‖w‖² + C ξ with ξ ≥ c_t − ⟨w, g_t⟩ for cuts t that are functions of a space with a kernel.

    The loop is that of `OneSlack`; all that is known of cuts are their inner products and their values at the rows of
    the training data. Exact (Yu 2011, Algorithm 6.1, for any structure): O(n²) kernels an iteration for n rows that
    are violated, or products with the whole matrix where it fits.

    Parameters
    ----------
    idle_cuts : int
        Cuts that had no weight in that many quadratic programs in a row are dropped.
    """

    idle_cuts: int = 20

    slacks: ClassVar[tuple[str, ...]] = ("linear", "squared")
    takes_metric: ClassVar[bool] = True
    #: Whether the program over the cuts bounds the objective from below.
    certifies: ClassVar[bool] = True

    def nbytes(self, problem: Any) -> int:
        return super().nbytes(problem) + int(problem.metric.matrix_nbytes)

    def expected_nbytes(self, problem: Any) -> int:
        # Thirty cuts with weight, as Yu met them, and twenty that wait to be dropped.
        return self.nbytes(problem) + 50 * 8 * int(problem.n_features)

    def init_state(self, problem: Problem, objective: MarginObjective) -> KernelCutsState:
        state = KernelCutsState(w=np.zeros(problem.n_features), objective=objective, cuts=self._empty(problem.metric))
        self._survey(state, problem, objective)
        return state

    def resume(self, state: KernelCutsState, problem: Problem, objective: MarginObjective) -> KernelCutsState:
        self.check_state(state, KernelCutsState, objective)
        # Cuts bound the risk, whatever its price; where a sum of them was the most that C allowed, it may be too much.
        cuts, w = state.cuts, np.zeros(problem.n_features)
        cuts.alpha, cuts.best = cuts.alpha * min(1.0, objective.C / max(float(cuts.alpha.sum()), 1e-300)), None
        fresh = KernelCutsState(w=w, objective=objective, cuts=cuts)
        return self.update(fresh, problem, objective)

    def update(self, state: KernelCutsState, problem: Problem, objective: MarginObjective) -> KernelCutsState:
        with state.timed("dual_seconds"):
            self._solve(state, objective)
            idle, room = self.idle_cuts, self.room_for_planes(problem)
            while idle and state.cuts.nbytes() > room:
                idle //= 2
                self._drop_idle(state.cuts, idle)
        self._survey(state, problem, objective)
        return state

    def done(self, state: Any) -> bool:
        return super().done(state) if self.certifies else self._asks_too_little(state)

    def unfinished(self, state: KernelCutsState) -> str:
        if self.certifies:
            return super().unfinished(state)
        excess = state.record["violation"]
        return (
            f"stopped after max_iter={self.max_iter} iterations, where the last cut was violated by {excess:.2g}: of "
            f"the objective {state.primal:.3g}, {state.objective.C * excess:.2g} may be too much; raise max_iter, "
            "loosen the tolerance or lower C"
        )

    def _asks_too_little(self, state: KernelCutsState) -> bool:
        """Whether the last exact cut is violated by so little that a run without a lower bound is over."""
        excess = state.record.get("violation", np.inf)
        if state.primal == 0.0 or (self.eps is not None and excess <= self.eps):
            return True
        return bool(state.objective.C * excess <= self.tolerance * state.primal)

    def _empty(self, metric: RowMetric) -> Cuts:
        return RowCuts(metric)

    def _cut(self, state: KernelCutsState, exact: Cut) -> Cut:
        """The cut in the form in which it is kept."""
        return exact

    def _solve(self, state: KernelCutsState, objective: MarginObjective) -> None:
        """The quadratic program over the cuts; those that are idle for long are dropped."""
        cuts: Cuts = state.cuts
        accuracy = self.qp_accuracy(state, objective)
        cuts.alpha, gap = best_mixture(cuts.gram, cuts.offsets, cuts.alpha, objective.C, accuracy)
        cuts.idle = np.where(cuts.alpha > 0, 0, cuts.idle + 1)
        self._drop_idle(cuts, self.idle_cuts)
        dual = float(cuts.offsets @ cuts.alpha - 0.5 * cuts.alpha @ cuts.gram @ cuts.alpha)
        # What bounds from below may be forgotten only where it is no bound.
        state.dual = max(state.dual, dual) if self.certifies else dual
        state.restricted_gap = gap / max(dual + gap, 1e-300)

    @staticmethod
    def _drop_idle(cuts: Cuts, idle: int) -> None:
        kept = cuts.idle <= idle
        if not kept.all():
            cuts.keep(kept)

    def _survey(self, state: KernelCutsState, problem: Problem, objective: MarginObjective) -> None:
        """An oracle pass at w: its exact price, the stopping rule on the exact cut, and a new cut."""
        cuts: Cuts = state.cuts
        alpha = cuts.alpha
        w = cuts.weights() if len(alpha) else np.zeros(problem.n_features)
        with state.timed("oracle_seconds"):
            risk = problem.risk(w, objective)
        total = float(objective.sample_weight.sum())
        coefficients, rest = cuts.metric.split(risk.gradient / -total)
        offset = risk.offset / total
        gram, offsets = cuts.gram, cuts.offsets
        slack = max(0.0, float((offsets - gram @ alpha).max(initial=0.0)))
        excess = max(0.0, offset + float(risk.gradient @ w) / total - slack)
        norm = np.sqrt(max(float(alpha @ gram @ alpha), 0.0))
        primal = objective.primal(np.array([norm]), risk.losses)
        if primal <= state.primal or cuts.best is None:
            state.primal, state.w, state.slacks = primal, w, np.maximum(risk.losses, 0.0)
            nothing = Expansion(np.zeros(0, np.int64), np.zeros((0, cuts.metric.width)), np.zeros_like(rest))
            cuts.best = cuts.expansion() if len(alpha) else nothing
        with state.timed("dual_seconds"):
            rows = np.flatnonzero(coefficients.any(axis=1))
            cuts.add(self._cut(state, Cut(rows, coefficients[rows], rest.copy(), offset)))
        state.surveys += 1
        state.record = dual_record(state, problem, excess, len(cuts.alpha))
        if not self.certifies:
            state.record |= {"dual": np.nan, "gap": np.nan, "certified": False}


@dataclass(frozen=True, kw_only=True)
class SampledCuts(KernelCuts):
    """The same with cuts of few rows each, drawn from those that are violated (Yu 2011, Algorithm 6.2).

    An iteration takes O(n · n_samples) kernels for n rows. The rule that stops looks at exact cuts, and the objective
    is exact, but cuts from samples give no lower bound on its minimum: `tol` and `eps` end a run, and nothing is
    certified.

    Parameters
    ----------
    n_samples : int
        How many rows of a cut are drawn, with replacement; a cut that has no more is exact.
    random_state : int
        Seed of the draws.
    """

    n_samples: int = 400
    random_state: int = 0

    certifies: ClassVar[bool] = False

    def _cut(self, state: KernelCutsState, exact: Cut) -> Cut:
        n, k = len(exact.rows), self.n_samples
        if n <= k:
            return exact
        drawn = np.random.default_rng((self.random_state, state.surveys)).integers(n, size=k)
        chosen, times = np.unique(drawn, return_counts=True)
        return exact._replace(
            rows=exact.rows[chosen], coefficients=exact.coefficients[chosen] * (times[:, None] * (n / k))
        )
