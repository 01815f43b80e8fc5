"""Regularised risk minimisation: ridge, lasso, logistic regression and support vector machines as one estimator."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np

from structlearn.contract import available_if
from structlearn.data.arrays import FloatArray
from structlearn.data.options import flag_option, real_option, whole_option
from structlearn.estimators.regularized_risk.losses import Logistic, RiskLoss
from structlearn.estimators.regularized_risk.minimization import Minimization
from structlearn.estimators.regularized_risk.objective import Risk
from structlearn.estimators.regularized_risk.regularizers import Regularizer
from structlearn.estimators.scalar.base import ScalarPredictor, read_classes, read_numbers, read_signs, with_weight
from structlearn.estimators.training import price
from structlearn.kernels import Kernel, pivoted_cholesky
from structlearn.kernels.base import length
from structlearn.kernels.gram import cholesky_coordinates
from structlearn.wording import count, shown


def _has_probabilities(estimator: RegularizedRisk) -> bool:
    if not isinstance(estimator.loss, Logistic):
        raise AttributeError(f"{shown(estimator.loss)} belongs to no probabilities; Logistic() does")
    return True


class RegularizedRisk(ScalarPredictor):
    """min Ω(w) + (C/S) Σ_i s_i ℓ(y_i, f(x_i)) for f(x) = ⟨w, x⟩ + b, with a certificate (Saha 2010, section 2.1).

    Loss and regularizer are objects, and every pair of them may be taken: `Squared` with `L2` is ridge regression and
    with `L1` the lasso, `Logistic` with `L2` logistic regression, `Hinge` with `L2` the support vector machine. With
    ``L2(kernel)`` f is a function of the space that belongs to the kernel.

    Parameters
    ----------
    loss : RiskLoss
        ℓ: `Squared` or `Huber` for numbers, `Logistic`, `Hinge` or `SquaredHinge` for labels of two classes.
    regularizer : Regularizer
        Ω: `L2`, `L1`, `ElasticNet`, `Lp` or `Entropy`.
    C : float, optional
        Price of the mean loss. None means the number of examples, C/S = 1; `C_` records it. S is the sum of the weights
        s_i of the examples.
    fit_intercept : bool
        Whether there is a b, which Ω does not count.
    tol : float
        Ends at the relative duality gap (primal − dual)/primal.
    max_iter : int
        Iterations: of Newton's method for `L2` with at most 3,000 columns, or examples of a kernel, which does ridge
        regression in one; else of L-BFGS.

    Attributes
    ----------
    coef_ : (d,) array
        w, if there is no kernel or a linear one.
    support_, support_vectors_, dual_coef_
        With a kernel, the examples with α_i ≠ 0: their numbers, they themselves, and α_i. f(x) = Σ_i α_i k(x_i, x) + b.
    intercept_ : float
    classes_ : (2,) array
        Of a loss of margins; f > 0 means the second.
    C_, objective_, duality_gap_, n_iter_, converged_
        The certificate: no w and b have an objective below (1 − `duality_gap_`) `objective_`.
    history_ : list of dict
        `iteration`, `seconds`, and the best `primal` and `dual` so far with their difference, `gap`.

    Notes
    -----
    The bound is Fenchel's dual, which is there for all pairs: see `structlearn.estimators.regularized_risk.objective`.

    Examples
    --------
    >>> from structlearn.estimators.regularized_risk import L1, L2, Logistic, Squared
    >>> from structlearn.kernels import RBF
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.0, 0.8, 0.9, 0.1]
    >>> ridge = RegularizedRisk(Squared(), L2(RBF(gamma=1.0)), C=400).fit(X, y)
    >>> ridge.predict([[1.5]]).round(2)
    array([1.03])
    >>> lasso = RegularizedRisk(Squared(), L1(), C=2).fit(X, y)
    >>> lasso.coef_, lasso.converged_
    (array([0.]), True)
    >>> logistic = RegularizedRisk(Logistic(), L2()).fit(X, ["left", "left", "right", "right"])
    >>> logistic.predict_proba([[3.0]]).round(2)
    array([[0.19, 0.81]])
    """

    def __init__(
        self,
        loss: RiskLoss,
        regularizer: Regularizer,
        *,
        C: float | None = None,
        fit_intercept: bool = True,
        tol: float = 1e-4,
        max_iter: int = 10_000,
    ):
        self.loss = loss
        self.regularizer = regularizer
        self.C = C
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        for name, kind, example in (("loss", RiskLoss, "Hinge()"), ("regularizer", Regularizer, "L2()")):
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise ValueError(f"{name} is {shown(given)}; expected an object such as {example}")
            given.check_options()
        if self.C is not None:
            real_option("C", self.C, positive=True)
        flag_option("fit_intercept", self.fit_intercept)
        real_option("tol", self.tol, positive=True)
        whole_option("max_iter", self.max_iter, 1)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Finds w and b.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
            Or a list of examples, as the kernel takes them.
        y : (n,) labels of two classes, or numbers
        sample_weight : (n,) array, optional
            s_i ≥ 0; an example of weight 2 counts like two.
        """
        self.check_options()
        X = self._read(X, reset=True)
        n = length(X)
        y = read_classes(y, n) if self._has_classes() else read_numbers(y, n)
        X, y, weight, numbers = with_weight(X, y, sample_weight)
        fitted: dict[str, Any] = {}
        if self._has_classes():
            fitted["classes_"], y = read_signs(y)
        C = price(self.C, 1.0, weight)
        prices = C * weight / weight.sum()
        kernel = self._kernel_for(X)
        rows = X if kernel is None else coordinates(kernel, X)
        risk = Risk(rows, y, prices, self.loss, self.regularizer, bool(self.fit_intercept))
        run = Minimization(risk, self.tol, self.max_iter, by_slopes=kernel is not None)
        run.run()
        fitted |= {"coef_": run.w} if kernel is None else self._expansion(kernel, X, numbers, -run.slopes)
        fitted |= {"intercept_": run.b, "C_": C, "objective_": run.primal, "duality_gap_": run.gap}
        fitted |= {"history_": run.history, "n_iter_": max(run.iteration, 1), "converged_": run.converged}
        self._take_over(n, fitted)
        if not run.converged:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"stopped after {count(run.iteration, 'iteration')} at the relative duality gap {run.gap:.2g}, above "
                f"tol={self.tol:g}; scale the columns of X alike, or give a larger max_iter or tol",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | x) of every example and both classes, (n, 2)."""
        scores = self._scores(X)
        return np.exp(-np.logaddexp(0.0, np.stack([scores, -scores], axis=1)))

    def _given_kernel(self) -> Any:
        return self.regularizer.kernel

    def _has_classes(self) -> bool:
        return bool(getattr(self.loss, "of_margins", False))


def coordinates(kernel: Kernel, X: Any) -> FloatArray:
    """Rows z_i with ⟨z_i, z_j⟩ = k(x_i, x_j), in which the space of f is that of weights."""
    K = kernel(X)
    kept, factor = pivoted_cholesky(K, name="the kernel matrix of X")
    if not len(kept):
        raise ValueError("every example of X has the kernel 0 with itself; there is nothing to learn from")
    return cholesky_coordinates(factor, K[:, kept])
