"""What learners of vectors that stand for outputs share: reading X, f(x), what follows from it, and model files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.contract import Estimator, available_if, check_is_fitted
from structlearn.data.arrays import FloatArray
from structlearn.data.examples import check_examples, is_listed
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.matrices import check_squares, checked_table
from structlearn.data.memory import available_memory
from structlearn.estimators.training import checked_weight
from structlearn.features import KernelMap
from structlearn.kernels import Kernel, kernel_option
from structlearn.kernels.base import length
from structlearn.kernels.operators import Decomposable, OperatorSum
from structlearn.kernels.row_metric import expansion_at
from structlearn.outputs import Outputs, VectorOutputs
from structlearn.outputs.base import Columns, Rows
from structlearn.persistence import model_file
from structlearn.wording import count, in_bytes, shown


def _has_preimages(learner: VectorPredictor) -> bool:
    if isinstance(learner._outputs(), VectorOutputs):
        raise AttributeError("the vectors are what predict gives")
    return True


class VectorPredictor(Estimator, ABC):
    """Base class of f(x) = Σ_m Σ_i k_m(x, x_i) w_mi, whose values are coordinates of vectors that stand for outputs.

    A subclass writes `fit`, which begins with `_read` and leaves `outputs_`, `kernel_`, `basis_`, `weights_`, `map_`
    and `n_iter_`; and `_found`, which outputs vectors stand for.
    """

    outputs_: Outputs
    n_features_in_: int
    vocabulary_: tuple[str, ...] | None

    @abstractmethod
    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""

    @abstractmethod
    def _found(self, vectors: FloatArray, places: Any) -> Any:
        """The outputs that coordinates of f(x) stand for, of inputs with their rows at these places."""

    @abstractmethod
    def _scores(self, vectors: FloatArray, targets: FloatArray) -> FloatArray:
        """(n_rows,), whose sum over the rows of an example `_found` makes largest, for f(x) and vectors of outputs."""

    def predict(self, X: Any) -> Any:
        """The output that f(x) stands for, of every example."""
        vectors, read = self._values(X)
        return self._found(vectors, read.places)

    @available_if(_has_preimages)
    def decision_function(self, X: Any) -> FloatArray:
        """The coordinates of f(x), (n_rows, n_coordinates); of inputs of several rows, those of one after another."""
        return self._values(X)[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of outputs, or of their labels, that are right; R² of numbers."""
        vectors, read = self._values(X)
        weight = checked_weight(sample_weight, len(read.offsets) - 1)
        if not weight.any():
            raise ValueError("sample_weight is zero for every example")
        return self.outputs_.score(y, self._found(vectors, read.places), read.places, weight)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the fitted estimator to one file; `structlearn.load` reads it and never runs code from it."""
        model_file.save(self, path)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads an estimator asks for it."""
        self.check_options()
        if not isinstance(self.outputs_, Outputs) or type(self.outputs_) is not type(self._outputs()):
            raise ValueError(f"outputs_ is {shown(self.outputs_)}, which fit does not make of {self._outputs()}")
        self.outputs_.check_options()
        self.outputs_.check_learnt()
        if not isinstance(self.kernel_, OperatorSum):
            raise ValueError(f"kernel_ is {shown(self.kernel_)}; expected a sum of decomposable kernels")
        self.kernel_.check_options()
        check_whole("n_iter_", self.n_iter_, 1)
        kernel = kernel_option(self.kernel_.terms[0].kernel)
        if kernel.of_rows:
            check_whole("n_features_in_", self.n_features_in_, 1)
        if self.vocabulary_ is not None:
            check_tuple("vocabulary_", self.vocabulary_, str)
            check_distinct("vocabulary_", self.vocabulary_)
        if not isinstance(self.weights_, list) or len(self.weights_) != len(self.kernel_.terms):
            raise ValueError("weights_ is no list with an array for every term of the kernel")
        if self.map_ is not None:
            if not isinstance(self.map_, KernelMap):
                raise ValueError(f"map_ is {shown(self.map_)}; expected a KernelMap")
            self.map_.check_learnt()
            n = len(self.map_.get_feature_names_out())
        else:
            n = length(kernel.read(self.basis_, "basis_"))
            if kernel.of_rows and self.basis_.shape[1] != self.n_features_in_:
                raise ValueError(f"basis_ has shape {self.basis_.shape} but n_features_in_ is {self.n_features_in_}")
        d = self.outputs_.n_coordinates()
        for weights in self.weights_:
            fits = isinstance(weights, np.ndarray) and weights.dtype == np.float64 and weights.shape == (n, d)
            if not fits or not np.isfinite(weights).all():
                raise ValueError(f"weights_ does not hold {n} × {d} finite numbers")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags

        tags = super().__sklearn_tags__()
        if isinstance(self._outputs(), VectorOutputs):
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
            tags.target_tags.multi_output = True
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "weights_")

    @property
    def classes_(self) -> Any:
        """The labels, where outputs have some."""
        return self.outputs_.classes_  # type: ignore[attr-defined]

    def _outputs(self) -> Outputs:
        return VectorOutputs() if self.outputs is None else self.outputs

    def _candidates(self) -> list[OperatorSum]:
        """The kernels to choose from."""
        return [operator_of(self.kernel)]

    def _values(self, X: Any) -> tuple[FloatArray, Rows]:
        """f(x) of all rows of inputs, and what was read of these."""
        check_is_fitted(self)
        read = self._read(X, reset=False)
        rows = read.matrix
        check_vectors(length(rows), self.outputs_.n_coordinates())
        if self.map_ is not None:
            return self.map_.transform(rows) @ self.weights_[0], read
        terms = zip(self.kernel_.terms, self.weights_, strict=True)
        found = [expansion_at(kernel_option(t.kernel), rows, self.basis_, w, self.n_jobs) for t, w in terms]
        return np.asarray(sum(found)), read

    def _read(self, X: Any, *, reset: bool) -> Rows:
        """Rows, or what else the kernel is about, checked; and where those of each example begin."""
        check_examples("X", X)
        kernel, outputs = kernel_option(self._candidates()[0].terms[0].kernel), self._outputs()
        if reset:
            self.vocabulary_ = None
        if outputs.of_parts and not kernel.of_rows:
            raise ValueError(f"kernel is {kernel}, but {type(outputs).__name__} needs a kernel of rows of features")
        known = None if reset or not kernel.of_rows else Columns(self.n_features_in_, self.vocabulary_)
        read = outputs.read(X, known)
        if read is not None:
            self.n_features_in_, self.vocabulary_ = read.columns
            return read
        matrix = self._table(X, kernel, reset=reset) if kernel.of_rows else kernel.read(X, "X")
        offsets = np.arange(length(matrix) + 1)
        return Rows(matrix, offsets, Columns(0), outputs.places(X, offsets))

    def _table(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        if _has_several_rows(X):
            given = self._outputs() if self.outputs is None else self.outputs
            raise ValueError(
                f"X[0] has several rows, but {type(given).__name__} has one vector an example and does not see "
                "positions: for labels of tokens or nodes take LabelSequenceOutputs or GraphOutputs; to choose "
                "among candidates for whole inputs, a kernel of these, such as FunctionKernel(f, rows=False)"
            )
        # scikit-learn's own words for what else is wrong with X.
        from sklearn.utils.validation import validate_data

        X = validate_data(self, checked_table(X), reset=reset, accept_sparse="csr", dtype=np.float64)
        X = sp.csr_array(X) if sp.issparse(X) else X
        check_squares(X, lambda i, j: f"X[{i}, {j}]")
        return kernel.read(X, "X")


def operator_of(given: Any) -> OperatorSum:
    """The operator-valued kernel that an option stands for: kI of a kernel k of inputs alone."""
    if isinstance(given, OperatorSum):
        return given
    return OperatorSum([given if isinstance(given, Decomposable) else Decomposable(given)])


def _has_several_rows(X: Any) -> bool:
    """Whether inputs in a list are matrices or lists of rows themselves."""
    first = X[0] if isinstance(X, (list, tuple)) and len(X) else None
    if isinstance(first, (list, tuple)):
        return len(first) > 0 and (is_listed(first[0]) or isinstance(first[0], Mapping))
    return sp.issparse(first) or getattr(first, "ndim", 1) == 2


def check_kinds(outputs: Outputs, targets: FloatArray) -> None:
    """Refuses outputs that are all the same, from their vectors, which leave nothing to learn."""
    if not isinstance(outputs, VectorOutputs) and (targets == targets[:1]).all():
        raise ValueError(f"all {'parts' if outputs.of_parts else 'outputs'} of y are the same; two kinds are needed")


def check_vectors(n: int, d: int) -> None:
    """Refuses vectors of so many rows for which there is no memory."""
    check_room(f"the vectors of {count(n, 'row')} × {count(d, 'coordinate')}", n * d)


def check_room(what: str, n_numbers: int) -> None:
    available = available_memory()
    if available is not None and 8 * n_numbers > available:
        raise ValueError(
            f"{what} would take {in_bytes(8.0 * n_numbers)}, and {in_bytes(available)} are available; take fewer rows, "
            "or outputs with fewer coordinates: no pairs of labels (edges=0), or KernelOutputs with n_components"
        )
