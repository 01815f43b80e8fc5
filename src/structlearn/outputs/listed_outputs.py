"""Outputs that only a kernel knows, as those of a list: the form in which margins can be asked of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.fields import check_whole
from structlearn.kernels import Kernel, kernel_option
from structlearn.kernels.base import length
from structlearn.kernels.gram import SMALLEST_PIVOT, check_psd
from structlearn.outputs.coded import CodedOutputs, largest, softmax
from structlearn.outputs.kernel_outputs import KernelOutputs
from structlearn.outputs.labels import squared_distances
from structlearn.outputs.vectors import check_length


class ListedOutputs(CodedOutputs):
    """ỹ = K_Y(y, ·) of the outputs of the training data and of candidates, which are the parts; by the kernel alone.

    Coordinates are coefficients of these. `VectorValuedSVM` makes it of `KernelOutputs`.

    Parameters
    ----------
    kernel : Kernel, str or callable
        K_Y.
    candidates : list, optional
        The outputs to choose from. None takes the different ones of the training data.

    Attributes
    ----------
    listed_ : list or array
        The different outputs of the training data, and the candidates behind them.
    n_known_ : int
        How many are of the training data.
    metric_ : (n, n)
        K_Y of what is listed.

    Examples
    --------
    >>> from structlearn.kernels import Spectrum
    >>> outputs = ListedOutputs(Spectrum(2), ["bananas"]).fit(["banana", "ananas", "banana"])
    >>> outputs.listed_, outputs.best(np.array([[1.0, 0.0, 0.0]]), np.array([0, 1]))
    (['banana', 'ananas', 'bananas'], ['bananas'])
    """

    losses: ClassVar[tuple[str, ...]] = ("zero_one", "squared", "distance")

    def __init__(self, kernel: Kernel | str | Callable[[Any, Any], Any], candidates: Any = None):
        self.kernel = kernel
        self.candidates = candidates

    def check_options(self) -> None:
        KernelOutputs(self.kernel, self.candidates).check_options()

    def fit(self, Y: Any) -> Self:
        known = KernelOutputs(self.kernel).fit(Y).outputs_
        self.n_known_ = length(known)
        if self.candidates is None:
            self.listed_ = known
        elif hasattr(known, "shape"):
            self.listed_ = np.concatenate([known, np.asarray(self.candidates, known.dtype)])
        else:
            self.listed_ = [*known, *self.candidates]
        self.metric_ = np.asarray(kernel_option(self.kernel)(self.listed_), np.float64)
        check_psd(self.metric_, name="the kernel matrix of the outputs")
        return self

    def n_coordinates(self) -> int:
        return length(self.listed_)

    def n_parts(self) -> int:
        return length(self.listed_)

    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        kernel = kernel_option(self.kernel)
        read, known = kernel.read(Y, "y"), self.listed_[: self.n_known_]
        check_length(length(read), offsets)
        return largest(2.0 * kernel(read, known) - self.part_norms()[: self.n_known_])

    def decode(self, codes: LabelArray, offsets: IntArray) -> list[Any]:
        return [self.listed_[c] for c in codes.tolist()]

    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        return np.arange(len(codes)), codes.astype(np.int64)

    def combined(self, parts: FloatArray) -> FloatArray:
        return parts

    def scores(self, vectors: FloatArray) -> FloatArray:
        return vectors @ self._products()

    def part_norms(self) -> FloatArray:
        return np.diag(self._products())

    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray:
        first = self._first()
        return np.asarray(first + largest(scores[:, first:]), np.int32)

    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        return self.best_codes(scores + np.sqrt(self.part_losses(truths, offsets, "squared")), offsets)

    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray:
        found, first = np.zeros_like(scores), self._first()
        found[:, first:] = softmax(scores[:, first:])
        return found

    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray:
        squares = squared_distances(self._products())
        if loss == "zero_one":
            # Outputs that the kernel cannot tell apart are the same.
            own = self.part_norms()
            squares = np.asarray(squares > SMALLEST_PIVOT * (own[:, None] + own), np.float64)
        return np.asarray(squares[truths])

    def score(self, Y: Any, predicted: Any, offsets: IntArray, sample_weight: FloatArray) -> float:
        """The share of outputs whose vector is that of the truth."""
        return KernelOutputs(self.kernel).score(Y, predicted, offsets, sample_weight)

    def check_learnt(self) -> None:
        n = length(kernel_option(self.kernel).read(self.listed_, "listed_"))
        check_whole("n_known_", self.n_known_, 1)
        if self.n_known_ > n or (self.n_known_ < n) == (self.candidates is None):
            raise ValueError(f"n_known_ is {self.n_known_}, which does not fit {n} listed outputs")
        metric: Any = self.metric_
        fits = isinstance(metric, np.ndarray) and metric.dtype == np.float64 and metric.shape == (n, n)
        if not fits or not np.isfinite(metric).all():
            raise ValueError(f"metric_ does not hold {n} × {n} finite numbers")

    def _first(self) -> int:
        """The first candidate."""
        return 0 if self.candidates is None else int(self.n_known_)

    def _products(self) -> FloatArray:
        assert self.metric_ is not None
        return self.metric_
