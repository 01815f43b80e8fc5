"""Outputs that are put together from parts: the ones that margins can be asked of."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.outputs.base import Outputs
from structlearn.wording import shown


class CodedOutputs(Outputs):
    """Outputs as codes, ỹ as a sum of vectors of parts, and the best output for scores of parts found exactly.

    Numbers of parts are arrays (n_rows, n_parts): every row has the same parts, of which an output has some. For labels
    these are the labels, and for sequences the labels of a token and the pairs of it with the next one.
    """

    #: The losses Δ that there are, the one that is taken if none is named first: "hamming", how many labels are wrong,
    #: "zero_one", whether the output is; "squared", ‖ỹ − ỹ′‖², and "distance", ‖ỹ − ỹ′‖.
    losses: ClassVar[tuple[str, ...]] = ("hamming", "squared", "distance")

    def targets(self, Y: Any, offsets: IntArray) -> FloatArray:
        return self.vectors(self.encode(Y, offsets), offsets)

    def nearest(self, vectors: FloatArray, offsets: IntArray) -> Any:
        # ‖f(x) − ỹ‖² is that to the origin and what the best output for other scores says.
        scores = 2.0 * self.scores(vectors) - self.part_norms()
        return self.decode(self.best_codes(scores, offsets), offsets)

    def best(self, vectors: FloatArray, offsets: IntArray) -> Any:
        """The outputs y with the largest ⟨f(x), ỹ⟩."""
        return self.decode(self.best_codes(self.scores(vectors), offsets), offsets)

    @abstractmethod
    def encode(self, Y: Any, offsets: IntArray) -> LabelArray:
        """Codes of outputs, those of all rows one after another."""

    @abstractmethod
    def decode(self, codes: LabelArray, offsets: IntArray) -> Any:
        """The outputs that have these codes."""

    @abstractmethod
    def n_parts(self) -> int:
        """How many parts a row has."""

    @abstractmethod
    def parts(self, codes: LabelArray, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Rows and numbers of the parts that outputs have."""

    @abstractmethod
    def combined(self, parts: FloatArray) -> FloatArray:
        """Coordinates of sums of the vectors of parts with these coefficients, (n_rows, d)."""

    @abstractmethod
    def scores(self, vectors: FloatArray) -> FloatArray:
        """⟨f(x), ·⟩ of the vectors of all parts."""

    @abstractmethod
    def part_norms(self) -> FloatArray:
        """‖·‖² of the vectors of parts, (n_parts,): those of an output have ‖ỹ‖² as their sum."""

    @abstractmethod
    def best_codes(self, scores: FloatArray, offsets: IntArray) -> LabelArray:
        """Codes of the outputs whose parts have the largest sum of scores."""

    @abstractmethod
    def farthest_codes(self, scores: FloatArray, offsets: IntArray, truths: LabelArray) -> LabelArray:
        """Codes of the outputs with the largest sum of scores and ‖ỹ − ỹ′‖ to the truth."""

    @abstractmethod
    def marginals(self, scores: FloatArray, offsets: IntArray) -> FloatArray:
        """How often parts are expected if the probability of outputs is in proportion to exp of the sum of scores."""

    @abstractmethod
    def part_losses(self, truths: LabelArray, offsets: IntArray, loss: str) -> FloatArray:
        """Numbers of parts whose sum over those of y is Δ(truth, y), but for what it is over those of the truth.

        For all losses but "distance", which is no such sum: it has those of "squared".
        """

    def check_loss(self, loss: str) -> None:
        """Refuses a loss that these outputs do not have."""
        if not isinstance(loss, str) or loss not in self.losses:
            names = ", ".join(map(repr, self.losses))
            raise ValueError(f"loss is {shown(loss)}; these outputs have {names}")

    def vectors(self, codes: LabelArray, offsets: IntArray) -> FloatArray:
        """Coordinates of ỹ, (n_rows, d)."""
        return self.combined(self.indicators(codes, offsets))

    def indicators(self, codes: LabelArray, offsets: IntArray) -> FloatArray:
        """1 for the parts that outputs have, 0 for others."""
        found = np.zeros((int(offsets[-1]), self.n_parts()))
        found[self.parts(codes, offsets)] = 1.0
        return found


def largest(scores: FloatArray) -> LabelArray:
    return np.asarray(scores.argmax(axis=1), np.int32)


def softmax(scores: FloatArray) -> FloatArray:
    found = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def most_worthwhile(gains: FloatArray, square: float) -> IntArray:
    """The places with the largest Σ gains + √(square × how many they are): those of the largest gains.

    >>> most_worthwhile(np.array([-0.3, 0.2, -5.0, -0.9]), 1.0).tolist()
    [0, 1]
    """
    order = np.argsort(-gains, kind="stable")
    values = np.concatenate([[0.0], np.cumsum(gains[order])]) + np.sqrt(square * np.arange(len(gains) + 1))
    return np.sort(order[: int(values.argmax())])
