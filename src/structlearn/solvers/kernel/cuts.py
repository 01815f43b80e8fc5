"""Cuts that are functions of a space with a kernel, and the quadratic program over them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.kernels.gram import ROUNDING
from structlearn.kernels.row_metric import RowMetric, expansion_at


class Expansion(NamedTuple):
    """w as Σ_j k(b_j, ·) c_j for the rows of inputs, and as itself for all other features.

    Attributes
    ----------
    numbers : (n_basis,)
        Which of the vectors that cuts are made of b are, see `Cuts.vectors`.
    coefficients : (n_basis, width)
        c.
    rest : (n_rest,)
    """

    numbers: IntArray
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
    alpha : (n_cuts,)
        Their multipliers.
    idle : (n_cuts,)
        For how many quadratic programs each multiplier has been 0.
    best : Expansion or None
        The best w so far.
    """

    metric: RowMetric
    cuts: list[Cut]
    gram: FloatArray
    offsets: FloatArray
    alpha: FloatArray
    idle: IntArray
    best: Expansion | None

    def __init__(self, metric: RowMetric):
        self.metric = metric
        self._begin()

    def _begin(self) -> None:
        self.cuts, self.best = [], None
        self.gram, self.offsets, self.alpha = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self.idle = np.zeros(0, np.int64)

    @abstractmethod
    def add(self, cut: Cut) -> None:
        """Takes in a cut, with the multiplier 0."""

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        """Drops all cuts that a mask does not have."""
        self.cuts = [cut for cut, chosen in zip(self.cuts, kept, strict=True) if chosen]
        self.gram, self.offsets = self.gram[np.ix_(kept, kept)], self.offsets[kept]
        self.alpha, self.idle = self.alpha[kept], self.idle[kept]

    @abstractmethod
    def vectors(self, numbers: IntArray) -> Any:
        """Some of the vectors b whose functions cuts are made of."""

    @abstractmethod
    def weights(self) -> FloatArray:
        """w = Σ_t α_t g_t as weights of the problem: its values at the rows of the training data, and all others."""

    @abstractmethod
    def expansion(self) -> Expansion:
        """The same as a function of any row."""

    def lower_bound(self) -> float:
        """What cuts that are exact say of the minimum over the whole space: the best multiple of their mixture.

        max_s s ⟨α, c⟩ − ½ s² ‖Σ_t α_t g_t‖² with s ≤ 1, for their whole length, which the objective's dual has.
        """
        mixed = np.zeros((self.metric.n_rows, self.metric.width))
        for factor, cut in zip(self.alpha, self.cuts, strict=True):
            mixed[cut.rows] += factor * cut.coefficients
        support = np.flatnonzero(mixed.any(axis=1))
        rows, coefficients, rest = self.metric.rows[support], mixed[support], self._rest()
        values = expansion_at(self.metric.kernel, rows, rows, coefficients, self.metric.n_jobs)
        squared = float(np.vdot(coefficients, values)) + float(rest @ rest)
        gain = float(self.alpha @ self.offsets)
        s = min(1.0, gain / squared) if squared > 0.0 else 1.0
        return max(0.0, s * gain - 0.5 * s**2 * squared)

    @abstractmethod
    def nbytes(self) -> int:
        """What the cuts take."""

    def _join(self, cut: Cut, products: FloatArray) -> None:
        """Takes in a cut, whose function has these inner products with those of the cuts before and with itself."""
        self.cuts.append(cut)
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)
        t = len(self.gram)
        gram = np.empty((t + 1, t + 1))
        gram[:t, :t] = self.gram
        gram[t] = gram[:, t] = products + np.array([other.rest @ cut.rest for other in self.cuts])
        self.gram, self.offsets = gram, np.append(self.offsets, cut.offset)

    def _rest(self) -> FloatArray:
        return np.asarray(self.alpha @ np.array([cut.rest for cut in self.cuts]))

    def save(self) -> dict[str, Any]:
        """All that another object for the same metric needs to become this one."""
        parts = [np.concatenate([getattr(cut, name) for cut in self.cuts]) for name in ("rows", "coefficients")]
        best = self.best or Expansion(np.zeros(0, np.int64), np.zeros((0, self.metric.width)), np.zeros(0))
        return {
            "ends": np.cumsum([len(cut.rows) for cut in self.cuts]),
            "rows": parts[0],
            "coefficients": parts[1],
            "rest": np.array([cut.rest for cut in self.cuts]),
            "offsets": self.offsets,
            "alpha": self.alpha,
            "idle": self.idle,
            "best": list(best),
        }

    def restore(self, saved: dict[str, Any]) -> None:
        """Becomes what was saved; anybody could have written it."""
        n_rest, width = len(self.cuts[0].rest), self.metric.width
        ends = checked(saved, "ends", np.int64, None)
        n, n_entries = len(ends), int(ends[-1]) if len(ends) else 0
        if (np.diff(ends, prepend=0) < 0).any():
            raise ValueError("ends go down")
        rows = self._numbers_in(checked(saved, "rows", np.int64, n_entries), self.metric.n_rows)
        coefficients = checked(saved, "coefficients", np.float64, n_entries, width)
        rest = checked(saved, "rest", np.float64, n, n_rest)
        offsets, alpha = (checked(saved, name, np.float64, n) for name in ("offsets", "alpha"))
        idle = checked(saved, "idle", np.int64, n)
        begins = np.concatenate([[0], ends[:-1]])
        self._begin()
        self._begin_with(saved)
        for t, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            self.add(Cut(rows[begin:end], coefficients[begin:end], rest[t], float(offsets[t])))
        self.alpha, self.idle = alpha, idle
        best = dict(zip(("numbers", "coefficients", "rest"), saved["best"], strict=True))
        n_best = len(best["numbers"])
        self.best = Expansion(
            self._numbers_in(checked(best, "numbers", np.int64, n_best), self._n_vectors()),
            checked(best, "coefficients", np.float64, n_best, width),
            checked(best, "rest", np.float64, n_rest),
        )
        self._end_with(saved)

    def _begin_with(self, saved: dict[str, Any]) -> None:
        """Takes over what must be there before cuts are added."""
        return

    def _end_with(self, saved: dict[str, Any]) -> None:
        """Takes over what rounding has made another than adding the cuts once more does."""
        return

    @abstractmethod
    def _n_vectors(self) -> int:
        """How many vectors `vectors` has."""

    @staticmethod
    def _numbers_in(numbers: IntArray, n: int) -> IntArray:
        if len(numbers) and not 0 <= numbers.min() <= numbers.max() < n:
            raise ValueError(f"a number is not one of 0 to {n - 1}")
        return numbers


