"""Planes: the most violating outputs, as raw material for constraints on w."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.rows import Rows


class Outputs(Protocol):
    """Several outputs in the problem's compact form: a list of objects, an array of codes."""

    def __len__(self) -> int: ...
    def __getitem__(self, k: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True, slots=True)
class Planes:
    """Most violating outputs, as raw material for constraints on w.

    Attributes
    ----------
    examples : (m,)
        Which examples; an example may be missing (no output to choose) or repeat (several best outputs).
    rows : m rows
        Unscaled δΨ = Ψ(x_i, y_i) − Ψ(x_i, ŷ).
    losses : (m,)
        Unscaled Δ(y_i, ŷ).
    outputs : m outputs
        The ŷ themselves, in the problem's compact form.
    bounds : (m,)
        Upper bound on the example's violation b − a⟨w, δΨ⟩, equal to it where the oracle is exact.
    """

    examples: IntArray
    rows: Rows
    losses: FloatArray
    outputs: Outputs
    bounds: FloatArray

    def violations(self, n_examples: int) -> FloatArray:
        """The largest bound of every example, (n_examples,); −∞ where there is no plane."""
        largest = np.full(n_examples, -np.inf)
        np.maximum.at(largest, self.examples, self.bounds)
        return largest
