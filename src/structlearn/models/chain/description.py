"""What the weights and the parts of a chain are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.models.chain.transitions import TransitionMask
from structlearn.models.description import TransitionScores, WeightBlock


def chain_scores(blocks: Sequence[WeightBlock], balance: float, mask: TransitionMask | None) -> TransitionScores:
    """What the transitions among the blocks of a chain add to scores."""
    found = {block.kind: balance * block.weights for block in blocks if block.kind in ("transitions", "start", "stop")}
    if mask is not None:
        for kind, allowed in (("transitions", mask.moves), ("start", mask.start), ("stop", mask.stop)):
            if kind in found:
                found[kind] = np.where(allowed, found[kind], np.nan)
    labels = next(block.axes[0] for block in blocks if block.kind == "transitions")
    return TransitionScores(labels, found["transitions"], found.get("start"), found.get("stop"))


def chain_part(part: int, length: int, labels: Sequence[Any], *, pairs: bool, boundaries: bool) -> str:
    """What a part of a sequence is called, by its number; see ``core/chain/structure.hpp``."""
    L = len(labels)
    if part < length * L:
        return f"token {part // L}: {labels[part % L]}"
    part -= length * L
    n_pairs = max(length - 1, 0) * L * L if pairs else 0
    if part < n_pairs:
        t, pair = divmod(part, L * L)
        return f"tokens {t} and {t + 1}: {labels[pair // L]} → {labels[pair % L]}"
    part -= n_pairs
    if part < L * L:
        return f"{labels[part // L]} → {labels[part % L]}"
    part -= L * L
    if boundaries and part < 2 * L:
        return f"start → {labels[part]}" if part < L else f"{labels[part - L]} → stop"
    part -= 2 * L * boundaries
    middle, before, after = part // L**2, part // L % L, part % L
    return f"{labels[before]} → {labels[middle]} → {labels[after]}"
