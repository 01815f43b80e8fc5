"""What is known of an output: one label, one of several, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags
from structlearn.data.examples import is_listed
from structlearn.data.labels import check_label, known_labels
from structlearn.wording import shown


def check_allowed(allowed: Any, n: int, what: str, *, name: str = "allowed") -> None:
    """Refuses what is no list with an entry for each of the n examples, which are called `what`."""
    if not is_listed(allowed) or len(allowed) != n:
        raise ValueError(f"{name} must say something about each of the {n} {what}, or be None")


def label_flags(entry: Any, codes: Mapping[Any, int], where: str, *, allow_unknown: bool = False) -> Flags:
    """Which labels an entry allows: None any, a set, frozenset or list those in it, everything else that one.

    Parameters
    ----------
    codes : mapping
        From labels to 0, 1, ….
    where : str
        What the entry is called in messages.
    allow_unknown : bool
        Whether labels without a code are passed over, perhaps until none is left.

    Examples
    --------
    >>> label_flags({"a", "c"}, {"a": 0, "b": 1, "c": 2}, "allowed[0]")
    array([ True, False,  True])
    """
    if entry is None:
        return np.ones(len(codes), bool)
    flags = np.zeros(len(codes), bool)
    for label in known_labels(entry):
        check_label(label, where)
        if label in codes:
            flags[codes[label]] = True
        elif not allow_unknown:
            raise ValueError(f"{where} is {shown(entry)}, but {shown(label)} is not one of the labels")
    if not (flags.any() or allow_unknown):
        raise ValueError(f"{where} is {shown(entry)}: no label is left")
    return flags
