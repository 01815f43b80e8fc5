"""How w and b are found: by Newton's method or L-BFGS, and step by step where the loss has a corner."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.estimators.regularized_risk.losses import Hinge, ProximalHinge, RiskLoss
from structlearn.estimators.regularized_risk.newton import newton_steps
from structlearn.estimators.regularized_risk.objective import Risk
from structlearn.estimators.regularized_risk.regularizers import L2

#: A step of the method of multipliers ends when its own gap is this share of the whole one.
STEP_GAP = 0.1
#: After a step that leaves more than this share of the gap, steps are twice as long, up to a limit.
SLOW, LEAST_WIDTH = 0.3, 2.0**-10
#: A certificate costs what an iteration does; after k iterations, the next is this share of k away.
APART = 0.1
#: Gradients that L-BFGS remembers.
MEMORY = 30
#: The most weights for which Newton's method solves systems of equations.
MOST_EQUATIONS = 3000


class Minimization:
    """Minimises a risk, until (primal − dual)/primal ≤ tol or for so many iterations.

    With `by_slopes`, for Ω(w) = ½‖w‖² alone, w is always −Xᵀu: a combination of examples, as kernels need it.

    Attributes
    ----------
    w, b, slopes
        The best point, and the slopes u of the best bound; with `by_slopes`, those that w is made of.
    history : list of dict
        `iteration`, `seconds`, and the best `primal` and `dual` so far with their difference, `gap`.
    """

    w: FloatArray
    b: float
    slopes: FloatArray

    def __init__(self, risk: Risk, tol: float, max_iter: int, *, by_slopes: bool = False):
        self._risk = risk
        self._tol = tol
        self._max_iter = max_iter
        self._by_slopes = by_slopes
        self._begun = perf_counter()
        self.iteration = self._certified = 0
        self.primal, self.dual = np.inf, -np.inf
        self.history: list[dict[str, Any]] = []

    @property
    def gap(self) -> float:
        """(primal − dual)/primal, 0 when the primal is 0."""
        return (self.primal - self.dual) / self.primal if self.primal > 0.0 else 0.0

    @property
    def converged(self) -> bool:
        return self.gap <= self._tol

    def run(self) -> None:
        theta, loss = self._risk.start(), self._risk.loss
        self._certify(theta, loss)
        if isinstance(loss, Hinge):
            self._step_by_step(theta)
        elif not self.converged:
            self._descend(theta, loss)

    def _step_by_step(self, theta: FloatArray) -> None:
        """The method of multipliers: each step minimises a smooth loss that stays near the slopes of the last one."""
        y = self._risk.y
        loss = ProximalHinge(np.zeros(len(y)), 1.0)
        while not self.converged and self.iteration < self._max_iter:
            before = self.gap
            theta = self._descend(theta, loss)
            a = loss.next(y, self._risk.scores(*self._risk.at(theta)))
            width = max(loss.width / 2, LEAST_WIDTH) if self.gap > SLOW * before else loss.width
            loss = ProximalHinge(a, width)

    def _descend(self, theta: FloatArray, loss: RiskLoss) -> FloatArray:
        """θ with a smooth loss: converged, good enough for a step, or as low as rounding lets it come."""
        first, is_step = self.iteration, loss is not self._risk.loss

        def is_done(theta: FloatArray) -> bool:
            self.iteration += 1
            if self.iteration < self._max_iter and self.iteration <= self._certified + APART * (self.iteration - first):
                return False
            near = self._certify(theta, loss) <= STEP_GAP
            return (is_step and near) or self.converged or self.iteration >= self._max_iter

        if isinstance(self._risk.regularizer, L2) and self._risk.X.shape[1] <= MOST_EQUATIONS:
            for moved in newton_steps(self._risk, theta, loss):
                theta = moved
                if is_done(theta):
                    return theta
        else:
            theta = lbfgs(self._risk, theta, loss, is_done)
        self._certify(theta, loss)
        # Steps that lead nowhere count, so that they come to an end.
        self.iteration = max(self.iteration, first + 1)
        return theta

    def _certify(self, theta: FloatArray, loss: RiskLoss) -> float:
        """Takes over what is better at θ, and tells what share of the gap there is that of this loss itself."""
        w, b = self._risk.at(theta)
        found = self._risk.certificate(w, b, loss)
        primal = found.primal
        if self._by_slopes:
            w = -np.asarray(self._risk.X.T @ found.slopes)
            primal = self._risk.value(w, b)
        if primal < self.primal:
            self.primal, self.w, self.b = primal, w.copy(), b
        if (primal <= self.primal) if self._by_slopes else (found.dual > self.dual):
            self.slopes = found.slopes
        self.dual = max(self.dual, found.dual)
        self._certified = self.iteration
        self.history.append(
            {
                "iteration": self.iteration,
                "primal": self.primal,
                "dual": self.dual,
                "gap": self.primal - self.dual,
                "seconds": perf_counter() - self._begun,
            }
        )
        return found.own_gap / max(found.primal - found.dual, np.finfo(float).tiny)


def lbfgs(risk: Risk, theta: FloatArray, loss: RiskLoss, is_done: Callable[[FloatArray], bool]) -> FloatArray:
    """θ with a smooth loss by L-BFGS; `is_done` sees every iteration."""
    from scipy.optimize import minimize

    done = False

    def observe(theta: FloatArray) -> None:
        nonlocal done
        done = is_done(theta)
        if done:
            raise StopIteration

    bounds = [(0.0, None)] * (len(theta) - risk.fit_intercept) + [(None, None)] * risk.fit_intercept
    before, value = np.inf, risk.smooth(theta, loss)[0]
    # A search along a line may fail for what is remembered; where it does so at once, rounding is all there is.
    while value < before and not done:
        found = minimize(
            risk.smooth,
            theta,
            args=(loss,),
            jac=True,
            method="L-BFGS-B",
            bounds=bounds if risk.regularizer.nonnegative else None,
            callback=observe,
            options={"maxiter": 2**31 - 1, "maxfun": 2**31 - 1, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0},
        )
        before, value, theta = value, float(found.fun), np.asarray(found.x)
    return theta
