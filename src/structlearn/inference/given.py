"""A compiled structure on scores that are given: what the decoders on plain arrays have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray, checked_scores
from structlearn.data.fields import LARGEST
from structlearn.data.options import whole_option
from structlearn.data.ragged import Ragged, offsets_of

_ONE = np.zeros(1, np.int64)


class GivenParts:
    """All outputs of one example, each with F(y), the sum of the scores of its parts.

    Parameters
    ----------
    nothing : str
        What is said where every output is forbidden.
    bind : callable
        The structure, with the core's `GivenScores` as the argument that is left.
    local, shared : lists of arrays
        Scores of the parts of the example, and of those that all examples of the structure have, in its order.
    """

    def __init__(
        self,
        nothing: str,
        bind: Callable[[_core.GivenScores], Any],
        local: Sequence[FloatArray],
        shared: Sequence[FloatArray] = (),
    ):
        self._nothing = nothing
        arrays = [*local, *shared]
        self._shapes = [array.shape for array in arrays]
        self._theta = np.concatenate([array.ravel() for array in arrays])
        n_shared = sum(array.size for array in shared)
        self._core = bind(_core.GivenScores(n_shared, np.array([0, len(self._theta) - n_shared])))

    def best(self) -> tuple[LabelArray, float]:
        """The codes of the best output, and its score."""
        (codes, _), scores = self._core.best(self._theta, _ONE, 1)
        if scores[0] == -np.inf:
            raise ValueError(self._nothing)
        return codes, float(scores[0])

    def k_best(self, k: int) -> list[tuple[LabelArray, float]]:
        k = whole_option("k", k, 1, LARGEST)
        found, _, scores = self._core.k_best(self._theta, _ONE, k, 1)
        return list(zip(Ragged(*found), scores.tolist(), strict=True))

    def best_per_level(self, steps: _core.PartSteps) -> list[tuple[int, LabelArray, float]]:
        levels, scores, found = self._core.best_per_level(self._theta, 0, steps)
        return list(zip(levels.tolist(), Ragged(*found), scores.tolist(), strict=True))

    def sums(self) -> tuple[float, float, list[FloatArray]]:
        """log Z, the entropy of P(y) = exp F(y) / Z, and how often a part is expected, in the shapes of the scores."""
        log_z, expected = np.empty(1), np.empty(len(self._theta))
        self._core.part_sums(self._theta, _ONE, log_z, expected, 1)
        # What is forbidden has probability 0, not the least number that the core's exponentials give.
        forbidden = self._theta == -np.inf
        expected[forbidden] = 0.0
        if log_z[0] == -np.inf:
            expected[:] = 0.0
        # Not by BLAS, whose threads take longer to wake than all the rest.
        score = np.einsum("k,k", np.where(forbidden, 0.0, self._theta), expected)
        entropy = max(0.0, float(log_z[0] - score))
        ends = offsets_of([prod(shape) for shape in self._shapes]).tolist()
        parts = [
            expected[begin:end].reshape(shape) for (begin, end), shape in zip(pairwise(ends), self._shapes, strict=True)
        ]
        return float(log_z[0]), entropy, parts

    def samples(self, n_samples: int, random_state: int | np.random.Generator | None) -> Ragged:
        """The codes of outputs drawn from P(y)."""
        n_samples = whole_option("n_samples", n_samples, 0, LARGEST)
        self.best()  # refuses where there is nothing to draw
        seeds = np.random.default_rng(random_state).integers(2**63 - 1, size=n_samples)
        return Ragged(*self._core.samples(self._theta, _ONE, n_samples, seeds, 1))


def scores_of(given: npt.ArrayLike | None, name: str, *shapes: tuple[int, ...]) -> FloatArray:
    """The scores that were given, of one of these shapes; zeros of the first if none were."""
    if given is None:
        return np.zeros(shapes[0])
    scores = np.asarray(given, np.float64)
    if scores.shape not in shapes:
        raise ValueError(f"{name} has shape {scores.shape}; expected {' or '.join(map(str, shapes))}")
    return checked_scores(scores, name)


def table_of(given: npt.ArrayLike, name: str, axes: str) -> FloatArray:
    """The same for the table that says how large the others are."""
    scores = np.asarray(given, np.float64)
    if scores.ndim != 2 or 0 in scores.shape:
        raise ValueError(f"{name} has shape {scores.shape}; expected {axes}, neither of them 0")
    return checked_scores(scores, name)


class Violation(NamedTuple):
    """The output ŷ with the largest Δ(y, ŷ) + F(ŷ) − F(y): the structured hinge in the scores, of which F is linear.

    Attributes
    ----------
    slack : float
        The hinge, at least 0 and at least the loss of the output that scores most.
    gradient : (n,)
        That of the slack in the scores, or one of its subgradients.
    output : (n,)
        ŷ.
    loss : float
        Δ(y, ŷ).
    """

    slack: float
    gradient: FloatArray
    output: npt.NDArray[Any]
    loss: float


def vector_of(given: npt.ArrayLike, name: str) -> FloatArray:
    """The same for finite numbers, one for each of some rows or documents."""
    values = np.asarray(given, np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name} has shape {values.shape}; expected (n,), n at least 1")
    if not np.isfinite(values).all():
        j = int(np.argmin(np.isfinite(values)))
        raise ValueError(f"{name}[{j}] is {values[j]}; expected a finite number")
    return values
