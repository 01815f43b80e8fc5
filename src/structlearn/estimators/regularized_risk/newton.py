"""Newton's method for Ω(w) = ½‖w‖²: few steps, each a system of equations; a single one where the loss is squared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray
from structlearn.estimators.regularized_risk.losses import RiskLoss
from structlearn.estimators.regularized_risk.objective import Risk

#: The intercept has at least this share of the curvature that it could have, so that equations have a solution.
LEAST_CURVATURE = 1e-9
#: Bytes of the rows that are multiplied at a time.
BLOCK = 2**23
#: A step must bring this share of what its slope promises, or it is halved, so many times.
PROMISED, MOST_HALVINGS = 1e-4, 60


def newton_steps(risk: Risk, theta: FloatArray, loss: RiskLoss) -> Iterator[FloatArray]:
    """θ = (w, b) after each step with a smooth loss, until no step leads down."""
    value, gradient = risk.smooth(theta, loss)
    f = risk.scores(*risk.at(theta))
    while True:
        direction = -_solved(risk, risk.c * loss.curvature(risk.y, f), gradient)
        slope, along = float(gradient @ direction), risk.scores(*risk.at(direction))
        for halvings in range(MOST_HALVINGS):
            size = 0.5**halvings
            there = risk.regularizer.value(risk.at(theta + size * direction)[0])
            there += float(risk.c @ loss.value(risk.y, f + size * along))
            if there < value and there <= value + PROMISED * size * slope:
                break
        else:
            return
        theta = theta + size * direction
        f = risk.scores(*risk.at(theta))
        value, gradient = risk.smooth(theta, loss)
        yield theta


def _solved(risk: Risk, curvature: FloatArray, gradient: FloatArray) -> FloatArray:
    """H⁻¹g, where H = I + Σ_i h_i x_i x_iᵀ, with a row and a column for b."""
    from scipy.linalg import solve

    d, hessian = risk.X.shape[1], np.eye(len(gradient))
    # A hinge has no curvature beyond its margin; of the other rows, some at a time.
    bent = np.flatnonzero(curvature)
    step = max(1, len(bent) if sp.issparse(risk.X) else BLOCK // (8 * d))
    for begin in range(0, len(bent), step):
        some = bent[begin : begin + step]
        roots = np.sqrt(curvature[some])
        rows: Any = sp.diags_array(roots) @ risk.X[some] if sp.issparse(risk.X) else roots[:, None] * risk.X[some]
        product = rows.T @ rows
        hessian[:d, :d] += product.toarray() if sp.issparse(product) else product
        if risk.fit_intercept:
            hessian[d, :d] += rows.T @ roots
    if risk.fit_intercept:
        hessian[:d, d] = hessian[d, :d]
        hessian[d, d] = curvature.sum() + LEAST_CURVATURE * risk.c.sum()
    return np.asarray(solve(hessian, gradient, assume_a="pos"))
