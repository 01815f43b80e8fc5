"""Exponentiated gradient on the dual of vector margins, with the marginals of parts (Collins et al. 2008)."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.solvers.kernel.vector_margins import VectorMargins, VectorMarginsState, VectorSolver


@dataclass
class VectorExponentsState(VectorMarginsState):
    """Distributions α_i ∝ exp of the sums of θ_i over parts.

    Attributes
    ----------
    theta, marginals : (n_rows, n_parts)
    steps : (n_examples,)
        η of each example.
    """

    theta: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    marginals: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    steps: FloatArray = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, kw_only=True)
class VectorExponents(VectorSolver):
    """θ_i ← θ_i + η(ℓ_i + the scores of f(x_i)), where α_i ∝ exp θ_i: (8.7) of Saha's draft on the marginals of parts.

    A step is one sum-product pass over the parts of an example. One that would lower the dual is halved, others let η
    grow. It needs a loss that is a sum over parts.
    """

    #: θ of the truth's parts at the start, the first η, and the steps of an example before all others learn of them.
    start = 5.0
    step_size = 0.5
    rounds = 5

    def check(self, loss: str) -> None:
        if loss == "distance":
            raise ValueError(
                "solver is 'exponentiated_gradient', which needs a loss that is a sum over parts; "
                "loss='distance' is none: take solver='block_coordinate'"
            )

    def init_state(self, margins: VectorMargins) -> VectorExponentsState:
        outputs, offsets = margins.outputs, margins.offsets
        theta = -self.start * outputs.part_losses(margins.truths, offsets, outputs.losses[0])
        truth = outputs.indicators(margins.truths, offsets)
        marginals = outputs.marginals(theta, offsets)
        n = len(margins.prices)
        state = VectorExponentsState(
            np.repeat(margins.prices, np.diff(offsets))[:, None] * (truth - marginals),
            np.empty((0, 0)),
            np.zeros(n),
            theta=theta,
            marginals=marginals,
            steps=np.full(n, self.step_size),
        )
        for i in range(n):
            rows = margins.rows(i)
            state.losses[i] = margins.prices[i] * np.vdot(margins.losses[rows], (marginals - truth)[rows])
        return state

    def sweep(self, state: VectorExponentsState, margins: VectorMargins, order: IntArray) -> None:
        for i in order.tolist():
            rows = margins.rows(i)
            if margins.prices[i] and rows.start < rows.stop:
                before = state.C[rows].copy()
                self._climb(state, margins, i, rows)
                state.products += (margins.gram[:, rows] @ (state.C[rows] - before)).T

    def _climb(self, state: VectorExponentsState, margins: VectorMargins, i: int, rows: slice) -> None:
        price, own, losses = margins.prices[i], margins.gram[rows, rows], margins.losses[rows]
        alone = np.array([0, rows.stop - rows.start])
        scores = margins.scores(state.products[:, rows].T)
        for _ in range(self.rounds):
            theta = state.theta[rows] + state.steps[i] * (losses + scores)
            marginals = margins.outputs.marginals(theta, alone)
            moved = price * (state.marginals[rows] - marginals)
            loss, change = -float(np.vdot(losses, moved)), margins.scores(own @ moved)
            if loss - float(np.vdot(moved, scores + 0.5 * change)) < 0.0:
                state.steps[i] *= 0.5
                continue
            state.theta[rows], state.marginals[rows] = theta, marginals
            state.C[rows] += moved
            state.losses[i] += loss
            scores = scores + change
            state.steps[i] *= 1.2
