"""Label images: a cell for each pixel."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from structlearn.data.arrays import Flags
from structlearn.drawing.base import Drawing
from structlearn.drawing.label_signs import INK, WRONG, LabelSigns
from structlearn.drawing.markup import Html, element
from structlearn.wording import count

#: Rows of an image that a terminal shows, and rows and columns that a report shows.
MOST_LINES, MOST_CELLS = 40, 120
#: Pixels of a cell, and those of a cell that has room for a letter.
SMALL, LARGE = 6, 16
#: Up to so many rows and columns, cells are large.
FEW = 32
#: Columns of a cell in a terminal, and between two images.
CELL, BETWEEN = 2, 4

Labels = list[list[Any]]


class Part(NamedTuple):
    """What is shown of an image."""

    rows: slice
    columns: slice

    def of(self, labels: Labels) -> Labels:
        return [row[self.columns] for row in labels[self.rows]]


def draw_grid(
    labels: Any,
    truth: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    ignore: Sequence[Any] = (),
    width: int = 100,
) -> Drawing:
    """A label image; where a truth is given and differs, both, with wrong pixels marked by ✗, in a report by outlines.

    Of an image that is too large the part is shown that has the most wrong pixels. Rows and columns are counted from 1.

    Parameters
    ----------
    labels, truth : (height, width) arrays or lists of labels
    classes : sequence of labels, optional
        All there are, so that pictures of several images have the same colours; by default those that occur.
    ignore : sequence of labels
        A pixel whose true label is one of these is not wrong.
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_grid([["sky", "sky"], ["sky", "sea"]], [["sky", "sky"], ["sea", "sea"]]))
    ... # doctest: +NORMALIZE_WHITESPACE
    1 wrong of 4 pixels
    predicted  true
    b b        b b
    b✗a        a a
    a sea  b sky
    """
    found = _grid(labels, "labels")
    true = found if truth is None else _grid(truth, "truth")
    shape, true_shape = (len(found), len(found[0])), (len(true), len(true[0]))
    if shape != true_shape:
        raise ValueError(f"labels has shape {shape} but truth has {true_shape}")
    wrong = np.array(
        [[p != y and y not in ignore for p, y in zip(*rows, strict=True)] for rows in zip(found, true, strict=True)]
    )
    signs = LabelSigns.of((label for rows in (found, true) for row in rows for label in row), classes)
    title = "" if truth is None else f"{np.count_nonzero(wrong):,} wrong of {count(wrong.size, 'pixel')}"
    images = [("predicted", found, wrong)]
    if wrong.any():
        images.append(("true", true, np.zeros_like(wrong)))
    return Drawing(_text(images, signs, title, width), _html(images, signs, title))


def _grid(labels: Any, name: str) -> Labels:
    rows = labels.tolist() if isinstance(labels, np.ndarray) else [list(row) for row in labels]
    if not rows or not isinstance(rows[0], list) or not rows[0] or len({len(row) for row in rows}) > 1:
        raise ValueError(f"{name} must have rows of labels, all of one length and at least one")
    return rows


def _part(wrong: Flags, n_rows: int, n_columns: int) -> Part:
    """The part of an image, of at most this size, that has the most wrong pixels; the first of several."""
    height, width = min(n_rows, wrong.shape[0]), min(n_columns, wrong.shape[1])
    sums = np.pad(np.cumsum(np.cumsum(wrong, axis=0), axis=1), ((1, 0), (1, 0)))
    within = sums[height:, width:] - sums[:-height, width:] - sums[height:, :-width] + sums[:-height, :-width]
    row, column = np.unravel_index(np.argmax(within), within.shape)
    return Part(slice(int(row), int(row) + height), slice(int(column), int(column) + width))


def _left_out(part: Part, wrong: Flags) -> str:
    """What is not shown, in words; nothing if all is."""
    shown = wrong[part.rows, part.columns]
    if shown.size == wrong.size:
        return ""
    rows, columns = (f"{each.start + 1} to {each.stop}" for each in part)
    words = f"rows {rows} and columns {columns} of {wrong.shape[0]:,} by {wrong.shape[1]:,}"
    n_wrong = np.count_nonzero(wrong)
    return words + (f", with {np.count_nonzero(shown):,} of the {n_wrong:,} wrong pixels" if n_wrong else "")


def _text(images: list[tuple[str, Labels, Flags]], signs: LabelSigns, title: str, width: int) -> Text:
    n_columns = max(width // CELL, 1)
    marks = images[0][2]
    beside = len(images) > 1 and 2 * CELL * min(marks.shape[1], n_columns) + BETWEEN <= width
    part = _part(marks, MOST_LINES, n_columns)
    heights = [_lines(part.of(labels), wrong[part.rows, part.columns], signs) for _, labels, wrong in images]
    lines = [Text(title, "dim")] if title else []
    if beside:
        room = max(CELL * len(part.of(images[0][1])[0]), len("predicted")) + 2
        lines.append(Text(f"{'predicted':<{room}}true", "dim"))
        lines += [Text.assemble(a, " " * (room - a.cell_len), b) for a, b in zip(*heights, strict=True)]
    else:
        for (name, _, _), image in zip(images, heights, strict=True):
            lines += [*([Text(name, "dim")] if len(images) > 1 else []), *image]
    if told := _left_out(part, marks):
        lines.append(Text(told, "dim"))
    lines.append(signs.legend(label for _, labels, _ in images for row in part.of(labels) for label in row))
    return Text("\n").join(lines)


def _lines(labels: Labels, wrong: Flags, signs: LabelSigns) -> list[Text]:
    lines = []
    for row, marks in zip(labels, wrong.tolist(), strict=True):
        line = Text()
        for label, mark in zip(row, marks, strict=True):
            letter, colour = signs[label]
            line.append(letter, f"bold white on {WRONG}" if mark else f"{INK} on {colour}")
            line.append("✗" if mark else " ", f"bold white on {WRONG}" if mark else f"on {colour}")
        lines.append(line)
    return lines


def _html(images: list[tuple[str, Labels, Flags]], signs: LabelSigns, title: str) -> Html:
    marks = images[0][2]
    part = _part(marks, MOST_CELLS, MOST_CELLS)
    told = ". ".join(text for text in (title, _left_out(part, marks)) if text)
    figures = []
    for name, labels, wrong in images:
        caption = element("figcaption", name) if len(images) > 1 else None
        figures.append(
            element("figure", caption, _picture(part.of(labels), wrong[part.rows, part.columns], signs, name))
        )
    legend = signs.legend_html(label for _, labels, _ in images for row in part.of(labels) for label in row)
    words = element("p", told, class_="note") if told else None
    return element("div", words, element("div", figures, class_="beside"), legend, class_="drawing")


def _picture(labels: Labels, wrong: Flags, signs: LabelSigns, name: str) -> Html:
    size = LARGE if max(wrong.shape) <= FEW else SMALL
    cells: list[Html] = []
    for i, row in enumerate(labels):
        begin = 0
        # Pixels of one label beside each other are one rectangle, so that large images stay small files.
        for label, run in groupby(row):
            n = len(list(run))
            place = {"x": begin * size, "y": i * size, "width": n * size, "height": size}
            cells.append(element("rect", **place, fill=signs[label].colour))
            begin += n
        if size == LARGE:
            y = f"{(i + 0.72) * size:g}"
            cells += [
                element("text", signs[label].letter, x=f"{(j + 0.5) * size:g}", y=y) for j, label in enumerate(row)
            ]
    n_wrong = int(np.count_nonzero(wrong))
    title = f"The {name} labels" + (f", {count(n_wrong, 'wrong one')} outlined" if n_wrong else "")
    group = element("g", cells, fill=INK, font_size=11, font_family="monospace", text_anchor="middle")
    height, width = wrong.shape[0] * size, wrong.shape[1] * size
    return element(
        "svg",
        [element("title", title), group, *_outlines(wrong, size)],
        viewBox=f"-2 -2 {width + 4} {height + 4}",
        width=width + 4,
        height=height + 4,
        role="img",
    )


def _outlines(wrong: Flags, size: int) -> list[Html]:
    """Lines around the regions of wrong pixels, through which their labels can be seen."""
    if not wrong.any():
        return []
    padded = np.pad(wrong, 1)
    above, before = padded[:-1] != padded[1:], padded[:, :-1] != padded[:, 1:]
    across = "".join(f"M{(j - 1) * size} {i * size}h{size}" for i, j in np.argwhere(above))
    down = "".join(f"M{j * size} {(i - 1) * size}v{size}" for i, j in np.argwhere(before))
    return [element("path", d=across + down, stroke=WRONG, stroke_width=2, stroke_linecap="square")]
