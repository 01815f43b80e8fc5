"""Truths with a latent part, where outputs are sums of parts: the likelihood of what is known."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Self

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import places_of
from structlearn.waist.latent import LatentProblem
from structlearn.waist.parts import PartProblem
from structlearn.waist.planes import Outputs


class LatentPartProblem(LatentProblem, PartProblem):
    """A latent problem that can sum over the latent parts: P(y | x) = Σ_h P(y, h | x) with P(y, h | x) ∝ exp⟨w, Ψ⟩.

    −log P(y_i | x_i) = log Z_i − log Z_i(y_i) is no convex function of w. `expected` makes the convex one that lies
    above it and touches it at w: the latent parts have the distribution P(h | x_i, y_i; w) once and for all.

    Attributes
    ----------
    expected_parts : (n_parts,) or None
        E μ(y_i, h) under that distribution, in a problem that `expected` made.
    truth_entropies : (n_examples,) or None
        Its entropy.
    """

    expected_parts: FloatArray | None = None
    truth_entropies: FloatArray | None = None

    @abstractmethod
    def true_expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """log Z_i(y_i) = log Σ_h exp⟨θ, μ(y_i, h)⟩ of every example, and E μ(y_i, h) under P(h | x_i, y_i)."""

    @abstractmethod
    def parts_of(self, examples: IntArray, outputs: Outputs) -> FloatArray:
        """μ of given outputs, one an example."""

    def true_parts(self, examples: IntArray) -> FloatArray:
        if self.expected_parts is not None:
            return self.expected_parts[places_of(self.part_offsets, examples)[0]]
        if self.completions is None:
            raise ValueError("the latent parts of the truths are not known: complete them first")
        return self.parts_of(examples, self.truths(np.empty(0), examples))

    def expected(self, w: FloatArray) -> Self:
        """The same data with the distributions P(h | x_i, y_i; w) of the latent parts as the truths.

        Its losses are log Z_i − ⟨w, E Ψ(x_i, y_i, h)⟩; less `truth_entropies` they are the upper bound.
        """
        fixed = copy.copy(self)
        fixed.latent = False
        fixed.expected_parts = np.empty(int(self.part_offsets[-1]))
        fixed.truth_entropies = np.empty(self.n_examples)
        for examples in self.chunks():
            theta = self.scores(w, examples)
            log_z, marginals = self.true_expectations(theta, examples)
            fixed.truth_entropies[examples] = self.entropies(theta, log_z, marginals, examples)
            fixed.expected_parts[self.part_offsets[examples[0]] : self.part_offsets[examples[-1] + 1]] = marginals
        return fixed

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        """−log P(y_i | x_i) of every example; a gradient, if given, grows by Σ_i weight_i times theirs."""
        if not self.latent:
            return super().log_losses(w, weight, gradient)
        losses = np.empty(self.n_examples)
        for examples in self.chunks():
            theta = self.scores(w, examples)
            log_z, marginals = self.expectations(theta, examples)
            true_log_z, true_marginals = self.true_expectations(theta, examples)
            losses[examples] = log_z - true_log_z
            if gradient is not None:
                assert weight is not None
                self.push(marginals - true_marginals, examples, weight[examples], gradient)
        return losses
