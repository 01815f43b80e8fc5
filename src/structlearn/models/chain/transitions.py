"""Which labels may follow which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

Mask = npt.NDArray[np.bool_]

#: "BIO", "BIOES", or the allowed pairs (from, to), with None for what is before the first and after the last label.
AllowedTransitions = Literal["BIO", "BIOES"] | Iterable[tuple[Any, Any]]


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
        if allowed not in ("BIO", "BIOES"):
            raise ValueError(f"allowed_transitions is {allowed!r}; it may be 'BIO', 'BIOES' or pairs of labels")
        for label in classes:
            _position(label, allowed)
        moves = np.array([[_follows(before, after, allowed) for after in classes] for before in classes])
        start = np.array([_follows(None, label, allowed) for label in classes])
        stop = np.array([_follows(label, None, allowed) for label in classes])
        return TransitionMask(moves, start, stop)
    codes = {label: code for code, label in enumerate(classes)}
    L = len(classes)
    mask = TransitionMask(np.zeros((L, L), bool), np.zeros(L, bool), np.zeros(L, bool))
    for pair in allowed:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2):
            raise ValueError(f"allowed_transitions holds {pair!r}; expected pairs (from, to)")
        before, after = pair
        for label in pair:
            if label is not None and label not in codes:
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


def _follows(before: Any, after: Any, scheme: str) -> bool:
    """Whether one label may follow another; None is what is beyond the ends."""
    last, last_type = _position(before, scheme)
    next_, next_type = _position(after, scheme)
    inside = next_ in "IE" and next_ != ""
    if scheme == "BIO":
        return not inside or (last in ("B", "I") and last_type == next_type)
    return inside == (last in ("B", "I")) and (not inside or last_type == next_type)


def _position(label: Any, scheme: str) -> tuple[str, str]:
    """The letter of a tag and its type; an empty letter beyond the ends."""
    if label is None:
        return "", ""
    letter, _, kind = str(label).partition("-")
    if letter not in (*scheme, "O"):
        raise ValueError(f"allowed_transitions={scheme!r} does not fit the label {label!r}")
    return letter, kind
