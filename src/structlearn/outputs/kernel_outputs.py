"""Outputs that only a kernel knows: strings, graphs, whatever has one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.memory import available_memory
from structlearn.data.options import whole_option
from structlearn.kernels import Kernel, kernel_option
from structlearn.kernels.base import length, taken
from structlearn.kernels.gram import SMALLEST_PIVOT, check_kernel, check_psd, incomplete_cholesky
from structlearn.outputs.base import Outputs, Preimages
from structlearn.outputs.candidates import by_input, candidates_of, check_candidates, first_of_equals
from structlearn.outputs.vectors import check_length
from structlearn.wording import count, in_bytes, shown


class Asked(NamedTuple):
    """Inputs that have candidates of their own, beside where their rows begin."""

    offsets: IntArray
    X: Any


class KernelOutputs(Outputs):
    """ỹ = K_Y(y, ·) of any kernel, in the coordinates of the outputs of the training data or of their main components.

    The nearest output is the best among candidates, each scored exactly: 2⟨f(x), ỹ⟩ − K_Y(y, y). With `search` it is
    the best where hill climbing from there ends. Nothing proves that no other output is nearer.

    Parameters
    ----------
    kernel : Kernel, str or callable
        K_Y, an object of `structlearn.kernels` or the name of one; of your own, where outputs are no rows of numbers,
        `FunctionKernel(function, rows=False)`.
    candidates : list, fitted estimator or callable, optional
        The outputs to choose from: a list; an estimator of the library that has `k_best`, whose best outputs for an
        input are its candidates; or a function that lists the candidates of an input. None takes the different outputs
        of the training data.
    n_components : int, optional
        How many main components ỹ is projected onto (kernel dependency estimation, Weston et al. 2003). None keeps all
        of the span of the training outputs.
    n_candidates : int
        How many of its best outputs an estimator is asked for.
    n_landmarks : int, optional
        How many training outputs, those that the others explain least, stand for the span of all (Nyström): kernels are
        computed with these alone, so that thousands of different outputs cost no matrix of all pairs. As many as the
        matrix has rank are exact.
    search : callable, optional
        Lists the neighbours of an output, such as `Substitutions` of symbols of strings. From the best candidate on,
        the best neighbour is gone to while it is nearer to f(x).

    Attributes
    ----------
    outputs_ : list or array
        The different outputs y_j of the training data.
    basis_ : list or array
        The landmarks among them, or all.
    roots_ : (n_basis,)
        √n_j of how often each is there: √n_j ỹ_j are the basis of coordinates. 1 for landmarks.

    Examples
    --------
    >>> from structlearn import VectorValuedRidge
    >>> from structlearn.kernels import Spectrum
    >>> words = ["banana", "ananas", "cabana"]
    >>> ridge = VectorValuedRidge(KernelOutputs(Spectrum(2)), "rbf", lam=0.01).fit([[0.0], [1.0], [5.0]], words)
    >>> ridge.predict([[4.5], [0.1]])
    ['cabana', 'banana']
    """

    def __init__(
        self,
        kernel: Kernel | str | Callable[[Any, Any], Any],
        candidates: Any = None,
        n_components: int | None = None,
        *,
        n_candidates: int = 10,
        n_landmarks: int | None = None,
        search: Callable[[Any], Any] | None = None,
    ):
        self.kernel = kernel
        self.candidates = candidates
        self.n_components = n_components
        self.n_candidates = n_candidates
        self.n_landmarks = n_landmarks
        self.search = search

    def __sklearn_clone__(self) -> Self:
        from sklearn.base import clone

        # A model that gives candidates stays fitted.
        options = self.get_params(deep=False)
        kept = ("candidates", "search")
        return type(self)(**{name: each if name in kept else clone(each, safe=False) for name, each in options.items()})

    def check_options(self) -> None:
        kernel_option(self.kernel)
        for name in ("n_components", "n_landmarks"):
            if getattr(self, name) is not None:
                whole_option(name, getattr(self, name), 1)
        check_candidates(self.candidates)
        whole_option("n_candidates", self.n_candidates, 1)
        if self.search is not None:
            if not callable(self.search) or isinstance(self.search, type):
                raise ValueError(f"search is {shown(self.search)}; expected a function that lists neighbours")
            getattr(self.search, "check_options", lambda: None)()

    def places(self, X: Any, offsets: IntArray) -> Any:
        return Asked(offsets, X) if by_input(self.candidates) else offsets

    def fit(self, Y: Any) -> Self:
        kernel, read = self._read(Y)
        # As they were given, since they are what is predicted.
        given = Y if hasattr(Y, "shape") else list(Y)
        if self.n_landmarks is not None:
            return self._fit_landmarks(kernel, read, given, int(self.n_landmarks))
        kept, numbers = np.unique(_nearest(kernel, read, read), return_inverse=True)
        self.outputs_ = self.basis_ = taken(given, kept)
        _check_room(len(kept))
        H = kernel(self.outputs_)
        check_psd(H, name="the kernel matrix of the outputs")
        self._check_several(kernel, len(kept))
        self.roots_ = np.sqrt(np.bincount(numbers).astype(np.float64))
        metric = self.roots_[:, None] * H * self.roots_
        self.metric_ = metric if self.n_components is None else None
        self.components_ = None if self.n_components is None else _components(metric, self.n_components)
        return self

    def _fit_landmarks(self, kernel: Kernel, read: Any, given: Any, n_landmarks: int) -> Self:
        """z(y) = L⁻¹k(b, y) of landmarks b with LLᵀ = K_Y(b, b), which the factor of all outputs has as its rows."""
        check_kernel(kernel, read, "y")
        found = incomplete_cholesky(kernel, read, n_landmarks)
        self.basis_ = taken(given, found.pivots)
        kept = first_of_equals(given)
        self.outputs_ = taken(given, kept)
        squares = np.square(np.ptp(found.factor, axis=0)).sum() + found.residual.max()
        self._check_several(kernel, 1 if squares <= SMALLEST_PIVOT * np.square(found.factor).max(initial=1e-300) else 2)
        self.roots_, self.metric_ = np.ones(len(found.pivots)), None
        inverse = np.linalg.inv(found.factor[found.pivots]).T
        if self.n_components is not None:
            _, vectors = np.linalg.eigh(found.factor.T @ found.factor)
            inverse = inverse @ vectors[:, -self.n_components :]
        self.components_ = np.asarray(inverse)
        return self

    def _check_several(self, kernel: Kernel, n: int) -> None:
        if n == 1:
            raise ValueError(f"all outputs of y are the same to {kernel}, as {shown(self.outputs_[0])}; two are needed")

    def n_coordinates(self) -> int:
        return length(self.basis_) if self.components_ is None else int(self.components_.shape[1])

    def targets(self, Y: Any, places: Any) -> FloatArray:
        kernel, read = self._read(Y)
        check_length(length(read), _offsets(places))
        if self.components_ is not None:
            found = np.empty((length(read), self.n_coordinates()))
            for some, part in kernel.blocks(read, self.basis_):
                found[some] = (part * self.roots_) @ self.components_
            return found
        return np.diag(1.0 / self.roots_)[_nearest(kernel, read, self.outputs_)]

    def nearest(self, vectors: FloatArray, places: Any) -> list[Any]:
        if isinstance(places, Asked):
            found = []
            for i, given in enumerate(candidates_of(self.candidates, places.X, int(self.n_candidates))):
                found.append(given[int(self._scores(vectors[i : i + 1], given).argmax())])
        else:
            given = self.outputs_ if self.candidates is None else self.candidates
            found = [given[i] for i in self._scores(vectors, given).argmax(axis=1).tolist()]
        if self.search is None:
            return found
        return [self._climbed(vector[None], y) for vector, y in zip(vectors, found, strict=True)]

    def preimages(self, vectors: FloatArray, places: Any) -> Preimages:
        found = self.nearest(vectors, places)
        return Preimages(found, np.zeros(len(found), np.bool_))

    def _scores(self, vectors: FloatArray, given: Any) -> FloatArray:
        """2⟨f(x), ỹ⟩ − K_Y(y, y) of all pairs of vectors and given outputs."""
        kernel = kernel_option(self.kernel)
        products = self.roots_[:, None] * kernel(self.basis_, given)
        if self.components_ is not None:
            products = self.components_.T @ products
        return np.asarray(2.0 * vectors @ products - kernel.diagonal(given))

    def _climbed(self, vector: FloatArray, y: Any) -> Any:
        assert self.search is not None
        score = float(self._scores(vector, [y])[0, 0])
        while True:
            neighbours = list(self.search(y))
            scores = self._scores(vector, neighbours)[0] if neighbours else np.empty(0)
            # Rounding must not lead in circles.
            if scores.max(initial=-np.inf) <= score + SMALLEST_PIVOT * max(1.0, abs(score)):
                return y
            y, score = neighbours[int(scores.argmax())], float(scores.max())

    def score(self, Y: Any, predicted: Any, places: Any, sample_weight: FloatArray) -> float:
        """The share of outputs whose vector is that of the truth."""
        kernel, truths = self._read(Y)
        n = length(truths)
        check_length(n, _offsets(places))
        pairs = ((truths[i : i + 1], predicted[i : i + 1]) for i in range(n))
        own = kernel.diagonal(truths) + kernel.diagonal(predicted)
        apart = own - 2.0 * np.array([float(kernel(one, other)[0, 0]) for one, other in pairs])
        return float(np.average(apart <= SMALLEST_PIVOT * own, weights=sample_weight))

    def check_learnt(self) -> None:
        kernel = kernel_option(self.kernel)
        kernel.read(self.outputs_, "outputs_")
        n = length(kernel.read(self.basis_, "basis_"))
        if self.components_ is None and n != length(self.outputs_):
            raise ValueError(f"basis_ holds {n} of {length(self.outputs_)} outputs, but there are no components_")
        _check_numbers("roots_", self.roots_, (n,))
        if (self.roots_ <= 0).any():
            raise ValueError("roots_ holds a number that is not above 0")
        if self.components_ is not None:
            _check_numbers("components_", self.components_, (n, self.components_.shape[-1]))
        if self.metric_ is not None:
            _check_numbers("metric_", self.metric_, (n, n))
        if (self.metric_ is None) == (self.components_ is None):
            raise ValueError("metric_ and components_ are both there, or neither is")

    def _read(self, Y: Any) -> tuple[Kernel, Any]:
        if Y is None:
            raise ValueError("this estimator requires y to be passed, but the target y is None")
        kernel = kernel_option(self.kernel)
        return kernel, kernel.read(Y, "y")


def _offsets(places: Any) -> IntArray:
    found: IntArray = places.offsets if isinstance(places, Asked) else places
    return found


def _check_room(n: int) -> None:
    """Refuses so many different outputs that there is no memory for the matrix of their kernels."""
    available = available_memory()
    if available is not None and 8 * n * n > available:
        raise ValueError(
            f"the kernel matrix of {count(n)} different outputs would take {in_bytes(8.0 * n * n)}, and "
            f"{in_bytes(available)} are available; give n_landmarks, of which alone kernels are computed"
        )


def _nearest(kernel: Kernel, outputs: Any, others: Any) -> IntArray:
    """Which of the others has the vector that is nearest to that of each output, the first of those that are equal."""
    own = kernel.diagonal(others)
    found = [np.empty(0, np.int64)]
    for _, part in kernel.blocks(outputs, others):
        apart = own - 2.0 * part
        limit = apart.min(axis=1, keepdims=True) + SMALLEST_PIVOT * own.max()
        found.append((apart <= limit).argmax(axis=1))
    return np.concatenate(found)


def _components(metric: FloatArray, r: int) -> FloatArray:
    """P with z(y) = Pᵀk(y): coordinates in the first r principal components of the training outputs, not centred."""
    values, vectors = np.linalg.eigh(metric)
    kept = np.flatnonzero(values > SMALLEST_PIVOT * values[-1])[-r:]
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _check_numbers(name: str, array: Any, shape: tuple[int, ...]) -> None:
    fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
    if not fits or not np.isfinite(array).all():
        raise ValueError(f"{name} does not hold numbers of the shape {shape}")
