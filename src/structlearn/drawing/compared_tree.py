"""A parse tree whose nodes know whether another tree has them, too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from structlearn.data.trees import ROOTS, Tree, brackets, is_leaf, leaves


@dataclass(frozen=True)
class Node:
    """A node of a tree that is drawn.

    Attributes
    ----------
    label : str
    word : str or None
        Of a leaf.
    children : tuple of Node
    differs : bool
        Whether the other tree has no such bracket or, of a leaf, another tag.
    """

    label: str
    word: str | None
    children: tuple[Node, ...]
    differs: bool

    def __iter__(self) -> Iterator[Node]:
        """The node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child


def compared(tree: Tree, other: Tree) -> Node:
    """The tree, with what the other one does not have; a bracket that is there twice needs two."""
    rest = Counter(brackets(other))
    tags = [tag for tag, _ in leaves(other)]

    def visit(node: Tree, begin: int) -> tuple[Node, int]:
        if is_leaf(node):
            return Node(node[0], node[1], (), node[0] != tags[begin]), begin + 1
        children, end = [], begin
        for child in node[1:]:
            drawn, end = visit(child, end)
            children.append(drawn)
        bracket = (node[0], begin, end)
        differs = node[0] not in ROOTS and rest[bracket] <= 0
        rest[bracket] -= 1
        return Node(node[0], None, tuple(children), differs), end

    return visit(tree, 0)[0]
