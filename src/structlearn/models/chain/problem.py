"""A chain bound to data: its decoders, and its planes in weight space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.ragged import Ragged, reduced, summed
from structlearn.data.tokens import TokenMatrix
from structlearn.losses.bound import BoundLoss, no_levels
from structlearn.models.chain.description import chain_part
from structlearn.models.chain.transitions import TransitionMask
from structlearn.models.composed import ComposedProblem, token_scorer
from structlearn.waist.planes import Outputs


class ChainProblem(ComposedProblem):
    """A `Chain` model bound to data. Outputs are label codes, see `Ragged`.

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
        loss: BoundLoss,
        judged_loss: BoundLoss,
        balance: float,
        boundaries: bool,
        order: int,
        pair_tokens: TokenMatrix | None,
        allowed_labels: npt.NDArray[np.bool_] | None,
        allowed_transitions: TransitionMask | None,
        observed_only: bool,
    ):
        self._tokens = tokens
        self._pair_tokens = pair_tokens
        self._offsets = offsets
        self._codes = codes
        self._classes = tuple(classes)
        self._labels = np.fromiter(classes, object, len(classes))
        self._balance = balance
        self._boundaries = boundaries
        self._order = order
        self._masks = (
            None if allowed_labels is None else allowed_labels.astype(np.uint8).ravel(),
            None if allowed_transitions is None else allowed_transitions.flat(),
        )
        L, T = len(classes), np.diff(offsets)
        pairs_at = (tokens.n_columns + L + 2 * boundaries) * L
        triplets_at = pairs_at + (0 if pair_tokens is None else pair_tokens.n_columns * L * L)
        n_features = triplets_at + (L**3 if order == 2 else 0)
        self._kept = self._observed() if observed_only else None
        blocks = [(tokens, 0, L, False)]
        if pair_tokens is not None:
            blocks.append((pair_tokens, pairs_at, L * L, True))
        tied = [(tokens.n_columns * L, (L + 2 * boundaries) * L, balance)]
        if order == 2:
            tied.append((triplets_at, L**3, balance))
        scores = token_scorer(offsets, blocks, tied, n_features, kept=self._kept)
        engine = _core.ChainEngine(offsets, L, boundaries, pair_tokens is not None, *self._masks)
        sizes = T * L + sum(size for _, size, _ in tied)
        if pair_tokens is not None:
            sizes = sizes + np.maximum(T - 1, 0) * L * L
        super().__init__(
            (_core.SecondOrderChain if order == 2 else _core.Chain)(engine, scores),
            n_features,
            sizes,
            None if codes is None else Ragged(codes, offsets),
            loss,
            judged_loss,
            scores,
        )

    def missing(self, oracle: str) -> str:
        return no_levels(self._offsets, len(self._classes) ** self._order, self._loss)

    def feature_totals(self) -> FloatArray:
        sums = summed(self._tokens.totals(), self._offsets)
        if self._pair_tokens is not None:
            inner = self._pair_tokens.totals()
            inner[self._offsets[1:] - 1] = 0.0
            sums = sums + summed(inner, self._offsets)
        shared = np.diff(self._offsets) - 1 + 2 * self._boundaries + self._triplets()
        return np.asarray(sums + self._balance * shared)

    def label_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_t = l | x) of every sequence, (length, n_labels)."""
        return self._token_marginals(w, np.diff(self._offsets), len(self._classes))

    def pair_probabilities(self, w: FloatArray) -> list[FloatArray]:
        """P(y_t = k, y_{t+1} = l | x) of every sequence, (length − 1, n_labels, n_labels)."""
        L = len(self._classes)
        return [pairs.reshape(-1, L, L) for pairs in self._pair_marginals(w)]

    def most_probable_labels(self, w: FloatArray) -> Ragged:
        return Ragged.of([nodes.argmax(axis=1) for nodes in self.label_probabilities(w)])

    def part_names(self, i: int, parts: IntArray) -> list[str]:
        length = int(self._offsets[i + 1] - self._offsets[i])
        options = {"pairs": self._pair_tokens is not None, "boundaries": self._boundaries}
        return [chain_part(part, length, self._classes, **options) for part in parts.tolist()]

    def token_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of what emits at a token, all sequences counted through."""
        return self._tokens.row(token)

    def pair_features(self, token: int) -> tuple[IntArray, FloatArray]:
        """The columns and values of what scores the labels of a token and the next; nothing if the model has none."""
        return (np.empty(0, np.int64), np.empty(0)) if self._pair_tokens is None else self._pair_tokens.row(token)

    def sizes(self) -> dict[str, int]:
        return {"examples": self.n_examples, "tokens": self._tokens.n_tokens}

    def fingerprint(self) -> str:
        tokens = self._tokens
        options = np.array([self._balance, self._boundaries, self._loss.zero_one, tokens.n_columns])
        arrays: list[npt.NDArray[Any]] = [
            tokens.indptr,
            tokens.columns,
            tokens.values,
            self._offsets,
            *self._loss.identity,
            options,
        ]
        if self._codes is not None:
            arrays.insert(4, self._codes)
        arrays += [mask for mask in (*self._masks, self._kept) if mask is not None]
        if self._pair_tokens is not None:
            arrays += [self._pair_tokens.indptr, self._pair_tokens.columns, self._pair_tokens.values]
        return digest(*arrays)

    def radii(self) -> FloatArray:
        # Proposition 25, with the term for the two ends: each moves one unit from one label to another.
        T = np.diff(self._offsets)
        R = reduced(np.maximum, self._tokens.norms(), self._offsets)
        ends = 4.0 if self._boundaries else 0.0
        squares: FloatArray = 2.0 * T**2 * R**2 + self._balance**2 * (2.0 * (T - 1) ** 2 + ends)
        if self._pair_tokens is not None:
            squares = squares + 2.0 * (T - 1) ** 2 * reduced(np.maximum, self._pair_tokens.norms(), self._offsets) ** 2
        return np.sqrt(squares + 2.0 * (self._balance * self._triplets()) ** 2)

    def present(self, outputs: Outputs) -> list[list[Any]]:
        out = Ragged.of(outputs)
        names = self._names(out.flat)
        return [names[begin:end] for begin, end in pairwise(out.offsets.tolist())]

    def best_per_loss_level(self, w: FloatArray, example: int) -> list[tuple[float, list[Any], float]]:
        """(loss, labels, score) of the best output at every loss that the example can have."""
        levels = self._loss.levels
        if levels is None:
            raise ValueError("loss levels need labels and a loss on a grid" + self.missing("loss_levels"))
        found, scores, outputs = self._core.best_per_level(w, example, levels.steps)
        losses = levels.values(np.array([example]))[found].tolist()
        return list(zip(losses, self.present(Ragged(*outputs)), scores.tolist(), strict=True))

    def _observed(self) -> npt.NDArray[np.uint8]:
        """Which weights belong to features that occur with their label in the data."""
        assert self._codes is not None
        L = len(self._classes)
        kept = np.zeros(self._n_pair_features(), np.uint8)
        kept[self._tokens.columns.astype(np.int64) * L + self._codes[self._tokens.row_numbers()]] = 1
        base = self._tokens.n_columns * L
        inner = np.ones(len(self._codes), bool)
        inner[self._offsets[1:] - 1] = False
        pairs = np.zeros(len(self._codes), np.int64)
        pairs[:-1] = self._codes[:-1].astype(np.int64) * L + self._codes[1:]
        kept[base + pairs[inner]] = 1
        base += L * L
        if self._boundaries:
            kept[base + self._codes[self._offsets[:-1]]] = 1
            kept[base + L + self._codes[self._offsets[1:] - 1]] = 1
            base += 2 * L
        if self._pair_tokens is not None:
            rows = self._pair_tokens.row_numbers()
            columns = self._pair_tokens.columns[inner[rows]].astype(np.int64)
            kept[base + columns * L * L + pairs[rows[inner[rows]]]] = 1
        if self._order == 1:
            return kept
        triplets = np.zeros((L, L, L), np.uint8)
        middle = np.ones(len(self._codes), bool)
        middle[self._offsets[:-1]] = middle[self._offsets[1:] - 1] = False
        at = np.flatnonzero(middle)
        triplets[self._codes[at], self._codes[at - 1], self._codes[at + 1]] = 1
        return np.concatenate([kept, triplets.ravel()])

    def _n_pair_features(self) -> int:
        """How many weights there are, those of triplets aside."""
        L = len(self._classes)
        pairs = 0 if self._pair_tokens is None else self._pair_tokens.n_columns
        return (self._tokens.n_columns + L + 2 * self._boundaries + pairs * L) * L

    def _triplets(self) -> IntArray:
        """How many every sequence has."""
        return np.asarray(np.maximum(np.diff(self._offsets) - 2, 0) * (self._order == 2))

    def _names(self, labels: npt.NDArray[Any]) -> list[Any]:
        names: list[Any] = self._labels[labels].tolist()
        return names
