"""Alignments bound to data."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.biosequences.matches import ENDS, Ends, Matches, matches_of
from structlearn.data.ragged import Ragged, offsets_of, reduced
from structlearn.losses.bound import MAX_LEVEL_TABLE, NO_UNIT, BoundLoss
from structlearn.models.alignment.codes import CodedSequences
from structlearn.models.alignment.description import alignment_part
from structlearn.models.alignment.features import Layout
from structlearn.models.composed import ComposedProblem
from structlearn.waist.planes import Outputs
from structlearn.waist.rows import SparseRows


class AlignmentProblem(ComposedProblem):
    """An `Alignment` model bound to data. Outputs are one code a letter of s: the place of its partner in t, or −1."""

    def __init__(
        self,
        *,
        layout: Layout,
        s: CodedSequences,
        t: CodedSequences,
        codes: LabelArray | None,
        ends: Ends,
        normalise: bool,
        loss: BoundLoss,
        known: LabelArray | None = None,
    ):
        m, n = np.diff(s.offsets), np.diff(t.offsets)
        self._m, self._n = m, n
        self._ends = ends
        self._scale = 1.0 / (m + n) if normalise else np.ones(len(m))
        self._layout = layout
        self._sides = (s, t)
        self._known = known
        self._engine = _core.AlignmentEngine(s.offsets, t.offsets, ENDS.index(ends), known)
        self._scorer = _core.AlignmentScorer(
            _core.AlignmentSide(s.offsets, s.codes, s.gaps, s.borders, s.dense),
            _core.AlignmentSide(t.offsets, t.codes, t.gaps, t.borders, t.dense),
            layout.matches,
            layout.gap_channels,
            layout.dense_at,
            self._scale,
            self._engine,
            layout.n_features,
        )
        super().__init__(
            _core.Alignment(self._engine, self._scorer),
            layout.n_features,
            m * n + 4 * (m + n + 1),
            None if codes is None else Ragged(codes, s.offsets),
            loss,
            loss,
        )

    def missing(self, oracle: str) -> str:
        assert self.truths is not None
        true = np.array([np.sum(codes >= 0) for codes in self.truths], np.int64)
        tables = match_table(self._m, self._n, true)
        if tables.max(initial=0) <= MAX_LEVEL_TABLE:
            return NO_UNIT
        i = int(tables.argmax())
        return (
            f": X[{i}] has sequences of {self._m[i]} and {self._n[i]} letters with {true[i]} matches, and the best "
            f"alignment for each number of them would take {tables[i] / 2**30:.3g} GB; use rescaling='margin' with "
            "slack='linear'"
        )

    def joint_features(self, examples: IntArray, outputs: Ragged) -> SparseRows:
        """Ψ(x_i, y) of one output for each of the examples."""
        return SparseRows(*self._scorer.joint_features(examples, outputs.flat))

    def reachable(self) -> npt.NDArray[np.bool_]:
        return np.ones(self.n_examples, bool)

    def log_probabilities(self, w: FloatArray) -> FloatArray:
        return -self.log_losses(w)

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

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        return [alignment_part(part, int(self._m[i]), int(self._n[i])) for part in parts.tolist()]

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(i and j are partners | x) of every pair of sequences, (length of s, length of t)."""
        found = []
        for i in range(self.n_examples):
            example = np.array([i])
            _, marginals = self.expectations(self.scores(w, example), example)
            found.append(marginals[: self._m[i] * self._n[i]].reshape(self._m[i], self._n[i]).copy())
        return found

    def pair_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(i and j are partners, and so are i + 1 and j + 1 | x), (length of s − 1, length of t − 1)."""
        shapes = np.maximum(np.column_stack([self._m, self._n]) - 1, 0).tolist()
        return [pairs.reshape(shape) for shape, pairs in zip(shapes, self._pair_marginals(w), strict=True)]

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        """The alignments with the most matches that are true in expectation."""
        # Matches score what they are expected to bring, gaps nothing.
        sizes = np.diff(self.part_offsets)
        theta = np.zeros(int(self.part_offsets[-1]))
        for begin, probabilities in zip(self.part_offsets, self.label_probabilities(w), strict=False):
            theta[begin : begin + probabilities.size] = probabilities.ravel()
        engine = _core.GivenAlignment(self._engine, _core.GivenScores(0, offsets_of(sizes)))
        return Ragged(*engine.best(theta, np.arange(self.n_examples), self.n_threads)[0])

    def present(self, outputs: Outputs) -> list[Matches]:
        return [matches_of(partners) for partners in Ragged.of(outputs)]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "letters": int((self._m + self._n).sum())}

    def fingerprint(self) -> str:
        assert self.truths is not None
        known = [] if self._known is None else [self._known]
        return digest(*self.arrays(), self.truths.flat, *self._loss.identity, *known)

    def arrays(self) -> list[npt.NDArray[Any]]:
        """All that says what the inputs and their features are."""
        sides = [a for side in self._sides for a in (side.offsets, side.codes, side.gaps, side.borders, side.dense)]
        ends = np.array([ENDS.index(self._ends)])
        return [*sides, self._layout.matches, self._layout.gap_channels, self._scale, ends]


def match_table(m: IntArray, n: IntArray, true: IntArray) -> IntArray:
    """About how many bytes the decoder of all numbers of true matches takes for each pair of sequences."""
    return np.asarray(8 * (m + 1) * (n + 1) * (true + 1))
