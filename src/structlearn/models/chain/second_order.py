"""A second-order chain bound to data: a chain whose label triplets have weights as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.models.chain.problem import ChainProblem
from structlearn.waist.problem import Problem


class SecondOrderProblem(ChainProblem):
    """A `Chain` model with ``order=2`` bound to data. Outputs are label codes, see `Ragged`."""

    def __init__(self, **options: Any):
        super().__init__(**options)
        triplets = len(self._classes) ** 3
        self.n_features += triplets
        self.part_offsets = self.part_offsets + triplets * np.arange(self.n_examples + 1)
        self._core = _core.SecondOrderChain(self._core)
        self.oracles = frozenset({"best", "loss_augmented", "sums"})

    def missing(self, oracle: str) -> str:
        return (
            ": a chain with order=2 has neither a k-best nor a loss-level decoder; use rescaling='margin' with "
            "slack='linear', or order=1"
        )

    def working_sets(self) -> _core.WorkingSets:
        return Problem.working_sets(self)

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        raise ValueError("a chain with order=2 has no k-best decoder")

    def best_per_loss_level(self, w: FloatArray, example: int) -> list[tuple[float, list[Any], float]]:
        raise ValueError("a chain with order=2 has no decoder for loss levels")

    def feature_totals(self) -> FloatArray:
        return super().feature_totals() + self._balance * self._triplets()

    def radii(self) -> FloatArray:
        return np.sqrt(super().radii() ** 2 + 2.0 * (self._balance * self._triplets()) ** 2)

    def _triplets(self) -> IntArray:
        """How many every sequence has."""
        return np.asarray(np.maximum(np.diff(self._offsets) - 2, 0))

    def _observed(self) -> npt.NDArray[np.uint8]:
        assert self._codes is not None
        L = len(self._classes)
        kept = np.zeros((L, L, L), np.uint8)
        middle = np.ones(len(self._codes), bool)
        middle[self._offsets[:-1]] = middle[self._offsets[1:] - 1] = False
        at = np.flatnonzero(middle)
        kept[self._codes[at], self._codes[at - 1], self._codes[at + 1]] = 1
        return np.concatenate([super()._observed(), kept.ravel()])
