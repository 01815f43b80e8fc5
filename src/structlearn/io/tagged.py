"""Tagged text as in the Brown corpus and the Penn Treebank: ``The/DT dog/NN barks/VBZ``, one sentence a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.io.format import (
    BLANKS,
    LONGEST_SEQUENCE,
    Example,
    Format,
    Structure,
    check_written,
    column_of,
    paired,
    split_blanks,
    token_values,
)
from structlearn.io.text import Lines, quoted

#: Separators that are recognised.
SEPARATORS = ("/", "_")
#: The least share of tokens with a tag; the few others are errors, which reading will name.
TAGGED = 0.9
#: What other formats have and running text has not: beginnings, tabs within a line, features.
_FOREIGN = re.compile(r"\s*[{(>#]|.*\S\t|.*\S:[-+]?[.\d]")
_TOKEN = re.compile(f"[^{BLANKS}]+")


@dataclass(frozen=True)
class Tagged(Format):
    """Words with their tags behind a separator, or without any; x is a list of words.

    The last separator of a token counts, so that words may hold it: ``1/2/CD`` is the word 1/2. A backslash before it
    is part of the word. A file whose first sentence has mostly words without tags has no tags at all. Predictions
    replace the tags.

    Parameters
    ----------
    separator : str
        What stands between a word and its tag.
    partial : bool
        Whether tags are known in part: ``dog/?`` where nothing is known, ``run/NN|VB`` for one of several.

    Examples
    --------
    >>> lines = Lines([b"The/DT dog/NN barks/VBZ ./.\\nand/or/CC\\n"], "brown.txt")
    >>> for example in Tagged().read(lines):
    ...     print(example.x, example.y)
    ['The', 'dog', 'barks', '.'] ['DT', 'NN', 'VBZ', '.']
    ['and/or'] ['CC']
    """

    name: ClassVar[str] = "tagged"

    separator: str = "/"
    partial: bool = False

    def __post_init__(self) -> None:
        if not self.separator or set(self.separator) & set(BLANKS + "\n\r\0"):
            raise ValueError(f"separator is {self.separator!r}; expected a text without blanks")

    @property
    def structure(self) -> Structure:
        return "words"

    @property
    def inputs(self) -> tuple[str, ...]:
        return ("word",)

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        rows = [split_blanks(line) for line in head]
        if not any(len(row) > 1 for row in rows) or any("\t" in line.strip(BLANKS) for line in head):
            return None
        tokens = [token for row in rows for token in row]
        for separator in SEPARATORS:
            form = cls(separator)
            if form._n_tagged(tokens) >= TAGGED * len(tokens):
                return form
        return None

    @classmethod
    def fits(cls, head: Sequence[str], filename: str) -> bool:
        text = "\n".join(head).strip()
        running = "\n\n" not in text and not any(map(_FOREIGN.match, head))
        return running or cls.recognise(head, filename) is not None

    def parse(self, lines: Lines) -> Iterator[Example]:
        labelled = None
        for line in lines:
            tokens = split_blanks(line)
            if not tokens:
                continue
            if len(tokens) > LONGEST_SEQUENCE:
                raise lines.error(f"more than {LONGEST_SEQUENCE:,} tokens")
            if labelled is None:
                labelled = self._looks_tagged(tokens)
                other = None if labelled else self.recognise([line], lines.name)
                if other is not None:
                    raise lines.error(f"the words are tagged with {other.separator!r}, not with {self.separator!r}")
            if not labelled:
                yield Example(tokens, None, lines.number, (line,), file=lines.name)
                continue
            pairs = [self._split(token) for token in tokens]
            if None in pairs:
                t = pairs.index(None)
                expected = f"expected a word and a tag with {self.separator!r} between"
                raise lines.error(f"{expected}, found {quoted(tokens[t])}", column_of(line, t, None))
            x, y = ([pair[k] for pair in pairs if pair is not None] for k in (0, 1))
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        tokens = []
        for t, (token, label) in enumerate(paired(x, y)):
            word = check_written(token_values(token, self.inputs, t)[0], f"x[{t}]", BLANKS)
            if label is not None:
                label = check_written(label, f"y[{t}]", BLANKS)
                if self._split(f"{word}{self.separator}{label}") != (word, label):
                    raise ValueError(f"y[{t}] {quoted(label)} cannot be written: it would be read as part of the word")
            tokens.append(word if label is None else f"{word}{self.separator}{label}")
        if not tokens:
            raise ValueError("a sequence without tokens cannot be written")
        if y is None and (self._looks_tagged(tokens) or self.recognise([" ".join(tokens)], "") is not None):
            raise ValueError(f"words such as {quoted(tokens[0])} cannot be written without tags: they look tagged")
        return " ".join(tokens) + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        written = iter(split_blanks(self.write(example.x, y).rstrip("\n")))
        (line,) = example.source
        return _TOKEN.sub(lambda _: next(written), line) + "\n"

    def _split(self, token: str) -> tuple[str, str] | None:
        """The word and the tag of a token; None if it has not both."""
        word, _, tag = token.rpartition(self.separator)
        return (word, tag) if word and tag else None

    def _n_tagged(self, tokens: Sequence[str]) -> int:
        return sum(self._split(token) is not None for token in tokens)

    def _looks_tagged(self, tokens: Sequence[str]) -> bool:
        return 2 * self._n_tagged(tokens) >= len(tokens)
