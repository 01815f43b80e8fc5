"""Distributions over outputs that climb the dual between calls of the oracle."""

from __future__ import annotations

from typing import Protocol

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows


class Mixtures(Protocol):
    """A distribution over the outputs of each example, known by marginals that determine its mean Ψ and Δ.

    Its plane is the mean of the planes of outputs, so that the dual stays a lower bound. The marginals of all examples
    lie in one array.
    """

    n_marginals: int

    def at_truths(self) -> FloatArray:
        """The marginals of distributions that have the truths alone."""
        ...

    def begin(self, examples: IntArray, outputs: Outputs, marginals: FloatArray) -> None:
        """Makes the distributions of these examples those that have one output alone."""
        ...

    def climb(self, examples: IntArray, masses: FloatArray, marginals: FloatArray, w: FloatArray, seed: int) -> None:
        """Improves distributions, whose planes have the multipliers `masses`, and carries each change into w."""
        ...

    def planes(self, examples: IntArray, marginals: FloatArray) -> tuple[SparseRows, FloatArray]:
        """The rows δΨ and losses Δ of distributions."""
        ...
