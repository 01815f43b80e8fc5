"""Cuts that are functions of a space with a kernel, and the quadratic program over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.kernels.gram import ROUNDING
from structlearn.kernels.row_metric import RowMetric


class Expansion(NamedTuple):
    """w as Σ_j k(b_j, ·) c_j for the rows of inputs, and as itself for all other features.

    Attributes
    ----------
    basis : examples
        b, rows of features or other examples of the kernel.
    coefficients : (n_basis, width)
        c.
    rest : (n_rest,)
    """

    basis: Any
    coefficients: FloatArray
    rest: FloatArray


class Cut(NamedTuple):
    """ξ ≥ offset − ⟨w, g⟩ with g = Σ_j coefficients_j φ(x_rows_j) and, in the features without a kernel, rest.

    No row is there twice.
    """

    rows: IntArray
    coefficients: FloatArray
    rest: FloatArray
    offset: float


class Cuts(ABC):
    """The cuts of a run, in the form that an algorithm gives them: that of functions whose inner products it knows.

    Attributes
    ----------
    cuts : list of Cut
    gram : (n_cuts, n_cuts)
        ⟨g_s, g_t⟩.
    offsets : (n_cuts,)
    """

    def __init__(self, metric: RowMetric):
        self.metric = metric
        self.cuts: list[Cut] = []
        self.gram = np.zeros((0, 0))
        self.offsets = np.zeros(0)

    @abstractmethod
    def add(self, cut: Cut) -> None: ...

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Drops all cuts that a mask does not have."""
        self.cuts = [cut for cut, chosen in zip(self.cuts, kept, strict=True) if chosen]
        self.gram, self.offsets = self.gram[np.ix_(kept, kept)], self.offsets[kept]

    @abstractmethod
    def weights(self, alpha: FloatArray) -> FloatArray:
        """Σ_t α_t g_t as weights of the problem: its values at the rows of the training data, and all others."""

    @abstractmethod
    def expansion(self, alpha: FloatArray) -> Expansion:
        """The same as a function of any row."""

    @abstractmethod
    def nbytes(self) -> int:
        """What the cuts take."""

    def _join(self, cut: Cut, products: FloatArray) -> None:
        """Takes in a cut, whose function has these inner products with those of the cuts before and with itself."""
        self.cuts.append(cut)
        t = len(self.gram)
        gram = np.empty((t + 1, t + 1))
        gram[:t, :t] = self.gram
        gram[t] = gram[:, t] = products + np.array([other.rest @ cut.rest for other in self.cuts])
        self.gram, self.offsets = gram, np.append(self.offsets, cut.offset)

    def _rest(self, alpha: FloatArray) -> FloatArray:
        return np.asarray(alpha @ np.array([cut.rest for cut in self.cuts]))


class RowCuts(Cuts):
    """Cuts as combinations of rows of the training data, each with its values at all of these."""

    def __init__(self, metric: RowMetric):
        super().__init__(metric)
        self.values: list[FloatArray] = []

    def add(self, cut: Cut) -> None:
        values = self.metric.at_rows_of(cut.rows, cut.coefficients)
        self._join(cut, np.array([np.vdot(other.coefficients, values[other.rows]) for other in (*self.cuts, cut)]))
        self.values.append(values)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super().keep(kept)
        self.values = [values for values, chosen in zip(self.values, kept, strict=True) if chosen]

    def weights(self, alpha: FloatArray) -> FloatArray:
        values = np.zeros((self.metric.n_rows, self.metric.width))
        for factor, some in zip(alpha, self.values, strict=True):
            if factor:
                values += factor * some
        return np.concatenate([values.ravel(), self._rest(alpha)])

    def expansion(self, alpha: FloatArray) -> Expansion:
        found = np.zeros((self.metric.n_rows, self.metric.width))
        for factor, cut in zip(alpha, self.cuts, strict=True):
            found[cut.rows] += factor * cut.coefficients
        support = np.flatnonzero(found.any(axis=1))
        return Expansion(self.metric.rows[support], found[support], self._rest(alpha))

    def nbytes(self) -> int:
        return sum(values.nbytes + cut.coefficients.nbytes for values, cut in zip(self.values, self.cuts, strict=True))


def best_mixture(
    gram: FloatArray, offsets: FloatArray, alpha: FloatArray, C: float, accuracy: float
) -> tuple[FloatArray, float]:
    """max_α Σ c_t α_t − ½ αᵀHα with α ≥ 0 and Σ α ≤ C, from a first guess, and the gap that is left."""
    values, vectors = np.linalg.eigh(gram)
    if values[0] < -ROUNDING * np.abs(values).max():
        raise ValueError(
            f"the kernel is not positive semidefinite: inner products of cuts have an eigenvalue of {values[0]:.3g}, "
            f"and others of up to {values[-1]:.3g}; take another kernel"
        )
    rows = vectors * np.sqrt(np.maximum(values, 0.0))
    t = len(offsets)
    program = _core.SparseSets(1, t)
    indices = np.tile(np.arange(t), t)
    which = np.arange(t)
    added = program.add(
        np.zeros(t, np.int64), np.arange(0, t * t + 1, t), indices, rows.ravel(), which, np.ones(t), offsets
    )
    if added != t:
        # One of them is there twice, to the last bit: rounding left no new one.
        return alpha, 0.0
    program.set_limits(np.array([C]), np.zeros(1))
    program.set_alpha(0, alpha)
    gap = program.solve_alone(0, accuracy, 1000)
    return np.array(program.alpha(0)), gap
