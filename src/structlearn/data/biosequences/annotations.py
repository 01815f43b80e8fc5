"""Sequences with annotations: residues, structures, accessibilities, profiles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from structlearn.data.examples import is_listed
from structlearn.data.labels import check_label
from structlearn.data.matrices import check_finite, checked_numbers
from structlearn.wording import shown

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
        if not is_listed(x) or len(x) != 2:
            raise ValueError(f"X[{i}] is no pair of sequences")
    sides = ([annotated(x[side], f"X[{i}][{side}]") for i, x in enumerate(pairs)] for side in (0, 1))
    return AnnotatedPairs(*sides)


def annotated(sequence: Any, where: str) -> dict[str, Any]:
    """The annotations of a sequence, of one length and not empty.

    A text or a list is its residues; one that was read from a file may have `annotations` beside them.
    """
    beside = getattr(sequence, "annotations", {})
    parts = dict(sequence) if isinstance(sequence, Mapping) else {"residue": sequence, **beside}
    unknown = sorted(set(map(str, parts)) - {*ANNOTATIONS, "profile"})
    if unknown:
        raise ValueError(f"{where} has the annotation {unknown[0]!r}; there are {', '.join(ANNOTATIONS)} and profile")
    if "residue" not in parts:
        raise ValueError(f"{where} has no 'residue'")
    for name, values in parts.items():
        if not (is_listed(values) or isinstance(values, str)):
            raise ValueError(f"{where} is {shown(values)}; expected a text, a list of symbols or a dict of annotations")
        for k, symbol in enumerate(() if name == "profile" or isinstance(values, str) else values):
            check_label(symbol, f"{where}[{k}]" if name == "residue" else f"{where}[{name!r}][{k}]", "a symbol")
        if len(values) != len(parts["residue"]):
            raise ValueError(f"{where} has {len(values)} values of {shown(name)} but {len(parts['residue'])} letters")
    if not len(parts["residue"]):
        raise ValueError(f"{where} is an empty sequence")
    if "profile" in parts:
        profile = checked_numbers(parts["profile"], f"{where}['profile']")
        if profile.ndim != 2:
            raise ValueError(f"{where} has a profile of {profile.ndim} dimensions; it must be a matrix")
        check_finite(profile, lambda i, j: f"{where}['profile'][{i}, {j}]")
    return parts
