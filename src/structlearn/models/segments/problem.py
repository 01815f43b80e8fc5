"""Segmentations bound to data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.ragged import Ragged, summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import BoundLoss, no_levels
from structlearn.models.pair_weights import PairedProblem, fixed_layout
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.planes import Outputs
from structlearn.wording import count


class SegmentPairs(NamedTuple):
    """Probabilities of what a segmentation has in two places at once.

    Attributes
    ----------
    segments : (length, longest, n_labels)
        That a segment with label l begins with token t and has k + 1 tokens.
    boundaries : (length − 1, n_labels, n_labels)
        That a segment with label k ends with token t and one with label l follows.
    """

    segments: FloatArray
    boundaries: FloatArray


class SegmentsProblem(PairedProblem):
    """A `Segments` model bound to data. Outputs are one code a token, see ``core/segments/codes.hpp`` and `Ragged`.

    `codes` is the truth that training aims at; `loss` belongs to it, `judged_loss` to the one that predictions are
    compared with.
    """

    def __init__(
        self,
        *,
        tokens: TokenMatrix,
        offsets: IntArray,
        codes: LabelArray | None,
        classes: Sequence[Any],
        max_length: int,
        loss: BoundLoss,
        judged_loss: BoundLoss,
        lengths: bool,
        ends: bool,
        runs: LabelArray | None = None,
        pairs: FeaturePairs | None = None,
    ):
        self._tokens = tokens
        self._offsets = offsets
        self._codes = codes
        self._classes = tuple(classes)
        self._max_length = max_length
        self._lengths = lengths
        self._ends = ends
        self._runs = runs
        self.truths = None if codes is None else Ragged(codes, offsets)
        self._loss, self._judged_loss = loss, judged_loss
        self._compose(None if pairs is None else fixed_layout(self._n_shared, pairs), grows=False)

    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        L, n_shared = len(self._classes), self._n_shared
        size = self._tokens.n_columns * L if layout is None else 0
        firsts = [(self._tokens, size + n_shared + k * size, L, False) for k in range(2 * self._ends)]
        n_features = (1 + 2 * self._ends) * size + n_shared if layout is None else layout.n_weights
        blocks = [(self._tokens, 0, L, False), *firsts]
        scores = token_scorer(self._offsets, blocks, [(size, n_shared, 1.0)], n_features, layout=layout)
        engine = _core.SegmentEngine(self._offsets, L, self._max_length, self._lengths, self._ends, self._runs)
        sizes = (1 + 2 * self._ends) * np.diff(self._offsets) * L + n_shared
        core = _core.Segments(engine, scores)
        super().__init__(core, n_features, sizes, self.truths, self._loss, self._judged_loss, scores, layout, grows)

    @property
    def _n_shared(self) -> int:
        return (len(self._classes) + self._lengths * self._max_length) * len(self._classes)

    @property
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        return [(self._tokens, len(self._classes))] * (1 + 2 * self._ends)

    def missing(self, oracle: str) -> str:
        return no_levels(self._offsets, 4 * len(self._classes), self._loss)

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

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        length = int(self._offsets[i + 1] - self._offsets[i])
        return [self._part_name(part, length) for part in parts.tolist()]

    def _part_name(self, part: int, length: int) -> str:
        """See ``core/segments/structure.hpp``."""
        labels, L = self._classes, len(self._classes)
        for what in ("token {0}: {1}", "{1} begins at token {0}", "{1} ends with token {0}")[: 1 + 2 * self._ends]:
            if part < length * L:
                return what.format(part // L, labels[part % L])
            part -= length * L
        row, label = part // L, labels[part % L]
        return f"{labels[row]} → {label}" if row < L else f"{label}, {count(row - L + 1, 'token')}"

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(token t is in a segment with label l | x) of every sequence, (length, n_labels)."""
        return self._token_marginals(w, np.diff(self._offsets), len(self._classes))

    def pair_probabilities(self, w: FloatArray) -> list[SegmentPairs]:
        """Probabilities of whole segments, and of the labels of neighbours, for every sequence."""
        L, found = len(self._classes), []
        for length, numbers in zip(np.diff(self._offsets).tolist(), self._pair_marginals(w), strict=True):
            longest = min(length, self._max_length)
            segments, boundaries = np.split(numbers, [length * longest * L])
            found.append(SegmentPairs(segments.reshape(length, longest, L), boundaries.reshape(-1, L, L)))
        return found

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
        tokens = self._tokens
        options = np.array([tokens.n_columns, self._max_length, self._lengths, self._ends])
        arrays: list[npt.NDArray[Any]] = [
            tokens.indptr,
            tokens.columns,
            tokens.values,
            self._offsets,
            options,
        ]
        if self._codes is not None:
            arrays.insert(4, self._codes)
        return digest(*arrays, *self._loss.identity, *([] if self._runs is None else [self._runs]))

    def _begins(self, codes: LabelArray) -> IntArray:
        """The tokens with which segments begin."""
        return np.flatnonzero((codes >= -1) & (codes < len(self._classes)))
