"""Sequences with annotations: residues, structures, accessibilities, profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

#: The annotations with codes, in the order in which they are put together.
ANNOTATIONS = ("residue", "structure", "accessibility")


class AnnotatedPairs(NamedTuple):
    """The two sequences of every pair as dicts of annotations that have been checked; see `read_pairs`."""

    first: list[dict[str, Any]]
    second: list[dict[str, Any]]


def read_pairs(X: Any) -> AnnotatedPairs:
    """Pairs of sequences, each a text, a list of symbols or a dict of annotations; names what is none."""
    if isinstance(X, AnnotatedPairs):
        return X
    pairs = list(X)
    for i, x in enumerate(pairs):
        if isinstance(x, (str, bytes, Mapping)) or not hasattr(x, "__len__") or len(x) != 2:
            raise ValueError(f"X[{i}] is no pair of sequences")
    sides = ([annotated(x[side], f"X[{i}][{side}]") for i, x in enumerate(pairs)] for side in (0, 1))
    return AnnotatedPairs(*sides)


def annotated(sequence: Any, where: str) -> dict[str, Any]:
    """The annotations of a sequence, of one length and not empty; a text or a list is its residues."""
    parts = dict(sequence) if isinstance(sequence, Mapping) else {"residue": sequence}
    unknown = sorted(set(map(str, parts)) - {*ANNOTATIONS, "profile"})
    if unknown:
        raise ValueError(f"{where} has the annotation {unknown[0]!r}; there are {', '.join(ANNOTATIONS)} and profile")
    if "residue" not in parts:
        raise ValueError(f"{where} has no 'residue'")
    for name, values in parts.items():
        if not hasattr(values, "__len__") or isinstance(values, bytes):
            raise ValueError(f"{where} is {values!r}; expected a text, a list of symbols or a dict of annotations")
        if len(values) != len(parts["residue"]):
            raise ValueError(f"{where} has {len(values)} values of {name!r} but {len(parts['residue'])} letters")
    if not len(parts["residue"]):
        raise ValueError(f"{where} is an empty sequence")
    if "profile" in parts and np.ndim(parts["profile"]) != 2:
        raise ValueError(f"{where} has a profile of {np.ndim(parts['profile'])} dimensions; it must be a matrix")
    return parts
