"""What the labels of two neighbours may score: which of their pairs have a weight of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.models.graph.factor_tables import POTTS, FactorTable, PairForm


@dataclass(frozen=True)
class PairTable(FactorTable):
    """The weights of the labels of two nodes, which have the same ones; the label of the first node comes first."""

    @property
    def is_potts(self) -> bool:
        return self.names == POTTS

    def expanded(self, scores: FloatArray) -> FloatArray:
        """Scores of the weights, (…, width), as tables of label pairs, (…, n_labels, n_labels)."""
        L = round(len(self.columns) ** 0.5)
        return np.where(self.columns >= 0, scores[..., self.columns], 0.0).reshape(*scores.shape[:-1], L, L)

    def folded(self, counts: FloatArray) -> FloatArray:
        """How often each weight counts, (width,), from a table of label pairs, (n_labels, n_labels)."""
        there = self.columns >= 0
        return np.bincount(self.columns[there], counts.ravel()[there], self.width).astype(np.float64)

    @classmethod
    def of(cls, form: PairForm, classes: Sequence[Any]) -> PairTable:
        """
        >>> PairTable.of("symmetric", "ab").columns.reshape(2, 2), PairTable.of("potts", "ab").names
        (array([[0, 1],
               [1, 2]], dtype=int32), ('equal',))
        """
        L = len(classes)
        if form == "potts":
            return cls(np.where(np.eye(L, dtype=bool), 0, -1).astype(np.int32).ravel(), POTTS)
        if form == "free":
            names = tuple(f"{a} – {b}" for a in classes for b in classes)
            return cls(np.arange(L * L, dtype=np.int32), names)
        columns = np.empty((L, L), np.int32)
        upper = np.triu_indices(L)
        columns[upper] = columns[upper[::-1]] = np.arange(len(upper[0]))
        return cls(
            columns.ravel(), tuple(f"{classes[int(a)]} – {classes[int(b)]}" for a, b in zip(*upper, strict=True))
        )
