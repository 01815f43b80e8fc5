"""Outputs that are sums of parts: what likelihoods and marginals need beyond an argmax."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import offsets_of, summed
from structlearn.waist.objective import MarginObjective, Objective
from structlearn.waist.planes import Planes
from structlearn.waist.problem import Problem
from structlearn.waist.risk import Risk


class PartProblem(Problem):
    """A problem with Ψ(x_i, y) = A_iᵀ μ(y), where μ(y) says how often y has each of the example's parts.

    The parts of a chain are its labels and label pairs. Values of parts are flat arrays, one example after another:
    θ = A w their scores, which are finite, and marginals their expected counts under P(y) ∝ exp⟨θ, μ(y)⟩.

    A subclass writes the four methods that are abstract and sets `part_offsets`; the rest follows. Where it can, it
    also has ``samples(w, n_samples, random)``, outputs drawn from P(y | x), a list for each example in the user's own
    terms; ``pair_probabilities(w)``, probabilities of neighbouring parts together, in the user's own terms;
    ``most_probable_labels(w)``, outputs in which each label is the most probable at its own place, in compact form;
    ``feature_totals()``, max_y Σ_k Ψ_k(x_i, y) of every example, which refuses features below zero, for iterative
    scaling. The model declares the first three among its abilities.

    Attributes
    ----------
    part_offsets : (n_examples + 1,)
        Where the parts of each example begin, if all examples are listed.
    """

    part_offsets: IntArray

    @abstractmethod
    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """θ = A w."""

    @abstractmethod
    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """log Z of every example, −∞ where nothing is allowed, and the marginals of the parts."""

    @abstractmethod
    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        """out += Σ_i coefficients_i A_iᵀ marginals_i."""

    @abstractmethod
    def true_parts(self, examples: IntArray) -> FloatArray:
        """μ(y_i)."""

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        """ℓ with Δ(y_i, y) = ⟨ℓ_i, μ(y)⟩; None if the loss is no such sum."""
        return None

    def label_probabilities(self, w: FloatArray) -> Any:
        """Marginals under P(y | x), in the user's own terms; by default those of the parts, an array an example."""
        found: list[FloatArray] = []
        for examples in self.chunks():
            _, marginals = self.expectations(self.scores(w, examples), examples)
            found += np.split(marginals, self._part_places(examples)[1:-1])
        return found

    def entropies(self, theta: FloatArray, log_z: FloatArray, marginals: FloatArray, examples: IntArray) -> FloatArray:
        """H(P) of every example, log Z − ⟨θ, μ⟩."""
        return log_z - self.part_dots(theta, marginals, examples)

    def part_dots(self, left: FloatArray, right: FloatArray, examples: IntArray) -> FloatArray:
        """Inner products, one an example."""
        return summed(left * right, self._part_places(examples))

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        """−log P(y_i | x_i) of every example; a gradient, if given, grows by Σ_i weight_i times theirs."""
        losses = np.empty(self.n_examples)
        for examples in self.chunks():
            theta = self.scores(w, examples)
            log_z, marginals = self.expectations(theta, examples)
            truths = self.true_parts(examples)
            losses[examples] = log_z - self.part_dots(theta, truths, examples)
            if gradient is not None:
                assert weight is not None
                self.push(marginals - truths, examples, weight[examples], gradient)
        return losses

    def risk(self, w: FloatArray, objective: Objective, observe: Callable[[Planes], None] | None = None) -> Risk:
        """The sum that the objective prices, −Σ_i s_i log P(y_i | x_i) for a likelihood, and its linearisation at w.

        Margins are those of `Problem.risk`, and only they have planes to observe.
        """
        if isinstance(objective, MarginObjective):
            return super().risk(w, objective, observe)
        gradient = np.zeros(self.n_features)
        losses = self.log_losses(w, objective.sample_weight, gradient)
        value = float(objective.sample_weight @ losses)
        return Risk(value, gradient, value - float(w @ gradient), losses)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        """log P(y_i | x_i) of every example, −∞ where the truth is no output that the model can have."""
        return -self.log_losses(w)

    def log_partitions(self, w: FloatArray) -> FloatArray:
        """log Z of every example."""
        found = [self.expectations(self.scores(w, examples), examples)[0] for examples in self.chunks()]
        return np.concatenate([*found, np.empty(0)])

    def output_entropies(self, w: FloatArray) -> FloatArray:
        """H(P(· | x_i)) of every example."""
        found = []
        for examples in self.chunks():
            theta = self.scores(w, examples)
            found.append(self.entropies(theta, *self.expectations(theta, examples), examples))
        return np.concatenate([*found, np.empty(0)])

    def _part_places(self, examples: IntArray) -> IntArray:
        """Where the parts of each of the examples begin if these stand one after another."""
        return offsets_of(np.diff(self.part_offsets)[examples])
