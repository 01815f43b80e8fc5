"""Sequences with the site of a motif."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from structlearn.data.biosequences.dna import Site, site_letters
from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import element

#: A sequence of more lines than this is shown around its site only.
MOST_LINES = 6
#: What stands below the letters of a site, in the direction in which they are read.
ARROWS = {"+": ">", "-": "<"}


def draw_site(x: str, site: Site | None, label: Any, truth: Any = None, *, width: int = 100) -> Drawing:
    """A sequence with the letters of its site marked, by > or, where they are read on the other strand, by <.

    Places are counted from 1, and both ends belong to the site. Of long sequences only the lines are shown in which the
    site lies; numbers are those of the first and the last letter of a line.

    Parameters
    ----------
    x : str
        If it has a `header`, as from a FASTA file, its first word is the name.
    site : Site or None
    label, truth : labels
        The predicted one, and the true one if it is known.
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_site("GGTTTACCAT", Site(2, "-", 4), 1))
    1, site 3 to 6 on strand -: TAAA
     1 GGTTTACCAT 10
         <<<<
    >>> print(draw_site("GGTTTACCAT", None, 0, truth=1))
    0, no site ✗ true is 1
     1 GGTTTACCAT 10
    """
    title = _title(x, site, label)
    wrong = "" if truth is None or truth == label else f" ✗ true is {truth}"
    digits = len(str(len(x)))
    room = max((width - 2 * (digits + 1)) // 10 * 10, 10)
    blocks = list(range(0, len(x), room)) or [0]
    begin, end = (0, 0) if site is None else (site.start, site.start + site.width)
    if len(blocks) > MOST_LINES:
        blocks = [k for k in blocks if k < max(end, 1) and begin < k + room]
    lines = [Text.assemble(title, (wrong, "bold red"))]
    rows: list[Any] = []
    left_out = "" if len(blocks) * room >= len(x) else f"… of {len(x):,} letters"
    for k in blocks:
        letters, last = x[k : k + room], min(k + room, len(x))
        first, after = (min(max(place - k, 0), len(letters)) for place in (begin, end))
        head = f"{k + 1:>{digits}} "
        parts = letters[:first], letters[first:after], letters[after:]
        lines.append(Text.assemble(head, parts[0], (parts[1], "bold green"), parts[2], f" {last}"))
        marked = None
        if site is not None and after > first:
            arrows = ARROWS[site.strand] * (after - first)
            lines.append(Text.assemble(" " * (len(head) + first), (arrows, "green")))
            marked = element("mark", parts[1])
        rows += [head, parts[0], marked, parts[2], f" {last}\n"]
    if left_out:
        lines.append(Text(left_out, "dim"))
        rows.append(left_out)
    caption = element("figcaption", title, element("b", wrong) if wrong else None)
    figure = element("figure", caption, element("pre", rows, class_="alignment"))
    return Drawing(Text("\n").join(lines), element("div", figure, class_="drawing"))


def _title(x: str, site: Site | None, label: Any) -> str:
    name = next(iter(getattr(x, "header", "").split()), "")
    where = "no site"
    if site is not None:
        first, last = site.start + 1, site.start + site.width
        where = f"site {first} to {last} on strand {site.strand}: {site_letters(x, site)}"
    return f"{name + ': ' if name else ''}{label}, {where}"
