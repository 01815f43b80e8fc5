"""A parse tree as SVG: the words in one line, what is above them above them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rich.cells import cell_len

from structlearn.drawing.compared_tree import Node
from structlearn.drawing.markup import Html, element

#: Pixels of a letter and between words, of a level of the tree, of a line of text, and around the whole.
LETTER, GAP, LEVEL, LINE, EDGE = 7.5, 12.0, 40.0, 18.0, 6.0
#: Letters of a word or label that are shown.
LONGEST = 30


class Box(NamedTuple):
    """A node with what is below it, as wide as all that."""

    node: Node
    label: str
    word: str
    width: float
    children: list[Box]


class Placed(NamedTuple):
    """A box, where the middle of its label is, and its children."""

    box: Box
    x: float
    y: float
    children: list[Placed]

    def all(self) -> Iterator[Placed]:
        yield self
        for child in self.children:
            yield from child.all()


def tree_picture(root: Node, name: str, sign: str) -> Html:
    """The tree, called `name`, in which nodes that differ have the sign before their label."""
    box, bottom = _box(root, sign), EDGE + LINE + _depth(root) * LEVEL
    tree = _placed(box, EDGE, EDGE + LINE, bottom)
    style = "true" if name == "true" else "given"
    edges, labels = [], []
    for placed in tree.all():
        node = placed.box.node
        kind = style if node.differs else "tag" if node.word is not None else None
        labels.append(element("text", placed.box.label, x=_px(placed.x), y=_px(placed.y), class_=kind))
        if node.word is not None:
            labels.append(element("text", placed.box.word, x=_px(placed.x), y=_px(placed.y + LINE)))
        if placed.children:
            edges.append(_edges(placed))
    n_marked = sum(node.differs for node in root)
    title = f"The {name} tree" if name != "tree" else "The tree"
    title += f", {n_marked} of its labels marked with {sign}" if n_marked else ""
    parts = [element("title", title), element("desc", _written(box)), element("path", d="".join(edges)), *labels]
    width, height = _px(box.width + 2 * EDGE), _px(bottom + LINE + EDGE)
    return element("svg", parts, width=width, height=height, viewBox=f"0 0 {width} {height}", class_="tree", role="img")


def _box(node: Node, sign: str) -> Box:
    label = (f"{sign} " if node.differs else "") + _cut(node.label or "·")
    word = _cut(node.word or "")
    children = [_box(child, sign) for child in node.children]
    own = max(cell_len(label), cell_len(word)) * LETTER + GAP
    return Box(node, label, word, max(own, sum(child.width for child in children)), children)


def _placed(box: Box, left: float, y: float, bottom: float) -> Placed:
    # In the middle of its own room, where no label can reach into another's.
    x = left + box.width / 2
    left += (box.width - sum(child.width for child in box.children)) / 2 if box.children else 0.0
    children = []
    for child in box.children:
        children.append(_placed(child, left, y + LEVEL, bottom))
        left += child.width
    return Placed(box, x, y if children else bottom, children)


def _edges(parent: Placed) -> str:
    """A line down, one across, and one down to each child, none of which meets another label."""
    bar = parent.y + 11
    ends = "".join(f"M{_px(child.x)} {_px(bar)}V{_px(child.y - 13)}" for child in parent.children)
    across = f"M{_px(parent.children[0].x)} {_px(bar)}H{_px(parent.children[-1].x)}" if len(parent.children) > 1 else ""
    return f"M{_px(parent.x)} {_px(parent.y + 5)}V{_px(bar)}{across}{ends}"


def _depth(node: Node) -> int:
    return 1 + max(map(_depth, node.children)) if node.children else 0


def _written(box: Box) -> str:
    inside = " ".join(map(_written, box.children)) if box.children else box.word
    return f"({box.label} {inside})"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
