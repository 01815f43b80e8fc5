"""Counts in words, and values as messages show them."""

from __future__ import annotations

import reprlib
from typing import Any

#: Characters of a value that a message shows.
_LONGEST = 200


def count(n: float, noun: str = "", plural: str | None = None) -> str:
    """A number with thousands set apart, and what it counts.

    >>> count(1234, "token"), count(1, "query"), count(2, "query"), count(2, "class", "classes"), count(0)
    ('1,234 tokens', '1 query', '2 queries', '2 classes', '0')
    """
    words = f"{n:,.0f}"
    if not noun:
        return words
    return f"{words} {noun if n == 1 else plural or several(noun)}"


def several(noun: str) -> str:
    """
    >>> several("letter"), several("entity"), several("day"), several("pair of sentences")
    ('letters', 'entities', 'days', 'pairs of sentences')
    """
    noun, of, more = noun.partition(" of ")
    return (f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeou" else f"{noun}s") + of + more


def having(n: int, total: int, noun: str) -> str:
    """
    >>> having(1, 3, "tree"), having(30, 500, "tree")
    ('1 of 3 trees has', '30 of 500 trees have')
    """
    return f"{n:,} of {count(total, noun)} {'has' if n == 1 else 'have'}"


def in_bytes(n: float) -> str:
    """A number of bytes in words.

    >>> in_bytes(1234), in_bytes(180_400_000), in_bytes(1.25e9), in_bytes(17e9)
    ('1.2 kB', '180 MB', '1.2 GB', '17 GB')
    """
    for power, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if n >= power:
            return f"{n / power:.{1 if n < 10 * power else 0}f} {unit}"
    return f"{n:.0f} bytes"


def shown(value: Any) -> str:
    """A value as `repr` shows it, but never more than a line or two, whatever it is.

    >>> shown(["a", 1.5]), shown(10**5000), len(shown("x" * 10**6))
    ("['a', 1.5]", '<int of 16610 bits>', 200)
    """
    text = _SHORT.repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


class _Short(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = _LONGEST
        self.maxlist = self.maxtuple = self.maxset = self.maxdict = 10

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to print whole numbers of more than some thousand digits.
        return f"<int of {value.bit_length()} bits>" if value.bit_length() > 1000 else repr(value)


_SHORT = _Short()
