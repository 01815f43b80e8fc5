"""What estimators of one number f(x) an example share: reading X and y, all that follows from f, and model files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.contract import Estimator, available_if, check_is_fitted
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_distinct, check_flag, check_whole
from structlearn.data.labels import (
    LabelCodes,
    Labels,
    check_label,
    declared_classes,
    label_array,
    observed_classes,
    read_labels,
)
from structlearn.data.matrices import check_squares, checked_numbers, checked_table
from structlearn.estimators.training import checked_weight
from structlearn.kernels import Kernel, Linear, kernel_for, kernel_option
from structlearn.kernels.base import length, taken
from structlearn.persistence import model_file
from structlearn.wording import count, shown


def _of_classes(estimator: ScalarPredictor) -> bool:
    if not estimator._has_classes():
        raise AttributeError("there are no classes to decide between: f itself is what predict gives")
    return True


class ScalarPredictor(Estimator, ABC):
    """Base class of f(x) = ⟨w, x⟩ + b, and with a kernel of f(x) = Σ_i α_i k(x_i, x) + b.

    Shapes are those of one function, whatever it is for: `coef_` is w, (d,), without a kernel or with a linear one;
    `kernel_` is the kernel that was used, or None; `dual_coef_` are the α_i that are not 0, (n_support,), with their
    examples as `support_` and `support_vectors_`; `intercept_` is b, a number. A subclass writes `fit`, which begins
    with `_read` and ends with `_take_over`.
    """

    #: Numbers that `fit` leaves, beside those that all have.
    _numbers: ClassVar[tuple[str, ...]] = ("C_", "objective_", "duality_gap_")

    classes_: npt.NDArray[Any]

    @abstractmethod
    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""

    @available_if(_of_classes)
    def decision_function(self, X: Any) -> FloatArray:
        """f(x) of every example, above 0 for the second class."""
        return self._scores(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class that the sign of f(x) tells, of every example; f(x) itself where there are no classes."""
        scores = self._scores(X)
        return np.asarray(self.classes_[(scores > 0).astype(np.int64)]) if self._has_classes() else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of labels that are right, or R² = 1 − Σ(y − f)²/Σ(y − ȳ)² of numbers."""
        scores = self._scores(X)
        weight = checked_weight(sample_weight, len(scores))
        if not weight.any():
            raise ValueError("sample_weight is zero for every example")
        if self._has_classes():
            codes = LabelCodes(self.classes_.tolist(), allow_unknown=True).encode(read_classes(y, len(scores)), "y")
            return float(np.average(codes == (scores > 0), weights=weight))
        from sklearn.metrics import r2_score

        return float(r2_score(read_numbers(y, len(scores)), scores, sample_weight=weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted estimator to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
        self.check_options()
        kernel = self.kernel_
        if (kernel is None) != (self._given_kernel() is None) or not isinstance(kernel, Kernel | None):
            raise ValueError(f"kernel_ is {shown(kernel)}, but the kernel given is {shown(self._given_kernel())}")
        if kernel is not None:
            kernel.check_options()
        if self._has_classes():
            self.classes_ = label_array(declared_classes(self.classes_, "classes_"))
            if len(self.classes_) != 2:
                raise ValueError(f"classes_ has {count(len(self.classes_), 'class', 'classes')}; expected two")
        if kernel is None or kernel.of_rows:
            check_whole("n_features_in_", self.n_features_in_, 1)
            self._check_names()
        if kernel is None or isinstance(kernel, Linear):
            _check_numbers("coef_", self.coef_, self.n_features_in_)
        if kernel is not None or hasattr(self, "support_"):
            self._check_expansion(kernel or Linear())
        _check_numbers("intercept_", np.atleast_1d(self.intercept_), 1)
        check_whole("n_iter_", self.n_iter_)
        check_flag("converged_", self.converged_)
        for name in self._numbers:
            if not isinstance(getattr(self, name), (int, float)):
                raise ValueError(f"{name} is {shown(getattr(self, name))}; it must be a number")
        if not isinstance(self.history_, list) or not all(isinstance(record, dict) for record in self.history_):
            raise ValueError("history_ is no list of records")
        if not isinstance(self.training_, dict):
            raise ValueError(f"training_ is {shown(self.training_)}, which is no dict")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, RegressorTags

        tags = super().__sklearn_tags__()
        if self._has_classes():
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(multi_class=False)
        else:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "intercept_")

    def _given_kernel(self) -> Any:
        """The option that says which kernel, None for none."""
        return self.kernel

    def _kernel_for(self, X: Any) -> Kernel | None:
        """The kernel to train with on examples that were read; "rbf" and "laplacian" have a γ that suits these."""
        given = self._given_kernel()
        return None if given is None else kernel_for(given, X)

    def _has_classes(self) -> bool:
        """Whether y are labels of two classes, not numbers."""
        return True

    def _scores(self, X: Any) -> FloatArray:
        """f(x) of every example."""
        check_is_fitted(self)
        X = self._read(X, reset=False)
        kernel = self.kernel_
        if kernel is None or isinstance(kernel, Linear):
            return np.asarray(X @ self.coef_ + self.intercept_)
        found = np.full(length(X), self.intercept_)
        if len(self.dual_coef_):
            for rows, part in kernel.blocks(X, self.support_vectors_):
                found[rows] += part @ self.dual_coef_
        return found

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Examples, checked: rows of numbers, or whatever else the kernel is about."""
        check_examples("X", X)
        given = self._given_kernel()
        kernel = None if given is None else kernel_option(given)
        if kernel is not None and not kernel.of_rows:
            return kernel.read(X, "X")
        # scikit-learn's own words for what is wrong with X.
        from sklearn.utils.validation import validate_data

        X = validate_data(self, checked_table(X), reset=reset, accept_sparse="csr", dtype=np.float64)
        X = sp.csr_array(X) if sp.issparse(X) else X
        check_squares(X, lambda i, j: f"X[{i}, {j}]")
        return X if kernel is None else kernel.read(X, "X")

    @staticmethod
    def _expansion(kernel: Kernel, X: Any, numbers: IntArray, coefficients: FloatArray) -> dict[str, Any]:
        """The attributes of Σ_i α_i k(x_i, ·) over examples that have these numbers in what `fit` was given."""
        kept = np.flatnonzero(coefficients)
        vectors, alpha = taken(X, kept), coefficients[kept]
        found = {"support_": numbers[kept], "support_vectors_": vectors, "dual_coef_": alpha, "kernel_": kernel}
        if isinstance(kernel, Linear):
            w = np.asarray(vectors.T @ alpha)
            found["coef_"] = w if kernel.A is None else w @ np.asarray(kernel.A)
        return found

    def _take_over(self, n: int, fitted: dict[str, Any]) -> None:
        """What was learnt from n examples, in the place of all that an earlier `fit` with other options had left."""
        for name in ("classes_", "coef_", "support_", "support_vectors_", "dual_coef_"):
            vars(self).pop(name, None)
        vars(self).update({"kernel_": None} | fitted)
        seconds = self.history_[-1]["seconds"]
        self.training_ = {"examples": n, "seconds": seconds, "library": version("structlearn")}

    def _check_expansion(self, kernel: Kernel) -> None:
        n = length(self.support_vectors_)
        # Kernels read at least one example, but a function may have none.
        vectors = kernel.read(self.support_vectors_, "support_vectors_") if n else None
        _check_numbers("dual_coef_", self.dual_coef_, n)
        fits = isinstance(self.support_, np.ndarray) and self.support_.dtype == np.int64 and self.support_.shape == (n,)
        if not fits or (np.diff(self.support_, prepend=-1) <= 0).any():
            raise ValueError("support_ does not number the support vectors in order")
        if vectors is not None and kernel.of_rows and vectors.shape[1] != self.n_features_in_:
            raise ValueError(f"support_vectors_ has shape {vectors.shape} but n_features_in_ is {self.n_features_in_}")

    def _check_names(self) -> None:
        names = getattr(self, "feature_names_in_", None)
        if names is None:
            return
        if len(names) != self.n_features_in_ or not all(isinstance(name, str) for name in names):
            raise ValueError(f"feature_names_in_ does not hold {count(self.n_features_in_, 'name')}")
        check_distinct("feature_names_in_", names)
        self.feature_names_in_ = np.array(names, object)


