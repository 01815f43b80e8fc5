"""Cutting planes in the span of few functions that are found on the way (Yu 2011, Algorithm 6.3, CPSP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.kernels.gram import SMALLEST_PIVOT, cholesky_coordinates
from structlearn.kernels.preimages import Combination, preimage
from structlearn.kernels.row_metric import RowMetric
from structlearn.solvers.kernel.cuts import Cut, Cuts, Expansion, checked
from structlearn.solvers.kernel.kernel_cuts import KernelCuts, KernelCutsState


class BasisCuts(Cuts):
    """Cuts projected onto the span of a basis, in its Cholesky coordinates: K_bb = LLᵀ, z(x) = L⁻¹k(b, x).

    A new vector of the basis appends a coordinate to all cuts, and leaves the others as they are.

    Attributes
    ----------
    basis : (n_basis, d)
    coordinates : (n_rows, n_basis)
        z of the rows of the training data.
    full : bool
        Whether the basis gets no more vectors.
    """

    basis: Any
    full: bool

    def __init__(self, metric: RowMetric, size: int, dense: bool):
        self._size = size
        self._dense = dense
        super().__init__(metric)

    def _begin(self) -> None:
        super()._begin()
        rows, size = self.metric.rows, self._size
        self.basis, self.full = _dense(rows[:0]) if self._dense else rows[:0], False
        self._factor = np.zeros((size, size))
        self._coordinates = np.zeros((self.metric.n_rows, size), order="F")
        self._projected = np.zeros((0, size, self.metric.width))

    def __len__(self) -> int:
        return int(self.basis.shape[0])

    @property
    def size(self) -> int:
        return len(self._factor)

    @property
    def coordinates(self) -> FloatArray:
        return self._coordinates[:, : len(self)]

    def add(self, cut: Cut) -> None:
        k, size = len(self), self._projected.shape[1:]
        projected = np.zeros((1, *size))
        projected[0, :k] = self._projection(cut)
        self._projected = np.concatenate([self._projected, projected])
        self._join(cut, self._projected.reshape(len(self._projected), -1) @ projected.ravel())

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super().keep(kept)
        self._projected = self._projected[kept]

    def vectors(self, numbers: IntArray) -> Any:
        return self.basis[numbers]

    def weights(self) -> FloatArray:
        return np.concatenate([(self.coordinates @ self._mixed()).ravel(), self._rest()])

    def expansion(self) -> Expansion:
        return Expansion(np.arange(len(self)), self._solved_transposed(self._mixed()), self._rest())

    def save(self) -> dict[str, Any]:
        return super().save() | {
            "basis": self.basis,
            "full": self.full,
            "gram": self.gram,
            "projected": self._projected[:, : len(self)],
        }

    def _begin_with(self, saved: dict[str, Any]) -> None:
        basis = self.metric.kernel.read(saved["basis"], "basis") if saved["basis"].shape[0] else self.basis
        if sp.issparse(basis) != sp.issparse(self.basis) or basis.shape[1] != self.basis.shape[1]:
            raise ValueError(f"basis has the shape {basis.shape}")
        if basis.shape[0] > self.size or not all(self.extend(basis[i : i + 1]) for i in range(basis.shape[0])):
            raise ValueError("basis holds vectors that depend on each other, or too many")

    def _end_with(self, saved: dict[str, Any]) -> None:
        n, k = len(self.cuts), len(self)
        self.full = bool(saved["full"])
        self.gram = checked(saved, "gram", np.float64, n, n)
        self._projected[:, :k] = checked(saved, "projected", np.float64, n, k, self.metric.width)

    def _n_vectors(self) -> int:
        return len(self)

    def extend(self, b: Any) -> bool:
        """Takes in a vector, (1, d), and projects all cuts anew; False if it lies in the span already."""
        kernel, k = self.metric.kernel, len(self)
        values = kernel.checked_values(self.metric.rows, b)[:, 0]
        own = float(kernel.diagonal_values(b)[0])
        z = cholesky_coordinates(self._factor[:k, :k], kernel.checked_values(b, self.basis))[0] if k else np.zeros(0)
        left = own - float(z @ z)
        if not left > SMALLEST_PIVOT * own:
            return False
        root = np.sqrt(left)
        self._factor[k, :k], self._factor[k, k] = z, root
        self._coordinates[:, k] = (values - self.coordinates @ z) / root
        self.basis = sp.vstack([self.basis, b], format="csr") if sp.issparse(b) else np.vstack([self.basis, b])
        added = np.array([self._coordinates[cut.rows, k] @ cut.coefficients for cut in self.cuts])
        if len(added):
            self._projected[:, k] = added
            self.gram = self.gram + added @ added.T
        return True

    def residual(self, cut: Cut) -> Combination:
        """g − P g of the part of a cut that has a kernel."""
        kernel, k = self.metric.kernel, len(self)
        whole = (self.metric.rows[cut.rows], cut.coefficients)
        if not k:
            return Combination(kernel, (whole,))
        return Combination(kernel, (whole, (self.basis, -self._solved_transposed(self._projection(cut)))))

    def nbytes(self) -> int:
        return self._projected.nbytes + sum(cut.coefficients.nbytes for cut in self.cuts)

    def _projection(self, cut: Cut) -> FloatArray:
        """P g of the part of a cut that has a kernel, (n_basis, width)."""
        # A copy of many rows takes longer than products with zeros.
        if 4 * len(cut.rows) > self.metric.n_rows:
            full = np.zeros((self.metric.n_rows, self.metric.width))
            full[cut.rows] = cut.coefficients
            return np.asarray(self.coordinates.T @ full)
        return np.asarray(self._coordinates[cut.rows, : len(self)].T @ cut.coefficients)

    def _mixed(self) -> FloatArray:
        return np.asarray(np.tensordot(self.alpha, self._projected[:, : len(self)], 1))

    def _solved_transposed(self, values: FloatArray) -> FloatArray:
        from scipy.linalg import solve_triangular

        k = len(self)
        return np.asarray(solve_triangular(self._factor[:k, :k], values, lower=True, trans=1, check_finite=False))


@dataclass(frozen=True, kw_only=True)
class SubspacePursuit(KernelCuts):
    """min_w ½‖w‖² + C ξ over w in the span of at most `n_basis` functions, found by cutting planes.

    Every cut brings the function φ(b) that is missing most in its projection, until there are `n_basis` of them; all
    cuts are projected onto the span. b need be no row of the training data: it is the preimage of what is left of the
    cut, by the fixed point of Burges and Schölkopf for `RBF` and by its gradient for other differentiable kernels. The
    objective is exact, but the minimum over the span is no lower bound on that over the whole space, so that nothing is
    certified unless `bound` asks for it.

    Parameters
    ----------
    n_basis : int
        k_max, the size of the basis.
    preimages : bool
        Whether b may be any vector; False takes rows of the training data, which every kernel has: CPSP(tr).
    n_candidates : int
        How many rows are drawn, of which the best is taken or is where the search for a preimage begins. 59 have one of
        the best twentieth with a chance of 95 %.
    random_state : int
        Seed of the draws.
    bound : bool
        Whether a run that comes to its end bounds the minimum over the whole space from below: the cuts hold there too,
        and their mixture costs O(n²) kernels once. The gap is then mostly what the basis leaves of the cuts.
    """

    n_basis: int = 200
    preimages: bool = True
    n_candidates: int = 59
    random_state: int = 0
    bound: bool = False

    certifies: ClassVar[bool] = False

    def check(self, problem: Any, objective: Any) -> None:
        super().check(problem, objective)
        if self.n_basis < 1 or self.n_candidates < 1:
            raise ValueError(f"n_basis is {self.n_basis} and n_candidates {self.n_candidates}; both must be ≥ 1")
        kernel = problem.metric.kernel
        if self.preimages and not kernel.differentiable:
            raise ValueError(f"{kernel} has no gradient, as preimages need it; give preimages=False")

    def nbytes(self, problem: Any) -> int:
        n = int(problem.metric.n_rows)
        size = min(self.n_basis, n)
        return super().nbytes(problem) - int(problem.metric.matrix_nbytes) + 8 * size * (n + size)

    def done(self, state: Any) -> bool:
        return state.cuts.full and super().done(state)

    def update(self, state: KernelCutsState, problem: Any, objective: Any) -> KernelCutsState:
        state = super().update(state, problem, objective)
        if self.bound and self.done(state) and state.record["primal"] > 0.0:
            with state.timed("dual_seconds"):
                state.dual = state.cuts.lower_bound()
            state.record |= {"dual": state.dual, "gap": state.primal - state.dual, "certified": True}
        return state

    def _empty(self, metric: RowMetric) -> Cuts:
        return BasisCuts(metric, min(self.n_basis, metric.n_rows), self.preimages)

    def _cut(self, state: KernelCutsState, exact: Cut) -> Cut:
        """The cut as it is, after the function that is missing most in its projection has joined the basis."""
        cuts = state.cuts
        assert isinstance(cuts, BasisCuts)
        if not cuts.full:
            random = np.random.default_rng((self.random_state, state.surveys))
            cuts.full = not self._extend(cuts, exact, random) or len(cuts) == cuts.size
        return exact

    def _extend(self, cuts: BasisCuts, cut: Cut, random: np.random.Generator) -> bool:
        """Adds a vector to the basis; False if none was found that is not in the span."""
        if not len(cut.rows):
            return False
        metric, missing = cuts.metric, cuts.residual(cut)
        candidates = metric.rows[np.sort(random.permutation(metric.n_rows)[: self.n_candidates])]
        if self.preimages:
            candidates = _dense(candidates)
        order = np.argsort(-missing.explained(candidates), kind="stable")
        if self.preimages and cuts.extend(preimage(missing, candidates[order[:1]])):
            return True
        # What is in the span already explains nothing; the next candidate may.
        return any(cuts.extend(candidates[i : i + 1]) for i in order)


def _dense(rows: Any) -> Any:
    return rows.toarray() if sp.issparse(rows) else rows
