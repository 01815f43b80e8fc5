"""What a motif looks like: the logo of the sites that were found."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.dna import BASES, Site, base_counts, consensus, information
from structlearn.drawing.markup import Html, element
from structlearn.models.motif.motif import Motif
from structlearn.report.subject import Subject
from structlearn.wording import count

#: Pixels of a place and of a bit; the share of the type size that capital letters of most typefaces are high and wide.
PLACE, BIT = 28.0, 60.0
CAPITAL, BROAD = 0.73, 0.72
#: Sequences that are shown with their sites.
MOST_EXAMPLES = 8
#: As in pictures of matplotlib, light enough for a dark page.
COLOURS = {"A": "#3f9a43", "C": "#3f7fc4", "G": "#d98200", "T": "#d9532f"}


def section(subject: Subject) -> Html | None:
    model = subject.model
    if not isinstance(model, Motif):
        return None
    logos = Html("".join(_logos(list(subject.X), subject.latent, model.widths)))
    return Html(logos + _examples(subject)) if logos else None


def _logos(X: list[str], sites: list[Site | None], widths: tuple[int, ...]) -> Iterator[Html]:
    for width in widths:
        chosen = [site if site is not None and site.width == width else None for site in sites]
        n = sum(site is not None for site in chosen)
        if n:
            counts = base_counts(X, chosen)
            yield element(
                "p",
                f"The letters at the sites in {count(n, 'sequence')} that are predicted to be positive. The higher a "
                "stack, the more a place tells, at most 2 bits. In one line: ",
                element("code", consensus(counts)),
                ".",
            )
            yield element("div", _logo(counts), class_="wide")


def _examples(subject: Subject) -> Html:
    found = [i for i, site in enumerate(subject.latent) if site is not None][:MOST_EXAMPLES]
    words = "The first sequences with a site, which is marked." if len(found) > 1 else "The only sequence with a site."
    drawings = [drawing.html for i in found if (drawing := subject.drawing(i)) is not None]
    return Html(element("p", words, class_="note") + "".join(drawings))


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
