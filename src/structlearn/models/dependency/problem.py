"""Dependency trees bound to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged
from structlearn.losses.bound import NO_UNIT, BoundLoss
from structlearn.models.composed import ComposedProblem
from structlearn.waist.planes import Outputs

#: Why trees with arcs that cross have no decoder of loss levels.
NO_LEVELS = (
    "the best of all trees with a given number of wrong arcs is not found by contractions; projective=True has it"
)


class DependencyProblem(ComposedProblem):
    """A `DependencyTree` model bound to data. Outputs are one code a token, its head × n_labels + its label.

    Parameters
    ----------
    engine, features : compiled
    values : (n_tokens, n_columns)
        Of the tokens, by number; see `DependencySpec`.
    offsets : (n_examples + 1,)
        Where sentences begin among the tokens.
    labels : sequence
        Of arcs, none if they have none.
    codes : (n_tokens,), optional
        The trees that training aims at.
    possible : (n_examples,), optional
        Whether the true trees are among those that the model has.
    most_features : int
        More than an arc, with its label and sibling, has.
    """

    part_sets = _core.DependencySets

    def __init__(
        self,
        *,
        engine: _core.DependencyEngine,
        features: _core.DependencyFeatures,
        values: LabelArray,
        offsets: IntArray,
        labels: Sequence[Any],
        codes: LabelArray | None,
        possible: Flags | None,
        projective: bool,
        single_root: bool,
        siblings: bool,
        loss: BoundLoss,
        judged_loss: BoundLoss,
        most_features: int,
        known: LabelArray | None = None,
    ):
        self._offsets, self._values, self._known = offsets, values, known
        self._labels = tuple(labels)
        self._possible = possible
        self._projective, self._single_root = projective, single_root
        self._most_features = most_features
        scores = _core.DependencyScores(engine, features, values)
        n = np.diff(offsets)
        self._n_labels = max(len(self._labels), 1)
        bind = _core.ProjectiveTrees if projective else _core.NonprojectiveTrees
        super().__init__(
            bind(engine, scores),
            features.n_weights,
            (n + 1) ** 2 * self._n_labels + siblings * (n + 1) ** 3,
            None if codes is None else Ragged(codes, offsets),
            loss,
            judged_loss,
            scores,
        )

    def missing(self, oracle: str) -> str:
        return NO_UNIT if self._projective else f": {NO_LEVELS}; or use rescaling='margin' with slack='linear'"

    def reachable(self) -> Flags:
        assert self._possible is not None
        return self._possible

    def feature_totals(self) -> FloatArray:
        return np.asarray(np.diff(self._offsets) * float(self._most_features))

    def radii(self) -> FloatArray:
        # A norm is at most the sum of the entries.
        return 2.0 * self.feature_totals()

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        n = int(self._offsets[i + 1] - self._offsets[i]) + 1
        return [self._part_name(part, n) for part in parts.tolist()]

    def _part_name(self, part: int, n: int) -> str:
        """See ``core/dependency/shape.hpp``."""
        arc, label = divmod(part, self._n_labels)
        if arc < n * n:
            head, token = divmod(arc, n)
            return f"{head or 'root'} → {token}" + (f": {self._labels[label]}" if self._labels else "")
        rest, token = divmod(part - n * n * self._n_labels, n)
        head, sibling = divmod(rest, n)
        beside = f"first on its side of {head or 'root'}" if sibling == head else f"after {sibling} of {head or 'root'}"
        return f"{token} {beside}"

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(head, with label | x) of every token of every sentence, (n + 1, n + 1) or (n + 1, n + 1, n_labels)."""
        found = []
        for examples in self.chunks():
            marginals = Ragged(*self.kernel.local_marginals(w, examples, self.n_threads))
            for i, local in zip(examples.tolist(), marginals, strict=True):
                n = int(self._offsets[i + 1] - self._offsets[i]) + 1
                shape = (n, n, self._n_labels) if self._labels else (n, n)
                found.append(local[: n * n * self._n_labels].reshape(shape).copy())
        return found

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        """The trees with the most arcs that are true in expectation."""
        bind = _core.GivenProjectiveTrees if self._projective else _core.GivenNonprojectiveTrees
        found, one = [], np.array([0])
        for begin, probabilities in zip(self._offsets, self.label_probabilities(w), strict=False):
            tokens = np.array([0, len(probabilities) - 1])
            known = None if self._known is None else self._known[begin : begin + tokens[1]]
            engine = _core.DependencyEngine(tokens, self._n_labels, self._single_root, False, known)
            given = bind(engine, _core.GivenScores(0, np.array([0, probabilities.size])))
            found.append(Ragged(*given.best(probabilities.ravel(), one, 1)[0]).flat)
        return Ragged.of(found)

    def present(self, outputs: Outputs) -> list[list[Any]]:
        codes = Ragged.of(outputs)
        heads, labels = np.divmod(codes.flat, np.int32(self._n_labels))
        every: list[Any] = heads.tolist()
        if self._labels:
            every = list(zip(every, map(self._labels.__getitem__, labels.tolist()), strict=True))
        return [every[begin:end] for begin, end in pairwise(codes.offsets.tolist())]

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": int(self._offsets[-1])}

    def fingerprint(self) -> str:
        options = np.array([self.n_features, self._projective, self._single_root])
        arrays: list[npt.NDArray[Any]] = [self._values, self._offsets, options]
        arrays += [] if self.truths is None else [self.truths.flat]
        return digest(*arrays, *self._loss.identity, *([] if self._known is None else [self._known]))
