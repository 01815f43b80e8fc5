"""What summaries of all kinds count and remember, in bounded memory however long the file is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Self

from structlearn.io.format import Example

#: Odd places that are kept; further ones are only counted.
MOST_KEPT = 10_000
#: Inputs that are remembered to find the same one again, and labels that are counted.
MOST_REMEMBERED = 1_000_000


@dataclass(frozen=True, slots=True)
class Oddity:
    """Something that a person should look at."""

    line: int
    what: str
    file: str = ""

    @classmethod
    def at(cls, example: Example, what: str, t: int = 0) -> Self:
        """At token t of an example: on a line of its own, or with all others on the line of the example."""
        own_lines = isinstance(example.x, list) and len(example.source) == len(example.x)
        row = example.rows[t] if example.rows else t if own_lines else 0
        return cls(example.line + row, what, example.file)


@dataclass
class Counts:
    """What is counted of every file.

    Attributes
    ----------
    examples : int
    lengths : (shortest, longest)
    odd : int
        The number of odd places.
    oddities : list of Oddity
        The first of them, after `sort` in the order of files and lines.
    """

    examples: int = 0
    lengths: tuple[int, int] = (0, 0)
    odd: int = 0
    oddities: list[Oddity] = field(default_factory=list)

    def add_example(self, *lengths: int) -> None:
        """One example more, and how long it is, or its sequences are."""
        known = self.lengths if self.examples else lengths
        self.lengths = min(*known, *lengths), max(*known, *lengths)
        self.examples += 1

    def note(self, found: Iterable[Oddity]) -> None:
        for oddity in found:
            self.odd += 1
            if len(self.oddities) < MOST_KEPT:
                self.oddities.append(oddity)

    def include(self, others: Counts) -> None:
        """The odd places of others, too."""
        self.odd += others.odd
        self.oddities += others.oddities[: MOST_KEPT - len(self.oddities)]

    def sort(self) -> None:
        self.oddities.sort(key=lambda oddity: (oddity.file, oddity.line))


class Inputs:
    """The first million inputs of a file, and where they stood with which outputs."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[str, int, int]] = {}

    def with_another_output(self, x: Any, y: Any, example: Example) -> tuple[str, int] | None:
        """File and line where the input stood first, if it had another output there."""
        new = (example.file, example.line, hash(repr(y)))
        if len(self._seen) < MOST_REMEMBERED:
            file, line, output = self._seen.setdefault(hash(repr(x)), new)
        else:
            file, line, output = self._seen.get(hash(repr(x)), new)
        return None if output == new[2] else (file, line)
