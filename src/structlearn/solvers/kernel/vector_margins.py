"""Margins between vectors of outputs, in the dual: block-coordinate Frank-Wolfe with operator-valued kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray


class Oracle(Protocol):
    """What is asked of outputs: see `structlearn.outputs.CodedOutputs`."""

    def vectors(self, codes: LabelArray, offsets: IntArray) -> FloatArray: ...

    def violating_codes(self, vectors: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray: ...

    def wrong(self, codes: LabelArray, truths: LabelArray, offsets: IntArray) -> FloatArray: ...


@dataclass(frozen=True)
class VectorMargins:
    """min_f ½‖f‖² + Σ_i u_i ξ_i with ξ_i ≥ Δ(y_i, y) − ⟨f(x_i), ỹ_i − ỹ⟩ for all outputs y.

    Attributes
    ----------
    gram : (n_rows, n_rows)
        Kernels k of the rows of all inputs.
    A : (d, d) or None
        That of K = kA; None for the identity.
    oracle : Oracle
    truths : codes of the outputs y_i
    offsets : (n_examples + 1,)
        Where the rows of each example begin.
    prices : (n_examples,)
        u_i.
    """

    gram: FloatArray
    A: FloatArray | None
    oracle: Oracle
    truths: LabelArray
    offsets: IntArray
    prices: FloatArray

    def turned(self, C: FloatArray) -> FloatArray:
        """CA."""
        return C if self.A is None else C @ self.A


@dataclass
class VectorMarginsState:
    """f = Σ_i k(x_i, ·) A c_i with c_i = Σ_y α_iy (ỹ_i − ỹ), and its values at the training rows.

    Attributes
    ----------
    C, values : (n_rows, d)
        c, and f(x) = GCA.
    losses : (n_examples,)
        Σ_y α_iy Δ(y_i, y).
    primal, dual : float
        The objective at f, and the lower bound that α gives.
    """

    C: FloatArray
    values: FloatArray
    losses: FloatArray
    primal: float = np.inf
    dual: float = 0.0
    iteration: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def relative_gap(self) -> float:
        return 0.0 if self.primal == 0.0 else max(0.0, (self.primal - self.dual) / self.primal)


@dataclass(frozen=True, kw_only=True)
class VectorFrankWolfe:
    """Passes over the examples, each moved towards the output that it finds most violated, by the best step.

    The dual is max Σ_i losses_i − ½⟨C, GCA⟩ over convex combinations (Lacoste-Julien et al. 2013; the dual (8.7) of
    Saha's draft with its 1/λ). A step costs products of one example's rows with all others; the gap is measured once a
    pass, with all oracles at the same f.

    Parameters
    ----------
    tol : float
        Stop at this relative gap.
    max_iter : int
        Most passes.
    random_state : int
        Seed of the order of examples.
    """

    tol: float = 0.01
    max_iter: int = 1000
    random_state: int = 0

    def run(self, margins: VectorMargins, observe: Callable[[VectorMarginsState], bool]) -> VectorMarginsState:
        targets = margins.oracle.vectors(margins.truths, margins.offsets)
        state = VectorMarginsState(np.zeros_like(targets), np.zeros_like(targets), np.zeros(len(margins.prices)))
        random = np.random.default_rng(self.random_state)
        self._survey(state, margins, targets)
        while state.iteration < self.max_iter and state.relative_gap > self.tol and not observe(state):
            for i in random.permutation(len(margins.prices)):
                self._step(state, margins, targets, int(i))
            state.iteration += 1
            self._survey(state, margins, targets)
        return state

    def _step(self, state: VectorMarginsState, margins: VectorMargins, targets: FloatArray, i: int) -> None:
        begin, end = margins.offsets[i : i + 2].tolist()
        rows, alone = slice(begin, end), np.array([0, end - begin])
        truth, values = margins.truths[rows], state.values[rows]
        found = margins.oracle.violating_codes(values, alone, truth)
        move = margins.prices[i] * (targets[rows] - margins.oracle.vectors(found, alone)) - state.C[rows]
        loss = margins.prices[i] * float(margins.oracle.wrong(found, truth, alone)[0])
        gain = (loss - state.losses[i]) - float(np.vdot(move, values))
        turned = margins.turned(move)
        curvature = float(np.vdot(margins.gram[rows, rows] @ move, turned))
        if gain <= 0.0:
            return
        step = min(1.0, gain / curvature) if curvature > 0.0 else 1.0
        state.C[rows] += step * move
        state.losses[i] += step * (loss - state.losses[i])
        state.values += margins.gram[:, rows] @ (step * turned)

    def _survey(self, state: VectorMarginsState, margins: VectorMargins, targets: FloatArray) -> None:
        """Prices f exactly, and the dual; values are computed anew, since steps add up rounding."""
        oracle, offsets = margins.oracle, margins.offsets
        state.values = margins.gram @ margins.turned(state.C)
        found = oracle.violating_codes(state.values, offsets, margins.truths)
        apart = (state.values * (targets - oracle.vectors(found, offsets))).sum(axis=1)
        slacks = oracle.wrong(found, margins.truths, offsets) - np.add.reduceat(apart, offsets[:-1])
        half = 0.5 * float(np.vdot(state.C, state.values))
        state.primal = half + float(margins.prices @ np.maximum(slacks, 0.0))
        state.dual = float(state.losses.sum()) - half
        state.history.append(
            {"iteration": state.iteration, "primal": state.primal, "dual": state.dual, "gap": state.primal - state.dual}
        )
