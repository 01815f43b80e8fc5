"""A chain bound to data: its decoders, and its planes in weight space."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray, digest
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.data.ragged import Ragged, reduced, summed
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.losses.bound import BoundLoss, no_levels
from structlearn.models.chain.description import chain_part
from structlearn.models.chain.transitions import TransitionMask
from structlearn.models.pair_weights import PairedProblem, fixed_layout, observed_pairs
from structlearn.models.token_scorer import token_scorer
from structlearn.waist.planes import Outputs


class ChainProblem(PairedProblem):
    """A `Chain` model bound to data. Outputs are label codes, see `Ragged`.

    `codes` is the truth that training aims at; `loss` belongs to it, `judged_loss` to the one that predictions are
    compared with.

    w is as `Chain` says, with a weight for every feature and label; or, where `pairs` says which of them have one, the
    shared weights (transitions, ends, triplets) and then those of the pairs.
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
        pairs: FeaturePairs | None = None,
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
        self.truths = None if codes is None else Ragged(codes, offsets)
        self._loss, self._judged_loss = loss, judged_loss
        self._kept = None
        if observed_only and pairs is None:
            pairs, self._kept = self._observed()
        self._compose(None if pairs is None else fixed_layout(self._n_shared, pairs), grows=False)

    def _compose(self, layout: _core.PairLayout | None, *, grows: bool) -> None:
        L, T = len(self._classes), np.diff(self._offsets)
        n_emissions = self._tokens.n_columns * L if layout is None else 0
        n_pairs = 0 if layout or self._pair_tokens is None else self._pair_tokens.n_columns * L * L
        steps = (L + 2 * self._boundaries) * L
        blocks = [(self._tokens, 0, L, False)]
        sizes = T * L + self._n_shared
        if self._pair_tokens is not None:
            blocks.append((self._pair_tokens, n_emissions + steps, L * L, True))
            sizes = sizes + np.maximum(T - 1, 0) * L * L
        tied = [(n_emissions, steps, self._balance)]
        if self._order == 2:
            tied.append((n_emissions + steps + n_pairs, L**3, self._balance))
        n_features = n_emissions + n_pairs + self._n_shared if layout is None else layout.n_weights
        scores = token_scorer(self._offsets, blocks, tied, n_features, kept=self._kept, layout=layout)
        engine = _core.ChainEngine(self._offsets, L, self._boundaries, self._pair_tokens is not None, *self._masks)
        core = (_core.SecondOrderChain if self._order == 2 else _core.Chain)(engine, scores)
        super().__init__(core, n_features, sizes, self.truths, self._loss, self._judged_loss, scores, layout, grows)

    @property
    def _n_shared(self) -> int:
        L = len(self._classes)
        return (L + 2 * self._boundaries) * L + (L**3 if self._order == 2 else 0)

    @property
    def _feature_blocks(self) -> list[tuple[TokenMatrix, int]]:
        L = len(self._classes)
        return [(self._tokens, L)] + ([] if self._pair_tokens is None else [(self._pair_tokens, L * L)])

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

    def _observed(self) -> tuple[FeaturePairs, npt.NDArray[np.uint8]]:
        """Which features occur with which labels in the data, and which of the shared parts occur."""
        assert self._codes is not None
        L = len(self._classes)
        pairs = np.full(len(self._codes), -1, np.int64)
        inner = np.ones(len(self._codes), bool)
        inner[self._offsets[1:] - 1] = False
        at = np.flatnonzero(inner)
        pairs[at] = self._codes[at].astype(np.int64) * L + self._codes[at + 1]
        blocks: list[tuple[TokenMatrix, npt.NDArray[Any], int]] = [(self._tokens, self._codes, L)]
        if self._pair_tokens is not None:
            blocks.append((self._pair_tokens, pairs, L * L))
        shared = np.zeros(self._n_shared, np.uint8)
        shared[pairs[at]] = 1
        if self._boundaries:
            shared[L * L + self._codes[self._offsets[:-1]]] = 1
            shared[L * L + L + self._codes[self._offsets[1:] - 1]] = 1
        if self._order == 2:
            inner[self._offsets[:-1]] = False
            at = np.flatnonzero(inner)
            triplets = shared[(L + 2 * self._boundaries) * L :].reshape(L, L, L)
            triplets[self._codes[at], self._codes[at - 1], self._codes[at + 1]] = 1
        return observed_pairs(blocks), shared

    def _triplets(self) -> IntArray:
        """How many every sequence has."""
        return np.asarray(np.maximum(np.diff(self._offsets) - 2, 0) * (self._order == 2))

    def _names(self, labels: npt.NDArray[Any]) -> list[Any]:
        names: list[Any] = self._labels[labels].tolist()
        return names
