"""Parse trees: from left to right in a terminal, from top to bottom in a report."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from structlearn.data.trees import as_tree, leaves
from structlearn.drawing.base import Drawing
from structlearn.drawing.compared_tree import Node, compared
from structlearn.drawing.markup import element
from structlearn.drawing.tree_picture import tree_picture

#: The mark and the colour of what only the prediction has, and of what only the truth has.
GIVEN, TRUE = ("✗", "red"), ("✓", "green")


def draw_tree(tree: Any, truth: Any = None, *, width: int = 100) -> Drawing:
    """A tree; where a truth is given and differs, both, with the brackets marked that the other one does not have.

    A line of text has one word, after the labels above it. Where that takes more than `width` columns, every node has
    a line of its own instead, indented by its depth.

    Parameters
    ----------
    tree, truth : trees
        Brackets, nested tuples or nltk trees, over the same number of tokens.
    width : int

    Examples
    --------
    >>> print(draw_tree("(S (NP (PRP it)) (VP (VBZ has) (NP (DT a) (NN bone))))"))
    S ┬ NP ─ PRP it
      └ VP ┬ VBZ has
           └ NP ┬ DT a
                └ NN bone
    >>> print(draw_tree("(S (NP (DT a) (NN dog)) (VB go))", "(S (NP (DT a) (NN dog)) (VP (VB go)))"))
    predicted
    S ┬ NP ┬ DT a
      │    └ NN dog
      └ VB go
    true
    S ┬ NP ┬ DT a
      │    └ NN dog
      └ VP✓ ─ VB go
    """
    found = as_tree(tree, "tree")
    if truth is None:
        return _drawn([("tree", compared(found, found), GIVEN)], width)
    true = as_tree(truth, "truth")
    if len(leaves(found)) != len(leaves(true)):
        raise ValueError(f"the tree has {len(leaves(found))} leaves but the truth has {len(leaves(true))}")
    predicted, missed = compared(found, true), compared(true, found)
    if not any(node.differs for root in (predicted, missed) for node in root):
        return _drawn([("tree", predicted, GIVEN)], width)
    return _drawn([("predicted", predicted, GIVEN), ("true", missed, TRUE)], width)


def _drawn(trees: list[tuple[str, Node, tuple[str, str]]], width: int) -> Drawing:
    lines: list[Text] = []
    figures = []
    for name, node, mark in trees:
        if len(trees) > 1:
            lines.append(Text(name, "dim"))
        sideways = _sideways(node, mark)
        fits = max(line.cell_len for line in sideways) <= width
        lines += sideways if fits else _indented(node, mark)
        caption = element("figcaption", name) if len(trees) > 1 else None
        figures.append(element("figure", caption, tree_picture(node, name, mark[0])))
    return Drawing(Text("\n").join(lines), element("div", figures, class_="drawing"))


def _sideways(node: Node, mark: tuple[str, str]) -> list[Text]:
    """One line for each word."""
    label = _label(node, mark)
    if not node.children:
        return [label]
    if len(node.children) == 1:
        first, *others = _sideways(node.children[0], mark)
        blank = " " * (label.cell_len + 3)
        return [Text.assemble(label, (" ─ ", "dim"), first), *(Text(blank).append_text(line) for line in others)]
    lines = []
    blank = " " * (label.cell_len + 1)
    for k, child in enumerate(node.children):
        last = k == len(node.children) - 1
        first, *others = _sideways(child, mark)
        if k == 0:
            lines.append(Text.assemble(label, (" ┬ ", "dim"), first))
        else:
            lines.append(Text.assemble(blank, ("└ " if last else "├ ", "dim"), first))
        lines += [Text.assemble(blank, ("  " if last else "│ ", "dim"), line) for line in others]
    return lines


def _indented(node: Node, mark: tuple[str, str], depth: int = 0) -> list[Text]:
    """One line for each node."""
    line = Text(" " * depth).append_text(_label(node, mark))
    return [line, *(line for child in node.children for line in _indented(child, mark, depth + 1))]


def _label(node: Node, mark: tuple[str, str]) -> Text:
    sign, colour = mark
    name = node.label or "·"
    if node.differs:
        label = Text.assemble((name + sign, f"bold {colour}"))
    else:
        label = Text.assemble((name, "cyan" if node.word is None else "dim"))
    return label if node.word is None or node.word == node.label else label.append(f" {node.word}")