def checked(saved: dict[str, Any], name: str, dtype: type, *shape: int | None) -> Any:
    """An array with this type and shape, of which None may be any, and with finite numbers."""
    array = saved[name]
    fits = isinstance(array, np.ndarray) and array.dtype == dtype and array.ndim == len(shape)
    if not fits or any(n not in (None, m) for n, m in zip(shape, array.shape, strict=True)):
        raise ValueError(f"{name} is no array of {np.dtype(dtype)} with the shape {shape}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds numbers that are not finite")
    return array.copy()


class RowCuts(Cuts):
    """Cuts as combinations of rows of the training data, each with its values at all of these."""

    def _begin(self) -> None:
        super()._begin()
        self.values: list[FloatArray] = []

    def add(self, cut: Cut) -> None:
        values = self.metric.at_rows_of(cut.rows, cut.coefficients)
        self._join(cut, np.array([np.vdot(other.coefficients, values[other.rows]) for other in (*self.cuts, cut)]))
        self.values.append(values)

    def keep(self, kept: npt.NDArray[np.bool_]) -> None:
        super().keep(kept)
        self.values = [values for values, chosen in zip(self.values, kept, strict=True) if chosen]

    def vectors(self, numbers: IntArray) -> Any:
        return self.metric.rows[numbers]

    def weights(self) -> FloatArray:
        values = np.zeros((self.metric.n_rows, self.metric.width))
        for factor, some in zip(self.alpha, self.values, strict=True):
            if factor:
                values += factor * some
        return np.concatenate([values.ravel(), self._rest()])

    def expansion(self) -> Expansion:
        found = np.zeros((self.metric.n_rows, self.metric.width))
        for factor, cut in zip(self.alpha, self.cuts, strict=True):
            found[cut.rows] += factor * cut.coefficients
        support = np.flatnonzero(found.any(axis=1))
        return Expansion(support, found[support], self._rest())

    def _n_vectors(self) -> int:
        return self.metric.n_rows

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
