"""Segmentations bound to data: their decoders, losses and parts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged, offsets_of, places_of, reduced, summed
from structlearn.data.tokens import TokenMatrix
from structlearn.waist.compiled_parts import CompiledParts
from structlearn.waist.factored_rows import FactoredRows
from structlearn.waist.objective import Oracle
from structlearn.waist.planes import Outputs


class SegmentsProblem(CompiledParts):
    """A `Segments` model bound to data. Outputs are one code a token, see ``core/segments/data.hpp`` and `Ragged`.

    `codes` is the truth that training aims at, `judged` the one that predictions are compared with.
    """

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "sums"})

    def __init__(
        self,
        *,
        tokens: TokenMatrix,
        offsets: IntArray,
        codes: LabelArray | None,
        judged: LabelArray | None,
        classes: Sequence[Any],
        max_length: int,
        hamming: bool,
        lengths: bool,
        ends: bool,
    ):
        L = len(classes)
        T = np.diff(offsets)
        self.n_examples = len(offsets) - 1
        self.n_features = ((1 + 2 * ends) * tokens.n_columns + L + lengths * max_length) * L
        self.part_offsets = offsets_of(((1 + 2 * ends) * T + L + lengths * np.minimum(T, max_length)) * L)
        self._tokens = tokens
        self._offsets = offsets
        self._codes = codes
        self._judged = judged
        self._classes = tuple(classes)
        self._max_length = max_length
        self._hamming = hamming
        self._lengths = lengths
        self._ends = ends
        self._core = _core.Segments(tokens.core(), offsets, L, max_length, lengths, ends)

    def missing(self, oracle: str) -> str:
        return ": Segments has neither a k-best nor a loss-level decoder; use rescaling='margin' with slack='linear'"

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        out = self._empty(examples)
        self._core.best(w, examples, out.flat, self.n_threads)
        return out

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Ragged:
        assert self._codes is not None
        return self._loss_augmented(w, examples, self._codes)

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[FactoredRows, FloatArray]:
        assert self._codes is not None
        out = Ragged.of(outputs)
        rows = FactoredRows(self._core, self.n_features, self._codes, examples, out.flat, out.offsets, self.n_threads)
        return rows, self._losses(examples, out, self._codes)

    def losses(self, outputs: Outputs) -> FloatArray:
        assert self._judged is not None
        return self._losses(np.arange(self.n_examples), Ragged.of(outputs), self._judged)

    def max_losses(self) -> FloatArray:
        assert self._judged is not None
        worst = self._loss_augmented(np.zeros(self.n_features), np.arange(self.n_examples), self._judged)
        return self.losses(worst)

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        if not self._hamming:
            return None
        assert self._codes is not None
        L = len(self._classes)
        places = self._part_places(examples)
        losses = np.zeros(int(places[-1]))
        for begin, i in zip(places, examples, strict=False):
            truth = self._codes[self._offsets[i] : self._offsets[i + 1]] % L
            losses[begin : begin + len(truth) * L] = (np.arange(L) != truth[:, None]).ravel()
        return losses

    def feature_totals(self) -> FloatArray:
        # Segments of one token each have the most features.
        T = np.diff(self._offsets)
        tokens = summed(self._tokens.totals(), self._offsets)
        return np.asarray((1 + 2 * self._ends) * tokens + T - 1 + self._lengths * T)

    def radii(self) -> FloatArray:
        # In every block of weights a token, a transition or a segment moves from one label to another at most.
        T = np.diff(self._offsets)
        emissions = summed(self._tokens.norms(), self._offsets)
        squares = 2.0 * (1 + 2 * self._ends) * emissions**2 + 2.0 * (T - 1) ** 2 + 2.0 * self._lengths * T**2
        return np.asarray(np.sqrt(squares))

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(token t is in a segment with label l | x) of every sequence, (length, n_labels)."""
        return self._token_marginals(w, np.diff(self._offsets), len(self._classes))

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Segmentations drawn from P(y | x), `n_samples` of each sequence."""
        examples = np.repeat(np.arange(self.n_examples), n_samples)
        out = self._empty(examples)
        uniform = random.random(2 * len(out.flat))
        self._core.samples(w, np.arange(self.n_examples), n_samples, uniform, out.flat, self.n_threads)
        drawn = self.present(out)
        return [drawn[begin : begin + n_samples] for begin in range(0, len(drawn), n_samples)]

    def present(self, outputs: Outputs) -> list[list[tuple[Any, int, int]]]:
        out = Ragged.of(outputs)
        begins = self._begins(out.flat)
        labels = [self._classes[code] for code in out.flat[begins].tolist()]
        limits = [*begins.tolist(), len(out.flat)]
        presented = []
        for first, last in pairwise(np.searchsorted(begins, out.offsets).tolist()):
            at = limits[first]
            presented.append([(labels[k], limits[k] - at, limits[k + 1] - at) for k in range(first, last)])
        return presented

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": self._tokens.n_tokens}

    def fingerprint(self) -> str:
        assert self._codes is not None
        tokens = self._tokens
        options = np.array([tokens.n_columns, self._max_length, self._hamming, self._lengths, self._ends])
        return digest(tokens.indptr, tokens.columns, tokens.values, self._offsets, self._codes, options)

    def _all_of_example(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return reduced(np.logical_and, flags, self._offsets)

    def _loss_augmented(self, w: FloatArray, examples: IntArray, truth: LabelArray) -> Ragged:
        out = self._empty(examples)
        self._core.loss_augmented(w, examples, truth, self._hamming, out.flat, self.n_threads)
        return out

    def _empty(self, examples: IntArray) -> Ragged:
        return Ragged.filled(np.diff(self._offsets)[examples])

    def _begins(self, codes: LabelArray) -> IntArray:
        """The tokens with which segments begin."""
        return np.flatnonzero((codes >= -1) & (codes < len(self._classes)))

    def _losses(self, examples: IntArray, outputs: Ragged, codes: LabelArray) -> FloatArray:
        if not len(examples):
            return np.empty(0)
        L = len(self._classes)
        place, _ = places_of(self._offsets, examples)
        truth, found = codes[place], outputs.flat
        if self._hamming:
            wrong = (truth < 0) | (truth % L != found % L)
            return summed(wrong.astype(np.float64), outputs.offsets)
        # |y| + |ŷ| − 2 |y ∩ ŷ|, with every segment counted where it begins.
        true_sizes, found_sizes = self._sizes(truth), self._sizes(found)
        same = (truth == found) & (true_sizes == found_sizes) & (found_sizes > 0)
        counts = 1.0 * (true_sizes > 0) + 1.0 * (found_sizes > 0) - 2.0 * same
        return np.asarray(summed(counts, outputs.offsets))

    def _sizes(self, codes: LabelArray) -> IntArray:
        """The length of the segment that begins with each token, 0 where none does."""
        begins = self._begins(codes)
        sizes = np.zeros(len(codes), np.int64)
        sizes[begins] = np.diff(np.append(begins, len(codes)))
        return sizes