def read_classes(y: Any, n: int) -> Labels:
    """n labels."""
    if y is not None:
        check_examples("y", y)
    labels = read_labels(y)
    _check_length(labels, n)
    return labels


def read_signs(labels: list[Any]) -> tuple[npt.NDArray[Any], FloatArray]:
    """The two classes among labels, and for each label −1 or +1, the first or the second of them.

    >>> read_signs(["no", "yes", "no"])
    (array(['no', 'yes'], dtype='<U3'), array([-1.,  1., -1.]))
    """
    for i, label in enumerate(labels):
        check_label(label, f"y[{i}]")
    classes = observed_classes(labels)
    if len(classes) == 1:
        raise ValueError(
            f"y has one class only, {shown(classes[0])}; examples of two with a sample_weight above 0 are needed"
        )
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{count(len(classes), 'class', 'classes')}, {', '.join(map(shown, classes[:3]))} among them; for more "
            "than two there is StructuralSVM with the model Multiclass, on KernelMap for kernels"
        )
    return label_array(classes), np.where(LabelCodes(classes).encode(labels, "y") == 1, 1.0, -1.0)


def read_numbers(y: Any, n: int) -> FloatArray:
    """n finite numbers."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    check_examples("y", y)
    from sklearn.utils import assert_all_finite, column_or_1d

    found = checked_numbers(y, "y").astype(np.float64)
    if found.ndim != 1 and found.shape[1:] != (1,):
        raise ValueError(f"y has shape {found.shape}; expected a number an example")
    found = column_or_1d(found, warn=True)
    _check_length(found, n)
    assert_all_finite(found, input_name="y")
    check_squares(found[:, None], lambda i, _: f"y[{i}]")
    return np.asarray(found)


def with_weight(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray, IntArray]:
    """Examples, what is true of them and their weights, without those of weight 0; and the numbers of these."""
    n = length(X)
    weight = checked_weight(sample_weight, n)
    kept = np.flatnonzero(weight)
    if not len(kept):
        raise ValueError("sample_weight is zero for every example")
    return (X, y, weight, kept) if len(kept) == n else (taken(X, kept), taken(y, kept), weight[kept], kept)


def _check_length(y: Any, n: int) -> None:
    if len(y) != n:
        raise ValueError(f"X has {count(n, 'example')} but y has {count(len(y), 'entry')}")


def _check_numbers(name: str, array: Any, n: int) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == (n,)
    if not fits or not np.isfinite(array).all():
        raise ValueError(f"{name} does not hold {count(n, 'finite number')}")
