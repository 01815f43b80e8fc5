"""Sets of labels: what was predicted, what is missing, what is too much."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from rich.text import Text

from structlearn.data.labels import observed_classes
from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import element

#: Labels that are shown.
MOST_LABELS = 100


def draw_label_set(labels: Any, truth: Any = None, *, names: Sequence[Any] | None = None, width: int = 100) -> Drawing:
    """A set of labels; where a truth is given, ✗ marks what only the prediction has, and ✓ what only the truth has.

    Parameters
    ----------
    labels, truth : collections of labels, or rows of zeros and ones
    names : sequence of labels
        Of the columns, which rows of zeros and ones need; labels are shown in this order.
    width : int
        Of the terminal, in columns.

    Examples
    --------
    >>> print(draw_label_set({"beach", "urban"}, {"beach", "sunset"}))
    1 right, 1 missing ✓, 1 extra ✗
    beach, sunset✓, urban✗
    >>> print(draw_label_set([1, 0, 1], names=["beach", "sunset", "urban"]))
    beach, urban
    """
    found = _labels(labels, names, "labels")
    true = found if truth is None else _labels(truth, names, "truth")
    known = observed_classes([*found, *true]) if names is None else names
    ordered = [label for label in known if label in found or label in true]
    marks = ["" if label in found and label in true else "✗" if label in found else "✓" for label in ordered]
    title = ""
    if truth is not None:
        title = f"{marks.count('')} right, {marks.count('✓')} missing ✓, {marks.count('✗')} extra ✗"
    # What is wrong comes first where not all can be shown.
    shown = sorted(range(len(ordered)), key=lambda k: marks[k] == "")[:MOST_LABELS]
    pieces = [(str(ordered[k]), marks[k]) for k in sorted(shown)]
    return _drawn(pieces, title, len(ordered) - len(shown), width)


def _labels(labels: Any, names: Sequence[Any] | None, what: str) -> Collection[Any]:
    if names is not None and not isinstance(labels, set | frozenset):
        row = np.asarray(labels)
        if row.shape != (len(names),) or not np.isin(row, (0, 1)).all():
            raise ValueError(f"{what} is {labels!r}; expected {len(names)} zeros and ones")
        return [names[k] for k in np.flatnonzero(row).tolist()]
    if isinstance(labels, str | bytes):
        raise ValueError(f"{what} is {labels!r}; expected a set of labels")
    return list(labels)


def _drawn(pieces: list[tuple[str, str]], title: str, n_more: int, width: int) -> Drawing:
    styles = {"": ("", None), "✗": ("bold red", "given"), "✓": ("bold green", "true")}
    lines, rows = [Text(title, "dim")] if title else [], []
    line = Text()
    for k, (name, mark) in enumerate(pieces):
        comma = ", " if k + 1 < len(pieces) else ""
        colour, style = styles[mark]
        if line and line.cell_len + len(name + mark + comma) > width:
            lines.append(line)
            line = Text()
        line.append(name + mark, colour).append(comma)
        rows.append([element("span", name + mark, class_=style) if style else name, comma])
    if not pieces:
        line.append("no label", "dim")
        rows.append(["no label", ""])
    lines.append(line)
    if n_more:
        lines.append(Text(f"and {n_more} more that are right", "dim"))
        rows.append([f" and {n_more} more that are right", ""])
    for each in lines:
        each.rstrip()
    caption = element("figcaption", title) if title else None
    figure = element("figure", caption, element("p", rows, class_="alignment"))
    return Drawing(Text("\n").join(lines), element("div", figure, class_="drawing"))
