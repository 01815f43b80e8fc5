"""Block-coordinate ascent on the dual of vector margins, with a working set of outputs for every example."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import offsets_of
from structlearn.solvers.kernel.vector_margins import VectorMargins, VectorMarginsState, VectorSolver


class WorkingSet:
    """Outputs that an example has found violating, as differences ψ = ỹ_i − ỹ of coefficients of parts.

    The truth stands first, with ψ = 0 and what is left of u_i.

    Attributes
    ----------
    alpha : (1 + n,)
        Multipliers ≥ 0, with the sum u_i.
    losses : (1 + n,)
        Δ(y_i, y).
    gram : (1 + n, 1 + n)
        ⟨ψ, K(x_i, x_i)ψ′⟩.
    """

    #: Outputs without weight are given up when there are as many.
    most = 50

    def __init__(self, price: float):
        self.alpha = np.array([price])
        self.losses = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self._known: dict[bytes, int] = {}
        self._places: list[IntArray] = []
        self._signs: list[FloatArray] = []

    def add(self, codes: LabelArray, loss: float, psi: FloatArray, metric: FloatArray) -> None:
        """Takes in an output, unless it is there, with ψ and with G_ii ψ A, (n_rows, n_parts)."""
        key = codes.tobytes()
        if key in self._known:
            return
        if len(self._places) >= self.most:
            self._forget()
        places = np.flatnonzero(psi)
        self._known[key] = len(self._places)
        self._places.append(places)
        self._signs.append(psi.ravel()[places])
        n = len(self.alpha)
        gram = np.zeros((n + 1, n + 1))
        gram[:n, :n] = self.gram
        gram[n] = gram[:, n] = self._dots(metric)
        self.gram, self.losses, self.alpha = gram, np.append(self.losses, loss), np.append(self.alpha, 0.0)

    def violations(self, scores: FloatArray) -> FloatArray:
        """Δ(y_i, y) − ⟨f(x_i), ψ⟩ by the scores of parts."""
        return np.asarray(self.losses - self._dots(scores))

    def gap(self, violations: FloatArray) -> float:
        """What the example adds to primal − dual."""
        return float(self.alpha.sum() * violations.max() - self.alpha @ violations)

    def improve(self, violations: FloatArray, accuracy: float, shape: tuple[int, ...]) -> FloatArray:
        """The best multipliers; returns by how much they change c_i."""
        n, price = len(self.alpha), float(self.alpha.sum())
        alpha = self.alpha.copy()
        zeros, limits = np.zeros(n), np.full(n, price)
        _core.solve_block(self.gram, zeros, zeros, limits, True, accuracy / price, 20 * n, alpha, -violations)
        moved = np.zeros(int(np.prod(shape)))
        for change, places, signs in zip((alpha - self.alpha)[1:], self._places, self._signs, strict=True):
            if change:
                moved[places] += change * signs
        self.alpha = alpha
        return moved.reshape(shape)

    def _dots(self, numbers: FloatArray) -> FloatArray:
        """⟨numbers, ψ⟩ of all outputs."""
        if not self._places:
            return np.zeros(1)
        flat = numbers.ravel()[np.concatenate(self._places)] * np.concatenate(self._signs)
        return np.append(0.0, np.add.reduceat(flat, offsets_of([len(places) for places in self._places])[:-1]))

    def _forget(self) -> None:
        kept = [k for k in range(len(self._places)) if self.alpha[k + 1] > 0.0]
        of = {place: key for key, place in self._known.items()}
        self._known = {of[k]: new for new, k in enumerate(kept)}
        self._places, self._signs = [self._places[k] for k in kept], [self._signs[k] for k in kept]
        which = np.array([0, *(k + 1 for k in kept)])
        self.alpha, self.losses, self.gram = self.alpha[which], self.losses[which], self.gram[np.ix_(which, which)]


@dataclass
class VectorBlocksState(VectorMarginsState):
    """`sets` has the working set of each example."""

    sets: list[WorkingSet] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class VectorBlocks(VectorSolver):
    """Every example in turn is optimised over the outputs that it has found violating, and looks for others.

    The dual is (8.7) of Saha's draft with its 1/λ, in the manner of Frank-Wolfe by blocks (Lacoste-Julien et al. 2013).
    What an example does for itself costs its own rows; only then are its coefficients pushed to all others, and
    of these, the ones of parts that have changed.
    """

    #: Until its gap is this part of the one before, an example goes on, for at most so many oracles.
    part = 0.3
    rounds = 3

    def init_state(self, margins: VectorMargins) -> VectorBlocksState:
        shape = len(margins.gram), margins.outputs.n_parts()
        sets = [WorkingSet(price) for price in margins.prices.tolist()]
        return VectorBlocksState(np.zeros(shape), np.zeros(shape[::-1]), np.zeros(len(sets)), sets=sets)

    def sweep(self, state: VectorBlocksState, margins: VectorMargins, order: IntArray) -> None:
        enough = 0.1 * self.tol * state.primal / len(order)
        for i in order.tolist():
            rows = margins.rows(i)
            if margins.prices[i] and rows.start < rows.stop:
                moved = self._solve(state, margins, i, rows, enough)
                state.C[rows] += moved
                push(state, margins, rows, moved)

    def _solve(
        self, state: VectorBlocksState, margins: VectorMargins, i: int, rows: slice, enough: float
    ) -> FloatArray:
        """Optimises one example, and returns by how much c_i changes."""
        known, own, outputs = state.sets[i], margins.gram[rows, rows], margins.outputs
        alone = np.array([0, rows.stop - rows.start])
        scores = margins.scores(state.products[:, rows].T)
        truth = outputs.indicators(margins.truths[rows], alone)
        moved = np.zeros_like(scores)
        for _ in range(self.rounds):
            found = margins.most_violating(scores, rows, alone)
            if found.slacks[0] > 0.0:
                psi = truth - outputs.indicators(found.codes, alone)
                known.add(found.codes, float(found.losses[0]), psi, margins.scores(own @ psi))
            violations = known.violations(scores)
            gap = known.gap(violations)
            if gap <= enough:
                break
            enough = max(enough, self.part * gap)
            change = known.improve(violations, 0.1 * enough, moved.shape)
            scores = scores + margins.scores(own @ change)
            moved += change
        state.losses[i] = float(known.alpha @ known.losses)
        return moved


def push(state: VectorMarginsState, margins: VectorMargins, rows: slice, moved: FloatArray) -> None:
    """Adds what a change of the coefficients of some rows is to the products of all."""
    which, parts = np.flatnonzero(moved.any(axis=1)), np.flatnonzero(moved.any(axis=0))
    if len(which):
        state.products[parts] += moved[np.ix_(which, parts)].T @ margins.gram[rows][which]
