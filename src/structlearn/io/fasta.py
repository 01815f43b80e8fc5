"""FASTA: a line with ">" and a name, then lines of letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structlearn.io.format import check_written
from structlearn.io.text import Lines, quoted

#: The most letters that a sequence may have.
LONGEST = 10_000_000
WIDTH = 80


class Row(NamedTuple):
    """A sequence, its name (the header up to the first blank), the line of the header from 1, and all of the header."""

    name: str
    sequence: str
    line: int
    header: str = ""


def read_fasta(lines: Lines, gaps: str = "") -> Iterator[Row]:
    """The sequences of a file, one after another; letters are made capital.

    Parameters
    ----------
    lines : Lines
        From `open_text`.
    gaps : str
        Characters beside letters that a sequence may hold.

    Raises
    ------
    FormatError
        Where a character is no letter, a sequence is empty or too long, or the file holds none.

    Examples
    --------
    >>> lines = Lines([b">one first\\nACG\\nT\\n>two\\nac\\n"], "small.fasta")
    >>> list(read_fasta(lines))
    [Row(name='one', sequence='ACGT', line=1, header='one first'), Row(name='two', sequence='AC', line=4, header='two')]
    """
    for row in raw_rows(lines, gaps):
        yield row._replace(sequence=row.sequence.upper())


def raw_rows(lines: Lines, gaps: str) -> Iterator[Row]:
    """The sequences as they are written."""
    header, begin, parts, size = "", 0, list[str](), 0
    for line in lines:
        if line.startswith(">"):
            if begin:
                yield _row(lines, header, begin, parts)
            header, begin, parts, size = line[1:].strip(), lines.number, [], 0
            continue
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        if not begin:
            raise lines.error(f"expected a line with '>' and a name, found {quoted(line)}")
        size += len(text)
        if size > LONGEST:
            raise lines.error(f"{quoted(header)} has more than {LONGEST:,} letters")
        for k, character in enumerate(line):
            if not (character.isascii() and character.isalpha()) and character not in gaps and not character.isspace():
                raise lines.error(f"the character {character!r} is no letter of a sequence", k + 1)
        parts.append("".join(text.split()))
    if not begin:
        raise lines.error("the file holds no sequence")
    yield _row(lines, header, begin, parts)


def _row(lines: Lines, header: str, begin: int, parts: list[str]) -> Row:
    name = (header.split(maxsplit=1) or [""])[0]
    if not parts:
        raise lines.error(f"{quoted(name)} is an empty sequence", line=begin)
    return Row(name, "".join(parts), begin, header)


def write_fasta(rows: Sequence[tuple[str, str]]) -> str:
    """The text of several sequences with their headers.

    >>> write_fasta([("one", "ACGT")])
    '>one\\nACGT\\n'
    """
    text = ""
    for header, sequence in rows:
        check_written(header, "header")
        check_written(sequence, f"the sequence {quoted(header)}", ">; \t")
        text += f">{header}\n" + "".join(f"{sequence[k : k + WIDTH]}\n" for k in range(0, len(sequence), WIDTH))
    return text
