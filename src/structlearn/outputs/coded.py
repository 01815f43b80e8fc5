"""Outputs that are put together from labels: the ones that margins can be asked of."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.outputs.base import Outputs


class CodedOutputs(Outputs):
    """Outputs as codes of labels, whose best combination for f(x) is found exactly."""

    def targets(self, Y: Any, offsets: IntArray) -> FloatArray:
        return self.vectors(self.encode(Y, offsets), offsets)

    def nearest(self, vectors: FloatArray, offsets: IntArray) -> Any:
        return self.decode(self.nearest_codes(vectors, offsets), offsets)

    @abstractmethod
    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        """Codes of outputs, those of all rows one after another."""

    @abstractmethod
    def decode(self, codes: LabelArray, offsets: IntArray) -> Any:
        """The outputs that have these codes."""

    @abstractmethod
    def vectors(self, codes: LabelArray, offsets: IntArray) -> FloatArray:
        """Coordinates of ỹ, (n_rows, d)."""

    @abstractmethod
    def nearest_codes(self, vectors: FloatArray, offsets: IntArray) -> LabelArray:
        """Codes of the outputs y with the least ‖f(x) − ỹ‖²."""

    @abstractmethod
    def best_codes(self, vectors: FloatArray, offsets: IntArray) -> LabelArray:
        """Codes of the outputs y with the largest ⟨f(x), ỹ⟩."""

    @abstractmethod
    def violating_codes(self, vectors: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        """Codes of the outputs with the largest ⟨f(x), ỹ⟩ + Δ(truth, y), where Δ is how many labels are wrong."""

    def wrong(self, codes: LabelArray, truths: LabelArray, offsets: IntArray) -> FloatArray:
        """How many labels of each example are wrong."""
        counts = (codes != truths).reshape(len(codes), -1).sum(axis=1)
        return np.add.reduceat(np.append(counts, 0), offsets[:-1]).astype(np.float64) * (np.diff(offsets) > 0)
