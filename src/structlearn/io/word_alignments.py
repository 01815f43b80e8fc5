"""Sentences and their translations, a pair a line, with or without links between words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.data.matchings import Links, SentencePair
from structlearn.io.format import BLANKS, Example, Format, Structure, check_written, split_blanks
from structlearn.io.text import Lines, quoted

BORDER = "|||"
_BORDER = re.compile(rf"(?<![^{BLANKS}]){re.escape(BORDER)}(?![^{BLANKS}])")
#: A link ``3-4``, a possible one ``3?4``, or ``3-4-P`` as some files have it.
_LINK = re.compile(r"(\d{1,9})([-?])(\d{1,9})(-P|-S)?")


@dataclass(frozen=True)
class WordAlignments(Format):
    """``the house ||| la maison ||| 0-0 1-1``: words of a sentence, of its translation, and links between them.

    A link ``i-j`` is of word i of the first and j of the second, counted from 0; ``i?j`` is possible, and not sure. The
    links and the bars before them may be missing. x is a `SentencePair`, y its `Links`. What is written has the links
    of predictions.

    Examples
    --------
    >>> lines = Lines([b"the house ||| la maison ||| 0-0 1?1\\n"], "small.txt")
    >>> (example,) = WordAlignments().read(lines)
    >>> example.x, example.y, sorted(example.y.possible)
    (SentencePair(source=('the', 'house'), target=('la', 'maison')), ((0, 0),), [(0, 0), (1, 1)])
    >>> WordAlignments().annotate(example, ((0, 0), (1, 1)))
    'the house ||| la maison ||| 0-0 1-1\\n'
    """

    name: ClassVar[str] = "word_alignments"

    @property
    def structure(self) -> Structure:
        return "translation"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        lines = [line for line in head if line.strip(BLANKS)]
        return cls() if lines and all(split_blanks(line).count(BORDER) in (1, 2) for line in lines[:5]) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        for line in lines:
            if not line.strip(BLANKS):
                continue
            fields: list[list[str]] = [[]]
            for word in split_blanks(line):
                if word == BORDER:
                    fields.append([])
                elif word:
                    fields[-1].append(word)
            if len(fields) not in (2, 3):
                raise lines.error(f"expected two sentences and perhaps links with {BORDER} between them")
            x = SentencePair(tuple(fields[0]), tuple(fields[1]))
            try:
                y = read_links(" ".join(fields[2]), (len(x.source), len(x.target))) if len(fields) == 3 else None
            except ValueError as error:
                raise lines.error(str(error)) from None
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        for side in x:
            for word in side:
                check_written(word, "the word", BLANKS)
                if word == BORDER:
                    raise ValueError(f"the word {quoted(word)} cannot be written in this format")
        sides = [" ".join(side) for side in x]
        return f" {BORDER} ".join([*sides, *([] if y is None else [write_links(y)])]).rstrip(BLANKS) + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        borders = list(_BORDER.finditer(line))
        sentences = line[: borders[1].end()] if len(borders) > 1 else f"{line.rstrip(BLANKS)} {BORDER}"
        return f"{sentences} {write_links(y)}".rstrip(BLANKS) + "\n"


def read_links(text: str, shape: tuple[int, int]) -> Links:
    """Links between words of two sentences with so many words.

    >>> read_links("0-0 1?2 2-1-P", (3, 3)).possible == {(0, 0), (1, 2), (2, 1)}
    True
    """
    sure: list[tuple[int, int]] = []
    possible: list[tuple[int, int]] = []
    for link in text.split():
        found = _LINK.fullmatch(link)
        if found is None:
            raise ValueError(f"expected a link such as 0-1 or 0?1, found {quoted(link)}")
        pair = int(found[1]), int(found[3])
        if pair[0] >= shape[0] or pair[1] >= shape[1]:
            raise ValueError(f"the link {link} leads out of sentences of {shape[0]} and {shape[1]} words")
        (possible if found[2] == "?" or found[4] == "-P" else sure).append(pair)
    return Links(sorted(set(sure)), possible)


def write_links(links: Any) -> str:
    """The same as text.

    >>> write_links(Links([(0, 0)], possible=[(1, 2)]))
    '0-0 1?2'
    """
    sure = set(links)
    every = sorted(sure | set(getattr(links, "possible", ())))
    return " ".join(f"{i}{'-' if (i, j) in sure else '?'}{j}" for i, j in every)
