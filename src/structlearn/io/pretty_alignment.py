"""Alignments in the terminal: two rows with a line of signs between them, in colours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.text import Text

from structlearn.models.alignment import Matches, to_gapped
from structlearn.models.substitution import BLOSUM62

#: Signs and colours of equal letters, of those that often replace one another, of others, and of gaps.
EQUAL, ALIKE, OTHER, GAP = ("|", "green"), (":", "yellow"), (".", "red"), (" ", "dim")


def alignment_text(
    s: str,
    t: str,
    matches: Matches,
    *,
    names: Sequence[str] = ("", ""),
    matrix: Mapping[tuple[str, str], float] = BLOSUM62,
    width: int = 60,
) -> Text:
    """A `rich` text of an alignment: equal letters green, letters that score above 0 yellow, other matches red.

    Numbers at the ends of rows say how many letters have been shown.

    Examples
    --------
    >>> print(alignment_text("HEAGAW", "EAGW", ((1, 0), (2, 1), (3, 2), (5, 3)), names=["s", "t"]).plain)
    s HEAGAW 6
       ||| |
    t -EAG-W 4
    """
    rows = to_gapped(s, t, matches)
    head = max(map(len, names)) + 1 if any(names) else 0
    text = Text()
    shown = [0, 0]
    for begin in range(0, len(rows[0]), width):
        top, bottom = (row[begin : begin + width] for row in rows)
        kinds = [_kind(a, b, matrix) for a, b in zip(top, bottom, strict=True)]
        if begin:
            text.append("\n\n")
        for side, row in enumerate((top, bottom)):
            shown[side] += sum(letter != "-" for letter in row)
            text.append(names[side].ljust(head))
            for letter, (_, colour) in zip(row, kinds, strict=True):
                text.append(letter, colour)
            text.append(f" {shown[side]}")
            if side == 0:
                signs = "".join(sign for sign, _ in kinds).rstrip()
                text.append("\n" + " " * head + signs + "\n")
    return text


def _kind(a: str, b: str, matrix: Mapping[tuple[str, str], float]) -> tuple[str, str]:
    if "-" in (a, b):
        return GAP
    if a == b:
        return EQUAL
    return ALIKE if matrix.get((a, b), 0.0) > 0 else OTHER
