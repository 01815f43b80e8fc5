"""Matchings: the rows with their partners, and lines between two lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from structlearn.drawing.base import Drawing
from structlearn.drawing.label_signs import INK, WRONG
from structlearn.drawing.markup import Html, element
from structlearn.wording import count

#: Rows that a terminal shows, and rows or columns that a report shows.
MOST_LINES, MOST_NAMES = 40, 60
#: Of the picture, in pixels: the height of a name, the width of a letter, and how far the two lists are apart.
LINE, LETTER, BETWEEN, MARGIN = 18, 7, 140, 6
#: Letters of a name that are shown.
LONGEST_NAME = 24
FOUND = "#2f7d32"

Pair = tuple[int, int]


class Compared(NamedTuple):
    """Pairs of a matching, and those that only it has, or only the truth."""

    pairs: set[Pair]
    made_up: set[Pair]
    missed: set[Pair]


def draw_matching(
    rows: Sequence[Any],
    columns: Sequence[Any],
    pairs: Iterable[Pair],
    truth: Iterable[Pair] | None = None,
    *,
    width: int = 100,
) -> Drawing:
    """A matching of things with names; beside a truth pairs that are made up have ✗, and those that are missed ✓.

    Possible pairs of a truth of `structlearn.data.Links` are neither. A report has the two lists with lines between
    them, those made up red and those missed green and dashed.

    Parameters
    ----------
    rows, columns : sequences
        What they are called.
    pairs, truth : pairs (row, column)
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_matching(["the", "blue", "house"], ["la", "maison", "bleue"], [(0, 0), (1, 1)], [(0, 0), (2, 1)]))
    1 right, 1 made up, 1 missed
    the   - la
    blue  - maison✗
    house - maison✓
    """
    found = {(int(i), int(j)) for i, j in pairs}
    true = found if truth is None else {(int(i), int(j)) for i, j in truth}
    compared = Compared(found, found - true - set(getattr(truth, "possible", ())), true - found)
    title = count(len(found), "pair")
    if truth is not None:
        made_up, missed = len(compared.made_up), len(compared.missed)
        title = f"{len(found) - made_up} right, {made_up} made up, {missed} missed"
    names = [_cut(str(row)) for row in rows], [_cut(str(column)) for column in columns]
    return Drawing(_text(*names, compared, title, width), _html(*names, compared, title))


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def _text(rows: list[str], columns: list[str], compared: Compared, title: str, width: int) -> Text:
    lines = [Text(title, "dim")]
    longest = max(map(cell_len, rows), default=0)
    for i, row in enumerate(rows[:MOST_LINES]):
        line = Text.assemble(row, " " * (longest - cell_len(row)), " -")
        for k, pair in enumerate(sorted(pair for pair in compared.pairs | compared.missed if pair[0] == i)):
            line.append(", " if k else " ").append_text(_partner(pair, columns, compared))
        line.truncate(width, overflow="ellipsis")
        lines.append(line)
    if len(rows) > MOST_LINES:
        lines.append(Text(f"and {len(rows) - MOST_LINES:,} more", "dim"))
    return Text("\n").join(lines)


def _partner(pair: Pair, columns: list[str], compared: Compared) -> Text:
    name = columns[pair[1]]
    if pair in compared.made_up:
        return Text(f"{name}✗", "bold red")
    return Text(f"{name}✓", "bold green") if pair in compared.missed else Text(name, "cyan")


def _html(rows: list[str], columns: list[str], compared: Compared, title: str) -> Html:
    shown = rows[:MOST_NAMES], columns[:MOST_NAMES]
    left = MARGIN + LETTER * max(map(len, shown[0]), default=1)
    right = left + BETWEEN
    width = right + MARGIN + LETTER * max(map(len, shown[1]), default=1)
    height = 2 * MARGIN + LINE * max(map(len, shown))
    names = [
        element("text", name, x=x, y=MARGIN + LINE * k + 13, text_anchor=anchor)
        for x, anchor, side in ((left, "end", shown[0]), (right, "start", shown[1]))
        for k, name in enumerate(side)
    ]
    drawn = sorted(pair for pair in compared.pairs | compared.missed if max(pair) < MOST_NAMES)
    lines = [_line(pair, left + MARGIN, right - MARGIN, rows, columns, compared) for pair in drawn]
    style = {"fill": "currentColor", "font_size": 12, "font_family": "monospace"}
    box = {"viewBox": f"0 0 {width} {height}", "width": width, "height": height, "role": "img"}
    picture = element("svg", [element("title", title), *lines, element("g", names, **style)], **box)
    left_out = len(compared.pairs | compared.missed) - len(drawn)
    told = f"{title}. {count(left_out, 'pair')} beyond the first {MOST_NAMES} are not shown." if left_out else title
    return element("div", element("p", told, class_="note"), element("figure", picture), class_="drawing")


def _line(pair: Pair, left: int, right: int, rows: list[str], columns: list[str], compared: Compared) -> Html:
    """A line that says more to who points at it."""
    colour, mark, dashes = INK, "", None
    if pair in compared.made_up:
        colour, mark = WRONG, " ✗ made up"
    elif pair in compared.missed:
        colour, mark, dashes = FOUND, " ✓ missed", "4 3"
    y1, y2 = (MARGIN + LINE * place + LINE // 2 for place in pair)
    style = {"stroke": "currentColor" if colour == INK else colour, "stroke_width": 1.5, "stroke_dasharray": dashes}
    tip = element("title", f"{rows[pair[0]]} - {columns[pair[1]]}{mark}")
    return element("line", tip, x1=left, y1=y1, x2=right, y2=y2, **style)
