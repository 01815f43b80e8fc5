"""A scorer, an engine and a loss together, bound to data: what all compiled structures have in common."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged, offsets_of, reduced
from structlearn.losses.bound import NO_UNIT, BoundLoss, Levels
from structlearn.models.explanation import PartFeatures
from structlearn.waist.factored_rows import FactoredRows
from structlearn.waist.mixtures import Mixtures
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.parts import PartProblem
from structlearn.waist.planes import Outputs, Planes
from structlearn.waist.zero_one import truth_or_best_wrong


class CodedOutputs(Sequence[tuple[int, LabelArray]]):
    """Outputs of several examples: the number of each, and codes, where these alone do not say what the output is."""

    def __init__(self, examples: IntArray, codes: Ragged):
        self.examples = examples
        self.codes = codes

    def __len__(self) -> int:
        return len(self.examples)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[j] for j in range(len(self))[k]]
        return int(self.examples[k]), self.codes[k]

    @classmethod
    def of(cls, outputs: Outputs) -> CodedOutputs:
        if isinstance(outputs, CodedOutputs):
            return outputs
        examples = np.array([example for example, _ in outputs], np.int64)
        return cls(examples, Ragged.of(codes for _, codes in outputs))


class ComposedProblem(PartProblem):
    """A structure bound to data. Outputs are codes, see `Ragged`; the core scores, decodes and sums.

    Parameters
    ----------
    core : compiled problem
        See ``core/parts/composed.hpp``.
    n_features : int
    part_sizes : (n_examples,)
        How many parts every example has, local and shared ones.
    truths : Ragged, optional
        Codes of the outputs that training aims at, below zero where they are not known.
    loss, judged_loss : BoundLoss
        Of these, and of the truths that predictions are compared with.
    scores : compiled scorer, optional
        Of tokens or arcs, if planes are to be kept as moves between their parts.
    layout : compiled layout, optional
        Which weights the scorer has, if not all; see ``core/linear/pair_layout.hpp``.
    grows : bool
        Whether the layout gets the weights that rows need.
    """

    #: Working sets with planes between parts, made of `scores`.
    part_sets: ClassVar[Any] = _core.PartSets

    def __init__(
        self,
        core: Any,
        n_features: int,
        part_sizes: IntArray,
        truths: Ragged | None,
        loss: BoundLoss,
        judged_loss: BoundLoss,
        scores: _core.TokenScorer | _core.DependencyScores | None = None,
        layout: _core.PairLayout | None = None,
        grows: bool = False,
    ):
        self.n_examples = len(part_sizes)
        self.n_features = n_features
        self.part_offsets = offsets_of(part_sizes)
        self.truths = truths
        self._core = core
        self._loss = loss
        self._judged_loss = judged_loss
        self._scores = scores
        self.layout = layout
        self.grows = grows
        self.oracles = self._oracles()

    def _oracles(self) -> frozenset[Oracle]:
        oracles: set[Oracle] = {"best", "second_best", "sums"}
        if self._loss.parts is not None:
            oracles |= {"loss_augmented"}
        if self._loss.levels is not None or self._loss.zero_one:
            oracles |= {"loss_augmented", "loss_levels"}
        return frozenset(oracles)

    def missing(self, oracle: str) -> str:
        return NO_UNIT

    def with_loss(self, loss: BoundLoss) -> Self:
        """The same data, judged by another loss."""
        changed = copy.copy(self)
        changed._loss = changed._judged_loss = loss
        changed.oracles = changed._oracles()
        return changed

    @property
    def kernel(self) -> _core.Composed:
        """What the core does for the parts, ascent on the dual included; see ``core/parts/likelihood.hpp``."""
        found: _core.Composed = self._core
        return found

    def pack(self, codes: Ragged, examples: IntArray) -> Outputs:
        """Codes that the core found for these examples, as the problem's outputs."""
        return codes

    def unpack(self, outputs: Outputs) -> Ragged:
        """The problem's outputs as codes."""
        return Ragged.of(outputs)

    def best(self, w: FloatArray, examples: IntArray) -> Outputs:
        return self.best_scored(w, examples)[0]

    def best_scored(self, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray]:
        """The best outputs and their scores."""
        found, scores = self._core.best(w, examples, self.n_threads)
        return self.pack(Ragged(*found), examples), scores

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Outputs:
        if self._loss.parts is None:
            return self.loss_levels(w, examples, Scaling("margin", "linear"))
        return self._augmented(w, examples)[0]

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, Outputs]:
        assert self.truths is not None
        answered, found = self._core.second_best(w, examples, self.truths.flat, self.truths.offsets, self.n_threads)
        return answered, self.pack(Ragged(*found), answered)

    def loss_levels(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Outputs:
        assert self.truths is not None
        if self._loss.levels is None:
            return self.pack(self.unpack(truth_or_best_wrong(self, w, examples, scaling)), examples)
        a, b = scaling(self._loss.levels.values(examples))
        return self.best_level(w, examples, self.truths, self._loss.levels, a, b)

    def best_level(
        self, w: FloatArray, examples: IntArray, truths: Ragged, levels: Levels, a: FloatArray, b: FloatArray
    ) -> Outputs:
        """argmax_ŷ b − a⟨w, Ψ(x_i, y_i) − Ψ(x_i, ŷ)⟩ with a and b by the level of ŷ; y_i where all are below zero."""
        found = self._core.most_violating_level(
            w, examples, truths.flat, truths.offsets, levels.steps, a, b, self.n_threads
        )
        return self.pack(Ragged(*found), examples)

    def scored_k_best(self, w: FloatArray, k: int) -> Iterator[list[tuple[LabelArray, float]]]:
        """The k best outputs of every example as codes, with their scores."""
        found, counts, scores = self._core.k_best(w, np.arange(self.n_examples), k, self.n_threads)
        codes = Ragged(*found)
        for begin, end in pairwise(offsets_of(counts).tolist()):
            yield [(codes[j], float(scores[j])) for j in range(begin, end)]

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        found = [list(best) for best in self.scored_k_best(w, k)]
        examples = np.repeat(np.arange(self.n_examples), [len(best) for best in found])
        codes = Ragged.of([codes for best in found for codes, _ in best])
        shown = iter(self.present(self.pack(codes, examples)))
        return [[(next(shown), score) for _, score in best] for best in found]

    def true_outputs(self, examples: IntArray) -> Outputs:
        assert self.truths is not None
        return self.pack(self.truths.take(examples), examples)

    def _planes(self, w: FloatArray, examples: IntArray, scaling: Scaling) -> Planes:
        if self._loss.parts is None or scaling.oracle != "loss_augmented":
            return super()._planes(w, examples, scaling)
        # The decoder has the loss and the violation at hand.
        outputs, losses, violations = self._augmented(w, examples)
        return Planes(examples, self._rows(examples, self.unpack(outputs)), losses, outputs, violations)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[FactoredRows, FloatArray]:
        codes = self.unpack(outputs)
        return self._rows(examples, codes), self._losses(self._loss, examples, codes)

    def losses(self, outputs: Outputs) -> FloatArray:
        return self.losses_of(self._judged_loss, np.arange(self.n_examples), outputs)

    def losses_of(self, loss: BoundLoss, examples: IntArray, outputs: Outputs) -> FloatArray:
        """Δ(y_i, ŷ) for given outputs and any loss."""
        return self._losses(loss, examples, self.unpack(outputs))

    def max_losses(self) -> FloatArray:
        loss = self._judged_loss
        if loss.max_losses is not None:
            return loss.max_losses
        if loss.levels is not None:
            # The best output of each level at w = 0 says which levels there are.
            zero, most = np.zeros(self.n_features), np.empty(self.n_examples)
            for i in range(self.n_examples):
                found = self._core.best_per_level(zero, i, loss.levels.steps)[0]
                most[i] = loss.levels.values(np.array([i]))[found].max()
            return most
        if loss.parts is None:
            return np.ones(self.n_examples)
        return self.best_with(loss.parts, np.zeros(self.n_features), np.arange(self.n_examples))[1]

    def best_with(self, loss: _core.PartLoss, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray]:
        """argmax_ŷ ⟨w, Ψ(x_i, ŷ)⟩ + Δ(ŷ) for any loss, and Δ."""
        no_truths = np.empty(0, np.int32), np.zeros(1, np.int64)
        found, losses, _ = self._core.loss_augmented(w, examples, *no_truths, loss, self.n_threads)
        return self.pack(Ragged(*found), examples), losses

    def best_bounded(
        self, loss: _core.PartLoss, w: FloatArray, examples: IntArray
    ) -> tuple[Outputs, FloatArray, FloatArray]:
        """As `best_with`, and by how much the best ⟨w, Ψ⟩ + Δ may exceed that of the outputs that were found."""
        return *self.best_with(loss, w, examples), np.zeros(len(examples))

    def mixtures_of(self, truths: Ragged, loss: BoundLoss) -> Mixtures | None:
        """`mixtures` for any truths and loss."""
        return None

    def working_sets(self) -> _core.WorkingSets:
        if self._scores is None:
            return super().working_sets()
        sets: _core.PartSets = self.part_sets(self._scores, self.n_examples)
        return sets

    def keep(self, sets: _core.WorkingSets, planes: Planes, which: IntArray, a: FloatArray, b: FloatArray) -> int:
        if not isinstance(sets, self.part_sets):
            return super().keep(sets, planes, which, a, b)
        assert isinstance(planes.rows, FactoredRows)
        added: int = sets.add(planes.examples, *planes.rows.moves(), which, a, b)
        return added

    def scores(self, w: FloatArray, examples: IntArray) -> FloatArray:
        theta = np.empty(int(self._part_places(examples)[-1]))
        self.kernel.part_scores(w, examples, theta, self.n_threads)
        return theta

    def expectations(self, theta: FloatArray, examples: IntArray) -> tuple[FloatArray, FloatArray]:
        log_z, marginals = np.empty(len(examples)), np.empty_like(theta)
        self.kernel.part_sums(theta, examples, log_z, marginals, self.n_threads)
        return log_z, marginals

    def parts_at_random(self) -> FloatArray:
        """The expected parts of all examples where all outputs are equally likely, that is at w = 0."""
        return self.expectations(np.zeros(int(self.part_offsets[-1])), np.arange(self.n_examples))[1]

    def push(self, marginals: FloatArray, examples: IntArray, coefficients: FloatArray, out: FloatArray) -> None:
        self.kernel.push(marginals, examples, coefficients, out)

    def true_parts(self, examples: IntArray) -> FloatArray:
        assert self.truths is not None
        marginals = np.empty(int(self._part_places(examples)[-1]))
        self.kernel.indicators(self.truths.flat, self.truths.offsets, examples, marginals)
        return marginals

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        if self._loss.local is None:
            return None
        places = self._part_places(examples)
        losses = np.zeros(int(places[-1]))
        for begin, i in zip(places, examples, strict=False):
            local = self._loss.local(int(i))
            losses[begin : begin + len(local)] = local
        return losses

    def log_losses(
        self, w: FloatArray, weight: FloatArray | None = None, gradient: FloatArray | None = None
    ) -> FloatArray:
        assert self.truths is not None
        return self._log_losses(w, self.truths.flat, weight, gradient)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        assert self.truths is not None
        losses = self._log_losses(w, np.maximum(self.truths.flat, 0), None, None)
        losses[~self.reachable()] = np.inf
        return -losses

    def reachable(self) -> npt.NDArray[np.bool_]:
        assert self.truths is not None
        known: npt.NDArray[np.bool_] = reduced(np.logical_and, self.truths.flat >= 0, self.truths.offsets)
        return known

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Outputs drawn from P(y | x), `n_samples` of each example."""
        drawn = list(self.present(self.sampled(w, n_samples, random)))
        return [drawn[begin : begin + n_samples] for begin in range(0, len(drawn), n_samples)]

    def sampled(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> Outputs:
        """The same in compact form, those of one example after another."""
        seeds = random.integers(2**63 - 1, size=self.n_examples * n_samples)
        everything = np.arange(self.n_examples)
        found = self._core.samples(w, everything, n_samples, seeds, self.n_threads)
        return self.pack(Ragged(*found), np.repeat(everything, n_samples))

    @abstractmethod
    def part_names(self, i: int, parts: IntArray) -> list[str]:
        """What some parts of an example are called."""

    def differing_parts(self, w: FloatArray) -> list[PartFeatures]:
        """The parts that the truths of the first two examples, which have one input, do not have equally often."""
        assert self.truths is not None
        return self.listed_parts(0, self.part_counts(0, self.truths[0]) - self.part_counts(0, self.truths[1]))

    def part_counts(self, i: int, codes: LabelArray) -> FloatArray:
        """μ(y) of an output of an example."""
        counts = np.empty(int(self.part_offsets[i + 1] - self.part_offsets[i]))
        places = np.append(np.zeros(i + 1, np.int64), len(codes))
        self.kernel.indicators(np.ascontiguousarray(codes, np.int32), places, np.array([i]), counts)
        return counts

    def listed_parts(self, i: int, counts: FloatArray) -> list[PartFeatures]:
        """The parts of an example that are counted, with their features."""
        there = np.flatnonzero(counts)
        found, one, row = [], np.zeros_like(counts), np.zeros(self.n_features)
        for part, name in zip(there.tolist(), self.part_names(i, there), strict=True):
            one[part] = counts[part]
            self.push(one, np.array([i]), np.ones(1), row)
            one[part] = 0.0
            indices = np.flatnonzero(row)
            found.append(PartFeatures(name, float(counts[part]), indices, row[indices]))
            row[indices] = 0.0
        return found

    def _token_marginals(self, w: FloatArray, lengths: IntArray, n_labels: int) -> list[FloatArray]:
        """The marginals (length, n_labels) with which the parts of every sequence begin."""
        found: list[FloatArray] = []
        for examples in self.chunks():
            marginals = Ragged(*self.kernel.local_marginals(w, examples, self.n_threads))
            for local, length in zip(marginals, lengths[examples], strict=True):
                found.append(local[: length * n_labels].reshape(length, n_labels).copy())
        return found

    def _pair_marginals(self, w: FloatArray) -> Iterator[FloatArray]:
        """What the core says of the pairs of parts of every example."""
        for examples in self.chunks():
            yield from Ragged(*self.kernel.pair_marginals(w, examples, self.n_threads))

    def _log_losses(
        self, w: FloatArray, codes: LabelArray, weight: FloatArray | None, gradient: FloatArray | None
    ) -> FloatArray:
        assert self.truths is not None
        losses, everything = np.empty(self.n_examples), np.arange(self.n_examples)
        offsets = self.truths.offsets
        self.kernel.log_losses(w, everything, codes, offsets, losses, weight, gradient, self.n_threads)
        return losses

    def _augmented(self, w: FloatArray, examples: IntArray) -> tuple[Outputs, FloatArray, FloatArray]:
        assert self.truths is not None
        found, losses, violations = self._core.loss_augmented(
            w, examples, self.truths.flat, self.truths.offsets, self._loss.parts, self.n_threads
        )
        return self.pack(Ragged(*found), examples), losses, violations

    def rows_between(self, truths: Ragged, examples: IntArray, others: Ragged) -> FactoredRows:
        """Ψ(x_i, y_i) − Ψ(x_i, ŷ), with an output y_i for every example and one ŷ for each of the given ones."""
        return FactoredRows(self._core, self.n_features, truths, examples, others, self.n_threads)

    def _rows(self, examples: IntArray, codes: Ragged) -> FactoredRows:
        assert self.truths is not None
        if self.grows:
            assert isinstance(self._scores, _core.TokenScorer)
            assert self.layout is not None
            pairs = self.truths.flat, self.truths.offsets, codes.flat, codes.offsets
            self._scores.touch(examples, *self._core.moves(examples, *pairs))
            self.n_features = self.layout.n_weights
        return self.rows_between(self.truths, examples, codes)

    def _losses(self, loss: BoundLoss, examples: IntArray, codes: Ragged) -> FloatArray:
        found: FloatArray
        if loss.parts is not None:
            found = self._core.losses(examples, codes.flat, codes.offsets, loss.parts)
            return found
        if loss.levels is not None:
            levels = self._core.levels_of(examples, codes.flat, codes.offsets, loss.levels.steps)
            return loss.levels.of_outputs(examples, levels)
        assert self.truths is not None
        pairs = zip(codes, self.truths.take(examples), strict=True)
        return np.array([not np.array_equal(code, truth) for code, truth in pairs], np.float64)


class NumberedProblem(ComposedProblem):
    """A structure whose codes say what the output is only together with the example; outputs are `CodedOutputs`."""

    def pack(self, codes: Ragged, examples: IntArray) -> CodedOutputs:
        return CodedOutputs(examples, codes)

    def unpack(self, outputs: Outputs) -> Ragged:
        return CodedOutputs.of(outputs).codes
