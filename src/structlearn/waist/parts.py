"""Outputs that are sums of parts: what likelihoods and marginals need beyond an argmax."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import offsets_of, summed
from structlearn.waist.planes import Outputs
from structlearn.waist.problem import Problem


class PartProblem(Problem):
    """A problem with Ψ(x_i, y) = A_iᵀ μ(y), where μ(y) says how often y has each of the example's parts.

    The parts of a chain are its labels and label pairs. Values of parts are flat arrays, one example after another:
    θ = A w their scores, marginals their expected counts under P(y) ∝ exp⟨θ, μ(y)⟩.

    Attributes
    ----------
    part_offsets : (n_examples + 1,)
        Where the parts of each example begin, if all examples are listed.
    """

    part_offsets: IntArray
    _core: Any
    _codes: LabelArray | None

    @abstractmethod
    def part_losses(self, examples: IntArray) -> FloatArray | None:
        """ℓ with Δ(y_i, y) = ⟨ℓ_i, μ(y)⟩; None if the loss is no such sum."""

    @abstractmethod
    def label_probabilities(self, w: FloatArray) -> Any:
        """The marginals of single labels under P(y | x), in the user's own terms."""

    @abstractmethod
    def most_probable_labels(self, w: FloatArray) -> Outputs:
        """Outputs in which each label is the most probable at its own place, in compact form."""

    @abstractmethod
    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Outputs drawn from P(y | x), `n_samples` of each example, in the user's own terms."""

    @abstractmethod
    def feature_totals(self) -> FloatArray:
        """max_y Σ_k Ψ_k(x_i, y) of every example; refuses features below zero. For iterative scaling."""

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        """θ = A w."""
        theta = np.empty(int(self._part_places(examples)[-1]))
        self._core.part_scores(w, examples, theta, self.n_threads)
        return theta

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        """log Z of every example, −∞ where nothing is allowed, and the marginals of the parts."""
        log_z, marginals = np.empty(len(examples)), np.empty_like(theta)
        self._core.part_sums(theta, examples, log_z, marginals, self.n_threads)
        return log_z, marginals

    def entropies(self, theta: FloatArray, log_z: FloatArray, marginals: FloatArray, examples: IntArray) -> FloatArray:
        """H(P) of every example, log Z − ⟨θ, μ⟩."""
        return log_z - self.part_dots(theta, marginals, examples)

    def part_dots(self, left: FloatArray, right: FloatArray, examples: IntArray) -> FloatArray:
        """Inner products, one an example."""
        return summed(left * right, self._part_places(examples))

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        """out += Σ_i coefficients_i A_iᵀ marginals_i."""
        self._core.push(marginals, examples, coefficients, out)

    def truths(self, examples: IntArray) -> FloatArray:
        """μ(y_i)."""
        marginals = np.empty(int(self._part_places(examples)[-1]))
        self._core.indicators(self._codes, examples, marginals)
        return marginals

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        """−log P(y_i | x_i) of every example; a gradient, if given, grows by Σ_i weight_i times theirs."""
        losses = np.empty(self.n_examples)
        examples = np.arange(self.n_examples)
        self._core.log_losses(w, examples, self._codes, losses, weight, gradient, self.n_threads)
        return losses

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        """log P(y_i | x_i) of every example, −∞ where a label is not among the classes."""
        assert self._codes is not None
        losses = np.empty(self.n_examples)
        codes = np.maximum(self._codes, 0)
        self._core.log_losses(w, np.arange(self.n_examples), codes, losses, None, None, self.n_threads)
        losses[~self._all_of_example(self._codes >= 0)] = np.inf
        return -losses

    @abstractmethod
    def _all_of_example(self, flags: Any) -> Any:
        """Whether all labels of each example have a flag that is set."""

    def log_partitions(self, w: FloatArray) -> FloatArray:
        """log Z of every example."""
        found = [self.expectations(self.scores(w, examples), examples)[0] for examples in self.chunks()]
        return np.concatenate(found)

    def output_entropies(self, w: FloatArray) -> FloatArray:
        """H(P(· | x_i)) of every example."""
        found = []
        for examples in self.chunks():
            theta = self.scores(w, examples)
            found.append(self.entropies(theta, *self.expectations(theta, examples), examples))
        return np.concatenate(found)

    def mix(
        self,
        order: IntArray,
        limits: FloatArray,
        marginals: FloatArray,
        entropies: FloatArray,
        gaps: FloatArray,
        w: FloatArray,
    ) -> None:
        """Dual steps towards the distribution that w gives, example after example; see ``core/parts/ascent.hpp``."""
        self._core.mix(order, self.part_offsets, limits, marginals, entropies, gaps, w)

    def exponentiate(
        self,
        order: IntArray,
        limits: FloatArray,
        kappa: float,
        losses: FloatArray | None,
        theta: FloatArray,
        marginals: FloatArray,
        entropies: FloatArray,
        steps: FloatArray,
        w: FloatArray,
    ) -> None:
        """Exponentiated-gradient steps, one example after another; see ``core/parts/ascent.hpp``."""
        self._core.exponentiate(order, self.part_offsets, limits, kappa, losses, theta, marginals, entropies, steps, w)

    def _token_marginals(self, w: FloatArray, lengths: IntArray, n_labels: int) -> list[FloatArray]:
        """The marginals (length, n_labels) with which the parts of every sequence begin."""
        found = []
        for examples in self.chunks():
            _, marginals = self.expectations(self.scores(w, examples), examples)
            places = self.part_offsets[examples] - self.part_offsets[examples[0]]
            for begin, length in zip(places, lengths[examples], strict=True):
                found.append(marginals[begin : begin + length * n_labels].reshape(length, n_labels).copy())
        return found

    def _part_places(self, examples: IntArray) -> IntArray:
        """Where the parts of each of the examples begin if these stand one after another."""
        return offsets_of(np.diff(self.part_offsets)[examples])
