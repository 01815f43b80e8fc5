"""Outputs that are sums of parts, of structures whose decoders are compiled."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.waist.parts import PartProblem


class CompiledParts(PartProblem):
    """A problem with parts that hands its sums to a kernel. Truths are codes of labels.

    A subclass sets `_core`, its kernel, and `_codes`, the truths of all examples one after another, −1 for a label that
    is not among the classes; None without truths.
    """

    _core: Any
    _codes: LabelArray | None

    @property
    def kernel(self) -> _core.Parts:
        """What the core does for the parts, ascent on the dual included; see ``core/parts/problem.hpp``."""
        found: _core.Parts = self._core
        return found

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        theta = np.empty(int(self._part_places(examples)[-1]))
        self.kernel.part_scores(w, examples, theta, self.n_threads)
        return theta

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        log_z, marginals = np.empty(len(examples)), np.empty_like(theta)
        self.kernel.part_sums(theta, examples, log_z, marginals, self.n_threads)
        return log_z, marginals

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        self.kernel.push(marginals, examples, coefficients, out)

    def true_parts(self, examples: IntArray) -> FloatArray:
        marginals = np.empty(int(self._part_places(examples)[-1]))
        self.kernel.indicators(self._codes, examples, marginals)
        return marginals

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        losses = np.empty(self.n_examples)
        examples = np.arange(self.n_examples)
        self.kernel.log_losses(w, examples, self._codes, losses, weight, gradient, self.n_threads)
        return losses

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        assert self._codes is not None
        losses = np.empty(self.n_examples)
        codes = np.maximum(self._codes, 0)
        self.kernel.log_losses(w, np.arange(self.n_examples), codes, losses, None, None, self.n_threads)
        losses[~self._all_of_example(self._codes >= 0)] = np.inf
        return -losses

    @abstractmethod
    def _all_of_example(self, flags: Any) -> Any:
        """Whether all labels of each example have a flag that is set."""

    def _token_marginals(self, w: FloatArray, lengths: IntArray, n_labels: int) -> list[FloatArray]:
        """The marginals (length, n_labels) with which the parts of every sequence begin."""
        found = []
        for examples in self.chunks():
            _, marginals = self.expectations(self.scores(w, examples), examples)
            places = self.part_offsets[examples] - self.part_offsets[examples[0]]
            for begin, length in zip(places, lengths[examples], strict=True):
                found.append(marginals[begin : begin + length * n_labels].reshape(length, n_labels).copy())
        return found
