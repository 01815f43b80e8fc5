"""Losses of labels: how many are wrong, and what it costs to take one for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.options import real_option
from structlearn.waist.loss import AdditiveLoss, LocalParts
from structlearn.wording import shown


class Hamming(AdditiveLoss):
    """Δ(y, ŷ) = Σ_t weight[y_t] [ŷ_t ≠ y_t], the number of wrong labels.

    Parameters
    ----------
    label_weight : mapping, optional
        What a wrong label costs, by the true label; 1 for labels not named.
    """

    def __init__(self, label_weight: Mapping[Any, float] | None = None):
        self.label_weight = label_weight

    def check_options(self) -> None:
        if self.label_weight is not None and not isinstance(self.label_weight, Mapping):
            raise ValueError(f"label_weight is {shown(self.label_weight)}; it must be a dict of labels and numbers")
        for label, weight in (self.label_weight or {}).items():
            real_option(f"label_weight[{label!r}]", weight)

    def in_words(self) -> str:
        return "wrong labels, by their weights" if self.label_weight else "wrong labels"

    def cost(self, labels: Sequence[Any]) -> FloatArray:
        """What each label costs where another one is true, (n_labels, n_labels): true label, other label."""
        weights = np.array([float((self.label_weight or {}).get(label, 1.0)) for label in labels])
        return np.asarray(weights[:, None] * (1.0 - np.eye(len(labels))))

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        place = {label: k for k, label in enumerate(local.labels)}
        return np.asarray(self.cost(local.labels)[[place[label] for label in truth]])
