"""Texts with mentions, of which coreference is predicted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Mention(NamedTuple):
    """The words `begin` to `end` of a sentence, counted from 0, the last one not included."""

    sentence: int
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text and the mentions in it.

    Attributes
    ----------
    sentences : tuple of tuples of str
    mentions : tuple of Mention
        In the order in which they begin, longer ones first.
    name : str
    part : int
    """

    sentences: tuple[tuple[str, ...], ...]
    mentions: tuple[Mention, ...]
    name: str = ""
    part: int = 0

    def words(self, mention: Mention) -> tuple[str, ...]:
        """The words of a mention."""
        return self.sentences[mention.sentence][mention.begin : mention.end]
