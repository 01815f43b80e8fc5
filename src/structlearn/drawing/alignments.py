"""Alignments: two rows with a line of signs between them, in blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from structlearn.data.biosequences.matches import checked_matches
from structlearn.data.biosequences.substitution import BLOSUM62
from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import Html, element, markup
from structlearn.wording import count

#: Letters of a sequence's name that are shown.
LONGEST_NAME = 16
#: Blocks of a comparison that a report shows.
MOST_BLOCKS = 6

Place = tuple[int | None, int | None]


class Kind(NamedTuple):
    """What a column or a mark is: its sign, its colour in a terminal, its class in a report."""

    sign: str
    colour: str
    style: str | None


#: Equal letters, those that often replace one another, others, and gaps.
EQUAL, ALIKE, OTHER, GAP = (
    Kind("|", "green", "equal"),
    Kind(":", "yellow", "alike"),
    Kind(".", "", None),
    Kind(" ", "dim", "gap"),
)
#: What only the prediction has, and what only the truth has.
GIVEN, TRUE = Kind("✗", "bold red", "given"), Kind("✓", "bold green", "true")


class Column(NamedTuple):
    """One letter of each sequence, or a gap, and whether another alignment has no such column."""

    place: Place
    letters: tuple[str, str]
    kind: Kind
    differs: bool


class Block(NamedTuple):
    """Columns that stand in one line, and the numbers of the first and the last letter of both rows."""

    columns: list[Column]
    numbers: tuple[tuple[int, int], tuple[int, int]]


#: Letters in a row that have one kind; what belongs to no column has none.
Line = list[tuple[str, Kind | None]]


def draw_alignment(
    s: Sequence[Any],
    t: Sequence[Any],
    matches: Sequence[tuple[int, int]],
    truth: Sequence[tuple[int, int]] | None = None,
    *,
    names: Sequence[str] = ("", ""),
    matrix: Mapping[tuple[Any, Any], float] = BLOSUM62,
    width: int = 100,
) -> Drawing:
    """An alignment; where a truth is given and differs, both, with the columns marked that the other one does not have.

    Signs between the rows tell equal letters (|), letters that score above 0 in the matrix (:), and others (.). Colours
    say the same, or, beside a truth, what differs. Numbers are those of the first and the last letter of a row.

    Parameters
    ----------
    s, t : sequences of symbols
        Each symbol is one letter wide.
    matches, truth : sequences of (i, j)
        Places counted from 0.
    names : pair of str
    matrix : dict
        Scores of pairs of letters.
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_alignment("HEAGAW", "EAGW", ((1, 0), (2, 1), (3, 2), (5, 3)), names=["s", "t"]))
    s 1 HEAGAW 6
         ||| |
    t 1 -EAG-W 4
    >>> print(draw_alignment("ACG", "AG", ((0, 0), (1, 1)), ((0, 0), (2, 1))))
    predicted: 1 of 2 matches wrong
    1 ACG 3
      |.
    1 AG- 2
       ✗✗
    true: 1 of 2 matches missed
    1 ACG 3
      | |
    1 A-G 2
       ✓✓
    """
    found = _columns(s, t, matches, "matches", matrix)
    if truth is None:
        return _drawn([("", found, GIVEN)], names, width)
    true = _columns(s, t, truth, "truth", matrix)
    views = [_compared(found, true), _compared(true, found)]
    if not any(column.differs for view in views for column in view):
        return _drawn([("", found, GIVEN)], names, width)
    titles = (f"predicted: {_count(views[0])} wrong", f"true: {_count(views[1])} missed")
    return _drawn(list(zip(titles, views, (GIVEN, TRUE), strict=True)), names, width)


def _columns(
    s: Sequence[Any], t: Sequence[Any], matches: Any, where: str, matrix: Mapping[tuple[Any, Any], float]
) -> list[Column]:
    places: list[Place] = []
    i = j = 0
    for next_i, next_j in [*checked_matches(matches, len(s), len(t), where, "the pair"), (len(s), len(t))]:
        places += [(k, None) for k in range(i, next_i)]
        places += [(None, k) for k in range(j, next_j)]
        places.append((next_i, next_j))
        i, j = next_i + 1, next_j + 1
    return [_column(s, t, place, matrix) for place in places[:-1]]


def _column(s: Sequence[Any], t: Sequence[Any], place: Place, matrix: Mapping[tuple[Any, Any], float]) -> Column:
    i, j = place
    if i is None or j is None:
        return Column(place, ("-" if i is None else str(s[i]), "-" if j is None else str(t[j])), GAP, False)
    kind = EQUAL if s[i] == t[j] else ALIKE if matrix.get((s[i], t[j]), 0.0) > 0 else OTHER
    return Column(place, (str(s[i]), str(t[j])), kind, False)


def _compared(columns: list[Column], other: list[Column]) -> list[Column]:
    there = {column.place for column in other}
    return [column._replace(differs=column.place not in there) for column in columns]


def _count(columns: list[Column]) -> str:
    matches = [column for column in columns if column.kind is not GAP]
    return f"{sum(column.differs for column in matches)} of {len(matches)} matches"


def _drawn(views: list[tuple[str, list[Column], Kind]], names: Sequence[str], width: int) -> Drawing:
    shown = [name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…" for name in names]
    head = max(map(cell_len, shown)) + 1 if any(shown) else 0
    heads = [name + " " * (head - cell_len(name)) for name in shown]
    digits = len(str(len(views[0][1])))
    room = width - head - 2 * (digits + 1)
    lines: list[Text] = []
    figures = []
    for title, columns, mark in views:
        blocks = [
            (block, _lines(block, mark, heads, digits, compared=bool(title)))
            for block in _blocks(columns, max(room - room % 10, 10))
        ]
        lines += [Text(title, "dim")] if title else []
        for k, (_, rows) in enumerate(blocks):
            lines += [Text()] if k else []
            lines += map(_text, rows)
        caption = element("figcaption", title) if title else None
        figures.append(element("figure", caption, element("pre", _html(blocks, bool(title)), class_="alignment")))
    return Drawing(Text("\n").join(lines), element("div", figures, class_="drawing"))


def _blocks(columns: list[Column], size: int) -> Iterator[Block]:
    last = [0, 0]
    for begin in range(0, len(columns), size):
        part = columns[begin : begin + size]
        first = list(last)
        for side in (0, 1):
            places = [place for column in part if (place := column.place[side]) is not None]
            if places:
                first[side], last[side] = places[0] + 1, places[-1] + 1
        yield Block(part, ((first[0], last[0]), (first[1], last[1])))


def _lines(block: Block, mark: Kind, heads: Sequence[str], digits: int, *, compared: bool) -> list[Line]:
    """The first row, the signs, the second row, and marks of what differs."""
    kinds = [column.kind for column in block.columns]
    differing = [mark if column.differs else None for column in block.columns]
    blank = (" " * (len(heads[0]) + digits + 1), None)

    def row(side: int) -> Line:
        first, last = block.numbers[side]
        letters = _runs((column.letters[side] for column in block.columns), differing if compared else kinds)
        return [(f"{heads[side]}{first:>{digits}} ", None), *letters, (f" {last}", None)]

    lines = [row(0), [blank, *_runs((kind.sign for kind in kinds), kinds)], row(1)]
    if any(differing):
        lines.append([blank, *_runs((kind.sign if kind else " " for kind in differing), differing)])
    return lines


def _runs(letters: Iterable[str], kinds: Sequence[Kind | None]) -> Line:
    pairs = groupby(zip(letters, kinds, strict=True), key=lambda pair: pair[1])
    return [("".join(letter for letter, _ in run), kind) for kind, run in pairs]


def _text(line: Line) -> Text:
    text = Text.assemble(*((letters, kind.colour if kind else "") for letters, kind in line))
    text.rstrip()
    return text


def _html(blocks: list[tuple[Block, list[Line]]], compared: bool) -> Html:
    """The lines of a report, which of two alignments shows only blocks in which they differ, and not too many.

    Letters that differ are underlined there, and need no line of marks.
    """
    words: list[str] = []
    for block, _ in blocks:
        shown = not compared or any(column.differs for column in block.columns)
        words.append("more" if compared and words.count("") == MOST_BLOCKS else "" if shown else "alike")
    paragraphs: list[Html] = []
    for left_out, run in groupby(zip(blocks, words, strict=True), key=lambda pair: pair[1]):
        if left_out:
            n = sum(len(block.columns) for (block, _), _ in run)
            paragraphs.append(markup(f"… {count(n, 'column')} {left_out} …"))
        else:
            paragraphs += [Html("\n".join(map(_html_line, lines[:3]))) for (_, lines), _ in run]
    return Html("\n\n".join(paragraphs))


def _html_line(line: Line) -> Html:
    return markup(
        [
            element("span", letters, class_=kind.style) if kind and kind.style and letters.strip() else letters
            for letters, kind in line
        ]
    )
