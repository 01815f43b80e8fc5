"""Segmentations: labelled segments that follow one another, and the BIO tags they stand for."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

from structlearn.data.examples import is_listed
from structlearn.data.labels import check_label
from structlearn.data.tokens.tags import TagScheme, spans
from structlearn.wording import shown

#: A label, and the tokens begin, …, end − 1 that have it together.
Segment = tuple[Any, int, int]


def from_bio(tags: Sequence[str], where: str = "tags") -> list[Segment]:
    """The segments that tags of any BIO scheme stand for; a token outside of all spans is a segment "O" by itself.

    Tags are read as `structlearn.data.spans` reads them, by the rule of conlleval; `where` is what they are called in
    messages.

    >>> from_bio(["B-NP", "I-NP", "O", "O", "B-NP"])
    [('NP', 0, 2), ('O', 2, 3), ('O', 3, 4), ('NP', 4, 5)]
    """
    segments: list[Segment] = []
    for label, begin, end in [*spans(tags, where=where), ("", len(tags), len(tags))]:
        last = segments[-1][2] if segments else 0
        segments += [("O", t, t + 1) for t in range(last, begin)]
        if begin < end:
            segments.append((label, begin, end))
    return segments


def to_bio(segments: Sequence[Segment], scheme: TagScheme = "BIO") -> list[str]:
    """One tag a token, O for the label "O"; in BIO, B-label where a segment begins and I-label where it goes on.

    The type of a segment "_" is left out of its tags, as where `from_bio` reads tags without a type.

    >>> segments = [("NP", 0, 2), ("O", 2, 3), ("O", 3, 4), ("NP", 4, 5)]
    >>> to_bio(segments)
    ['B-NP', 'I-NP', 'O', 'O', 'B-NP']
    >>> to_bio(segments, "BIOES")
    ['B-NP', 'E-NP', 'O', 'O', 'S-NP']
    >>> to_bio(segments, "IOB1")
    ['I-NP', 'I-NP', 'O', 'O', 'I-NP']
    """
    tags: list[str] = []
    before: Any = "O"
    for label, begin, end in checked_segments(segments, "segments"):
        prefixes = (
            "O" * (end - begin) if label == "O" else _prefixes(end - begin, scheme, after_its_like=label == before)
        )
        kind = "" if label in ("O", "_") else f"-{label}"
        tags += [f"{prefix}{kind}" for prefix in prefixes]
        before = label
    return tags


def _prefixes(length: int, scheme: TagScheme, *, after_its_like: bool) -> str:
    if scheme == "BIOES":
        return "S" if length == 1 else f"B{'I' * (length - 2)}E"
    return ("I" if scheme == "IOB1" and not after_its_like else "B") + "I" * (length - 1)


class Segmentations(list[list[Segment]]):
    """Segmentations that have been checked; see `read_segmentations`."""


def read_segmentations(Y: Any) -> Segmentations:
    """Segments of several sequences; names what is none."""
    if isinstance(Y, Segmentations):
        return Y
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError("Y is empty; training needs at least one sequence")
    return Segmentations(checked_segments(y, f"Y[{i}]") for i, y in enumerate(Y))


def checked_segments(y: Any, where: str) -> list[Segment]:
    """Segments that begin at 0 and follow one another without gaps; names the first that does not."""
    if not is_listed(y):
        raise ValueError(f"{where} is {shown(y)}; expected a list of segments (label, begin, end)")
    reached = 0
    for k, segment in enumerate(y):
        label, begin, end = checked_triple(segment, f"{where}[{k}]")
        check_label(label, f"the label of {where}[{k}]")
        if begin > reached:
            raise ValueError(f"{where}[{k}] begins at {begin}, but the segments before it end at {reached}: a gap")
        if begin < reached:
            raise ValueError(f"{where}[{k}] begins at {begin}, but the segments before it end at {reached}: an overlap")
        if end <= begin:
            raise ValueError(f"{where}[{k}] is {shown(segment)}; it must end after it begins")
        reached = end
    return [(label, int(begin), int(end)) for label, begin, end in y]


def checked_triple(segment: Any, where: str) -> Segment:
    """A label of any kind with two whole numbers; names what is none."""
    if not (isinstance(segment, (tuple, list)) and len(segment) == 3):
        raise ValueError(f"{where} is {shown(segment)}; expected a segment (label, begin, end)")
    label, begin, end = segment
    if not all(isinstance(place, numbers.Integral) and abs(int(place)) < 2**63 for place in (begin, end)):
        raise ValueError(f"{where} is {shown(segment)}; begin and end must be whole numbers")
    return label, int(begin), int(end)
