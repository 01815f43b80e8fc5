"""Which labels may follow which."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from structlearn.data.tokens.tags import TagScheme, follows
from structlearn.wording import shown

Mask = npt.NDArray[np.bool_]
_SCHEMES = ", ".join(map(repr, get_args(TagScheme)))

#: A scheme of tags, or the allowed pairs (from, to), with None for what is before the first and after the last label.
AllowedTransitions = TagScheme | Iterable[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class TransitionMask:
    """What is allowed: from row to column, as the first label, and as the last."""

    moves: Mask
    start: Mask
    stop: Mask

    def flat(self) -> npt.NDArray[np.uint8]:
        """All three, one after another, as the core reads them."""
        return np.concatenate([self.moves.ravel(), self.start, self.stop]).astype(np.uint8)


def transition_mask(allowed: AllowedTransitions, classes: Sequence[Any]) -> TransitionMask:
    """The mask over the given labels.

    >>> transition_mask("BIO", ["B-NP", "I-NP", "O"]).moves.astype(int)
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 0, 1]])
    """
    if isinstance(allowed, str):
        return _mask_of_scheme(allowed, classes)
    if not isinstance(allowed, Iterable):
        raise ValueError(f"allowed_transitions is {shown(allowed)}; it may be {_SCHEMES} or pairs of labels")
    codes = {label: code for code, label in enumerate(classes)}
    L = len(classes)
    mask = TransitionMask(np.zeros((L, L), bool), np.zeros(L, bool), np.zeros(L, bool))
    for pair in allowed:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise ValueError(f"allowed_transitions holds {pair!r}; expected pairs (from, to)")
        before, after = pair
        for label in pair:
            if label is not None and (not isinstance(label, Hashable) or label not in codes):
                raise ValueError(f"allowed_transitions holds {pair!r}, but {label!r} is not one of the labels")
        if before is not None and after is not None:
            mask.moves[codes[before], codes[after]] = True
        elif after is not None:
            mask.start[codes[after]] = True
        elif before is not None:
            mask.stop[codes[before]] = True
    # Ends that are not spoken of are free.
    for end in (mask.start, mask.stop):
        if not end.any():
            end[:] = True
    return mask


def _mask_of_scheme(scheme: TagScheme, classes: Sequence[Any]) -> TransitionMask:
    if scheme not in get_args(TagScheme):
        raise ValueError(f"allowed_transitions is {scheme!r}; it may be {_SCHEMES} or pairs of labels")
    for label in classes:
        try:
            follows(None, label, scheme)
        except ValueError:
            raise ValueError(f"allowed_transitions={scheme!r} does not fit the label {shown(label)}") from None
    moves = np.array([[follows(before, after, scheme) for after in classes] for before in classes])
    start = np.array([follows(None, label, scheme) for label in classes])
    stop = np.array([follows(label, None, scheme) for label in classes])
    return TransitionMask(moves, start, stop)
