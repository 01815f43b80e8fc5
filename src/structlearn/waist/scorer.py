"""Scorers: from weights to scores of parts, and back."""

from __future__ import annotations

from typing import Any, Protocol

from structlearn.data.arrays import FloatArray
from structlearn.waist.theta import Theta


class Scorer(Protocol):
    """θ = A_x w for one input x, with a matrix A_x that never need be written out.

    A scorer knows inputs and weights, and nothing of what outputs are made of the parts. It may forbid local parts of
    an input by scoring them −∞, whatever w is; all other scores are finite and linear in w.
    """

    @property
    def n_features(self) -> int:
        """How many weights there are."""

    def scores(self, x: Any, w: FloatArray) -> Theta:
        """θ = A_x w."""

    def push(self, x: Any, mu: Theta, out: FloatArray) -> None:
        """out += A_xᵀ μ, in place; zero for parts that are forbidden."""
