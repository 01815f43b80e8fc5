"""What estimators of one number f(x) an example share: how they read X and y, and what follows from f."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.contract import Estimator, check_is_fitted
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.labels import check_label, label_array, observed_classes
from structlearn.data.matrices import check_squares, checked_table
from structlearn.kernels import kernel_option
from structlearn.kernels.base import length
from structlearn.wording import count, shown


class ScalarPredictor(Estimator):
    """Base class of f(x) = ⟨w, x⟩ + b, and with a kernel of f(x) = Σ_i α_i k(x_i, x) + b.

    A subclass says which kernel it was given, if any, and sets `coef_`, or the α_i that are not 0 as `dual_coef_` with
    their examples as `support_` and `support_vectors_`; and `intercept_`.
    """

    def _given_kernel(self) -> Any:
        """The option that says which kernel, None for none."""
        raise NotImplementedError

    def _scores(self, X: Any) -> FloatArray:
        """f(x) of every example."""
        check_is_fitted(self)
        X = self._read(X, reset=False)
        if self._given_kernel() is None:
            return np.asarray(X @ self.coef_ + self.intercept_)
        found = np.full(length(X), self.intercept_)
        if len(self.dual_coef_):
            for rows, part in kernel_option(self._given_kernel()).blocks(X, self.support_vectors_):
                found[rows] += part @ self.dual_coef_
        return found

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Examples, checked: rows of numbers, or whatever else the kernel is about."""
        check_examples("X", X)
        kernel = None if self._given_kernel() is None else kernel_option(self._given_kernel())
        if kernel is not None and not kernel.of_rows:
            return kernel.read(X, "X")
        # scikit-learn's own words for what is wrong with X.
        from sklearn.utils.validation import validate_data

        X = validate_data(self, checked_table(X), reset=reset, accept_sparse="csr", dtype=np.float64)
        X = sp.csr_array(X) if sp.issparse(X) else X
        check_squares(X, lambda i, j: f"X[{i}, {j}]")
        return X if kernel is None else kernel.read(X, "X")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


def read_signs(y: Any, n: int) -> tuple[npt.NDArray[Any], FloatArray]:
    """The two classes among n labels, and for each label −1 or +1, the first or the second of them.

    >>> read_signs(["no", "yes", "no"], 3)
    (array(['no', 'yes'], dtype='<U3'), array([-1.,  1., -1.]))
    """
    from sklearn.utils import assert_all_finite
    from sklearn.utils.multiclass import check_classification_targets

    labels = column(y, n)
    given = labels.tolist()
    for i, label in enumerate(given):
        check_label(label, f"y[{i}]")
    if labels.dtype.kind == "f":
        assert_all_finite(labels, input_name="y")
        check_classification_targets(labels)
    classes = observed_classes(given)
    if len(classes) == 1:
        raise ValueError(f"y has one class only, {shown(classes[0])}; two classes are needed")
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{count(len(classes), 'class', 'classes')}, {', '.join(map(shown, classes[:3]))} among them; for more "
            "than two there is StructuralSVM with the model Multiclass"
        )
    return label_array(classes), np.where([label == classes[1] for label in given], 1.0, -1.0)


def read_numbers(y: Any, n: int) -> FloatArray:
    """n finite numbers."""
    from sklearn.utils import check_array

    found = check_array(column(y, n), ensure_2d=False, dtype=np.float64, input_name="y")
    check_squares(found[:, None], lambda i, _: f"y[{i}]")
    return np.asarray(found)


def column(y: Any, n: int) -> npt.NDArray[Any]:
    """One entry an example."""
    if y is None:
        raise ValueError("this estimator requires y to be passed, but the target y is None")
    check_examples("y", y)
    from sklearn.utils import column_or_1d

    found = np.asarray(column_or_1d(y, warn=True))
    if len(found) != n:
        raise ValueError(f"X has {count(n, 'example')} but y has {count(len(found), 'entry')}")
    return found


def expansion(X: Any, numbers: IntArray, coefficients: FloatArray) -> dict[str, Any]:
    """The attributes of Σ_i α_i k(x_i, ·) over examples that have these numbers in what `fit` was given."""
    kept = np.flatnonzero(coefficients)
    return {"support_": numbers[kept], "support_vectors_": taken(X, kept), "dual_coef_": coefficients[kept]}


def taken(examples: Any, which: IntArray) -> Any:
    """Some examples of a matrix or a list."""
    return examples[which] if hasattr(examples, "shape") else [examples[i] for i in which.tolist()]
