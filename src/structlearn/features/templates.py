"""Templates that say which values of a token and its neighbours make a feature.

``word[-1]|pos[0]`` is the word before and the part of speech here, taken together: the feature's name begins with just
that. A few abbreviations stand for several templates:

=============================  =================================================================
``word[-1..1]``                ``word[-1]``, ``word[0]``, ``word[1]``
``word.suffix1..2[0]``         ``word.suffix1[0]``, ``word.suffix2[0]``
``pairs of word[-1..1]``       ``word[-1]|word[0]``, ``word[0]|word[1]``
``triples of word[-1..1]``     ``word[-1]|word[0]|word[1]``
``word[0]|pos[-1..1]``         ``word[0]|pos[-1]``, ``word[0]|pos[0]``, ``word[0]|pos[1]``
``bias``                       a feature that every token has
=============================  =================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

RUNS = {"pairs of ": 2, "triples of ": 3}
FIELD = re.compile(
    r"(?P<column>\w+)"
    r"(?:\.(?P<attribute>[a-z_]+)(?:(?P<shortest>\d+)(?:\.\.(?P<longest>\d+))?)?)?"
    r"\[(?P<first>[+-]?\d+)(?:\.\.(?P<last>[+-]?\d+))?\]"
)


@dataclass(frozen=True, slots=True)
class Field:
    """An attribute ("" for the value itself) of a column of the token that stands `offset` places further on."""

    column: str
    attribute: str
    offset: int

    @property
    def source(self) -> str:
        """
        >>> Field("word", "suffix3", -1).source
        'word.suffix3'
        """
        return f"{self.column}.{self.attribute}" if self.attribute else self.column

    def __str__(self) -> str:
        return f"{self.source}[{self.offset}]"


Template = tuple[Field, ...]  # without fields: the bias


def name(template: Template) -> str:
    """
    >>> name((Field("word", "", -1), Field("pos", "", 0)))
    'word[-1]|pos[0]'
    """
    return "|".join(map(str, template)) or "bias"


def parse(templates: Iterable[str]) -> tuple[Template, ...]:
    """All templates that the texts stand for, each once, in the order of first appearance.

    >>> [name(template) for template in parse(["pairs of pos[-1..1]", "word.prefix1..2[0]", "pos[0]|pos[1]"])]
    ['pos[-1]|pos[0]', 'pos[0]|pos[1]', 'word.prefix1[0]', 'word.prefix2[0]']
    """
    return tuple(dict.fromkeys(template for text in templates for template in _parse(text)))


def default_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """Templates for tokens of which the first column is a word and the others, if any, are tags."""
    word = columns[0]
    of_words = (
        "bias",
        f"{word}[-2..2]",
        f"pairs of {word}[-1..1]",
        f"{word}.lower[-1..1]",
        f"{word}.prefix1..4[0]",
        f"{word}.suffix1..4[0]",
        f"{word}.short_shape[-1..1]",
        f"{word}.shape[0]",
    )
    of_tags = ("{0}[-2..2]", "pairs of {0}[-2..2]", "triples of {0}[-2..2]")
    return (*of_words, *(template.format(tag) for tag in columns[1:] for template in of_tags))


def _parse(text: str) -> list[Template]:
    if text == "bias":
        return [()]
    for words, length in RUNS.items():
        if text.startswith(words):
            return _runs(text, _alternatives(text.removeprefix(words), text), length)
    return [tuple(chosen) for chosen in product(*(_alternatives(part, text) for part in text.split("|")))]


def _runs(text: str, fields: list[Field], length: int) -> list[Template]:
    """Fields of one source at `length` neighbouring places."""
    runs = [
        tuple(Field(field.column, field.attribute, field.offset + k) for k in range(length))
        for field in fields
        if Field(field.column, field.attribute, field.offset + length - 1) in fields
    ]
    if not runs:
        raise ValueError(f"the template {text!r} has fewer than {length} places")
    return runs


def _alternatives(part: str, text: str) -> list[Field]:
    """The fields that a part of the template `text` stands for, by source and then by offset."""
    match = FIELD.fullmatch(part.strip())
    if not match:
        raise ValueError(
            f"the template {text!r} cannot be read at {part!r}; a field is like word[0] or word.suffix3[-1..1]"
        )
    offsets = _range(match["first"], match["last"], text)
    stem = match["attribute"] or ""
    attributes = (
        [f"{stem}{n}" for n in _range(match["shortest"], match["longest"], text)] if match["shortest"] else [stem]
    )
    return [Field(match["column"], attribute, offset) for attribute in attributes for offset in offsets]


def _range(first: str, last: str | None, text: str) -> range:
    result = range(int(first), int(first if last is None else last) + 1)
    if not result:
        raise ValueError(f"the template {text!r} has the empty range {first}..{last}")
    return result
