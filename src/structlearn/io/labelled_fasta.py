"""Labelled sequences: FASTA with the label in the header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.io.fasta import Row, read_fasta, without_rest, write_fasta
from structlearn.io.format import Example, Format, Structure, check_written
from structlearn.io.numbers import parse_number
from structlearn.io.pairs import NamedSequence
from structlearn.io.text import Lines, quoted

#: What a sequence is called that came without a header.
HEADER = "sequence"
_WORD = re.compile(r"(?:^|(?<=\s))(label|weight)=(\S*)")


@dataclass(frozen=True)
class LabelledFasta(Format):
    """One sequence an example, in FASTA: x is a string of letters, y the label.

    The label is a word ``label=…`` of the header. A whole number becomes an int, so that +1 is larger than -1; else it
    is a text. A word ``weight=…`` is the price of the example in training. Sequences without a label have y None.
    Letters are made capital. Predictions become a word ``predicted=…`` at the end of the header.

    Examples
    --------
    >>> lines = Lines([b">ARS104 label=+1\\nTTTATGTTTA\\n>other label=-1 weight=0.02\\nGATTACA\\n"], "small.fasta")
    >>> one, other = LabelledFasta().read(lines)
    >>> one.x, one.y, other.y, other.weight
    ('TTTATGTTTA', 1, -1, 0.02)
    >>> print(LabelledFasta().annotate(other, 1), end="")
    >other label=-1 weight=0.02 predicted=1
    GATTACA
    """

    name: ClassVar[str] = "fasta"

    @property
    def structure(self) -> Structure:
        return "sequence"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        header = _first(head)
        return cls() if header.startswith(">") and "label" in dict(_WORD.findall(header[1:])) else None

    @classmethod
    def fits(cls, head: Sequence[str], filename: str) -> bool:
        # Files for prediction have no labels, and are then like those of pairs.
        return _first(head).startswith(">")

    def parse(self, lines: Lines) -> Iterator[Example]:
        for row in read_fasta(lines):
            words: dict[str, str] = {}
            for key, value in _WORD.findall(row.header):
                if not value or key in words:
                    wrong = "has nothing behind it" if not value else "stands there twice"
                    raise lines.error(f"{key}= {wrong} in the header {quoted(row.header)}", line=row.line)
                words[key] = value
            y = parse_label(words["label"]) if "label" in words else None
            x = NamedSequence(row.sequence, row.header)
            yield Example(x, y, row.line, without_rest(row.source), _weight(lines, row, words), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        if not (isinstance(x, str) and x.isascii() and x.isalpha() and x.isupper()):
            raise ValueError(f"the sequence {quoted(str(x))} cannot be written: it is no text of capitals")
        header = _WORD.sub("", getattr(x, "header", "")).strip() or HEADER
        return write_fasta([(header if y is None else f"{header} label={_written(y)}", x)])

    def annotate(self, example: Example, y: Any) -> str:
        header, *rows = example.source
        return "".join(f"{line}\n" for line in (f"{header} predicted={_written(y)}", *rows))

    def title(self, example: Example) -> str:
        words: list[str] = _WORD.sub("", example.x.header).split()
        return words[0] if words else example.place


def _first(head: Sequence[str]) -> str:
    return next((line for line in head if line.strip() and not line.startswith(";")), "")


def parse_label(text: str) -> int | str:
    """
    >>> parse_label("+1"), parse_label("yes"), parse_label("1.0")
    (1, 'yes', '1.0')
    """
    return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else text


def _written(y: Any) -> str:
    text = check_written(str(y), "label")
    if text.split() != [text] or parse_label(text) != y:
        raise ValueError(f"the label {quoted(repr(y))} cannot be written: it would be read as another one")
    return text


def _weight(lines: Lines, row: Row, words: dict[str, str]) -> float:
    try:
        weight = parse_number(words.get("weight", "1"))
    except ValueError as error:
        raise lines.error(f"{error} as the weight", line=row.line) from None
    if weight < 0.0:
        raise lines.error(f"the weight is {weight}; it must be at least 0", line=row.line)
    return weight
