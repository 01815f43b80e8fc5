"""The loss of dependency trees, by the arcs to their tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.options import real_option
from structlearn.data.ragged import offsets_of
from structlearn.losses.bound import MAX_LEVELS, BoundLoss, Levels, unit_of
from structlearn.waist.loss import AdditiveLoss, LocalParts


class WrongArcs(AdditiveLoss):
    """Δ(y, ŷ) = the number of tokens with a wrong head, plus `label` times that of those with only a wrong label.

    With ``label=1`` it is n − n·LAS, n tokens less those that the labelled attachment score counts, with 0 n − n·UAS.

    Parameters
    ----------
    label : float
        What a wrong label of a right arc costs.
    """

    def __init__(self, label: float = 1.0):
        self.label = label

    def check_options(self) -> None:
        real_option("label", self.label)

    def in_words(self) -> str:
        price = float(self.label)
        if price == 0.0:
            return "wrong heads"
        return "wrong heads or labels" if price == 1.0 else f"wrong heads, and wrong labels times {price:g}"

    def parts(self, truth: Any, local: LocalParts) -> FloatArray:
        found = np.ones(local.shape)
        for token, entry in enumerate(truth, 1):
            head, label = entry if isinstance(entry, tuple) else (entry, None)
            found[head, token] = 0.0 if label is None else float(self.label)
            if label is not None:
                found[head, token, local.labels.index(label)] = 0.0
        found[:, 0] = 0.0
        return found

    def bound(
        self, engine: _core.DependencyEngine, known: LabelArray, lengths: IntArray, n_labels: int, *, with_levels: bool
    ) -> BoundLoss:
        """The loss on truths (n_tokens, 2), see ``core/dependency/losses.hpp``."""
        truth, price = _core.TrueArcs(engine, known), float(self.label)
        unit = unit_of(np.array([1.0, price]))
        levels = None
        if with_levels and unit is not None and max(1.0, price) / unit < MAX_LEVELS:
            head, label = round(1.0 / unit), round(price / unit)
            n_levels = np.asarray(1 + max(head, label) * lengths, np.int64)
            levels = Levels.of_units(_core.WrongArcSteps(truth, head, label), n_levels, unit)
        identity = (known, np.array([price]))
        return BoundLoss(
            _core.WrongArcs(truth, 1.0, price), levels, self._local(known, lengths, n_labels), None, identity
        )

    def _local(self, known: LabelArray, lengths: IntArray, n_labels: int) -> Callable[[int], FloatArray] | None:
        """ℓ of an example, where all is known of all of them."""
        if known.min(initial=0) < 0:
            return None
        offsets = offsets_of(lengths)

        def local(i: int) -> FloatArray:
            heads, labels = known[offsets[i] : offsets[i + 1]].T
            tokens = np.arange(1, len(heads) + 1)
            found = np.ones((len(heads) + 1, len(heads) + 1, n_labels))
            found[:, 0] = 0.0
            found[heads, tokens] = float(self.label)
            found[heads, tokens, labels] = 0.0
            return found.ravel()

        return local
