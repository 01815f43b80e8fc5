"""Counts in words."""

from __future__ import annotations


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
    >>> several("letter"), several("entity"), several("day")
    ('letters', 'entities', 'days')
    """
    return f"{noun[:-1]}ies" if noun[-1] == "y" and noun[-2] not in "aeou" else f"{noun}s"
