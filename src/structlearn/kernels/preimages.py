"""Preimages: the example whose function φ(b) comes nearest to a combination of others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.kernels.base import Kernel
from structlearn.kernels.vectors import RBF, inner_products, squared_norms

#: A search ends after so many steps, or where a step is below this share of the way gone.
MAX_STEPS, SMALLEST_STEP = 20, 1e-3
#: A divisor below this share of what it is the sum of is rounding.
SMALLEST_SUM = 1e-12


class Combination(NamedTuple):
    """Σ_i a_i φ(z_i), or several such functions of the same z, in the columns of a.

    Attributes
    ----------
    kernel : Kernel
    parts : tuple of (rows, coefficients)
        z and a, some of them after others, since some rows may be sparse and others dense.
    """

    kernel: Kernel
    parts: tuple[tuple[Any, FloatArray], ...]

    def at(self, points: Any) -> FloatArray:
        """The values of the functions, (n_points, n_functions); no numbers where kernels are none."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = [self.kernel.values(points, rows) @ coefficients for rows, coefficients in self.parts]
        return np.asarray(sum(found), np.float64)

    def explained(self, points: Any) -> FloatArray:
        """By how much the squared distance to the functions falls where they get their best multiples of φ(b)."""
        with np.errstate(over="ignore", invalid="ignore"):
            own = np.maximum(self.kernel.diagonal_values(points), 1e-300)
            return np.asarray((self.at(points) ** 2).sum(axis=1) / own)

    def gradient(self, weights: FloatArray, b: FloatArray) -> FloatArray:
        """The gradient at b of the functions, added up with weights."""
        found = [self.kernel.gradient(rows, coefficients @ weights, b) for rows, coefficients in self.parts]
        return np.asarray(sum(found))


def preimage(combination: Combination, start: FloatArray) -> FloatArray:
    """The b, (1, d), that explains most of a combination, near where the search begins.

    For `RBF` by the fixed point of Burges and Schölkopf, for other kernels with a gradient by ascent along it. It is a
    local optimum at best, and the start itself where nothing better is met: a search that diverges does no harm.

    Examples
    --------
    >>> combination = Combination(RBF(gamma=1.0), ((np.array([[0.0], [1.0]]), np.ones((2, 1))),))
    >>> preimage(combination, np.array([[0.2]])).round(2)
    array([[0.5]])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        found = (_fixed_point if type(combination.kernel) is RBF else _ascent)(combination, start)
    if not np.isfinite(found).all():
        return start
    explained = combination.explained(np.vstack([found, start]))
    return found if explained[1] < explained[0] < np.inf else start


def _fixed_point(combination: Combination, start: FloatArray) -> FloatArray:
    """b ← Σ c_i k(z_i, b) z_i / Σ c_i k(z_i, b), where the gradient of what is explained is 0."""
    kernel = combination.kernel
    assert isinstance(kernel, RBF)
    gamma = float(kernel.gamma)
    # The way is a guess, which is judged in double precision at its end.
    parts = [(kernel.in_single(rows), a) for rows, a in combination.parts]
    scaled = [gamma * squared_norms(rows) for rows, _ in parts]
    b = start
    for _ in range(MAX_STEPS):
        point = b.astype(np.float32)
        own = gamma * float(b[0] @ b[0])
        near = [
            np.exp(2.0 * gamma * inner_products(rows, point)[:, 0] - norms - own)
            for (rows, _), norms in zip(parts, scaled, strict=True)
        ]
        values = sum(k @ a for k, (_, a) in zip(near, parts, strict=True))
        pulls = [(a @ values) * k for k, (_, a) in zip(near, parts, strict=True)]
        total = sum(float(pull.sum()) for pull in pulls)
        if not total > SMALLEST_SUM * sum(float(np.abs(pull).sum()) for pull in pulls):
            break
        # Shares, since pulls themselves may be too small for single precision.
        place = sum(rows.T @ (pull / total).astype(rows.dtype) for pull, (rows, _) in zip(pulls, parts, strict=True))
        before, b = b, np.asarray(place, np.float64).reshape(1, -1)
        if np.linalg.norm(b - before) <= SMALLEST_STEP * np.linalg.norm(b - start):
            break
    return b


def _ascent(combination: Combination, start: FloatArray) -> FloatArray:
    from scipy.optimize import minimize

    kernel = combination.kernel

    def unexplained(flat: FloatArray) -> tuple[float, FloatArray]:
        b = flat.reshape(1, -1)
        values = combination.at(b)[0]
        own = max(float(kernel.diagonal_values(b)[0]), 1e-300)
        share = float(values @ values) / own
        slope = combination.gradient(values, b) - share * kernel.gradient(b, np.ones(1), b)
        if not (np.isfinite(share) and np.isfinite(slope).all()):
            # Too far: a step that makes things worse is taken back.
            return np.finfo(np.float64).max, np.zeros_like(flat)
        return -share, -2.0 / own * np.asarray(slope).ravel()

    found = minimize(unexplained, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": MAX_STEPS})
    return np.asarray(found.x).reshape(1, -1)
