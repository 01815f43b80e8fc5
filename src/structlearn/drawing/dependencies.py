"""Dependency trees: arcs above the sentence, or beside its tokens, in a terminal; arcs with labels in a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.text import Text

from structlearn.drawing.base import Drawing
from structlearn.drawing.compared_arcs import Arc, compared_arcs
from structlearn.drawing.dependency_picture import dependency_picture
from structlearn.drawing.markup import element
from structlearn.drawing.trees import GIVEN, TRUE

#: Where lines go from a cell: to the tokens before and after, to the words, and away from them.
BEFORE, AFTER, NEAR, FAR = 1, 2, 4, 8
#: What is drawn in cells of a line above the sentence, and beside its tokens.
ABOVE = dict(zip(range(16), " ╴╶─╷┐┌┬╵┘└┴│┤├┼", strict=True))
BESIDE = dict(zip(range(16), " ╵╷│╴┘┐┤╶└┌├─┴┬┼", strict=True))
#: That a line ends at a token; no sum of directions.
ARROW = -1


def draw_dependencies(x: Sequence[Any], y: Any, truth: Any = None, *, width: int = 100) -> Drawing:
    """A dependency tree; where a truth is given and differs, both, with the arcs marked that the other does not have.

    From each head a line leads to its modifiers, where it ends with an arrow. The sentence stands below the lines;
    where that takes more than `width` columns, a line of text has one token, with the lines beside it; where that is
    still too wide, the head is named instead.

    Parameters
    ----------
    x : list of tokens
        Words, or tuples whose first entries are the words.
    y, truth : trees
        For each token (head, label), or its head; heads count from 1, and 0 is the root.
    width : int

    Examples
    --------
    >>> print(draw_dependencies("A dog barked .".split(), [(2, "det"), (3, "nsubj"), (0, "root"), (3, "punct")]))
                   ▼
            ┌──────┬───────┐
            ▼      │       │
      ┌─────┐      │       │
      ▼     │      │       ▼
      A    dog   barked    .
     det  nsubj   root   punct
    """
    given = compared_arcs(x, y, y if truth is None else truth, "y")
    missed = given if truth is None else compared_arcs(x, truth, y, "the truth")
    if not any(arc.differs for arc in given):
        return _drawn([("tree", given, GIVEN)], width)
    return _drawn([("predicted", given, GIVEN), ("true", missed, TRUE)], width)


def _drawn(trees: list[tuple[str, list[Arc], tuple[str, str]]], width: int) -> Drawing:
    lines: list[Text] = []
    figures = []
    for name, arcs, mark in trees:
        if len(trees) > 1:
            lines.append(Text(name, "dim"))
        lines += _text(arcs, mark, width)
        caption = element("figcaption", name) if len(trees) > 1 else None
        figures.append(element("figure", caption, dependency_picture(arcs, name, mark[0])))
    return Drawing(Text("\n").join(lines), element("div", figures, class_="drawing"))


def _text(arcs: list[Arc], mark: tuple[str, str], width: int) -> list[Text]:
    cells = _cells([arc.head for arc in arcs])
    for lines in (_above(arcs, cells, mark), _beside(arcs, cells, mark)):
        if max((line.cell_len for line in lines), default=0) <= width:
            return lines
    return _listed(arcs, mark)


def _cells(heads: list[int]) -> list[list[int]]:
    """For each token the cells from its word away, with the directions in which lines leave them.

    The modifiers of a head share a line along the sentence. It lies in an even cell, further away than those of all
    modifiers, so that a token's own line is passed before the arrow that leads to it.
    """
    reach = {head: (head, head) for head in heads if head}
    for t, head in enumerate(heads, 1):
        if head:
            begin, end = reach[head]
            reach[head] = min(begin, t), max(end, t)
    level = _levels(heads, reach)
    far = 2 * max(level.values(), default=0) + 2
    cells = [[0] * far for _ in heads]
    for head, (begin, end) in reach.items():
        for t in range(begin, end + 1):
            cells[t - 1][2 * level[head]] |= (BEFORE if t > begin else 0) | (AFTER if t < end else 0)
    for t, head in enumerate(heads, 1):
        own, row = 2 * level.get(t, 0), cells[t - 1]
        for k in range(own):
            row[k] |= NEAR | FAR
        row[own] |= NEAR if own else 0
        if head:
            for k in range(own + 2, 2 * level[head]):
                row[k] |= NEAR | FAR
            row[2 * level[head]] |= NEAR
        row[own + 1] = ARROW
    return cells


def _levels(heads: list[int], reach: dict[int, tuple[int, int]]) -> dict[int, int]:
    """How far from the words the line of each head lies: beyond those of its modifiers, and of all that it meets."""
    depth = [0] * (len(heads) + 1)
    for t, head in enumerate(heads, 1):
        while head:
            depth[t] += 1
            head = heads[head - 1]
    level: dict[int, int] = {}
    for t in sorted(reach, key=lambda t: (-depth[t], reach[t][1] - reach[t][0])):
        begin, end = reach[t]
        met = [level[other] for other in level if reach[other][0] <= end and begin <= reach[other][1]]
        level[t] = 1 + max(met, default=0)
    return level


def _above(arcs: list[Arc], cells: list[list[int]], mark: tuple[str, str]) -> list[Text]:
    """The sentence and its labels, below all lines."""
    labels = [_label(arc, mark) for arc in arcs]
    widths = [max(cell_len(arc.word), label.cell_len) + 2 for arc, label in zip(arcs, labels, strict=True)]
    lines = []
    for k in reversed(range(1, len(cells[0]) if cells else 0)):
        line = Text()
        for arc, row, size in zip(arcs, cells, widths, strict=True):
            before = "─" if row[k] != ARROW and row[k] & BEFORE else " "
            after = "─" if row[k] != ARROW and row[k] & AFTER else " "
            left = (size - 1) // 2
            line.append(before * left, "dim").append_text(_cell(row[k], ABOVE, "▼", arc, mark))
            line.append(after * (size - 1 - left), "dim")
        lines.append(line)
    words = [Text(arc.word) for arc in arcs]
    lines += [Text().join(map(_centred, texts, widths)) for texts in (words, labels) if any(map(len, texts))]
    for line in lines:
        line.rstrip()
    return [line for line in lines if line.plain]


def _beside(arcs: list[Arc], cells: list[list[int]], mark: tuple[str, str]) -> list[Text]:
    """One line for each token."""
    labels = [_label(arc, mark) for arc in arcs]
    wide, broad = max(cell_len(arc.word) for arc in arcs), max(label.cell_len for label in labels)
    lines = []
    for arc, label, row in zip(arcs, labels, cells, strict=True):
        line = Text(arc.word + " " * (wide - cell_len(arc.word) + 2)).append_text(label)
        line.append(" " * (broad - label.cell_len + (1 if broad else 0)))
        for bits in row:
            line.append_text(_cell(bits, BESIDE, "◀", arc, mark))
        line.rstrip()
        lines.append(line)
    return lines


def _listed(arcs: list[Arc], mark: tuple[str, str]) -> list[Text]:
    """One line for each token, with its number and that of its head."""
    lines = []
    for t, arc in enumerate(arcs, 1):
        head = f"{arc.head} {arcs[arc.head - 1].word}" if arc.head else "0"
        lines.append(Text.assemble(f"{t} {arc.word} ", _label(arc, mark), (" ◀ ", "dim"), head))
    return lines


def _cell(bits: int, signs: dict[int, str], arrow: str, arc: Arc, mark: tuple[str, str]) -> Text:
    if bits == ARROW:
        return Text.assemble((arrow, f"bold {mark[1]}" if arc.differs else "cyan"))
    return Text.assemble((signs[bits], "dim"))


def _label(arc: Arc, mark: tuple[str, str]) -> Text:
    if arc.differs:
        return Text.assemble((arc.label + mark[0], f"bold {mark[1]}"))
    return Text.assemble((arc.label, "cyan"))


def _centred(text: Text, size: int) -> Text:
    left = max(0, (size - text.cell_len) // 2)
    return Text(" " * left).append_text(text).append(" " * (size - text.cell_len - left))
