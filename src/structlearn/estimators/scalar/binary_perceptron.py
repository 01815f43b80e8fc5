"""The perceptron of two classes, with a bias and with kernels."""

from __future__ import annotations

import warnings
from time import perf_counter
from typing import Any, ClassVar, Self

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.data.options import flag_option, whole_option
from structlearn.estimators.scalar.base import ScalarPredictor, read_classes, read_signs
from structlearn.kernels import Kernel, Linear, kernel_option
from structlearn.kernels.base import length, taken
from structlearn.wording import count


class BinaryPerceptron(ScalarPredictor):
    """f(x) = ⟨w, x⟩ + b by Rosenblatt's rule: while y_i f(x_i) ≤ 0 for some example, add y_i x_i to w and y_i to b.

    Examples are visited in their order, again and again. If some u and β with ‖u‖² + β² = 1 have y_i(⟨u, x_i⟩ + β) ≥ γ
    for all examples, it ends after at most (R/γ)² mistakes, where R² = max_i ‖x_i‖² + 1 (Novikoff 1962); otherwise it
    never does. Where it ends depends on where it begins: nothing is optimised. A learning rate is not needed, since it
    would only scale w and b, or their start.

    Parameters
    ----------
    kernel : Kernel, str or callable, optional
        An object of `structlearn.kernels`, the name of one, or a function of two matrices: then
        f(x) = Σ_i α_i k(x_i, x) + b, and a mistake adds y_i to α_i. "rbf" and "laplacian" have the γ that
        `median_gamma` proposes for the training data; `kernel_` records it.
    fit_intercept : bool
        Whether there is a b.
    max_iter : int
        Passes over the data.

    Attributes
    ----------
    coef_ : (d,) array
        w, if there is no kernel or a linear one.
    support_, support_vectors_, dual_coef_
        The examples with α_i ≠ 0, on which mistakes were made: their numbers, they themselves, and α_i.
    intercept_ : float
    classes_ : (2,) array
        f > 0 means the second.
    n_mistakes_, n_iter_, converged_
        Mistakes and passes, and whether the last pass made no mistake.
    history_ : list of dict
        `iteration`, the `mistakes` of each pass, and `seconds` since the first.

    Examples
    --------
    >>> from structlearn.kernels import Polynomial
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["no", "yes", "yes", "no"]
    >>> exclusive_or = BinaryPerceptron(Polynomial(degree=2)).fit(X, y)
    >>> exclusive_or.predict(X).tolist(), exclusive_or.converged_
    (['no', 'yes', 'yes', 'no'], True)
    """

    _numbers: ClassVar[tuple[str, ...]] = ("n_mistakes_",)

    def __init__(self, kernel: Kernel | str | Any = None, *, fit_intercept: bool = True, max_iter: int = 1000):
        self.kernel = kernel
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        if self.kernel is not None:
            kernel_option(self.kernel)
        flag_option("fit_intercept", self.fit_intercept)
        whole_option("max_iter", self.max_iter, 1)

    def fit(self, X: Any, y: Any, *, coef_init: Any = None, intercept_init: float = 0.0) -> Self:
        """Visits the examples until all are on their side.

        Parameters
        ----------
        X : (n, d) array or sparse matrix
            Or a list of examples, as the kernel takes them.
        y : (n,) labels of two classes
        coef_init : (d,) array, optional
            w to begin with, without a kernel; 0 by default.
        intercept_init : float
            b to begin with.
        """
        self.check_options()
        X = self._read(X, reset=True)
        classes, signs = read_signs(read_classes(y, length(X)))
        w, b = self._start(X, coef_init, intercept_init)
        given = self._kernel_for(X)
        kernel = given or Linear()
        alpha = np.zeros(length(X))
        history: list[dict[str, Any]] = []
        begun = perf_counter()
        scores = np.full(length(X), b) if w is None else np.asarray(X @ w) + b
        columns: dict[int, FloatArray] = {}
        while len(history) < self.max_iter and (not history or history[-1]["mistakes"]):
            mistakes, i = 0, 0
            # The next example of the pass that is wrong: scores change at mistakes only.
            while len(wrong := np.flatnonzero(signs[i:] * scores[i:] <= 0.0)):
                i += int(wrong[0])
                if i not in columns:
                    columns[i] = kernel.checked_values(X, taken(X, np.array([i])))[:, 0] + float(self.fit_intercept)
                scores += signs[i] * columns[i]
                alpha[i] += signs[i]
                mistakes, i = mistakes + 1, i + 1
            seconds = perf_counter() - begun
            history.append({"iteration": len(history) + 1, "mistakes": mistakes, "seconds": seconds})
        fitted = {"classes_": classes} | self._expansion(kernel, X, np.arange(length(X)), alpha) | {"kernel_": given}
        if w is not None:
            fitted["coef_"] = w + np.asarray(X.T @ alpha)
        fitted["intercept_"] = b + float(alpha.sum()) if self.fit_intercept else 0.0
        fitted |= {"history_": history, "n_iter_": len(history), "converged_": history[-1]["mistakes"] == 0}
        self._take_over(length(X), fitted | {"n_mistakes_": int(np.abs(alpha).sum())})
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            warnings.warn(
                f"the perceptron still made {count(history[-1]['mistakes'], 'mistake')} in pass {self.n_iter_}: the "
                "classes cannot be separated, or max_iter is too small",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Nothing is optimised, and where classes overlap the last mistake decides.
        tags.classifier_tags.poor_score = True
        return tags

    def _start(self, X: Any, coef_init: Any, intercept_init: Any) -> tuple[FloatArray | None, float]:
        """w, None if there is a kernel, and b to begin with."""
        given = checked_numbers(intercept_init, "intercept_init").astype(np.float64)
        if given.shape or not np.isfinite(given):
            raise ValueError(f"intercept_init is {intercept_init}; it must be a finite number")
        if not self.fit_intercept and given != 0.0:
            raise ValueError(f"intercept_init is {intercept_init}, but fit_intercept is False")
        if self.kernel is not None:
            if coef_init is not None:
                raise ValueError("coef_init is for a perceptron without a kernel, whose f has a w")
            return None, float(given)
        w = np.zeros(X.shape[1]) if coef_init is None else checked_numbers(coef_init, "coef_init").astype(np.float64)
        if w.shape != (X.shape[1],):
            raise ValueError(f"coef_init has shape {w.shape} but X has {count(X.shape[1], 'column')}")
        check_finite(w[:, None], lambda i, _: f"coef_init[{i}]")
        return w, float(given)
