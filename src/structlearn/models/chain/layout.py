"""Where the weights of a chain stand in w."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.models.base import Weights
from structlearn.models.description import BlockKind, WeightBlock, blocks_of, stored_blocks


@dataclass(frozen=True)
class ChainLayout:
    """w of a `Chain`: whole, or of the features only what `pairs` lists, behind the shared weights.

    The rows of `pairs` are the features of tokens and then those of label pairs.
    """

    n_labels: int
    n_columns: int
    n_pair_columns: int
    boundaries: bool
    triplets: bool
    pairs: FeaturePairs | None = None

    def __post_init__(self) -> None:
        if self.pairs is not None:
            self.pairs.check(*((rows, width) for _, rows, width in self._blocks))

    @property
    def n_shared(self) -> int:
        return sum(self._shared)

    @property
    def n_weights(self) -> int:
        return self.n_shared + (sum(self._of_features) if self.pairs is None else len(self.pairs))

    def unpack(self, w: FloatArray) -> Weights:
        """All weights in their parts, zeros included; views of w where it is whole."""
        if len(w) != self.n_weights:
            raise ValueError(f"w has {len(w)} weights but the model has {self.n_weights}")
        L = self.n_labels
        emissions, pairs = (self._filled(w, *block) for block in self._blocks)
        return self.shared(w)._replace(
            emissions=emissions.reshape(self.n_columns, L), pairs=pairs.reshape(-1, L, L) if len(pairs) else None
        )

    def shared(self, w: FloatArray) -> Weights:
        """Transitions, ends and triplets, as views of w; no emissions."""
        L = self.n_labels
        n_emissions, n_pairs = self._of_features if self.pairs is None else (0, 0)
        steps, rest = np.split(w[n_emissions:], [self.n_shared - self._shared[-1]])
        transitions, start, stop = np.split(steps, np.cumsum(self._shared[:2]))
        triplets = rest[n_pairs : n_pairs + self._shared[-1]]
        return Weights(
            np.empty((0, L)),
            transitions.reshape(L, L),
            start if self.boundaries else None,
            stop if self.boundaries else None,
            None,
            triplets.reshape(L, L, L) if len(triplets) else None,
        )

    def blocks(
        self,
        w: FloatArray,
        labels: Sequence[Any],
        features: Sequence[str | int],
        pair_features: Sequence[str | int],
    ) -> tuple[WeightBlock, ...]:
        """w in blocks with names, in their order in w."""
        steps: list[tuple[Any, ...]] = [("transitions", (labels, labels), "transitions")]
        if self.boundaries:
            steps += [("start", (labels,), "start"), ("stop", (labels,), "stop")]
        # By the label in the middle, the one before, the one after.
        triplets = [("label triplets", (labels, labels, labels), "others", "{1} → {0} → {2}")] if self.triplets else []
        of_tokens: tuple[str, tuple[Any, ...], BlockKind] = "features", (features, labels), "features"
        of_pairs: list[tuple[str, tuple[Any, ...], BlockKind]] = []
        if pair_features:
            of_pairs.append(("label pairs", (pair_features, labels, labels), "pairs"))
        if self.pairs is None:
            return blocks_of(w, of_tokens, *steps, *of_pairs, *triplets)
        shared = blocks_of(w[: self.n_shared], *steps, *triplets)
        return (*shared, *stored_blocks(w[self.n_shared :], self.pairs, of_tokens, *of_pairs))

    def emissions_of(self, w: FloatArray, column: int) -> FloatArray:
        """The weights of a feature for all labels."""
        if self.pairs is not None:
            return self.pairs.weights_of(column, w[self.n_shared :], self.n_labels)
        return np.asarray(self._filled(w, *self._blocks[0]).reshape(-1, self.n_labels)[column])

    def pairs_of(self, w: FloatArray, column: int) -> FloatArray:
        """The weights of a feature for all pairs of labels, by its number among those that have them."""
        L = self.n_labels
        if self.pairs is not None:
            return self.pairs.weights_of(self.n_columns + column, w[self.n_shared :], L * L).reshape(L, L)
        return np.asarray(self._filled(w, *self._blocks[1]).reshape(-1, L, L)[column])

    def _filled(self, w: FloatArray, begin: int, n: int, width: int) -> FloatArray:
        """The weights of some rows, one row after another."""
        if self.pairs is None:
            at = begin and self._of_features[0] + self.n_shared - self._shared[-1]
            return w[at : at + n * width]
        entries = slice(self.pairs.until(begin), self.pairs.until(begin + n))
        filled = np.zeros(n * width)
        filled[(self.pairs.rows[entries] - begin) * width + self.pairs.parts[entries]] = w[self.n_shared :][entries]
        return filled

    @property
    def _shared(self) -> tuple[int, int, int, int]:
        """How many transitions, first labels, last labels and triplets there are."""
        L, ends = self.n_labels, self.n_labels * self.boundaries
        return L * L, ends, ends, L**3 * self.triplets

    @property
    def _of_features(self) -> tuple[int, int]:
        """How many weights emissions and label pairs have where they have all."""
        return self.n_columns * self.n_labels, self.n_pair_columns * self.n_labels**2

    @property
    def _blocks(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """First row, rows and width of the features of tokens and of label pairs."""
        return (0, self.n_columns, self.n_labels), (self.n_columns, self.n_pair_columns, self.n_labels**2)
