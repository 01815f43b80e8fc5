"""What a motif looks like: its best letters, and the logo of its sites."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.text import Text

from structlearn.data.arrays import FloatArray
from structlearn.data.biosequences.dna import BASES, Site, base_counts, consensus, information
from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import Html, element
from structlearn.wording import count

#: Pixels of a place and of a bit; the share of the type size that capital letters of most typefaces are high and wide.
PLACE, BIT = 28.0, 60.0
CAPITAL, BROAD = 0.73, 0.72
#: As in pictures of matplotlib, light enough for a dark page.
COLOURS = {"A": "#3f9a43", "C": "#3f7fc4", "G": "#d98200", "T": "#d9532f"}


def draw_pattern(letters: str, score: float, changes: FloatArray) -> Drawing:
    """The letters of the best site, and by how much others in their places, (width, 4), change its score.

    Examples
    --------
    >>> print(draw_pattern("AC", 2.0, np.array([[0.0, -1, -1, -1], [-1, 0, -1, -0.5]])))
    pattern AC: the letters of the best site, score 2.000; other letters change it by
    place letter       A       C       G       T
        1      A       ·  -1.000  -1.000  -1.000
        2      C  -1.000       ·  -1.000  -0.500
    """
    lines = [
        f"pattern {letters}: the letters of the best site, score {score:.3f}; other letters change it by",
        "place letter" + "".join(f"{base:>8}" for base in BASES),
    ]
    for place, (letter, row) in enumerate(zip(letters, changes.tolist(), strict=True), 1):
        shown = ("·" if base == letter else f"{change:.3f}" for base, change in zip(BASES, row, strict=True))
        lines.append(f"{place:>5}{letter:>7}" + "".join(f"{text:>8}" for text in shown))
    text = "\n".join(lines)
    return Drawing(Text(text), element("pre", text))


def draw_logos(X: Sequence[str], sites: Sequence[Site | None], widths: Sequence[int]) -> Html:
    """A sequence logo of the sites of each width, with a sentence each; nothing where there are no sites."""
    chosen = [[site if site is not None and site.width == width else None for site in sites] for width in widths]
    return Html("".join(_told_logo(X, some) for some in chosen if any(some)))


def _told_logo(X: Sequence[str], sites: Sequence[Site | None]) -> Html:
    counts = base_counts(X, sites)
    n = sum(site is not None for site in sites)
    words = element(
        "p",
        f"The letters at the sites in {count(n, 'sequence')} that are predicted to be positive. The higher a stack, "
        "the more a place tells, at most 2 bits. In one line: ",
        element("code", consensus(counts)),
        ".",
    )
    return Html(words + element("div", _logo(counts), class_="wide"))


def _logo(counts: FloatArray) -> Html:
    heights = counts / counts.sum(axis=1, keepdims=True) * information(counts)[:, None]
    letters = []
    for place, column in enumerate(heights):
        bottom = 2.0 * BIT
        for code in np.argsort(column, kind="stable"):
            if column[code] > 0.0:
                wide, high = PLACE / BROAD, BIT * column[code] / CAPITAL
                where = f"translate({(place + 0.5) * PLACE:g} {bottom:.2f}) scale({wide:.3f} {high:.3f})"
                style = {"font_size": 1, "font_weight": "bold", "text_anchor": "middle", "font_family": "sans-serif"}
                letters.append(element("text", BASES[code], transform=where, fill=COLOURS[BASES[code]], **style))
                bottom -= BIT * column[code]
    size = (PLACE * len(counts), 2.0 * BIT + 2.0)
    label = f"sequence logo of {consensus(counts)}"
    return element(
        "svg",
        letters,
        viewBox=f"0 0 {size[0]:g} {size[1]:g}",
        width=f"{size[0]:g}",
        height=f"{size[1]:g}",
        role="img",
        aria_label=label,
    )
