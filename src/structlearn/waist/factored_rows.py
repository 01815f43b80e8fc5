"""Rows that are never written out: the features of the inputs are shared, a row is a pair of outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged
from structlearn.waist.rows import Rows, SparseRows, check_weights


@dataclass(frozen=True, slots=True)
class FactoredRows:
    """δΨ = Ψ(x_i, y_i) − Ψ(x_i, ŷ), computed from X when asked for.

    Attributes
    ----------
    core : compiled problem
        Has `moves`, `differences`, `difference_dots` and `add_differences`.
    n_features : int
    truths : Ragged
        Codes of one output for every example.
    examples : (m,)
    others : Ragged
        Codes of the m outputs ŷ.
    """

    core: Any
    n_features: int
    truths: Ragged
    examples: IntArray
    others: Ragged
    n_threads: int = 1

    def __len__(self) -> int:
        return len(self.examples)

    def sparse(self) -> SparseRows:
        return SparseRows(*self.core.differences(*self._pairs))

    def moves(self) -> tuple[LabelArray, IntArray]:
        """The parts that y has and ŷ has not, beside those that ŷ has instead; where those of each row begin."""
        moves, offsets = self.core.moves(*self._pairs)
        return moves, offsets

    def dot(self, w: FloatArray) -> FloatArray:
        check_weights(w, self.n_features)
        dots: FloatArray = self.core.difference_dots(*self._pairs, w, self.n_threads)
        return dots

    def add_to(self, w: FloatArray, coefficients: FloatArray) -> None:
        check_weights(w, self.n_features)
        if len(coefficients) != len(self):
            raise ValueError(f"there are {len(coefficients)} coefficients of {len(self)} rows")
        self.core.add_differences(*self._pairs, np.ascontiguousarray(coefficients, np.float64), w)

    def gram(self, other: Rows) -> FloatArray:
        return self.sparse().gram(other)

    def take(self, which: IntArray) -> FactoredRows:
        return replace(self, examples=self.examples[which], others=self.others.take(which))

    @property
    def nbytes(self) -> int:
        return int(self.examples.nbytes + self.others.flat.nbytes)

    @property
    def _pairs(self) -> tuple[Any, ...]:
        return self.examples, self.truths.flat, self.truths.offsets, self.others.flat, self.others.offsets
