"""The waist for truths with a latent part: what a solver sees of a model that completes them."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.waist.objective import Scaling
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.problem import Problem
from structlearn.waist.rows import SparseRows


@dataclass(frozen=True, slots=True)
class Start:
    """Where learning begins: weights, at which the latent parts are completed, or the completed truths themselves.

    With both, margins begin at the weights with these completions, which must be among the best there; likelihoods need
    the weights only.
    """

    w: FloatArray | None = None
    completions: Outputs | None = None


class LatentProblem(Problem):
    """A problem whose outputs are pairs (y, h), of which the data have y_i only.

    The problem itself is not convex: at w, the truth of example i is (y_i, argmax_h ⟨w, Ψ(x_i, y_i, h)⟩). `completed`
    makes the convex problem that has the latent parts h_i fixed (Yu 2011, Section 5.2), which every solver can solve.

    A subclass implements `best` and `most_violating`, whose outputs are pairs (y, h) in compact form, and what is
    abstract below. Outputs
    of all examples are an array with a row an example or a list. Δ(y, ŷ, ĥ) may depend on the predicted latent part,
    never on that of the truth, and is zero where y is completed.

    Attributes
    ----------
    completions : Outputs or None
        The truths (y_i, h_i) in a problem that `completed` made.
    """

    completions: Outputs | None = None
    latent = True
    truths_move = True

    @abstractmethod
    def complete(self, w: FloatArray, examples: IntArray) -> Outputs:
        """(y_i, argmax_h ⟨w, Ψ(x_i, y_i, h)⟩) for each of the examples."""

    @abstractmethod
    def between(self, examples: IntArray, left: Outputs, right: Outputs) -> SparseRows:
        """Ψ(x_i, left) − Ψ(x_i, right), one row an example."""

    @abstractmethod
    def output_losses(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        """Δ(y_i, ŷ, ĥ)."""

    @abstractmethod
    def random_completions(self, random: np.random.Generator) -> Outputs:
        """All truths completed at random."""

    @abstractmethod
    def completions_of(self, latent: Sequence[Any]) -> Outputs:
        """All truths completed with latent parts in the user's terms; refuses by name those that do not fit."""

    def check_completions(self, completions: Outputs) -> None:
        """Refuses truths from a file whose latent parts these data cannot have: kernels use them as indices."""
        again = self.completions_of(self.present_latent(completions))
        if len(completions) != self.n_examples:
            raise ValueError(f"there are {len(completions)} completions of {self.n_examples} examples")
        for i, (given, possible) in enumerate(zip(completions, again, strict=True)):
            if given.dtype != possible.dtype or not np.array_equal(np.sort(given), np.sort(possible)):
                raise ValueError(f"the completion of example {i} is {given}; it cannot be")

    @abstractmethod
    def present_latent(self, outputs: Outputs) -> list[Any]:
        """The latent parts of outputs, in the user's terms."""

    def describe_latent(self, w: FloatArray, outputs: Outputs) -> list[dict[str, Any]]:
        """The latent parts of the outputs of all examples as rows of a table: plain values by the names of columns."""
        return [{"latent": h} for h in self.present_latent(outputs)]

    def start(self, random: np.random.Generator) -> Start:
        """Where this model begins to learn unless told otherwise."""
        return Start(completions=self.random_completions(random))

    def completed(self, completions: Outputs) -> Self:
        """The same data with these pairs (y_i, h_i) as the truths."""
        fixed = copy.copy(self)
        fixed.completions = completions
        fixed.latent = False
        return fixed

    def truths(self, w: FloatArray, examples: IntArray) -> Outputs:
        """The pairs (y_i, h_i) that are fixed, or those that are best at w."""
        return self.complete(w, examples) if self.completions is None else _of(examples, self.completions)

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        examples, outputs = self.most_violating(w, examples, scaling)
        rows = self.between(examples, self.truths(w, examples), outputs)
        losses = self.output_losses(examples, outputs)
        a, b = scaling(losses)
        return Planes(examples, rows, losses, outputs, b - a * rows.dot(w))

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[SparseRows, FloatArray]:
        if self.completions is None:
            raise ValueError("the latent parts of the truths are not known: complete them first")
        rows = self.between(examples, _of(examples, self.completions), outputs)
        return rows, self.output_losses(examples, outputs)

    def true_margins(self, w: FloatArray, examples: IntArray, outputs: Outputs) -> FloatArray:
        return self.between(examples, self.truths(w, examples), outputs).dot(w)

    def losses(self, outputs: Outputs) -> FloatArray:
        return self.output_losses(np.arange(self.n_examples), outputs)


def _of(examples: IntArray, outputs: Outputs) -> Outputs:
    """The outputs of some examples, in the form of all of them."""
    if isinstance(outputs, np.ndarray):
        chosen: Outputs = outputs[examples]
        return chosen
    return [outputs[i] for i in examples]
