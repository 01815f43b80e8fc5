"""Alignments bound to data: their decoders, losses and parts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.matches import ENDS, Ends, Matches, matches_of
from structlearn.data.ragged import Ragged, offsets_of, places_of, reduced, summed
from structlearn.models.alignment.codes import CodedSequences
from structlearn.models.alignment.features import Layout
from structlearn.waist.compiled_parts import CompiledParts
from structlearn.waist.factored_rows import FactoredRows
from structlearn.waist.objective import Oracle, Scaling
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows
from structlearn.waist.zero_one import best_beside, truth_or_best_wrong

AlignmentLoss = Literal["q", "q_shift", "zero_one"]


class AlignmentProblem(CompiledParts):
    """An `Alignment` model bound to data. Outputs are one code a letter of s: the place of its partner in t, or −1.

    `along_s` says how the shift of a match is measured: along s, for the same letter of t, instead of along t.
    """

    oracles: frozenset[Oracle] = frozenset({"best", "loss_augmented", "second_best", "sums"})

    def __init__(
        self,
        *,
        layout: Layout,
        s: CodedSequences,
        t: CodedSequences,
        codes: LabelArray | None,
        ends: Ends,
        normalise: bool,
        loss: AlignmentLoss,
        shift: int,
        along_s: bool,
    ):
        m, n = np.diff(s.offsets), np.diff(t.offsets)
        self.n_examples = len(m)
        self.n_features = layout.n_features
        self.part_offsets = offsets_of(m * n + 4 * (m + n + 1))
        self._m, self._n = m, n
        self._offsets = s.offsets
        self._codes = codes
        self._ends = ends
        self._loss = loss
        self._shift = shift
        self._along_s = along_s
        self._scale = 1.0 / (m + n) if normalise else np.ones(len(m))
        self._layout = layout
        self._sides = (s, t)
        self._core = _core.Alignment(
            _core.AlignmentSide(s.offsets, s.codes, s.gaps, s.borders, s.dense),
            _core.AlignmentSide(t.offsets, t.codes, t.gaps, t.borders, t.dense),
            layout.matches,
            layout.gap_channels,
            layout.dense_at,
            self._scale,
            ENDS.index(ends),
        )

    def missing(self, oracle: str) -> str:
        return ": Alignment has no loss-level decoder; use rescaling='margin' with slack='linear', or rescaling=None"

    def best(self, w: FloatArray, examples: IntArray) -> Ragged:
        return self.best_scored(w, examples)[0]

    def loss_augmented(self, w: FloatArray, examples: IntArray) -> Ragged:
        if self._loss == "zero_one":
            return Ragged.of(truth_or_best_wrong(self, w, examples, Scaling("margin", "linear")))
        return self.best_scored(w, examples, self._codes)[0]

    def second_best(self, w: FloatArray, examples: IntArray) -> tuple[IntArray, Ragged]:
        out, scores, counts = self._k_best(w, examples, 2)
        found = {}
        for k, (i, truth) in enumerate(zip(examples.tolist(), self.true_outputs(examples), strict=True)):
            best = [(out[2 * k + rank], float(scores[k, rank])) for rank in range(counts[k])]
            found[i] = best_beside(truth, best)
        wrong = {i: output for i, output in found.items() if output is not None}
        return np.array(list(wrong), np.int64), Ragged.of(wrong.values())

    def true_outputs(self, examples: IntArray) -> list[LabelArray]:
        return [self._truth(int(i)) for i in examples]

    def best_scored(
        self, w: FloatArray, examples: IntArray, truth: LabelArray | None = None
    ) -> tuple[Ragged, FloatArray]:
        """The best alignments and their scores; given the truth, the most violating ones, with score plus loss."""
        out, scores = self._empty(examples), np.empty(len(examples))
        self._core.best(w, examples, truth, self._shift, self._along_s, out.flat, scores, self.n_threads)
        return out, scores

    def k_best(self, w: FloatArray, k: int) -> list[list[tuple[Any, float]]]:
        examples = np.arange(self.n_examples)
        out, scores, counts = self._k_best(w, examples, k)
        found = self.present(out)
        return [
            [(found[i * k + rank], float(scores[i, rank])) for rank in range(counts[i])] for i in range(self.n_examples)
        ]

    def differences(self, examples: IntArray, outputs: Outputs) -> tuple[FactoredRows, FloatArray]:
        assert self._codes is not None
        out = Ragged.of(outputs)
        rows = FactoredRows(
            self._core, self.n_features, Ragged(self._codes, self._offsets), examples, out, self.n_threads
        )
        return rows, self._losses(examples, out)

    def joint_features(self, examples: IntArray, outputs: Ragged) -> SparseRows:
        """Ψ(x_i, y) of one output for each of the examples."""
        return SparseRows(*self._core.joint_features(examples, outputs.flat))

    def losses(self, outputs: Outputs) -> FloatArray:
        return self._losses(np.arange(self.n_examples), Ragged.of(outputs))

    def max_losses(self) -> FloatArray:
        assert self._codes is not None
        if self._loss == "zero_one":
            return np.ones(self.n_examples)
        return (summed(self._codes >= 0, self._offsets) > 0).astype(np.float64)

    def part_losses(self, examples: IntArray) -> FloatArray | None:
        # Where ends are free, letters without partner are no parts.
        if self._loss == "zero_one" or self._ends != "global":
            return None
        found = []
        for i in examples:
            m, n, truth = self._m[i], self._n[i], self._truth(i)
            rows = np.flatnonzero(truth >= 0)
            losses = np.zeros(self.part_offsets[i + 1] - self.part_offsets[i])
            match = losses[: m * n].reshape(m, n)
            if self._along_s:
                columns = truth[rows]
                match[:, columns] = np.abs(np.arange(m)[:, None] - rows) > self._shift
                losses[m * n + m + n + 1 + columns] = 1.0
            else:
                match[rows] = np.abs(np.arange(n) - truth[rows][:, None]) > self._shift
                losses[m * n + rows] = 1.0
            found.append(losses / max(len(rows), 1))
        return np.concatenate([*found, np.empty(0)])

    def feature_totals(self) -> FloatArray:
        if any((side.dense < 0).any() for side in self._sides):
            raise ValueError(
                "a profile has entries below 0; iterative scaling needs features that are nowhere negative"
            )
        return self.best_scored(np.ones(self.n_features), np.arange(self.n_examples))[1]

    def radii(self) -> FloatArray:
        # Counts of one channel are nowhere negative and add up to the matches, or to the letters that a gap can have.
        most = np.minimum(self._m, self._n)
        squares = 2.0 * len(self._layout.matches) * most**2
        for deletion, *_ in self._layout.gap_channels:
            squares = squares + 4.0 * (self._m if deletion else self._n) ** 2
        if self._layout.dense_at < self.n_features and self._sides[0].dense.shape[1]:
            largest = [reduced(np.maximum, np.linalg.norm(side.dense, axis=1), side.offsets) for side in self._sides]
            squares = squares + 4.0 * (most * largest[0] * largest[1]) ** 2
        return np.asarray(np.sqrt(squares) * self._scale)

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(i and j are partners | x) of every pair of sequences, (length of s, length of t)."""
        found = []
        for i in range(self.n_examples):
            example = np.array([i])
            _, marginals = self.expectations(self.scores(w, example), example)
            found.append(marginals[: self._m[i] * self._n[i]].reshape(self._m[i], self._n[i]).copy())
        return found

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        """The alignments with the most matches that are true in expectation."""
        examples = np.arange(self.n_examples)
        out = self._empty(examples)
        match = np.concatenate([p.ravel() for p in self.label_probabilities(w)] or [np.empty(0)])
        self._core.most_matches(match, examples, out.flat, self.n_threads)
        return out

    def samples(self, w: FloatArray, n_samples: int, random: np.random.Generator) -> list[list[Any]]:
        """Alignments drawn from P(y | x), `n_samples` of each pair."""
        examples = np.arange(self.n_examples)
        out = self._empty(np.repeat(examples, n_samples))
        uniform = random.random(int(n_samples * (self._m + self._n + 1).sum()))
        self._core.samples(w, examples, n_samples, uniform, out.flat, self.n_threads)
        drawn = self.present(out)
        return [drawn[begin : begin + n_samples] for begin in range(0, len(drawn), n_samples)]

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return -self.log_losses(w)

    def present(self, outputs: Outputs) -> list[Matches]:
        return [matches_of(partners) for partners in Ragged.of(outputs)]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "letters": int((self._m + self._n).sum())}

    def fingerprint(self) -> str:
        assert self._codes is not None
        options = np.array([self._loss == "zero_one", self._shift, self._along_s])
        return digest(*self.arrays(), self._codes, options)

    def arrays(self) -> list[npt.NDArray[Any]]:
        """All that says what the inputs and their features are."""
        sides = [a for side in self._sides for a in (side.offsets, side.codes, side.gaps, side.borders, side.dense)]
        ends = np.array([ENDS.index(self._ends)])
        return [*sides, self._layout.matches, self._layout.gap_channels, self._scale, ends]

    def _k_best(self, w: FloatArray, examples: IntArray, k: int) -> tuple[Ragged, FloatArray, IntArray]:
        out = self._empty(np.repeat(examples, k))
        scores, counts = np.full(len(examples) * k, -np.inf), np.zeros(len(examples), np.int64)
        self._core.k_best(w, examples, k, out.flat, scores, counts, self.n_threads)
        return out, scores.reshape(-1, k), counts

    def _empty(self, examples: IntArray) -> Ragged:
        return Ragged.filled(self._m[examples])

    def _truth(self, i: int) -> LabelArray:
        assert self._codes is not None
        return self._codes[self._offsets[i] : self._offsets[i + 1]]

    def _all_of_example(self, flags: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        return reduced(np.logical_and, flags, self._offsets)

    def _losses(self, examples: IntArray, outputs: Ragged) -> FloatArray:
        if not len(examples):
            return np.empty(0)
        assert self._codes is not None
        place, offsets = places_of(self._offsets, examples)
        truth, found = self._codes[place], outputs.flat
        if self._loss == "zero_one":
            return reduced(np.logical_or, truth != found, offsets).astype(np.float64)
        if self._along_s and self._shift:
            good = np.concatenate([self._good_along_s(i, outputs[k]) for k, i in enumerate(examples)])
        else:
            good = (truth >= 0) & (found >= 0) & (np.abs(truth - found) <= self._shift)
        true_matches = summed((truth >= 0).astype(np.float64), offsets)
        right = summed(good.astype(np.float64), offsets)
        return np.asarray(np.where(true_matches > 0, 1.0 - right / np.maximum(true_matches, 1.0), 0.0))

    def _good_along_s(self, i: int, found: LabelArray) -> npt.NDArray[np.bool_]:
        """Whether each letter of s has a partner whose own true partner lies within the shift."""
        truth = self._truth(i)
        partners = np.full(self._n[i], -10 * (self._m[i] + self._shift + 1))
        rows = np.flatnonzero(truth >= 0)
        partners[truth[rows]] = rows
        good = np.zeros(len(found), np.bool_)
        rows = np.flatnonzero(found >= 0)
        good[rows] = np.abs(partners[found[rows]] - rows) <= self._shift
        return good
