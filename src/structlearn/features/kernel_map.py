"""Kernels as features: coordinates of few columns each, with which every linear learner is a kernel learner."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from structlearn.contract import available_if
from structlearn.data.arrays import FloatArray
from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.input_rows import input_rows, read_inputs, row_names, with_input_rows
from structlearn.data.matrices import checked_table
from structlearn.data.options import choice_option, jobs_option, whole_option
from structlearn.data.tokens.sequences import NamedColumns
from structlearn.kernels import RBF, Kernel, Laplacian, incomplete_cholesky, kernel_for, kernel_option, pivoted_cholesky
from structlearn.kernels.base import check_rows, length, taken
from structlearn.kernels.gram import cholesky_coordinates
from structlearn.kernels.vectors import short_indices
from structlearn.wording import shown

METHODS = ("uniform", "k_means", "leverage", "cholesky", "random_features")
#: Of more rows, that many times as many as clusters are drawn for k-means.
ROWS_A_CENTRE = 50
Method = Literal["uniform", "k_means", "leverage", "cholesky", "random_features"]


def _has_basis(transformer: KernelMap) -> bool:
    return transformer.method != "random_features"


class KernelMap(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """z(x) with ⟨z(x), z(x′)⟩ ≈ k(x, x′), by a basis of few examples (Nyström's method) or by random features.

    With a basis b_1, …, b_r and K_bb = LLᵀ the coordinates are z(x) = L⁻¹k(b, x): those of the projection of φ(x) onto
    the span of φ(b_1), …, φ(b_r). A linear learner with the penalty ½‖w‖² on them is the kernel learner among functions
    of that span, and with all examples as the basis it is the kernel learner itself.

    Parameters
    ----------
    kernel : Kernel, str or callable
        An object of `structlearn.kernels`, such as ``RBF(gamma=0.1)``; or the name of one, with its own options; or a
        function of two matrices. "rbf" and "laplacian" have the γ that `median_gamma` proposes for the training data.
    n_components : int or None
        The size of the basis, or the number of random features. A basis has no more than there are examples; None takes
        all, whatever the method.
    method : {"uniform", "k_means", "leverage", "cholesky", "random_features"}
        How the basis is chosen. "uniform" draws examples; "leverage" draws them by their ridge leverage scores, which
        are large where few others are near; "k_means" takes the centres of clusters; "cholesky" takes the examples that
        incomplete Cholesky factorisation pivots on, each the one that those before explain least. "random_features",
        for `RBF` and `Laplacian`, has no basis: √(2/D) cos(⟨ω_c, x⟩ + β_c) with ω_c drawn from the kernel's Fourier
        transform (Rahimi and Recht 2007).
    random_state : int or numpy Generator, optional
        Seed of the draws.
    n_jobs : int, optional
        Threads that compute kernels; −1 takes all cores.

    Attributes
    ----------
    kernel_ : Kernel
        What was used.
    basis_ : (r, d) array or sparse matrix, or list
        The basis, without what depends on the rest of it, as duplicates do: so r may be less than `n_components`.
    factor_ : (r, r) array
        L.
    frequencies_, offsets_ : (d, D) and (D,) arrays
        ω and β, in the place of a basis.
    vocabulary_ : tuple of str or None
        The names of the features of tokens or nodes, where they have names.

    Notes
    -----
    Takes a matrix with a row an example; sequences with a row a token, as `Chain` takes them; networks with a row a
    node, as `Graph` does, whose edges stay as they are; images with a row a pixel, as `Grid` does, of three axes each;
    pairs of sequences with a row of the "profile" a letter, as `Alignment` takes them, sentences with a row of the
    "features" a token, as `Grammar` does, and items with a row a pair, as `CorrelationClustering` does, of which all
    else stays as it is; or, for kernels of strings and graphs, a list of these. `kernel__gamma` is the name of an
    option of the kernel in a search.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from structlearn import StructuralSVM
    >>> from structlearn.kernels import RBF
    >>> from structlearn.models import Multiclass
    >>> X, Y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), ["out", "in", "in", "in", "out"]
    >>> svm = make_pipeline(KernelMap(RBF(gamma=0.5), n_components=5), StructuralSVM(Multiclass(), C=100))
    >>> svm.fit(X, Y).predict([[-3.0], [0.5]]).tolist()
    ['out', 'in']
    """

    n_features_in_: int
    vocabulary_: tuple[str, ...] | None

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any] = "rbf",
        n_components: int | None = 100,
        method: Method = "uniform",
        random_state: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
    ):
        self.kernel = kernel
        self.n_components = n_components
        self.method = method
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        self.check_options()
        _, rows = self._examples(X, kernel_option(self.kernel), reset=True)
        self.kernel_ = kernel = kernel_for(self.kernel, rows)
        random = np.random.default_rng(self.random_state)
        if self.method == "random_features":
            self.frequencies_ = _frequencies(kernel, rows.shape[1], self.n_components or 1, random)
            self.offsets_ = random.uniform(0.0, 2.0 * np.pi, self.n_components)
            return self
        basis = self._chosen(kernel, rows, random)
        if length(basis):
            kept, self.factor_ = pivoted_cholesky(kernel(basis), name="the kernel matrix of the basis")
        if not length(basis) or not len(kept):
            raise ValueError("every example of the basis has the kernel 0 with itself; there are no coordinates")
        self.basis_ = taken(basis, kept)
        return self

    def check_options(self) -> None:
        """Refuses options that cannot be."""
        choice_option("method", self.method, METHODS)
        if self.n_components is not None:
            whole_option("n_components", self.n_components, 1)
        elif self.method == "random_features":
            raise ValueError("n_components is None, for all examples, but random features have no basis; give a number")
        if isinstance(self.random_state, numbers.Integral):
            whole_option("random_state", self.random_state, 0, 2**32 - 1)
        jobs_option("n_jobs", self.n_jobs)
        kernel_option(self.kernel)

    def transform(self, X: Any) -> Any:
        check_is_fitted(self)
        inputs, rows = self._examples(X, self.kernel_, reset=False)
        return with_input_rows(inputs, self._coordinates(rows))

    @available_if(_has_basis)
    def residual(self, X: Any) -> FloatArray:
        """k(x, x) − ‖z(x)‖² ≥ 0 of every row, token, node, pixel or letter: the squared distance of φ(x) to the span.

        The matrix of k(x, x′) − ⟨z(x), z(x′)⟩ over X has no eigenvalues below 0, so that the sum of these is its trace
        norm, and bounds how far any kernel of two examples is off.
        """
        check_is_fitted(self)
        _, rows = self._examples(X, self.kernel_, reset=False)
        return _residual(self.kernel_, rows, self._coordinates(rows))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        check_is_fitted(self)
        return np.array([f"kernel_map{c}" for c in range(self._n_columns())], object)

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads a transformer asks for it."""
        self.check_options()
        kernel = self.kernel_
        if not isinstance(kernel, Kernel):
            raise ValueError(f"kernel_ is {shown(kernel)}, which is no kernel")
        kernel.check_options()
        check_whole("n_features_in_", getattr(self, "n_features_in_", 1), 1)
        if self.vocabulary_ is not None:
            check_tuple("vocabulary_", self.vocabulary_, str)
            check_distinct("vocabulary_", self.vocabulary_)
            if len(self.vocabulary_) != self.n_features_in_:
                raise ValueError(f"vocabulary_ has {len(self.vocabulary_)} names, not {self.n_features_in_}")
        if self.method == "random_features":
            _frequencies(kernel, 1, 1, np.random.default_rng(0))
            n = len(_learnt_numbers("offsets_", self.offsets_, 1))
            self._check_width(_learnt_numbers("frequencies_", self.frequencies_, 2, n), "frequencies_", 0)
            return
        n = len(_learnt_numbers("factor_", self.factor_, 2))
        _learnt_numbers("factor_", self.factor_, 2, n)
        if np.triu(self.factor_, 1).any() or (self.factor_.diagonal() <= 0).any():
            raise ValueError("factor_ is not lower triangular with numbers above 0 on its diagonal")
        basis = kernel.read(self.basis_, "basis_")
        if length(basis) != n:
            raise ValueError(f"basis_ has {length(basis)} examples but factor_ has {n} rows")
        if kernel.of_rows:
            self._check_width(basis, "basis_", 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_width(self, array: Any, name: str, axis: int) -> None:
        if array.shape[axis] != self.n_features_in_:
            raise ValueError(f"{name} has shape {array.shape} but n_features_in_ is {self.n_features_in_}")

    def _n_columns(self) -> int:
        return len(self.offsets_ if self.method == "random_features" else self.factor_)

    def _examples(self, X: Any, kernel: Kernel, *, reset: bool) -> tuple[Any, Any]:
        """Inputs that were read, and all their rows or, for kernels of strings and graphs, the examples themselves."""
        if reset:
            self.vocabulary_ = None
        if not kernel.of_rows:
            return X, kernel.read(X, "X")
        check_rows(kernel, X)
        columns = None if self.vocabulary_ is None else NamedColumns(self.vocabulary_)
        inputs = read_inputs(X) if reset else read_inputs(X, columns, self.n_features_in_)
        if inputs is None:
            rows = validate_data(self, checked_table(X), reset=reset, dtype=np.float64, accept_sparse="csr")
            return rows, sp.csr_array(rows) if sp.issparse(rows) else rows
        rows = input_rows(inputs)
        if reset:
            self.vocabulary_ = row_names(inputs)
            self.n_features_in_: int = rows.shape[1]
            kernel.read(rows, "X")
        return inputs, rows

    def _chosen(self, kernel: Kernel, rows: Any, random: np.random.Generator) -> Any:
        """The basis, before what depends on the rest of it is left out."""
        n = length(rows)
        if self.n_components is None:
            return rows
        size = min(self.n_components, n)
        match self.method:
            case "k_means":
                return _centres(kernel, rows, size, random)
            case "cholesky":
                return taken(rows, incomplete_cholesky(kernel, rows, size).pivots)
            case "leverage":
                scores = _leverage_scores(kernel, rows, size, random)
                return taken(rows, random.choice(n, size, replace=False, p=scores / scores.sum()))
            case _:
                return taken(rows, random.choice(n, size, replace=False))

    def _coordinates(self, rows: Any) -> FloatArray:
        found = np.empty((length(rows), self._n_columns()))
        if not len(found):
            return found
        if self.method == "random_features":
            found[:] = rows @ self.frequencies_
            found += self.offsets_
            return np.asarray(np.sqrt(2.0 / found.shape[1]) * np.cos(found))
        then = partial(cholesky_coordinates, self.factor_)
        blocks = self.kernel_.blocks(rows, self.basis_, then=then, n_jobs=self.n_jobs)
        for some, coordinates in blocks:
            found[some] = coordinates
        return found


def _frequencies(kernel: Kernel, n_features: int, n_components: int, random: np.random.Generator) -> FloatArray:
    """Draws from the Fourier transform of the kernel."""
    if type(kernel) is RBF:
        return random.normal(0.0, np.sqrt(2.0 * kernel.gamma), (n_features, n_components))
    if type(kernel) is Laplacian:
        return kernel.gamma * random.standard_cauchy((n_features, n_components))
    raise ValueError(f"kernel is {shown(kernel)}; random features are there for RBF and Laplacian only")


def _centres(kernel: Kernel, rows: Any, size: int, random: np.random.Generator) -> Any:
    """The centres of as many clusters, or of fewer where there are fewer points; of many rows, from some of them."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not kernel.of_rows:
        raise ValueError(f"kernel is {shown(kernel)}; method='k_means' needs examples that are rows of numbers")
    some = taken(rows, random.choice(length(rows), min(ROWS_A_CENTRE * size, length(rows)), replace=False))
    clusters = KMeans(size, n_init=1, max_iter=20, random_state=int(random.integers(2**31 - 1)))
    with warnings.catch_warnings():
        # That there are fewer points than clusters is no fault here.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = clusters.fit(short_indices(some)).cluster_centers_
    return kernel.read(np.unique(found, axis=0), "the centres of clusters")


def _leverage_scores(kernel: Kernel, rows: Any, size: int, random: np.random.Generator) -> FloatArray:
    """(K(K + λI)⁻¹)_ii with the λ that leaves about `size` directions, from twice as many columns of K or all.

    What the columns do not span counts as residual / λ, as if it were orthogonal to everything else.
    """
    n = length(rows)
    pilot = taken(rows, random.choice(n, min(2 * size, n), replace=False))
    kept, factor = pivoted_cholesky(kernel(pilot), name="the kernel matrix of the basis")
    pilot = taken(pilot, kept)
    found = np.concatenate([cholesky_coordinates(factor, part) for _, part in kernel.blocks(rows, pilot)])
    residual = _residual(kernel, rows, found)
    values, vectors = np.linalg.eigh(found.T @ found)
    ridge = max((values[: max(len(values) - size, 0)].sum() + residual.sum()) / size, 1e-10 * values[-1])
    scores = ((found @ vectors) ** 2 / (values + ridge)).sum(axis=1) + residual / ridge
    # Draws without replacement need a chance for everyone.
    return np.asarray(np.clip(scores, 1e-10, 1.0))


def _residual(kernel: Kernel, rows: Any, coordinates: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(kernel.diagonal(rows) - np.einsum("ij,ij->i", coordinates, coordinates), 0.0))


def _learnt_numbers(name: str, array: Any, ndim: int, width: int | None = None) -> FloatArray:
    """Finite numbers in an array with as many dimensions, and perhaps so many columns."""
    fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.ndim == ndim and array.size
    if not fits or not np.isfinite(array).all() or (width is not None and array.shape[-1] != width):
        raise ValueError(f"{name} does not hold finite numbers in the shape that fits the rest")
    return np.asarray(array)
