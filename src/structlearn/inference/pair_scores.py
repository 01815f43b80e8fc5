"""Scores of all pairs of some items, from a matrix: what forests and clusterings are found by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.ragged import offsets_of


@dataclass(frozen=True, slots=True)
class PairScores:
    """The scores of the pairs (first, second) of items, in the order (0, 1), (0, 2), …, (1, 2), …."""

    n_items: int
    first: LabelArray
    second: LabelArray
    values: FloatArray

    @classmethod
    def of(cls, scores: npt.ArrayLike) -> PairScores:
        """From a symmetric matrix, whose diagonal plays no part; names what is none."""
        s = np.asarray(scores, np.float64)
        if s.ndim != 2 or s.shape[0] != s.shape[1]:
            raise ValueError(f"scores have shape {s.shape}; expected a symmetric matrix")
        first, second = np.triu_indices(len(s), 1)
        values = s[first, second]
        for wrong, what in ((~(values < np.inf), "numbers below +inf"), (values != s[second, first], "symmetry")):
            if wrong.any():
                i, j = int(first[np.argmax(wrong)]), int(second[np.argmax(wrong)])
                raise ValueError(f"scores[{i}, {j}] is {s[i, j]} and scores[{j}, {i}] is {s[j, i]}; expected {what}")
        return cls(len(s), first.astype(np.int32), second.astype(np.int32), values)

    def core(self) -> _core.PairKinds:
        """The pairs, each of a kind of its own."""
        n_pairs = len(self.values)
        return _core.PairKinds(
            np.array([0, n_pairs]), np.arange(n_pairs + 1), self.first, self.second, offsets_of([self.n_items])
        )

    def within(self, labels: LabelArray) -> float:
        """The sum over the pairs that a clustering has together."""
        return float(self.values[labels[self.first] == labels[self.second]].sum())
