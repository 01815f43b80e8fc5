"""Trees in brackets, as in the Penn Treebank: ``( (S (NP (PRP it)) (VP (VBZ works))) )``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.data.trees import Tree, as_tree, is_leaf, leaves
from structlearn.io.format import LONGEST_SEQUENCE, Example, Format, Structure, check_written
from structlearn.io.text import Lines, quoted

#: The most brackets that may be open at once.
DEEPEST = 200
#: What neither a label nor a word can hold; the treebank has -LRB- and -RRB- for brackets in the text.
FORBIDDEN = "() \t"
_WRAPPED = re.compile(r"\(\s*\(")
_PIECES = re.compile(r"[()]|[^ \t()]+")
#: Brackets that open, with labels or without, down to the first leaf; what a quantifier with ++ took it keeps, so that
#: no text takes longer than its length.
_BEGINNING = re.compile(r"(?:\(\s*+[^\s()]*+\s*+)+\([^\s()]++\s++[^\s()]++\s*+\)")


@dataclass(frozen=True)
class Brackets(Format):
    """Sentences and their trees; x is a list of (word, tag) pairs, y the tree as nested tuples.

    A tree may extend over several lines. An outer bracket without a label, as the treebank has it, is taken off where
    it holds one tree, and is named ROOT where it holds several. Labels and words are left as they are: traces, function
    tags and the like are for `structlearn.data.clean_tree`.

    Examples
    --------
    >>> text = b"( (S (NP (PRP it))\\n     (VP (VBZ works))) )"
    >>> (example,) = Brackets().read(Lines([text], "it.mrg"))
    >>> example.x, example.y
    ([('it', 'PRP'), ('works', 'VBZ')], ('S', ('NP', ('PRP', 'it')), ('VP', ('VBZ', 'works'))))
    """

    name: ClassVar[str] = "brackets"

    @property
    def structure(self) -> Structure:
        return "tree"

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("word", "pos")

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        text = "\n".join(head).lstrip()
        return cls() if _BEGINNING.match(text) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        stack: list[list[Any]] = []
        source: list[str] = []
        begin = first = 0
        for line in lines:
            for piece in _PIECES.finditer(line):
                text, column = piece.group(), piece.start() + 1
                if text == "(":
                    if not stack:
                        source, begin, first = [], lines.number, piece.start()
                    if len(stack) == DEEPEST:
                        raise lines.error(f"more than {DEEPEST} brackets are open", column)
                    stack.append([])
                elif not stack:
                    raise lines.error(f"expected '(', found {quoted(text)}", column)
                elif text != ")":
                    stack[-1].append(text)
                else:
                    node = self._node(stack.pop(), lines, column)
                    if stack:
                        stack[-1].append(node)
                    else:
                        tree = _unwrapped(node)
                        x = [(word, tag) for tag, word in leaves(tree)]
                        source.append(line[first:column])
                        yield Example(x, tree, begin, tuple(source), file=lines.name)
            if stack:
                source.append(line[first:])
                first = 0
                if len(source) > LONGEST_SEQUENCE:
                    raise lines.error(f"a tree of more than {LONGEST_SEQUENCE:,} lines", 1, begin)
        if stack:
            still = "a bracket is" if len(stack) == 1 else f"{len(stack)} brackets are"
            raise lines.error(f"the tree that begins here is not closed: {still} open", 1, begin)

    def write(self, x: Any, y: Any) -> str:
        if y is None:
            raise ValueError("a sentence without a tree cannot be written in brackets")
        return f"({_written(as_tree(y, 'y'))})\n"

    def annotate(self, example: Example, y: Any) -> str:
        """The predicted tree on one line, in an outer bracket if the tree that was read had one."""
        written = self.write(example.x, y)
        return written if _WRAPPED.match(" ".join(example.source)) else f"{written.strip()[1:-1]}\n"

    @staticmethod
    def _node(parts: list[Any], lines: Lines, column: int) -> Tree:
        if not parts or isinstance(parts[0], tuple):
            parts = ["", *parts]
        if len(parts) == 1:
            raise lines.error("a bracket that holds neither trees nor a word ends here", column)
        if len(parts) > 2 and any(isinstance(part, str) for part in parts[1:]):
            word = next(part for part in parts[1:] if isinstance(part, str))
            raise lines.error(f"the word {quoted(word)} in the bracket that ends here has no tag of its own", column)
        return tuple(parts)


def _unwrapped(tree: Tree) -> Tree:
    if tree[0] != "" or is_leaf(tree):
        return tree
    return tree[1] if len(tree) == 2 else ("ROOT", *tree[1:])


def _written(tree: Tree) -> str:
    label = check_written(tree[0], "label", FORBIDDEN) if tree[0] else ""
    if is_leaf(tree):
        return f"({label} {check_written(tree[1], 'word', FORBIDDEN)})"
    return f"({label} {' '.join(map(_written, tree[1:]))})"
