"""The support vector machine of two classes, with kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from structlearn.data.memory import available_memory, memory_option
from structlearn.data.options import choice_option, flag_option, real_option, whole_option
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.passes import Passes
from structlearn.estimators.scalar.base import ScalarPredictor, read_classes, read_signs, with_weight
from structlearn.estimators.training import class_weights, price
from structlearn.kernels import Kernel, kernel_for, kernel_option
from structlearn.kernels.base import length
from structlearn.kernels.gram import check_kernel
from structlearn.solvers.kernel.binary_dual import BinaryDual, BinaryDualState
from structlearn.solvers.kernel.binary_margins import BinaryMargins
from structlearn.waist.objective import Slack
from structlearn.wording import count

#: Bytes for rows of the kernel matrix, if nobody says.
ROWS = 2**30


class BinarySVM(ScalarPredictor):
    """min_{f,b} ½‖f‖² + (C/S) Σ_i s_i ξ_i with ξ_i ≥ 1 − y_i(f(x_i) + b): the SVM of two classes, with any kernel.

    f(x) = Σ_i β_i k(x_i, x) is a function of the kernel's space; training ends with a certificate of how far the
    objective may be above its minimum.

    Parameters
    ----------
    kernel : Kernel, str or callable
        An object of `structlearn.kernels`, such as ``RBF(gamma=0.1)``; the name of one; or a function of two matrices.
        "rbf" and "laplacian" have the γ that `median_gamma` proposes for the training data; `kernel_` records it.
    C : float, optional
        Price of the mean slack. None means a tenth of the number of examples, C/S = 0.1; `C_` records it. What
        scikit-learn calls C is C/S here.
    slack : {"linear", "squared", "hard"}
        ξ, or ½ξ² in its place, or no slack at all.
    fit_intercept : bool
        Whether there is a b, which costs nothing; without it b = 0.
    tol : float
        Stop at this relative duality gap, (primal − dual)/primal.
    max_iter : int, optional
        Most working sets; None leaves it to the solver.
    class_weight : dict or "balanced", optional
        Multiplies the weight of the examples of a class.
    max_memory : int or str, optional
        Bytes for rows of the kernel matrix, also as text, "500MB"; None is 1 GiB, or half of what is available.
    verbose : int
        1 shows a progress line.

    Attributes
    ----------
    support_ : (n_support,) int array
        The examples with β_i ≠ 0.
    support_vectors_ : (n_support, d) array or sparse matrix, or list
        The examples themselves.
    dual_coef_ : (n_support,) array
        β_i, above 0 for examples of the second class.
    intercept_ : float
        b.
    coef_ : (d,) array
        w with f(x) = ⟨w, x⟩, for linear kernels.
    classes_ : (2,) array
        Second is the class of positive decisions.
    objective_, duality_gap_ : float
        The objective, and the relative gap that certifies it.
    history_ : list of dict
        One record an iteration: `primal`, `dual`, `gap`, `certified`, `steps`, `rows` that were computed, `seconds`.
    C_, n_iter_, converged_
        What was used, and how the run ended.

    Notes
    -----
    The objective and its bound are those of f in double precision, though rows of the kernel matrix are in single
    precision while there is anything to gain from them: see `structlearn.solvers.BinaryDual`.

    Examples
    --------
    >>> from structlearn.datasets import make_checkerboard
    >>> from structlearn.kernels import RBF
    >>> board = make_checkerboard(400, label_noise=0.0, random_state=0)
    >>> svm = BinarySVM(RBF(gamma=20.0), C=4000).fit(board.X, board.Y)
    >>> svm.score(board.X, board.Y) > 0.95, svm.duality_gap_ <= 1e-3
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "linear",
        *,
        C: float | None = None,
        slack: Slack = "linear",
        fit_intercept: bool = True,
        tol: float = 1e-3,
        max_iter: int | None = None,
        class_weight: Any = None,
        max_memory: str | int | None = None,
        verbose: int = 0,
    ):
        self.kernel = kernel
        self.C = C
        self.slack = slack
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.max_memory = max_memory
        self.verbose = verbose

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        kernel_option(self.kernel)
        if self.C is not None:
            real_option("C", self.C, positive=True)
        choice_option("slack", self.slack, ("linear", "squared", "hard"))
        flag_option("fit_intercept", self.fit_intercept)
        real_option("tol", self.tol, positive=True)
        if self.max_iter is not None:
            whole_option("max_iter", self.max_iter, 0)
        memory_option("max_memory", self.max_memory)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains. Ctrl-C lets the present iteration end and leaves an estimator fitted with what there is so far.

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or list
            What the kernel takes.
        y : (n,)
            Labels of two values.
        sample_weight : (n,), optional
            s_i, the price of an example's slack: weight k equals k copies, weight 0 equals removal.
        """
        self.check_options()
        X = self._read(X, reset=True)
        n = length(X)
        X, labels, weight, numbers = with_weight(X, read_classes(y, n), sample_weight)
        classes, signs = read_signs(labels)
        if self.class_weight is not None:
            weight = weight * class_weights(self.class_weight, labels)
        C = price(self.C, 0.1, weight)
        kernel = kernel_for(self.kernel, X)
        check_kernel(kernel, X)
        largest = float(kernel.diagonal(X).max()) if self.slack == "hard" else np.inf
        margins = BinaryMargins(signs, weight, C, self.slack, bool(self.fit_intercept), largest)
        solver = self._solver()
        with Interruption() as interruption, Passes(self) as passes:

            def observe(state: BinaryDualState) -> bool:
                passes.observe(state.record)
                return interruption.requested

            state, history = solver.run(kernel, X, margins, observe)
        fitted = {"classes_": classes, "intercept_": state.bias} | self._expansion(kernel, X, numbers, state.beta)
        fitted |= {"C_": C, "objective_": state.primal, "duality_gap_": state.relative_gap}
        fitted |= {"history_": history, "n_iter_": max(state.iteration, 1), "converged_": solver.done(state)}
        self._take_over(n, fitted)
        if interruption.requested:
            raise KeyboardInterrupt(
                f"training stopped after {count(self.n_iter_, 'iteration')}; the estimator is fitted with what it had "
                f"learnt (relative duality gap {self.duality_gap_:.2g})"
            )
        if not self.converged_:
            from sklearn.exceptions import ConvergenceWarning

            how = "rounding left no further step" if state.stuck else f"stopped at max_iter={solver.max_iter}"
            warnings.warn(
                f"{how}, after {count(state.iteration, 'iteration')} at a relative duality gap of "
                f"{self.duality_gap_:.2g} (tol={self.tol:g}); raise max_iter, loosen tol, lower C or scale features",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _solver(self) -> BinaryDual:
        memory = memory_option("max_memory", self.max_memory)
        if memory is None:
            memory = min(ROWS, (available_memory() or 2 * ROWS) // 2)
        solver = BinaryDual(tol=self.tol, max_memory=memory)
        return solver if self.max_iter is None else replace(solver, max_iter=self.max_iter)
