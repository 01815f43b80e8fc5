"""Rules of trees in binary form: what is read off a treebank, and how trees are made of rules again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from structlearn.data.trees import Tree, is_leaf

#: A symbol: ("phrase", label, parents…), ("tag", name), or ("part", parent symbol, last children…) for the first
#: children of a node, which binarisation puts under a symbol of their own.
Symbol = tuple[Any, ...]


@dataclass(frozen=True)
class Rule:
    """A rule of a tree in binary form.

    Attributes
    ----------
    parent : Symbol
        None for the start, whose one child is the symbol of the whole sentence.
    children : tuple of Symbol
        One or two.
    """

    parent: Symbol | None
    children: tuple[Symbol, ...]

    def __str__(self) -> str:
        return f"{symbol_name(self.parent)} → {' '.join(map(symbol_name, self.children))}"


def symbol_name(symbol: Symbol | None) -> str:
    """
    >>> symbol_name(("phrase", "NP", "S")), symbol_name(("part", ("phrase", "NP"), "DT", "JJ"))
    ('NP^S', 'NP|DT JJ')
    """
    if symbol is None:
        return "start"
    if symbol[0] == "part":
        return f"{symbol_name(symbol[1])}|{' '.join(symbol[2:])}"
    return "^".join(symbol[1:])


def rules(tree: Tree, horizontal: int | None, vertical: int) -> Iterator[Rule | str]:
    """The rules of a tree in binary form from the top, left before right, and its words as they are reached.

    A node with children c₁ … c_m is built from the left: c₁ and c₂ make a part, that and c₃ another, and so on; the
    last child completes the node. A part remembers its node and the last `horizontal` children (None for all), a
    phrase its label and those of its `vertical` − 1 nearest ancestors.

    >>> tree = ("NP", ("DT", "a"), ("JJ", "b"), ("NN", "c"))
    >>> [str(rule) for rule in rules(tree, None, 1)]
    ['start → NP', 'NP → NP|DT JJ NN', 'NP|DT JJ → DT JJ', 'a', 'b', 'c']
    """

    def name(node: Tree, above: tuple[str, ...]) -> Symbol:
        return ("tag", node[0]) if is_leaf(node) else ("phrase", node[0], *above[: vertical - 1])

    def visit(node: Tree, above: tuple[str, ...]) -> Iterator[Rule | str]:
        if is_leaf(node):
            yield node[1]
            return
        below = (node[0], *above)
        children = [name(child, below) for child in node[1:]]
        parent = name(node, above)
        yield from complete(node[1:], children, parent, parent, below)

    def complete(
        nodes: Sequence[Tree], children: list[Symbol], symbol: Symbol, parent: Symbol, below: tuple[str, ...]
    ) -> Iterator[Rule | str]:
        if len(children) <= 2:
            yield Rule(symbol, tuple(children))
            for node in nodes:
                yield from visit(node, below)
            return
        labels = [child[1] for child in children[:-1]]
        kept = labels if horizontal is None else labels[len(labels) - min(horizontal, len(labels)) :]
        part = ("part", parent, *kept)
        yield Rule(symbol, (part, children[-1]))
        yield from complete(nodes[:-1], children[:-1], part, parent, below)
        yield from visit(nodes[-1], below)

    yield Rule(None, (name(tree, ()),))
    yield from visit(tree, ())


def longest_chain(tree: Tree) -> int:
    """The most unary rules one above the other."""
    longest = 0
    stack = [(tree, 0)]
    while stack:
        node, above = stack.pop()
        if is_leaf(node):
            continue
        chain = above + 1 if len(node) == 2 else 0
        longest = max(longest, chain)
        stack += [(child, chain) for child in node[1:]]
    return longest
