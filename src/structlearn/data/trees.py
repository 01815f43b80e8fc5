"""Trees as nested tuples, read from and written as brackets, and their binary form.

A tree is ``(label, child, …)``; a leaf is ``(tag, word)``, with the word a string.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from structlearn.data.examples import is_listed
from structlearn.wording import shown

#: ``(label, child, …)`` or ``(tag, word)``.
Tree = tuple[Any, ...]
Bracket = tuple[str, int, int]
#: Labels of nodes that are there for form's sake and count as no bracket, as in evalb.
ROOTS = frozenset({"", "ROOT", "TOP", "S1"})

#: Levels that a tree may have: what walks through one does so in steps within steps.
DEEPEST = 250

_TOKENS = re.compile(r"[()]|[^\s()]+")


def parse_tree(text: str) -> Tree:
    """The one tree that a text of brackets holds.

    >>> parse_tree("(S (NP (PRP it)) (VP (VBZ works)))")
    ('S', ('NP', ('PRP', 'it')), ('VP', ('VBZ', 'works')))
    """
    stack: list[list[Any]] = []
    done: Tree | None = None
    for token in _TOKENS.finditer(text):
        piece = token.group()
        if done is not None:
            raise ValueError(f"after the tree there is {shown(piece)} at character {token.start() + 1}")
        if piece == "(":
            stack.append([])
            if len(stack) > DEEPEST:
                raise ValueError(f"more than {DEEPEST} brackets are open at character {token.start() + 1}")
        elif not stack:
            raise ValueError(f"expected '(' at character {token.start() + 1}, found {shown(piece)}")
        elif piece != ")":
            stack[-1].append(piece)
        else:
            node = _node(stack.pop(), token.start() + 1)
            if stack:
                stack[-1].append(node)
            else:
                done = node
    if done is None:
        raise ValueError(f"{len(stack)} brackets are not closed" if stack else "there is no tree")
    return done


def _node(parts: list[Any], at: int) -> Tree:
    if not parts or isinstance(parts[0], tuple):
        parts = ["", *parts]
    if len(parts) == 1:
        raise ValueError(f"the bracket that ends at character {at} holds no tree and no word")
    if any(isinstance(part, str) for part in parts[1:]) and len(parts) > 2:
        word = next(part for part in parts[1:] if isinstance(part, str))
        raise ValueError(f"the word {shown(word)} in the bracket that ends at character {at} has no tag of its own")
    return tuple(parts)


def format_tree(tree: Tree) -> str:
    """The brackets of a tree, on one line.

    >>> format_tree(("S", ("NP", ("PRP", "it")), ("VP", ("VBZ", "works"))))
    '(S (NP (PRP it)) (VP (VBZ works)))'
    """
    if is_leaf(tree):
        return f"({tree[0]} {tree[1]})"
    return f"({tree[0]} {' '.join(map(format_tree, tree[1:]))})"


def is_leaf(tree: Tree) -> bool:
    return len(tree) == 2 and isinstance(tree[1], str)


def leaves(tree: Tree) -> list[tuple[str, str]]:
    """(tag, word) of every leaf, from left to right."""
    found: list[tuple[str, str]] = []
    stack = [tree]
    while stack:
        node = stack.pop()
        if is_leaf(node):
            found.append((node[0], node[1]))
        else:
            stack.extend(reversed(node[1:]))
    return found


def as_tree(y: Any, where: str, depth: int = DEEPEST) -> Tree:
    """A tree from brackets, nested tuples or lists, or an nltk tree; names what is none.

    >>> as_tree(["NP", ["DT", "the"], ["NN", "dog"]], "Y[0]")
    ('NP', ('DT', 'the'), ('NN', 'dog'))
    """
    if isinstance(y, str):
        try:
            return parse_tree(y)
        except ValueError as error:
            raise ValueError(f"{where}: {error}") from None
    if depth == 0:
        raise ValueError(f"{where} is a tree of more than {DEEPEST} levels")
    if callable(getattr(y, "label", None)):
        y = (y.label(), *y)
    if not (isinstance(y, (tuple, list)) and len(y) >= 2 and isinstance(y[0], str)):
        raise ValueError(f"{where} is {shown(y)}; expected a tree (label, child, …), a leaf (tag, word) or brackets")
    if len(y) == 2 and isinstance(y[1], str):
        return (y[0], y[1])
    if any(isinstance(child, str) for child in y[1:]):
        word = next(child for child in y[1:] if isinstance(child, str))
        raise ValueError(f"{where}: the word {shown(word)} under {shown(y[0])} has no tag of its own")
    return (y[0], *(as_tree(child, where, depth - 1) for child in y[1:]))


class Treebank(list[Tree]):
    """Trees that have been checked; see `read_trees`."""


def read_trees(Y: Any) -> Treebank:
    """Trees in any of the forms that `as_tree` takes; names what is none."""
    if isinstance(Y, Treebank):
        return Y
    if not is_listed(Y) or len(Y) == 0:
        raise ValueError("Y is empty; training needs at least one tree")
    return Treebank(as_tree(y, f"Y[{i}]") for i, y in enumerate(Y))


def brackets(tree: Tree) -> list[Bracket]:
    """(label, begin, end) of all nodes but the leaves and those of `ROOTS`: what counts in losses and metrics.

    >>> brackets(parse_tree("(ROOT (S (NP (PRP it)) (VP (VBZ works))))"))
    [('NP', 0, 1), ('VP', 1, 2), ('S', 0, 2)]
    """
    return [(label, begin, end) for label, begin, end in nodes(tree) if label not in ROOTS]


def nodes(tree: Tree) -> Iterator[Bracket]:
    """(label, begin, end) of all nodes but the leaves, children first."""

    def visit(node: Tree, begin: int) -> Iterator[Bracket]:
        end = begin
        for child in node[1:]:
            if is_leaf(child):
                end += 1
            else:
                for found in visit(child, end):
                    yield found
                    last = found[2]
                end = last
        yield node[0], begin, end

    return iter(()) if is_leaf(tree) else visit(tree, 0)


def flat_tree(tokens: Sequence[tuple[str, str]]) -> Tree:
    """The tree without phrases that stands for no tree at all; its root is no bracket.

    >>> flat_tree([("DT", "the"), ("NN", "dog")])
    ('ROOT', ('DT', 'the'), ('NN', 'dog'))
    """
    return ("ROOT", *tokens)


def clean_tree(tree: Tree) -> Tree | None:
    """A tree of the Penn Treebank as parsers are trained on it; None if nothing is left.

    Traces (-NONE-) and phrases that hold nothing else are removed; function tags and indices are cut off labels,
    NP-SBJ-1 to NP, but not off tags; and so are unary cycles, see `remove_unary_cycles`.

    >>> clean_tree(("S", ("NP-SBJ-1", ("-NONE-", "*")), ("VP", ("VP", ("VB", "go")))))
    ('S', ('VP', ('VB', 'go')))
    """
    plain = _without_traces(tree)
    return None if plain is None else remove_unary_cycles(plain)


def _without_traces(tree: Tree) -> Tree | None:
    if is_leaf(tree):
        return None if tree[0] == "-NONE-" else tree
    children = [child for child in map(_without_traces, tree[1:]) if child is not None]
    label = re.split(r"(?<=.)[-=|]", tree[0], maxsplit=1)[0]
    return (label, *children) if children else None


def unary_cycle(tree: Tree) -> list[str] | None:
    """The labels of a chain of only children from one label to the same again, or None if there is no such chain.

    >>> unary_cycle(parse_tree("(S (NP (S (NP (NN dog)))))"))
    ['S', 'NP', 'S']
    """
    stack: list[tuple[Tree, list[str]]] = [(tree, [])]
    while stack:
        node, above = stack.pop()
        if is_leaf(node):
            continue
        chain = [*above, node[0]]
        if node[0] in above:
            return chain[above.index(node[0]) :]
        stack += [(child, chain if len(node) == 2 else []) for child in node[1:]]
    return None


def remove_unary_cycles(tree: Tree) -> Tree:
    """The tree with a node for each label in a chain of only children: its first, with the children of its last.

    What stands between the two goes.

    >>> format_tree(remove_unary_cycles(parse_tree("(S (NP (VP (NP (DT the) (NN dog)))))")))
    '(S (NP (DT the) (NN dog)))'
    """
    if is_leaf(tree):
        return tree
    last = node = tree
    while len(node) == 2 and not is_leaf(node[1]):
        node = node[1]
        if node[0] == tree[0]:
            last = node
    return (tree[0], *map(remove_unary_cycles, last[1:]))
