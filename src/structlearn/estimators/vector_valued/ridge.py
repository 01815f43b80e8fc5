"""Ridge regression onto outputs as vectors, and the outputs nearest to them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from importlib.metadata import version
from time import perf_counter
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structlearn.contract import Estimator, available_if, check_is_fitted
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import check_examples
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.matrices import check_squares, checked_table
from structlearn.data.options import jobs_option, real_option, whole_option
from structlearn.data.tokens.sequences import NamedColumns, read_sequences, stack
from structlearn.estimators.training import checked_weight
from structlearn.estimators.vector_valued.systems import DecomposableSystem, Regression, SumSystem
from structlearn.features import KernelMap
from structlearn.kernels import Kernel, kernel_option
from structlearn.kernels.base import length
from structlearn.kernels.operators import Decomposable, OperatorSum
from structlearn.kernels.row_metric import expansion_at
from structlearn.outputs import Outputs, VectorOutputs
from structlearn.persistence import model_file
from structlearn.wording import shown

#: Of more rows a basis is drawn, if nobody says: a matrix of all kernels would take 3 GB and an hour.
MOST_ROWS, BASIS = 20_000, 2_000


def _has_preimages(ridge: VectorValuedRidge) -> bool:
    if isinstance(ridge._outputs(), VectorOutputs):
        raise AttributeError("the vectors are what predict gives")
    return True


class VectorValuedRidge(Estimator):
    """f: X → H_Y with the least (1/n) Σ_i ‖f(x_i) − ỹ_i‖² + λ‖f‖², and for every x the output nearest to f(x).

    Outputs become vectors ỹ of a space with inner products (`structlearn.outputs`); an operator-valued kernel says how
    their coordinates are learnt together; the solution is exact (Micchelli and Pontil 2005; Brouard, Szafranski and
    d'Alché-Buc 2016).

    Parameters
    ----------
    outputs : Outputs, optional
        What outputs are as vectors. None means `VectorOutputs`: y holds numbers, and f(x) is what is predicted.
    kernel : Kernel, str, callable, Decomposable or OperatorSum, or a list of these
        K. A kernel k of inputs alone is kI. "rbf" and "laplacian" have the γ that `median_gamma` proposes. Of a list,
        the one with the least error of examples that are left out is taken.
    lam : float or list of float, optional
        λ. Of a list, or of numbers that suit the kernel if it is None, the one is taken with the least error of
        examples that are left out, one at a time or, of sequences, a whole sequence at a time: a closed form.
    n_components : int, optional
        The size of the basis that stands for all training rows (Nyström). None takes all up to 20,000 rows, and 2,000
        of more.
    tol, max_iter : float, int
        When conjugate gradients, for sums of kernels, and the search for A, where it is learnt, stop: at this relative
        residual, or change of the objective, and after so many steps.
    random_state : int, optional
        Seed of the draw of a basis.
    n_jobs : int, optional
        Threads that compute kernels; −1 takes all cores.

    Attributes
    ----------
    kernel_ : OperatorSum
        What was used, with the A that was learnt or computed.
    lam_ : float
    method_ : {"cholesky", "eigen", "alternation", "conjugate_gradients", "nystroem"}
        How the system was solved: the cheapest way for its kernel.
    basis_ : (n_basis, d) array or sparse matrix, or list
        The rows of the training data; with a basis, `map_` has it.
    weights_ : list of (n_basis, n_coordinates) arrays
        Of each term of the kernel, so that f(x) = Σ_m Σ_i k_m(x, x_i) w_mi.
    objective_ : float
    n_iter_ : int
        Rounds of a search for A or steps of conjugate gradients; 1 where none are needed.
    left_out_ : list of dict
        `kernel`, `lam` and the mean squared `error` of examples that are left out, for all that were compared.
    outputs_ : Outputs

    Notes
    -----
    Where A is learnt, λ is chosen with A = I; where it is a covariance, that of all examples is used for each that is
    left out.

    Examples
    --------
    >>> from structlearn.outputs import LabelSetOutputs
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [{"low"}, {"low", "odd"}, {"high"}, {"high", "odd"}]
    >>> ridge = VectorValuedRidge(LabelSetOutputs(), "rbf", lam=1e-3).fit(X, Y)
    >>> [sorted(y) for y in ridge.predict([[0.9], [2.1]])], ridge.method_
    ([['low', 'odd'], ['high']], 'cholesky')
    """

    n_features_in_: int
    vocabulary_: tuple[str, ...] | None

    def __init__(
        self,
        outputs: Outputs | None = None,
        kernel: Kernel | str | Callable[[Any, Any], Any] | Decomposable | OperatorSum | Sequence[Any] = "rbf",
        *,
        lam: float | Sequence[float] | None = None,
        n_components: int | None = None,
        tol: float = 1e-8,
        max_iter: int = 1000,
        random_state: int | None = None,
        n_jobs: int | None = None,
    ):
        self.outputs = outputs
        self.kernel = kernel
        self.lam = lam
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def check_options(self) -> None:
        """Refuses options that mean nothing, by name; `fit` asks for it before it looks at the data."""
        if self.outputs is not None and not isinstance(self.outputs, Outputs):
            raise ValueError(f"outputs is {shown(self.outputs)}; give an object of structlearn.outputs")
        self._outputs().check_options()
        for each in self._candidates():
            each.check_options()
        for lam in self._lams() or ():
            real_option("lam", lam, positive=True)
        if self.n_components is not None:
            whole_option("n_components", self.n_components, 1)
        real_option("tol", self.tol, positive=True)
        whole_option("max_iter", self.max_iter, 1)
        jobs_option("n_jobs", self.n_jobs)

    def fit(self, X: Any, y: Any) -> Self:
        """Trains.

        Parameters
        ----------
        X : (n, d) array or sparse matrix, or list
            What the kernel takes; for sequences of labels, sequences with a row a token.
        y : list or array
            What `outputs` takes.
        """
        self.check_options()
        begun = perf_counter()
        rows, offsets = self._read(X, reset=True)
        fitted = copy(self._outputs()).fit(y)
        data = Regression(rows, fitted.targets(y, offsets), fitted.metric_, offsets if fitted.of_sequences else None)
        system, self.lam_ = self._chosen([self._system(each, data) for each in self._candidates()])
        solved = system.solve(self.lam_, self.tol, self.max_iter)
        self.outputs_, self.method_, self.objective_ = fitted, solved.method, solved.objective
        self.n_iter_ = solved.n_iter
        weights = [solved.coefficients if A is None else solved.coefficients @ A for A in solved.operators]
        terms = zip(system.terms(), solved.operators, strict=True)
        self.kernel_ = OperatorSum([Decomposable(t.kernel, "identity" if A is None else A) for t, A in terms])
        self.map_ = system.features
        self.basis_, self.weights_ = rows, weights
        if self.map_ is not None:
            self.basis_, self.weights_ = None, [self.map_.transform(rows).T @ weights[0]]
        seconds = perf_counter() - begun
        self.training_ = {"examples": len(offsets) - 1, "seconds": seconds, "library": version("structlearn")}
        return self

    def predict(self, X: Any) -> Any:
        """The output nearest to f(x), of every example."""
        vectors, offsets = self._values(X)
        return self.outputs_.nearest(vectors, offsets)

    @available_if(_has_preimages)
    def decision_function(self, X: Any) -> FloatArray:
        """The coordinates of f(x), (n_rows, n_coordinates); of sequences, those of all tokens one after another."""
        return self._values(X)[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of outputs, or of their labels, that are right; R² of numbers."""
        vectors, offsets = self._values(X)
        weight = checked_weight(sample_weight, len(offsets) - 1)
        if not weight.any():
            raise ValueError("sample_weight is zero for every example")
        return self.outputs_.score(y, self.outputs_.nearest(vectors, offsets), offsets, weight)

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
        real_option("lam_", self.lam_, positive=True)
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
        given = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        if not given:
            raise ValueError("kernel is an empty list; give at least one")
        return [_operator(each) for each in given]

    def _lams(self) -> list[Any] | None:
        """What λ may be, if somebody says."""
        if self.lam is None:
            return None
        lams = list(self.lam) if isinstance(self.lam, Iterable) else [self.lam]
        if not lams:
            raise ValueError("lam is an empty list; give at least one number, or None")
        return lams

    def _system(self, kernel: OperatorSum, data: Regression) -> DecomposableSystem | SumSystem:
        systems = []
        for each in kernel.terms:
            term = each.on(data.rows)
            features = self._features(term.kernel, data.rows) if len(kernel.terms) == 1 else None
            systems.append(DecomposableSystem(term, data, features, self.n_jobs))
        return systems[0] if len(systems) == 1 else SumSystem(systems)

    def _features(self, kernel: Any, rows: Any) -> KernelMap | None:
        n = length(rows)
        size = self.n_components if self.n_components is not None else (BASIS if n > MOST_ROWS else n)
        if size >= n:
            return None
        return KernelMap(kernel, size, random_state=self.random_state or 0, n_jobs=self.n_jobs).fit(rows)

    def _chosen(self, systems: list[Any]) -> tuple[Any, float]:
        """The system and the λ with the least error of what is left out, unless there is but one."""
        self.left_out_: list[dict[str, Any]] = []
        lams = self._lams()
        if len(systems) == 1 and lams is not None and len(lams) == 1:
            return systems[0], float(lams[0])
        tried = []
        for system in systems:
            if isinstance(system, SumSystem):
                raise ValueError("a sum of kernels is solved for one kernel and one lam; errors have no closed form")
            for lam in system.lams() if lams is None else lams:
                tried.append((system, float(lam)))
                error = system.left_out(float(lam))
                self.left_out_.append({"kernel": repr(system.term), "lam": float(lam), "error": error})
        return tried[int(np.argmin([record["error"] for record in self.left_out_]))]

    def _values(self, X: Any) -> tuple[FloatArray, IntArray]:
        """f(x) of all rows of inputs, and where the rows of each begin."""
        check_is_fitted(self)
        rows, offsets = self._read(X, reset=False)
        if self.map_ is not None:
            return self.map_.transform(rows) @ self.weights_[0], offsets
        terms = zip(self.kernel_.terms, self.weights_, strict=True)
        found = [expansion_at(kernel_option(t.kernel), rows, self.basis_, w, self.n_jobs) for t, w in terms]
        return np.asarray(sum(found)), offsets

    def _read(self, X: Any, *, reset: bool) -> tuple[Any, IntArray]:
        """Rows, or what else the kernel is about, checked; and where those of each example begin."""
        check_examples("X", X)
        kernel = kernel_option(self._candidates()[0].terms[0].kernel)
        if reset:
            self.vocabulary_ = None
        if not kernel.of_rows:
            read = kernel.read(X, "X")
            return read, np.arange(length(read) + 1)
        if self._outputs().of_sequences:
            return self._tokens(X, reset=reset)
        # scikit-learn's own words for what is wrong with X.
        from sklearn.utils.validation import validate_data

        X = validate_data(self, checked_table(X), reset=reset, accept_sparse="csr", dtype=np.float64)
        X = sp.csr_array(X) if sp.issparse(X) else X
        check_squares(X, lambda i, j: f"X[{i}, {j}]")
        return kernel.read(X, "X"), np.arange(X.shape[0] + 1)

    def _tokens(self, X: Any, *, reset: bool) -> tuple[Any, IntArray]:
        columns = None if self.vocabulary_ is None else NamedColumns(self.vocabulary_)
        if not reset:
            return stack(X, columns, self.n_features_in_)
        sequences = read_sequences(X)
        self.vocabulary_, self.n_features_in_ = sequences.names, int(sequences.tokens.shape[1])
        return sequences.tokens, sequences.offsets


def _operator(given: Any) -> OperatorSum:
    if isinstance(given, OperatorSum):
        return given
    return OperatorSum([given if isinstance(given, Decomposable) else Decomposable(given)])
