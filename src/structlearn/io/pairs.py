"""Pairs of sequences with or without their alignment: FASTA, A3M and Stockholm."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.data.biosequences.matches import from_gapped, to_gapped
from structlearn.io.a3m import read_a3m_pairs
from structlearn.io.fasta import Row, read_fasta, without_rest, write_fasta
from structlearn.io.format import Example, Format, Structure
from structlearn.io.stockholm import read_stockholm_rows
from structlearn.io.text import Lines, quoted

GAPS = "-."
#: How the names of files end that hold one aligned family with its first sequence in capital letters.
A3M = (".a3m", ".a3m.gz", ".a3m.bz2", ".a3m.xz")
#: What sequences are called that came without a header.
HEADERS = ("first", "second")
_WITHOUT_GAPS = str.maketrans("", "", GAPS)


class NamedSequence(str):
    """The letters of a sequence, which also know the header they stood under and what the file says of each letter.

    `annotations` are texts as long as the sequence, "structure" and "accessibility", which an `Alignment` with features
    of these uses.

    >>> sequence = NamedSequence("ACG", "one of many", {"structure": "HHC"})
    >>> sequence == "ACG", sequence.header, sequence.annotations
    (True, 'one of many', {'structure': 'HHC'})
    """

    __slots__ = ("annotations", "header")

    header: str
    annotations: dict[str, str]

    def __new__(cls, letters: str, header: str = "", annotations: dict[str, str] | None = None) -> Self:
        made = super().__new__(cls, letters)
        made.header = header
        made.annotations = annotations or {}
        return made


@dataclass(frozen=True)
class Pairs(Format):
    """Two sequences an example: x is (s, t), y the matches (i, j) of an `Alignment`, counted from 0.

    In FASTA the first and second sequence are a pair, the third and fourth, and so on. Two rows of one length, or with
    gaps, are aligned; two of different lengths without a gap are not, and y is None. A3M, known by the file's name, and
    Stockholm, by its first line, hold one aligned family: its first sequence is paired with each other one. Sequences
    keep the structures and accessibilities that Stockholm has for them, see `NamedSequence`.
    Letters are made capital. What is written is aligned FASTA with the headers that were read.

    Examples
    --------
    >>> lines = Lines([b">a\\nAC-G\\n>b\\nA-TG\\n>c\\nACC\\n>d\\nAC\\n"], "small.fasta")
    >>> one, other = Pairs().read(lines)
    >>> one.x, one.y
    (('ACG', 'ATG'), ((0, 0), (2, 2)))
    >>> other.x, other.y
    (('ACC', 'AC'), None)
    >>> print(Pairs().annotate(other, ((0, 0), (2, 1))), end="")
    >c
    ACC
    >d
    A-C
    """

    name: ClassVar[str] = "pairs"

    @property
    def structure(self) -> Structure:
        return "pair"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        if _is_stockholm(head):
            return cls()
        lines = (line for line in head if line.strip() and not line.startswith(";"))
        header, row = next(lines, ""), next(lines, "")
        if not header.startswith(">") or not header[1:].strip():
            return None
        # A file of columns may begin with the word ">", but has several words in the next line, too.
        return cls() if len(row.split()) <= 1 or (row.startswith(">") and not header[1].isspace()) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        annotations: dict[str, dict[str, str]] = {}
        if _is_stockholm(lines.head()):
            rows, annotations = read_stockholm_rows(lines)
            pairs: Iterator[tuple[Row, Row]] = ((rows[0], row) for row in rows[1:])
        elif lines.name.endswith(A3M):
            pairs = read_a3m_pairs(lines)
        else:
            yield from (_example(lines, *pair) for pair in _successive(lines))
            return
        n_pairs = 0
        for pair in pairs:
            n_pairs += 1
            yield _example(lines, *pair, annotations)
        if not n_pairs:
            raise lines.error("the file holds one sequence only; a pair is needed")

    def read(self, lines: Lines) -> Iterator[Example]:
        """All pairs of a file, aligned or not: rows that are not may have one length by chance."""
        return self.parse(lines)

    def write(self, x: Any, y: Any) -> str:
        for sequence in x:
            if not (isinstance(sequence, str) and sequence.isascii() and sequence.isalpha() and sequence.isupper()):
                raise ValueError(f"the sequence {quoted(str(sequence))} cannot be written: it is no text of capitals")
        if y is None and len(x[0]) == len(x[1]):
            raise ValueError("two sequences of one length cannot be written without an alignment: they would have one")
        s, t = x
        rows = (s, t) if y is None else to_gapped(s, t, y)
        headers = (getattr(sequence, "header", "") or default for sequence, default in zip(x, HEADERS, strict=True))
        return write_fasta(list(zip(headers, rows, strict=True)))


def _is_stockholm(head: Sequence[str]) -> bool:
    return bool(head) and head[0].startswith("# STOCKHOLM")


def _successive(lines: Lines) -> Iterator[tuple[Row, Row]]:
    rows = read_fasta(lines, GAPS)
    for first in rows:
        second = next(rows, None)
        if second is None:
            raise lines.error(f"{quoted(first.name)} is the last of an odd number of sequences", line=first.line)
        yield first, second


def _example(lines: Lines, first: Row, second: Row, annotations: dict[str, dict[str, str]] | None = None) -> Example:
    """A pair of rows; those of a family come with its annotations by name."""
    rows, family = (first, second), annotations is not None
    gapless = [row.sequence.translate(_WITHOUT_GAPS) for row in rows]
    for row, sequence in zip(rows, gapless, strict=True):
        if not sequence:
            raise lines.error(f"{quoted(row.name)} is an empty sequence", line=row.line)
    s, t = (
        NamedSequence(sequence, row.header, _without_gaps(row, (annotations or {}).get(row.name, {})))
        for row, sequence in zip(rows, gapless, strict=True)
    )
    a, b = first.sequence, second.sequence
    y = None
    if family or len(a) == len(b) or len(a) > len(s) or len(b) > len(t):
        if len(a) != len(b):
            raise lines.error(
                f"{quoted(second.name)} has {len(b)} columns, but {quoted(first.name)} has {len(a)}", line=second.line
            )
        if not family:
            _check_columns(lines, first, second)
        y = from_gapped(a, b, GAPS)
    source = () if family else (*first.source, *without_rest(second.source))
    return Example((s, t), y, first.line if not family else second.line, source, file=lines.name)


def _without_gaps(row: Row, annotations: dict[str, str]) -> dict[str, str]:
    """What annotations of columns say of the letters of a row."""
    return {
        kind: "".join(sign for sign, letter in zip(signs, row.sequence, strict=True) if letter not in GAPS)
        for kind, signs in annotations.items()
    }


def _check_columns(lines: Lines, first: Row, second: Row) -> None:
    """Two gaps beneath one another are the mark of rows that were cut out of a larger alignment."""
    for k, (a, b) in enumerate(zip(first.sequence, second.sequence, strict=True)):
        if a in GAPS and b in GAPS:
            raise lines.error(
                f"column {k + 1} is a gap in both {quoted(first.name)} and {quoted(second.name)}; sequences are "
                "aligned two by two here, larger alignments are read from A3M and Stockholm",
                line=second.line,
            )
