"""Ridge regression of vectors with operator-valued kernels: Theorem 4 of Micchelli and Pontil 2005, solved."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.kernels.gram import ROUNDING

Matrices = Sequence[tuple[FloatArray, FloatArray]]


class Spectrum(NamedTuple):
    """Eigenvalues ≥ 0 of a symmetric matrix and its eigenvectors, perhaps without those of the eigenvalue 0."""

    values: FloatArray
    vectors: Any


class RidgePath:
    """The minimisers of (1/n) Σ_i ‖f(x_i) − ỹ_i‖² + λ‖f‖² for K(x, x′) = k(x, x′)A, all λ > 0 at once.

    f = Σ_i k(x_i, ·) A c_i with GCA + nλC = Ỹ, where G holds the kernels of the inputs. In the eigenvectors of G and
    of A these are single numbers: two decompositions serve every λ, and A may be singular.

    Parameters
    ----------
    inputs, outputs : Spectrum
        Those of G and A. Eigenvectors of G for the eigenvalue 0 may be missing.
    targets : (n, d)
        Ỹ.
    """

    def __init__(self, inputs: Spectrum, outputs: Spectrum, targets: FloatArray):
        self.inputs = inputs
        self.outputs = outputs
        self._turned = targets @ outputs.vectors
        self._targets = inputs.vectors.T @ self._turned

    def coefficients(self, lam: float) -> FloatArray:
        """C, (n, d)."""
        return np.asarray(self._turned_coefficients(lam) @ self.outputs.vectors.T)

    def left_out(self, lam: float, groups: IntArray | None = None) -> FloatArray:
        """ỹ_i − f(x_i) of the f that is learnt without example i, or without its whole group; nλ and A as they are.

        Parameters
        ----------
        lam : float
        groups : (n_groups + 1,), optional
            Where groups of consecutive examples begin.

        Returns
        -------
        (n, d)
        """
        C, U, n_lam = self._turned_coefficients(lam), self.inputs.vectors, lam * len(self._turned)
        inverse = self._inverse(lam)
        if groups is None:
            left = C / ((U * U) @ inverse + 1.0 / n_lam)
        else:
            left = np.empty_like(C)
            # Coordinates with the same eigenvalue of A, up to rounding, have the same system.
            shares = self.outputs.values / max(self.outputs.values.max(initial=0.0), np.finfo(np.float64).tiny)
            distinct, which = np.unique(shares.round(14), return_inverse=True)
            for begin, end in pairwise(groups):
                for q in range(len(distinct)):
                    columns = np.flatnonzero(which == q)
                    Q = (U[begin:end] * inverse[:, columns[0]]) @ U[begin:end].T + np.eye(end - begin) / n_lam
                    left[begin:end, columns] = np.linalg.solve(Q, C[begin:end, columns])
        return np.asarray(left @ self.outputs.vectors.T)

    def _turned_coefficients(self, lam: float) -> FloatArray:
        n_lam = lam * len(self._turned)
        return np.asarray(self.inputs.vectors @ (self._targets * self._inverse(lam)) + self._turned / n_lam)

    def _inverse(self, lam: float) -> FloatArray:
        """1/(g_p m_q + nλ) less the 1/nλ that belongs to eigenvectors of G that are missing."""
        n_lam = lam * len(self._turned)
        return 1.0 / (np.multiply.outer(self.inputs.values, self.outputs.values) + n_lam) - 1.0 / n_lam


def spectrum(matrix: FloatArray, name: str) -> Spectrum:
    """That of a symmetric matrix, refused if it is not positive semidefinite.

    >>> spectrum(np.array([[2.0, 0.0], [0.0, 1.0]]), "A").values
    array([1., 2.])
    """
    values, vectors = np.linalg.eigh(matrix)
    if len(values) and values[0] < -ROUNDING * np.abs(values).max():
        raise ValueError(f"{name} is not positive semidefinite: its smallest eigenvalue is {values[0]:.3g}")
    return Spectrum(np.maximum(values, 0.0), vectors)


def identity(d: int) -> Spectrum:
    # Of pairs of many labels there are more coordinates than a full matrix would have room for.
    return Spectrum(np.ones(d), sp.eye_array(d, format="csr"))


def feature_spectrum(Z: FloatArray) -> Spectrum:
    """That of ZZᵀ, without the eigenvectors of the eigenvalue 0, from ZᵀZ, which is smaller."""
    values, columns = np.linalg.eigh(Z.T @ Z)
    kept = values > ROUNDING * values[-1]
    return Spectrum(values[kept], (Z @ columns[:, kept]) / np.sqrt(values[kept]))


def ridge_coefficients(G: FloatArray, targets: FloatArray, lam: float) -> FloatArray:
    """(G + nλI)⁻¹Ỹ, for A = I and one λ; G is overwritten.

    >>> ridge_coefficients(np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([[3.0], [5.0]]), 1.0).ravel()
    array([1., 1.])
    """
    from scipy.linalg import cho_factor, cho_solve

    G.flat[:: len(G) + 1] += lam * len(G)
    try:
        # Columns of the transpose are rows of G, as LAPACK wants them: no copy is made.
        factor = cho_factor(G.T, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"the kernel matrix of X is not positive semidefinite: it has an eigenvalue below −nλ, {-lam * len(G):.3g}"
        ) from None
    return np.asarray(cho_solve(factor, targets))


def conjugate_gradients(
    terms: Matrices, targets: FloatArray, lam: float, tol: float, max_iter: int
) -> tuple[FloatArray, float, int]:
    """C with Σ_m G_m C A_m + nλC = Ỹ, by products of blocks alone; the relative residual that is left, and the steps.

    >>> eye = np.eye(2)
    >>> C, residual, _ = conjugate_gradients([(eye, 2 * eye)], np.ones((2, 2)), 0.5, 1e-12, 10)
    >>> C.round(6).tolist(), residual < 1e-12
    ([[0.333333, 0.333333], [0.333333, 0.333333]], True)
    """
    n_lam = lam * len(targets)
    size = max(float(np.linalg.norm(targets)), 1e-300)
    C = np.zeros_like(targets)
    residual = targets.copy()
    direction = residual.copy()
    squared = float(np.vdot(residual, residual))
    steps = 0
    while np.sqrt(squared) > tol * size and steps < max_iter:
        moved = sum((G @ (direction @ A) for G, A in terms), n_lam * direction)
        step = squared / float(np.vdot(direction, moved))
        C += step * direction
        residual -= step * moved
        before, squared = squared, float(np.vdot(residual, residual))
        direction = residual + (squared / before) * direction
        steps += 1
    return C, float(np.sqrt(squared)) / size, steps


class LearntOutputs(NamedTuple):
    """A that was learnt with f, the coefficients C of f, and the objective after every round."""

    A: FloatArray
    coefficients: FloatArray
    objectives: list[float]


def learn_outputs(inputs: Spectrum, targets: FloatArray, lam: float, tol: float, max_iter: int) -> LearntOutputs:
    """min over f and A ⪰ 0 with tr A = d of (1/n) Σ ‖f(x_i) − ỹ_i‖² + λ‖f‖² in the space of kA.

    In turns: f for A, by a `RidgePath`, and A = d M^½ / tr M^½ for M = (CA)ᵀG(CA). The objective is convex in both
    together, so that where it stops to fall it is the least there is (Argyriou, Evgeniou and Pontil 2008); a little of
    the identity keeps A invertible.
    """
    n, d = targets.shape
    A, objectives = np.eye(d), []
    while True:
        C = RidgePath(inputs, spectrum(A, "A"), targets).coefficients(lam)
        # Of the minimiser, λ⟨C, Ỹ⟩ is the objective and Ỹ − nλC what it says of the examples.
        objectives.append(lam * float(np.vdot(C, targets)))
        fell = objectives[-2] - objectives[-1] if len(objectives) > 1 else np.inf
        if len(objectives) >= max_iter or fell <= tol * objectives[-1]:
            return LearntOutputs(A, C, objectives)
        M = A @ (C.T @ (targets - n * lam * C))
        values, vectors = np.linalg.eigh(0.5 * (M + M.T))
        roots = np.sqrt(np.maximum(values, 0.0))
        roots += ROUNDING * max(float(roots.max()), 1e-300)
        A = (vectors * (d * roots / roots.sum())) @ vectors.T
