"""What can be read off a single word: affixes, shapes, flags. None means that the word has no such attribute."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import groupby

Attribute = Callable[[str], str | None]


def attribute(name: str) -> Attribute:
    """The attribute of that name.

    >>> attribute("suffix3")("walking"), attribute("suffix3")("to"), attribute("shape")("F-16s")
    ('ing', None, 'X-ddx')
    """
    if name in NAMED:
        return NAMED[name]
    affix = re.fullmatch(r"(prefix|suffix)([1-9]\d*)", name)
    if not affix:
        raise ValueError(f"there is no attribute {name!r}; there are {', '.join([*NAMED, 'prefixN', 'suffixN'])}")
    length = int(affix[2])
    cut = slice(length) if affix[1] == "prefix" else slice(-length, None)
    return lambda word: word[cut] if len(word) >= length else None


def shape(word: str) -> str:
    """X for capital letters, x for other letters, d for digits; the rest as it is.

    >>> shape("McDonald's"), shape("1,200")
    ("XxXxxxxx'x", 'd,ddd')
    """
    return word.translate(_KINDS)


def short_shape(word: str) -> str:
    """The shape with equal neighbours drawn together.

    >>> short_shape("McDonald's"), short_shape("1,200")
    ("XxXx'x", 'd,d')
    """
    return "".join([kind for kind, _ in groupby(shape(word))])


class _Kinds(dict[int, str]):
    """What characters become in shapes, found out when one is first met."""

    def __missing__(self, code: int) -> str:
        self[code] = kind = _kind(chr(code))
        return kind


def _kind(character: str) -> str:
    if character.isupper():
        return "X"
    if character.isalpha():
        return "x"
    return "d" if character.isdigit() else character


_KINDS = _Kinds()


def _flag(holds: Callable[[str], bool]) -> Attribute:
    return lambda word: "yes" if holds(word) else None


NAMED: dict[str, Attribute] = {
    "lower": str.lower,
    "shape": shape,
    "short_shape": short_shape,
    "is_capitalised": _flag(lambda word: word[:1].isupper()),
    "is_upper": _flag(str.isupper),
    "is_number": _flag(lambda word: bool(re.fullmatch(r"[+-]?[\d.,]*\d", word))),
    "is_punctuation": _flag(lambda word: word != "" and all(unicodedata.category(c)[0] in "PS" for c in word)),
    "has_digit": _flag(lambda word: any(c.isdigit() for c in word)),
    "has_hyphen": _flag(lambda word: "-" in word),
}
