"""How w and b are found: by L-BFGS, by multipliers where the loss has a corner, by equations where these suffice."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray
from structlearn.estimators.regularized_risk.losses import Hinge, ProximalHinge, RiskLoss, Squared
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
#: The largest system of equations, and the largest matrix that is made dense for it.
MOST_EQUATIONS, MOST_NUMBERS = 5000, 2**24


class Minimization:
    """Minimises a risk, until (primal − dual)/primal ≤ tol or for so many iterations of L-BFGS.

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
        theta, loss = _solved(self._risk), self._risk.loss
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
        """θ after L-BFGS with a smooth loss: converged, good enough for a step, or as low as rounding lets it come."""
        from scipy.optimize import minimize

        first, is_step, done = self.iteration, loss is not self._risk.loss, False

        def observe(theta: FloatArray) -> None:
            nonlocal done
            self.iteration += 1
            if self.iteration > self._certified + APART * (self.iteration - first):
                own_gap = self._certify(theta, loss)
                done = self.converged or (is_step and own_gap <= STEP_GAP * (self.primal - self.dual))
                if done:
                    raise StopIteration

        n = len(theta) - self._risk.fit_intercept
        bounds = [(0.0, None)] * n + [(None, None)] * self._risk.fit_intercept
        options = {"maxfun": 2**31 - 1, "maxcor": MEMORY, "ftol": 0.0, "gtol": 0.0}
        before, value = np.inf, self._risk.smooth(theta, loss)[0]
        # A search along a line may fail for what is remembered; where it does so at once, rounding is all there is.
        while value < before and not done and self.iteration < self._max_iter:
            options["maxiter"] = self._max_iter - self.iteration
            found = minimize(
                self._risk.smooth,
                theta,
                args=(loss,),
                jac=True,
                method="L-BFGS-B",
                bounds=bounds if self._risk.regularizer.nonnegative else None,
                callback=observe,
                options=options,
            )
            before, value, theta = value, float(found.fun), np.asarray(found.x)
        self._certify(theta, loss)
        # An iteration that was tried counts, so that steps that go nowhere come to an end.
        self.iteration = max(self.iteration, first + 1)
        return theta

    def _certify(self, theta: FloatArray, loss: RiskLoss) -> float:
        """Takes over what is better at θ, and tells how far from its optimum this loss is there."""
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
        return found.own_gap


def _solved(risk: Risk) -> FloatArray:
    """θ by equations if the risk is quadratic and these are not too many, else where minimisation begins."""
    X, c = risk.X, risk.c
    n, d = X.shape
    quadratic = isinstance(risk.loss, Squared) and isinstance(risk.regularizer, L2) and min(n, d) <= MOST_EQUATIONS
    if not quadratic or (sp.issparse(X) and n * d > MOST_NUMBERS):
        return risk.start()
    X = X.toarray() if sp.issparse(X) else X
    mean, level = np.zeros(d), 0.0
    if risk.fit_intercept:
        mean, level = c @ X / c.sum(), float(c @ risk.y / c.sum())
    X, y = X - mean, risk.y - level
    if d <= n:
        w = np.linalg.solve((X.T * c) @ X + np.eye(d), X.T @ (c * y))
    else:
        w = X.T @ np.linalg.solve(X @ X.T + np.diag(1.0 / c), y)
    return np.append(w, level - mean @ w) if risk.fit_intercept else w
