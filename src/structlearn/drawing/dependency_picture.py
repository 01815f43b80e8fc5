"""A dependency tree as SVG: the sentence in one line, and an arc with a label above it for each token."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from structlearn.drawing.compared_arcs import Arc
from structlearn.drawing.markup import Html, element

#: Pixels of a letter of a word and of a label, between words, of a level of arcs, of a line of text, around the whole.
LETTER, SMALL, GAP, LEVEL, LINE, EDGE = 7.5, 6.6, 14.0, 24.0, 18.0, 8.0
#: How far beside the middle of a word arcs leave it, how round they are, and how long their arrows.
PORT, ROUND, ARROW = 5.0, 7.0, 6.0


def dependency_picture(arcs: Sequence[Arc], name: str, sign: str) -> Html:
    """The tree, called `name`, in which arcs that differ are dashed and have the sign before their label."""
    labels = [(f"{sign} " if arc.differs else "") + arc.label for arc in arcs]
    places, width = _places(arcs, labels)
    levels = _levels(arcs)
    top = max(levels, default=1)
    base = EDGE + LINE + top * LEVEL
    style = "true" if name == "true" else "given"
    lines, texts = [], []
    for t, (arc, label, level) in enumerate(zip(arcs, labels, levels, strict=True)):
        x, y = places[t], base - level * LEVEL
        kind = style if arc.differs else None
        start = x if not arc.head else places[arc.head - 1] + (PORT if arc.head <= t else -PORT)
        lines.append(element("path", d=_arc(start, x, y, base) if arc.head else _down(x, y, base), class_=kind))
        lines.append(element("path", d=_arrow(x, base), class_=f"arrow {kind}" if kind else "arrow"))
        middle = (start + x) / 2
        texts.append(element("text", label, x=_px(middle), y=_px(y - 4), class_=f"label {kind}" if kind else "label"))
        texts.append(element("text", arc.word, x=_px(x), y=_px(base + LINE)))
    told = [element("title", _title(arcs, name, sign)), element("desc", _written(arcs, labels))]
    size = _px(width), _px(base + LINE + EDGE)
    view = f"0 0 {size[0]} {size[1]}"
    return element(
        "svg", told, lines, texts, width=size[0], height=size[1], viewBox=view, class_="dependencies", role="img"
    )


def _places(arcs: Sequence[Arc], labels: list[str]) -> tuple[list[float], float]:
    """Where the middle of each word is, so that no label is wider than its arc, and how wide all is."""
    sizes = [cell_len(arc.word) * LETTER for arc in arcs]
    sizes = [
        size if arc.head else max(size, _wide(label)) for size, arc, label in zip(sizes, arcs, labels, strict=True)
    ]
    needed: dict[int, list[tuple[int, float]]] = {}
    for t, (arc, label) in enumerate(zip(arcs, labels, strict=True)):
        if arc.head:
            begin, end = sorted((t, arc.head - 1))
            needed.setdefault(end, []).append((begin, _wide(label) + PORT + 2 * ROUND))
    places: list[float] = []
    for t, size in enumerate(sizes):
        least = places[-1] + (sizes[t - 1] + size) / 2 + GAP if places else EDGE + size / 2
        places.append(max([least, *(places[begin] + length for begin, length in needed.get(t, ()))]))
    return places, (places[-1] + sizes[-1] / 2 if places else 0.0) + EDGE


def _wide(label: str) -> float:
    return cell_len(label) * SMALL


def _levels(arcs: Sequence[Arc]) -> list[int]:
    """How high each arc is: above all that it spans; those from the root above all others."""
    levels = [0] * len(arcs)
    placed: list[tuple[int, int, int]] = []
    spans = [(*sorted((t, arc.head)), t) for t, arc in enumerate(arcs, 1) if arc.head]
    for begin, end, t in sorted(spans, key=lambda span: span[1] - span[0]):
        levels[t - 1] = 1 + max((level for a, b, level in placed if a < end and begin < b), default=0)
        placed.append((begin, end, levels[t - 1]))
    top = 1 + max(levels, default=0)
    return [level or top for level in levels]


def _arc(start: float, x: float, y: float, base: float) -> str:
    turn = ROUND if start < x else -ROUND
    return (
        f"M{_px(start)} {_px(base)}V{_px(y + ROUND)}Q{_px(start)} {_px(y)} {_px(start + turn)} {_px(y)}"
        f"H{_px(x - turn)}Q{_px(x)} {_px(y)} {_px(x)} {_px(y + ROUND)}V{_px(base - ARROW)}"
    )


def _down(x: float, y: float, base: float) -> str:
    return f"M{_px(x)} {_px(y)}V{_px(base - ARROW)}"


def _arrow(x: float, base: float) -> str:
    return f"M{_px(x)} {_px(base)}l-3.5 {_px(-ARROW - 1)}h7z"


def _title(arcs: Sequence[Arc], name: str, sign: str) -> str:
    n_marked = sum(arc.differs for arc in arcs)
    title = f"The {name} dependency tree" if name != "tree" else "The dependency tree"
    return title + (f", {n_marked} of its arcs marked with {sign}" if n_marked else "")


def _written(arcs: Sequence[Arc], labels: list[str]) -> str:
    heads = ["root", *(arc.word for arc in arcs)]
    return "; ".join(
        f"{arc.word} is {label} of {heads[arc.head]}" if label else f"{arc.word} hangs on {heads[arc.head]}"
        for arc, label in zip(arcs, labels, strict=True)
    )


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
