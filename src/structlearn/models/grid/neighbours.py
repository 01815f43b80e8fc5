"""Neighbouring pixels, a direction at a time, and what is known of each pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.factor_graphs.grid_graph import DIRECTIONS, first_of, second_of


@dataclass(frozen=True)
class Neighbours:
    """Which pixels are neighbours, and the features of their pairs: 1, and with a contrast exp(−β ‖x_p − x_q‖²).

    Attributes
    ----------
    n : 4 or 8
    by_direction : bool
        Whether each direction has weights of its own.
    contrast : float or None
        β.
    """

    n: int
    by_direction: bool
    contrast: float | None

    @property
    def steps(self) -> tuple[tuple[int, int], ...]:
        """(rows, columns) from a pixel to its neighbours, each pair once."""
        return DIRECTIONS[: self.n // 2]

    @property
    def n_groups(self) -> int:
        """How many sets of weights there are."""
        return len(self.steps) if self.by_direction else 1

    @property
    def n_features(self) -> int:
        return 1 if self.contrast is None else 2

    @property
    def plain(self) -> bool:
        """Whether all pairs have one set of weights, each once."""
        return self.n_groups == self.n_features == 1

    def features(self, image: FloatArray, k: int) -> FloatArray:
        """Of the pairs in one direction, (rows, columns, n_features)."""
        first, second = first_of(image, *self.steps[k]), second_of(image, *self.steps[k])
        found = np.ones((*first.shape[:2], self.n_features))
        if self.contrast is not None:
            found[:, :, 1] = np.exp(-self.contrast * ((first - second) ** 2).sum(axis=2))
        return found


def contrast_scale(images: list[FloatArray], n: int) -> float:
    """β = 1 / (2 · the mean of ‖x_p − x_q‖² over neighbours); 0 where all are alike (Boykov and Jolly 2001)."""
    total, count = 0.0, 0
    for image in images:
        for step in DIRECTIONS[: n // 2]:
            change = first_of(image, *step) - second_of(image, *step)
            total += float((change**2).sum())
            count += change.shape[0] * change.shape[1]
    return count / (2.0 * total) if total > 0.0 else 0.0
