"""The linear systems of vector-valued ridge regression, each solved in the cheapest way for its kernel."""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.estimators.vector_valued.base import check_room
from structlearn.features import KernelMap
from structlearn.kernels.base import check_fits, length
from structlearn.kernels.operators import Decomposable
from structlearn.solvers.kernel.vector_ridge import (
    RidgePath,
    Spectrum,
    conjugate_gradients,
    feature_spectrum,
    identity,
    learn_outputs,
    ridge_coefficients,
    spectrum,
)
from structlearn.wording import count

#: What λ is chosen from, as shares of the mean eigenvalue of the kernel matrix.
SHARES = np.logspace(-6, 2, 17)


class Regression(NamedTuple):
    """What is learnt from: rows and the coordinates of their targets.

    Attributes
    ----------
    rows : examples of a kernel
    targets : (n, d)
    metric : (d, d) or None
        Inner products of the vectors that the coordinates belong to.
    groups : (n_groups + 1,) or None
        Where the rows begin that are left out together.
    """

    rows: Any
    targets: FloatArray
    metric: FloatArray | None
    groups: IntArray | None

    def squares(self, left: FloatArray, right: FloatArray) -> float:
        """Σ_i ⟨left_i, right_i⟩ of coordinates."""
        return float(np.vdot(left, right if self.metric is None else right @ self.metric))

    def covariance(self) -> FloatArray:
        """(1/n) Σ_i ỹ_i ỹ_iᵀ as it acts on coordinates from the right: symmetric in the bases that outputs choose."""
        found = self.targets.T @ self.targets / len(self.targets)
        return found if self.metric is None else self.metric @ found


class Solved(NamedTuple):
    """The coefficients C of f, what they are to be multiplied with for each term, and how they were found."""

    coefficients: FloatArray
    operators: list[FloatArray | None]
    method: str
    objective: float
    n_iter: int = 1


class DecomposableSystem:
    """GCA + nλC = Ỹ, for a kernel kA.

    Parameters
    ----------
    term : Decomposable
        With a kernel that needs nothing more from the data.
    data : Regression
    features : KernelMap, optional
        Fitted coordinates in which G is ZZᵀ.
    n_jobs : int, optional
        Threads that compute kernels.
    """

    def __init__(self, term: Decomposable, data: Regression, features: KernelMap | None, n_jobs: int | None):
        self.term = term
        self.data = data
        self.features = features
        self.n_jobs = n_jobs

    def terms(self) -> list[Decomposable]:
        return [self.term]

    @cached_property
    def operator(self) -> FloatArray | None:
        """A as it acts on coordinates from the right; None for the identity."""
        A, d = self.term.A, self.data.targets.shape[1]
        if isinstance(A, str) and A in ("identity", "learnt"):
            return None
        if isinstance(A, str):
            check_room(f"A of {count(d)} × {count(d)} coordinates", d * d)
        found = self.data.covariance() if isinstance(A, str) else np.asarray(A, np.float64)
        if found.shape != (d, d):
            raise ValueError(f"A has shape {found.shape}, but outputs have {d} coordinates")
        if not isinstance(A, str) and self.data.metric is not None:
            raise ValueError("A is a matrix, but outputs with a kernel have no coordinates it could act on")
        return found + self.term.identity * np.eye(d)

    @cached_property
    def inputs(self) -> Spectrum:
        if self.features is not None:
            return feature_spectrum(self.features.transform(self.data.rows))
        return spectrum(self._gram(), "the kernel matrix of X")

    @cached_property
    def path(self) -> RidgePath:
        return RidgePath(self.inputs, self._outputs(self.operator), self.data.targets)

    def lams(self) -> FloatArray:
        """Values of λ that suit the kernel."""
        n, d = self.data.targets.shape
        scale = 1.0 if self.operator is None else float(np.trace(self.operator)) / d
        return np.asarray(SHARES * max(float(self.inputs.values.sum()) / n * scale, 1e-300) / n)

    def left_out(self, lam: float) -> float:
        """The mean of ‖ỹ_i − f(x_i)‖² with f learnt without i, or without its group."""
        left = self.path.left_out(lam, self.data.groups)
        return self.data.squares(left, left) / len(left)

    def solve(self, lam: float, tol: float, max_iter: int) -> Solved:
        targets, operator = self.data.targets, self.operator
        if isinstance(self.term.A, str) and self.term.A == "learnt":
            return self._learnt(lam, tol, max_iter)
        if operator is None and self.features is None and "inputs" not in vars(self):
            C, method = ridge_coefficients(self._gram(), targets, lam), "cholesky"
        else:
            C, method = self.path.coefficients(lam), "eigen" if self.features is None else "nystroem"
        return Solved(C, [operator], method, lam * self.data.squares(C, targets))

    def _learnt(self, lam: float, tol: float, max_iter: int) -> Solved:
        if self.data.metric is not None:
            raise ValueError("A is learnt for outputs with coordinates; give KernelOutputs n_components")
        d = self.data.targets.shape[1]
        check_room(f"A of {count(d)} × {count(d)} coordinates", d * d)
        found = learn_outputs(self.inputs, self.data.targets, lam, tol, max_iter)
        if len(found.objectives) >= max_iter:
            _warn(f"A was still changing after {max_iter} rounds, at an objective of {found.objectives[-1]:.3g}")
        return Solved(found.coefficients, [found.A], "alternation", found.objectives[-1], len(found.objectives))

    def _outputs(self, operator: FloatArray | None) -> Spectrum:
        return identity(self.data.targets.shape[1]) if operator is None else spectrum(operator, "A")

    def _gram(self) -> FloatArray:
        return gram(self.term.kernel, self.data.rows, self.n_jobs)


class SumSystem:
    """Σ_m G_m C A_m + nλC = Ỹ, for a sum of kernels k_m A_m."""

    def __init__(self, systems: list[DecomposableSystem]):
        self.systems = systems
        self.data = systems[0].data
        self.features = None

    def terms(self) -> list[Decomposable]:
        return [system.term for system in self.systems]

    def solve(self, lam: float, tol: float, max_iter: int) -> Solved:
        targets = self.data.targets
        check_fits(len(self.systems) * len(targets), len(targets))
        operators = [system.operator for system in self.systems]
        eye = np.eye(targets.shape[1])
        terms = [
            (gram(system.term.kernel, self.data.rows, system.n_jobs), eye if A is None else A)
            for system, A in zip(self.systems, operators, strict=True)
        ]
        C, residual, steps = conjugate_gradients(terms, targets, lam, tol, max_iter)
        if residual > tol:
            _warn(f"conjugate gradients stopped after {steps} steps at a relative residual of {residual:.2g}")
        return Solved(C, operators, "conjugate_gradients", lam * self.data.squares(C, targets), max(steps, 1))


def gram(kernel: Any, rows: Any, n_jobs: int | None) -> FloatArray:
    """k(x_i, x_j) of all rows, (n, n)."""
    n = length(rows)
    check_fits(n, n)
    found = np.empty((n, n))
    for some, part in kernel.blocks(rows, n_jobs=n_jobs):
        found[some] = part
    return found


def _warn(message: str) -> None:
    from sklearn.exceptions import ConvergenceWarning

    warnings.warn(f"{message}; raise max_iter, loosen tol or raise lam", ConvergenceWarning, stacklevel=4)
