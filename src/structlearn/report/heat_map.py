"""Matrices over labels as heat maps, drawn as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from structlearn.drawing.markup import Html, element

#: More labels than this are not drawn: nobody can read them.
MOST_LABELS = 30
LONGEST_NAME = 16


@dataclass(frozen=True)
class Cell:
    """What a field of the matrix looks like.

    Attributes
    ----------
    text : str
    style : str
        A class of the style sheet.
    strength : float
        From 0 to 1, how much of the colour.
    tip : str
        What is said about it.
    data : dict
        Attributes for the script.
    """

    text: str = ""
    style: str = ""
    strength: float = 0.0
    tip: str = ""
    data: dict[str, Any] = field(default_factory=dict)


def heat_map(
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Sequence[Sequence[Cell]],
    *,
    title: str,
    row_title: str,
    column_title: str,
) -> Html:
    """A matrix of cells with names on the left and above."""
    names, heads = [shortened(name) for name in rows], [shortened(name) for name in columns]
    upright = max(map(len, heads)) <= 3
    size = 34 if len(columns) <= 16 else 28 if upright else 30
    left = 30 + 7.2 * max(map(len, names))
    top = 40 if upright else 34 + 7.2 * max(map(len, heads))
    width, height = left + size * len(columns) + 2, top + size * len(rows) + 2
    parts = [
        element("title", title),
        element("text", column_title, x=f"{left:.0f}", y=12, class_="axis-title"),
        element("text", row_title, transform=f"translate(12 {top:.0f}) rotate(-90)", class_="axis-title end"),
    ]
    for k, (name, full) in enumerate(zip(heads, columns, strict=True)):
        at = left + (k + 0.5) * size
        turn = f"translate({at:.1f} {top - 8:.1f})" + ("" if upright else " rotate(-90)")
        style = "tick x" if upright else "tick head"
        parts.append(
            element(
                "text", element("title", full), name, transform=turn, dy=None if upright else "0.32em", class_=style
            )
        )
    for j, (name, full) in enumerate(zip(names, rows, strict=True)):
        at = top + (j + 0.5) * size
        parts.append(
            element(
                "text", element("title", full), name, x=f"{left - 8:.1f}", y=f"{at:.1f}", dy="0.32em", class_="tick y"
            )
        )
        for k, cell in enumerate(cells[j]):
            parts.append(_cell(cell, left + k * size, top + j * size, size))
    box = {"viewBox": f"0 0 {width:.0f} {height:.0f}", "width": f"{width:.0f}", "height": f"{height:.0f}"}
    return element("svg", parts, **box, class_="heat-map", role="img", aria_label=title)


def shortened(name: str, longest: int = LONGEST_NAME) -> str:
    """
    >>> shortened("a rather long label")
    'a rathe…ng label'
    """
    if len(name) <= longest:
        return name
    head = (longest - 1) // 2
    return name[:head] + "…" + name[head + 1 - longest :]


def _cell(cell: Cell, x: float, y: float, size: int) -> Html:
    strong = " strong" if cell.strength > 0.55 else ""
    button = {"tabindex": 0, "role": "button"} if cell.data else {}
    middle = {"x": f"{x + size / 2:.1f}", "y": f"{y + size / 2:.1f}"}
    return element(
        "g",
        element("title", cell.tip) if cell.tip else None,
        element("rect", x=f"{x + 1:.1f}", y=f"{y + 1:.1f}", width=size - 2, height=size - 2, rx=3, class_="ground"),
        element(
            "rect",
            x=f"{x + 1:.1f}",
            y=f"{y + 1:.1f}",
            width=size - 2,
            height=size - 2,
            rx=3,
            class_="colour",
            fill_opacity=f"{cell.strength:.2f}",
        )
        if cell.strength
        else None,
        element("text", cell.text, **middle, dy="0.34em") if cell.text else None,
        class_=f"cell {cell.style}{strong}",
        aria_label=cell.tip if cell.data else None,
        **button,
        **{f"data_{name}": value for name, value in cell.data.items()},
    )
