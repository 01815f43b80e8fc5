"""The dual of the binary SVM with kernels, by decomposition into blocks of many variables."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.kernels import Kernel, KernelRows
from structlearn.kernels.base import taken
from structlearn.kernels.rows import with_fast_products
from structlearn.solvers.kernel.binary_margins import BinaryMargins
from structlearn.solvers.n_slack import InseparableError, NSlack
from structlearn.solvers.states import Record

#: Of the relative gap, what is left to the rounding of rows in single precision.
LEEWAY = 0.95
#: A growth of the dual that is a smaller part of it is none.
STALLED = 1e-14
#: Iterations without growth after which rows in double precision count as exhausted.
PATIENCE = 50
#: A norm, or a gap, that is as much of the objective below zero cannot be rounding.
NEGATIVE = 1e-3


@dataclass
class BinaryDualState:
    """Where a run stands: f(x) = Σ_i β_i k(x_i, x) + b.

    Attributes
    ----------
    beta : (n,)
        β_i = y_i α_i.
    scores : (n,)
        Σ_j β_j k(x_j, x_i).
    bias : float
        The b that is best for these scores; 0 if there is none.
    rows : KernelRows
    members, block : int array and array
        The last working set, the newest first, and its block of K.
    exact : bool
        Whether `scores` were computed anew from β, in double precision.
    stuck : bool
        Whether rounding leaves no further step.
    idle : int
        How many iterations in a row the dual has not grown.
    """

    beta: FloatArray
    scores: FloatArray
    rows: KernelRows
    members: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    block: npt.NDArray[Any] = field(default_factory=lambda: np.empty((0, 0)))
    bias: float = 0.0
    primal: float = np.inf
    dual: float = 0.0
    exact: bool = True
    exact_gap: float = np.inf
    stuck: bool = False
    idle: int = 0
    iteration: int = 0
    steps: int = 0
    record: Record = field(default_factory=dict)

    @property
    def relative_gap(self) -> float:
        return 1.0 if np.isinf(self.primal) else 0.0 if self.primal == 0.0 else 1.0 - self.dual / self.primal


@dataclass(frozen=True, kw_only=True)
class BinaryDual:
    """min_β ½βᵀ(K + diag r)β − ⟨y, β⟩ with 0 ≤ y_i β_i ≤ u_i, and Σβ = 0 if there is a bias: the dual of a binary SVM.

    A working set of examples, half of it the most violating ones and half of it from the last one, is solved by steps
    of two variables (sequential minimal optimisation) on its block of K; then the scores of all examples move by one
    product. Rows of K are in single precision. Where the gap has closed, the scores are computed anew in double
    precision: what is certified is the exact one, and the run goes on from there if it has not closed.

    Parameters
    ----------
    tol : float
        Stop when (primal − dual)/primal ≤ tol.
    max_iter : int
        Most working sets.
    block_size : int
        Examples of a working set.
    max_memory : int
        Bytes for rows of K that are kept.
    """

    tol: float = 1e-3
    max_iter: int = 100_000
    block_size: int = 1024
    max_memory: int = 2**30

    def run(
        self,
        kernel: Kernel,
        X: Any,
        margins: BinaryMargins,
        observe: Callable[[BinaryDualState], bool] | None = None,
    ) -> tuple[BinaryDualState, list[Record]]:
        """Iterates until the gap is closed, `max_iter` is reached, or `observe` returns True.

        Parameters
        ----------
        kernel : Kernel
        X : examples as `kernel.read` gives them
        margins : BinaryMargins
            Labels, prices and the form of the slacks.
        observe : callable, optional
            Called after every iteration with the state.
        """
        begin = time.perf_counter()
        n = len(margins.y)
        X = with_fast_products(X)
        rows = KernelRows(kernel, X, self.max_memory, single=margins.slack != "hard")
        state = BinaryDualState(np.zeros(n), np.zeros(n), rows)
        history: list[Record] = []
        while True:
            before = state.dual
            self._certify(state, margins)
            # Where the dual no longer grows, what is left to gain is below the rounding of rows in single precision; in
            # double precision the gap, which is larger than that growth, may still close for some time.
            state.idle = state.idle + 1 if state.dual <= before + STALLED * abs(before) else 0
            stalled = state.stuck or state.idle > (0 if state.rows.single else PATIENCE)
            closed = state.relative_gap <= LEEWAY * self.tol and not state.exact
            if state.iteration and (closed or (stalled and not self.done(state))):
                self._renew(state, kernel, X, margins)
            state.record = {
                "iteration": state.iteration,
                "primal": state.primal,
                "dual": state.dual,
                "gap": state.primal - state.dual,
                "certified": state.exact,
                "steps": state.steps,
                "rows": state.rows.n_computed,
                "seconds": time.perf_counter() - begin,
            }
            history.append(state.record)
            stopped = observe is not None and observe(state)
            if self.done(state) or state.stuck or stopped or state.iteration >= self.max_iter:
                break
            self._step(state, margins)
        if not state.exact:
            self._renew(state, kernel, X, margins)
            gap = state.primal - state.dual
            state.record |= {"primal": state.primal, "dual": state.dual, "gap": gap, "certified": True}
        return state, history

    def done(self, state: BinaryDualState) -> bool:
        """Whether the gap is closed, and certified."""
        return state.exact and state.relative_gap <= self.tol

    def _certify(self, state: BinaryDualState, margins: BinaryMargins) -> None:
        state.bias = margins.best_bias(state.scores)
        norm = float(state.beta @ state.scores)
        state.primal = margins.primal(norm, state.scores + state.bias)
        state.dual = margins.dual(norm, state.beta)
        if norm < -NEGATIVE * (1.0 + abs(state.dual)) or state.primal - state.dual < -NEGATIVE * abs(state.primal):
            if not state.exact:
                state.stuck = True
                return
            raise ValueError(
                f"the kernel is not positive semidefinite: ‖f‖² is {norm:g} and the gap {state.primal - state.dual:g} "
                "at a point of the dual; structlearn.kernels.check_psd tells of a matrix"
            )
        if margins.slack == "hard" and state.dual > 0:
            # A dual value D proves that no margin above 1/√(2D) exists.
            margin, radius = 1.0 / np.sqrt(2.0 * state.dual), np.sqrt(margins.largest)
            if margin < NSlack.least_margin * radius:
                raise InseparableError(
                    f"the training data cannot be separated: no margin above {margin:.2g} exists, while the features "
                    f"have radius {radius:.3g}; use slack='linear' or slack='squared'"
                )

    def _renew(self, state: BinaryDualState, kernel: Kernel, X: Any, margins: BinaryMargins) -> None:
        """Scores from β in double precision; rows too, if those in single precision no longer bring the gap down."""
        used = np.flatnonzero(state.beta)
        if len(used) and not state.exact:
            for some, part in kernel.blocks(X, taken(X, used), max_memory=2**23):
                state.scores[some] = part @ state.beta[used]
        state.exact, state.stuck, state.idle = True, False, 0
        self._certify(state, margins)
        if state.relative_gap > self.tol and state.relative_gap > 0.5 * state.exact_gap:
            state.stuck = not state.rows.single
            state.rows = KernelRows(kernel, X, self.max_memory, single=False)
            state.members, state.block = np.empty(0, np.int64), np.empty((0, 0))
        state.exact_gap = state.relative_gap

    def _step(self, state: BinaryDualState, margins: BinaryMargins) -> None:
        gradient = state.scores - margins.y + margins.r * state.beta
        rises, falls = state.beta < margins.upper, state.beta > margins.lower
        violation, new = self._working_set(state, gradient, rises, falls, margins.has_bias)
        self._replace_members(state, new)
        which, block = state.members, state.block
        beta, gradient = state.beta[which], gradient[which]
        limits = margins.r[which], margins.lower[which], margins.upper[which]
        steps, first, second = _core.solve_block(
            block, *limits, margins.has_bias, 0.1 * violation, 100 * len(which), beta, gradient
        )
        if first >= 0:
            i, j = which[first], which[second]
            raise ValueError(
                f"the kernel is not positive semidefinite: k(x, x) − 2k(x, z) + k(z, z) of the examples {i} and {j} is "
                f"{block[first, first] - 2 * block[first, second] + block[second, second]:g}"
            )
        moved = np.flatnonzero(beta != state.beta[which])
        state.rows.add_to(state.scores, which[moved], (beta - state.beta[which])[moved])
        state.beta[which] = beta
        state.iteration += 1
        state.steps += steps
        state.stuck = not len(moved)
        state.exact = not len(moved) and state.exact

    def _replace_members(self, state: BinaryDualState, new: IntArray) -> None:
        """The working set with new members first, in the place of the oldest, and its block of K."""
        kept = self._kept(state)
        members = np.concatenate([new, kept])
        of_new = state.rows.columns(new, members)
        block = np.empty((len(members), len(members)), of_new.dtype)
        block[: len(new)] = of_new
        block[len(new) :, : len(new)] = of_new[:, len(new) :].T
        block[len(new) :, len(new) :] = state.block[: len(kept), : len(kept)]
        state.members, state.block = members, block

    def _size(self, state: BinaryDualState) -> int:
        return min(self.block_size, state.rows.capacity)

    def _kept(self, state: BinaryDualState) -> IntArray:
        return state.members[: self._size(state) // 2]

    def _working_set(
        self, state: BinaryDualState, gradient: FloatArray, rises: Flags, falls: Flags, has_bias: bool
    ) -> tuple[float, IntArray]:
        """The largest violation of optimality, and the most violating examples outside the half that is kept."""
        size, kept = self._size(state), self._kept(state)
        up, down = np.where(rises, -gradient, -np.inf), np.where(falls, gradient, -np.inf)
        if has_bias:
            violation = float(up.max() + down.max())
            up[kept] = down[kept] = -np.inf
            first = _largest(up, (size - len(kept)) // 2)
            down[first] = -np.inf
            return violation, np.concatenate([first, _largest(down, size - len(kept) - len(first))])
        steepest = np.maximum(up, down)
        violation = float(steepest.max())
        steepest[kept] = -np.inf
        return violation, _largest(np.where(steepest > 0, steepest, -np.inf), size - len(kept))


def _largest(values: FloatArray, size: int) -> IntArray:
    """Where the largest numbers are, without those that are −∞."""
    found = np.argpartition(-values, size - 1)[:size] if size < len(values) else np.arange(len(values))
    return np.asarray(found[values[found] > -np.inf])
