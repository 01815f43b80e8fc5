"""Rows that are never written out: the features of the inputs are shared, a row is a pair of outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import places_of
from structlearn.waist.rows import Rows, SparseRows, check_weights


@dataclass(frozen=True, slots=True)
class FactoredRows:
    """δΨ = Ψ(x_i, y_i) − Ψ(x_i, ŷ), computed from X when asked for.

    Attributes
    ----------
    core : compiled problem
        Has `differences`, `difference_dots` and `add_differences`.
    n_features : int
    truths : label codes of all examples
    examples : (m,)
    others : label codes of the m outputs, one after another
    offsets : (m + 1,), optional
        Where each output begins; None if an output is one label.
    """

    core: Any
    n_features: int
    truths: LabelArray
    examples: IntArray
    others: LabelArray
    offsets: IntArray | None = None
    n_threads: int = 1

    def __len__(self) -> int:
        return len(self.examples)

    def sparse(self) -> SparseRows:
        return SparseRows(*self.core.differences(self.examples, self.truths, self.others))

    def dot(self, w: FloatArray) -> FloatArray:
        check_weights(w, self.n_features)
        out = np.empty(len(self))
        self.core.difference_dots(self.examples, self.truths, self.others, w, out, self.n_threads)
        return out

    def add_to(self, w: FloatArray, coefficients: FloatArray) -> None:
        check_weights(w, self.n_features)
        if len(coefficients) != len(self):
            raise ValueError(f"there are {len(coefficients)} coefficients of {len(self)} rows")
        coefficients = np.ascontiguousarray(coefficients, np.float64)
        self.core.add_differences(self.examples, self.truths, self.others, coefficients, w)

    def gram(self, other: Rows) -> FloatArray:
        return self.sparse().gram(other)

    def take(self, which: IntArray) -> FactoredRows:
        if self.offsets is None:
            chosen, offsets = self.others[which], None
        else:
            places, offsets = places_of(self.offsets, which)
            chosen = self.others[places]
        return replace(self, examples=self.examples[which], others=chosen, offsets=offsets)

    @property
    def nbytes(self) -> int:
        return self.examples.nbytes + self.others.nbytes
