"""Margins between vectors of outputs, with operator-valued kernels: the problem, and what solvers of it share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import owners_of


class Parts(Protocol):
    """What is asked of outputs: see `structlearn.outputs.CodedOutputs`."""

    losses: ClassVar[tuple[str, ...]]

    def n_parts(self) -> int: ...

    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]: ...

    def indicators(self, codes: LabelArray, offsets: IntArray) -> FloatArray: ...

    def combined(self, parts: FloatArray) -> FloatArray: ...

    def scores(self, vectors: FloatArray) -> FloatArray: ...

    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray: ...

    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray: ...

    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray: ...

    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray: ...


class Violators(NamedTuple):
    """The most violating outputs of some examples: codes, Δ(y_i, y), and Δ(y_i, y) − ⟨f(x_i), ỹ_i − ỹ⟩."""

    codes: LabelArray
    losses: FloatArray
    slacks: FloatArray


@dataclass(frozen=True)
class VectorMargins:
    """min_f ½‖f‖² + Σ_i u_i ξ_i with ξ_i ≥ Δ(y_i, y) − ⟨f(x_i), ỹ_i − ỹ⟩ for all outputs y.

    ỹ is a sum of vectors of parts, and so is every c of f = Σ_i k(x_i, ·) A c_i: solvers know it by coefficients of
    parts, (n_rows, n_parts), most of which are 0.

    Attributes
    ----------
    gram : (n_rows, n_rows)
        Kernels k of the rows of all inputs.
    A : (d, d) or None
        That of K = kA; None for the identity.
    outputs : Parts
    truths : codes of the outputs y_i
    offsets : (n_examples + 1,)
        Where the rows of each example begin.
    prices : (n_examples,)
        u_i.
    loss : str
        Δ.
    """

    gram: FloatArray
    A: FloatArray | None
    outputs: Parts
    truths: LabelArray
    offsets: IntArray
    prices: FloatArray
    loss: str

    @cached_property
    def losses(self) -> FloatArray:
        """Those of parts."""
        return self.outputs.part_losses(self.truths, self.offsets, self.loss)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Coordinates of Ac for coefficients of parts."""
        vectors = self.outputs.combined(coefficients)
        return vectors if self.A is None else vectors @ self.A

    def scores(self, products: FloatArray) -> FloatArray:
        """⟨f(x), ·⟩ of the vectors of parts, for the products of kernels and coefficients, (n_rows, n_parts)."""
        return self.outputs.scores(self.weights(products))

    def rows(self, i: int) -> slice:
        return slice(int(self.offsets[i]), int(self.offsets[i + 1]))

    def most_violating(self, scores: FloatArray, rows: slice, offsets: IntArray) -> Violators:
        """Those of examples that have these rows, from these offsets on, by the scores of their parts."""
        truths, losses = self.truths[rows], self.losses[rows]
        if self.loss == "distance":
            codes = self.outputs.farthest_codes(scores, offsets, truths)
        else:
            codes = self.outputs.best_codes(scores + losses, offsets)
        found, right = self.outputs.parts(codes, offsets), self.outputs.parts(truths, offsets)
        owners = owners_of(offsets)

        def beyond(numbers: FloatArray) -> FloatArray:
            n = len(offsets) - 1
            summed = np.bincount(owners[found[0]], numbers[found], n) - np.bincount(owners[right[0]], numbers[right], n)
            return np.asarray(summed)

        of_outputs = beyond(losses)
        if self.loss == "distance":
            of_outputs = np.sqrt(np.maximum(of_outputs, 0.0))
        return Violators(codes, of_outputs, of_outputs + beyond(scores))


@dataclass
class VectorMarginsState:
    """Where a solver of the dual stands: max Σ_i losses_i − ½⟨C, GCA⟩ over convex combinations.

    Attributes
    ----------
    C : (n_rows, n_parts)
        Coefficients of c_i = Σ_y α_iy (ỹ_i − ỹ).
    products : (n_parts, n_rows)
        (GC)ᵀ.
    losses : (n_examples,)
        Σ_y α_iy Δ(y_i, y).
    primal, dual : float
        The objective at f, and the lower bound that α gives.
    """

    C: FloatArray
    products: FloatArray
    losses: FloatArray
    primal: float = np.inf
    dual: float = 0.0
    iteration: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)

    @property
    def relative_gap(self) -> float:
        return 0.0 if self.primal == 0.0 else max(0.0, (self.primal - self.dual) / self.primal)


@dataclass(frozen=True, kw_only=True)
class VectorSolver(ABC):
    """Passes over the examples in random order until the relative gap is `tol`, or there were `max_iter` of them.

    The gap is measured after a pass, with all oracles at the same f. A subclass says where it begins and what a pass
    is.
    """

    tol: float = 0.01
    max_iter: int = 1000
    random_state: int = 0

    def check(self, loss: str) -> None:
        """Refuses a loss that it is not made for."""
        return

    @abstractmethod
    def init_state(self, margins: VectorMargins) -> Any:
        """Where it begins, with C and losses."""

    @abstractmethod
    def sweep(self, state: Any, margins: VectorMargins, order: IntArray) -> None:
        """A pass over the examples in this order, which keeps C, products and losses up to date."""

    def run(self, margins: VectorMargins, observe: Callable[[VectorMarginsState], bool]) -> VectorMarginsState:
        state: VectorMarginsState = self.init_state(margins)
        random = np.random.default_rng(self.random_state)
        renew(state, margins)
        survey(state, margins)
        while state.iteration < self.max_iter and state.relative_gap > self.tol and not observe(state):
            self.sweep(state, margins, random.permutation(len(margins.prices)))
            state.iteration += 1
            survey(state, margins)
            if state.relative_gap <= self.tol or state.iteration == self.max_iter:
                # Steps add up rounding, and what is certified shall be exact.
                renew(state, margins)
                state.history.pop()
                survey(state, margins)
        return state


def renew(state: VectorMarginsState, margins: VectorMargins) -> None:
    """Computes the products anew from the coefficients."""
    C = state.C.T
    few = np.count_nonzero(C) < 0.1 * C.size
    state.products = np.ascontiguousarray((sp.csr_array(C) if few else C) @ margins.gram)


def survey(state: VectorMarginsState, margins: VectorMargins) -> None:
    """Prices f and the dual."""
    scores = margins.scores(state.products.T)
    found = margins.most_violating(scores, slice(None), margins.offsets)
    half = 0.5 * float(np.vdot(state.C, scores))
    state.primal = half + float(margins.prices @ np.maximum(found.slacks, 0.0))
    state.dual = float(state.losses.sum()) - half
    state.history.append(
        {"iteration": state.iteration, "primal": state.primal, "dual": state.dual, "gap": state.primal - state.dual}
    )
