"""The support vector machine of two classes, with kernels."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from structlearn.callbacks import Progress
from structlearn.contract import Estimator, check_is_fitted
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_flag, check_whole
from structlearn.data.labels import (
    LabelCodes,
    check_label,
    declared_classes,
    label_array,
    observed_classes,
    read_labels,
)
from structlearn.data.matrices import checked_table
from structlearn.data.memory import available_memory, memory_option
from structlearn.data.options import choice_option, flag_option, real_option, whole_option
from structlearn.estimators.base import price
from structlearn.estimators.interruption import Interruption
from structlearn.estimators.training import checked_weight, class_weights
from structlearn.kernels import Kernel, Linear, kernel_option
from structlearn.kernels.base import length, taken
from structlearn.persistence import model_file
from structlearn.solvers.binary_dual import BinaryDual, BinaryDualState
from structlearn.solvers.binary_margins import BinaryMargins
from structlearn.waist.objective import Slack
from structlearn.wording import count, shown

#: Bytes for rows of the kernel matrix, if nobody says.
ROWS = 2**30


class BinarySVM(Estimator):
    """min_{f,b} ½‖f‖² + (C/S) Σ_i s_i ξ_i with ξ_i ≥ 1 − y_i(f(x_i) + b): the SVM of two classes, with any kernel.

    f(x) = Σ_i β_i k(x_i, x) is a function of the kernel's space; training ends with a certificate of how far the
    objective may be above its minimum.

    Parameters
    ----------
    kernel : Kernel, str or callable
        An object of `structlearn.kernels`, such as ``RBF(gamma=0.1)``; or the name of one, with its own options; or a
        function of two matrices.
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
    dual_coef_ : (1, n_support) array
        β_i, above 0 for examples of the second class.
    intercept_ : (1,) array
        b.
    coef_ : (1, d) array
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
        kernel = kernel_option(self.kernel)
        examples = self._read(kernel, X)
        if y is None:
            raise ValueError("BinarySVM requires y to be passed, but the target y is None")
        labels: list[Any] = read_labels(y)
        n = length(examples)
        if len(labels) != n:
            raise ValueError(f"X has {count(n, 'example')} but y has {count(len(labels), 'label')}")
        weight = checked_weight(sample_weight, n)
        kept = np.flatnonzero(weight)
        if len(kept) < n:
            examples, labels, weight = taken(examples, kept), [labels[i] for i in kept], weight[kept]
        classes = _two_classes(labels)
        if self.class_weight is not None:
            weight = weight * class_weights(self.class_weight, labels)
        signs = np.where(LabelCodes(classes).encode(labels, "y") == 1, 1.0, -1.0)
        C = price(self.C, 0.1, weight)
        largest = float(kernel.diagonal(examples).max()) if self.slack == "hard" else np.inf
        margins = BinaryMargins(signs, weight, C, self.slack, bool(self.fit_intercept), largest)
        solver = self._solver()
        with Interruption() as interruption, _Watch(self, interruption) as watch:
            state, history = solver.run(kernel, examples, margins, watch)
        self._take_over(kernel, examples, kept, classes, state)
        self.C_, self.history_, self.converged_ = C, history, solver.done(state)
        self.training_ = {"examples": n, "seconds": history[-1]["seconds"], "library": version("structlearn")}
        if kernel.of_rows:
            from sklearn.utils.validation import _check_feature_names

            self.n_features_in_ = int(examples.shape[1])
            _check_feature_names(self, X, reset=True)
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

    def decision_function(self, X: Any) -> FloatArray:
        """f(x) + b of every example, above 0 for the second class."""
        check_is_fitted(self)
        kernel = kernel_option(self.kernel)
        examples = self._read_new(kernel, X)
        if isinstance(kernel, Linear):
            return np.asarray(examples @ self.coef_[0] + self.intercept_[0])
        found = np.empty(length(examples))
        for some, part in kernel.blocks(examples, self.support_vectors_):
            found[some] = part @ self.dual_coef_[0] + self.intercept_[0]
        return found

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of every example."""
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[(decisions > 0).astype(np.int64)])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the examples that are predicted right, by their weights."""
        check_is_fitted(self)
        labels = read_labels(y)
        positive = self.decision_function(X) > 0
        if len(labels) != len(positive):
            raise ValueError(f"X has {count(len(positive), 'example')} but y has {count(len(labels), 'label')}")
        right = LabelCodes(self.classes_.tolist(), allow_unknown=True).encode(labels, "y") == positive
        return float(np.average(right, weights=checked_weight(sample_weight, len(right))))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted estimator to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
        self.check_options()
        kernel = kernel_option(self.kernel)
        if len(declared_classes(self.classes_)) != 2:
            raise ValueError(f"classes_ has {len(self.classes_)} classes; expected two")
        vectors = kernel.read(self.support_vectors_, "support_vectors_")
        n = length(vectors)
        _check_numbers("dual_coef_", self.dual_coef_, (1, n))
        _check_numbers("intercept_", self.intercept_, (1,))
        fits = isinstance(self.support_, np.ndarray) and self.support_.dtype == np.int64 and self.support_.shape == (n,)
        if not fits or (np.diff(self.support_, prepend=-1) <= 0).any():
            raise ValueError("support_ does not number the support vectors in order")
        if kernel.of_rows:
            check_whole("n_features_in_", self.n_features_in_, 1)
            if vectors.shape[1] != self.n_features_in_:
                raise ValueError(
                    f"support_vectors_ has shape {vectors.shape} but n_features_in_ is {self.n_features_in_}"
                )
        if isinstance(kernel, Linear):
            _check_numbers("coef_", self.coef_, (1, self.n_features_in_))
        check_whole("n_iter_", self.n_iter_)
        check_flag("converged_", self.converged_)
        for name in ("C_", "objective_", "duality_gap_"):
            if not isinstance(getattr(self, name), (int, float)):
                raise ValueError(f"{name} is {shown(getattr(self, name))}; it must be a number")
        if not isinstance(self.history_, list) or not all(isinstance(record, dict) for record in self.history_):
            raise ValueError("history_ is no list of records")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags

        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_class=False)
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dual_coef_")

    def _solver(self) -> BinaryDual:
        memory = memory_option("max_memory", self.max_memory)
        if memory is None:
            memory = min(ROWS, (available_memory() or 2 * ROWS) // 2)
        solver = BinaryDual(tol=self.tol, max_memory=memory)
        return solver if self.max_iter is None else replace(solver, max_iter=self.max_iter)

    def _read(self, kernel: Kernel, X: Any) -> Any:
        """Examples of training, in scikit-learn's words where they are rows."""
        check_examples("X", X)
        if kernel.of_rows:
            from sklearn.utils import check_array

            X = check_array(checked_table(X), accept_sparse="csr", dtype=np.float64, estimator=self, input_name="X")
        return kernel.read(X, "X")

    def _read_new(self, kernel: Kernel, X: Any) -> Any:
        """Examples to predict, which must be as those of training were."""
        check_examples("X", X)
        if kernel.of_rows:
            from sklearn.utils.validation import validate_data

            X = validate_data(self, checked_table(X), reset=False, accept_sparse="csr", dtype=np.float64)
        return kernel.read(X, "X")

    def _take_over(
        self, kernel: Kernel, examples: Any, kept: IntArray, classes: tuple[Any, ...], state: BinaryDualState
    ) -> None:
        used = np.flatnonzero(state.beta)
        # Without any, a run that never began, one example stands for all with the coefficient 0.
        used = used if len(used) else np.zeros(1, np.int64)
        self.support_, self.support_vectors_ = kept[used], taken(examples, used)
        self.dual_coef_, self.intercept_ = state.beta[None, used], np.array([state.bias])
        if isinstance(kernel, Linear):
            moved = self.support_vectors_ if kernel.A is None else self.support_vectors_ @ np.asarray(kernel.A)
            self.coef_ = np.asarray(self.dual_coef_ @ moved)
        self.classes_ = label_array(classes)
        self.n_iter_ = max(state.iteration, 1)
        self.objective_, self.duality_gap_ = state.primal, state.relative_gap


class _Watch:
    """What happens after every iteration: a progress line, and the end if Ctrl-C asked for it."""

    def __init__(self, svm: BinarySVM, interruption: Interruption):
        self._svm = svm
        self._interruption = interruption
        self._progress = Progress() if svm.verbose else None

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.setup(self._svm, None)
        return self

    def __exit__(self, *error: object) -> None:
        if self._progress is not None:
            self._progress.teardown(self._svm, None)

    def __call__(self, state: BinaryDualState) -> bool:
        if self._progress is not None:
            self._progress.show(self._svm, state.record)
        return self._interruption.requested


def _two_classes(labels: list[Any]) -> tuple[Any, ...]:
    for i, label in enumerate(labels):
        check_label(label, f"y[{i}]")
    classes = observed_classes(labels)
    if len(classes) == 1:
        raise ValueError(f"y has only one class, {shown(classes[0])}; a binary SVM needs two")
    if len(classes) > 2:
        raise ValueError(
            f"Only binary classification is supported. y has {len(classes)} classes; for these use StructuralSVM with "
            "Multiclass(), on structlearn.features.KernelMap for kernels"
        )
    if not classes:
        raise ValueError("sample_weight is zero for every example")
    return classes


def _check_numbers(name: str, array: Any, shape: tuple[int, ...]) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    if not fits or not np.isfinite(array).all():
        raise ValueError(f"{name} does not hold {' × '.join(map(str, shape))} finite numbers")
