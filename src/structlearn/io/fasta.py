"""FASTA: a line with ">" and a name, then lines of letters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from structlearn.io.format import LONGEST_SEQUENCE, check_written
from structlearn.io.text import Lines, quoted

#: The most letters that a sequence may have.
LONGEST = 10_000_000
WIDTH = 80


class Row(NamedTuple):
    """A sequence under its header.

    Attributes
    ----------
    name : str
        The header up to the first blank.
    sequence : str
    line : int
        Where the header stands, from 1.
    header : str
        All of it, without ">".
    source : tuple of str
        The lines up to the next header, as they were.
    """

    name: str
    sequence: str
    line: int
    header: str = ""
    source: tuple[str, ...] = ()


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
    >>> for row in read_fasta(lines):
    ...     print(row.line, row.name, row.sequence, row.source)
    1 one ACGT ('>one first', 'ACG', 'T')
    4 two AC ('>two', 'ac')
    """
    for row in raw_rows(lines, gaps):
        yield row._replace(sequence=row.sequence.upper())


def raw_rows(lines: Lines, gaps: str) -> Iterator[Row]:
    """The sequences as they are written."""
    begin, parts, size, source = 0, list[str](), 0, list[str]()
    for line in lines:
        if line.startswith(">"):
            if begin:
                yield _row(lines, begin, parts, source)
            begin, parts, size, source = lines.number, [], 0, [line]
            continue
        if begin:
            source.append(line)
            if len(source) > LONGEST_SEQUENCE:
                raise lines.error(f"more than {LONGEST_SEQUENCE:,} lines without a header")
        text = line.strip()
        if not text or text.startswith(";"):
            continue
        if not begin:
            raise lines.error(f"expected a line with '>' and a name, found {quoted(line)}")
        size += len(text)
        if size > LONGEST:
            raise lines.error(f"{quoted(source[0][1:].strip())} has more than {LONGEST:,} letters")
        for k, character in enumerate(line):
            if not (character.isascii() and character.isalpha()) and character not in gaps and not character.isspace():
                raise lines.error(f"the character {character!r} is no letter of a sequence", k + 1)
        parts.append("".join(text.split()))
    if not begin:
        raise lines.error("the file holds no sequence")
    yield _row(lines, begin, parts, source)


def without_rest(source: Sequence[str]) -> tuple[str, ...]:
    """Lines without the blank ones and comments at their end.

    >>> without_rest([">a", "AC", ";b", "G", "", "; c"])
    ('>a', 'AC', ';b', 'G')
    """
    end = max(k for k, line in enumerate(source, start=1) if line.strip() and not line.strip().startswith(";"))
    return tuple(source[:end])


def _row(lines: Lines, begin: int, parts: list[str], source: list[str]) -> Row:
    header = source[0][1:].strip()
    name = (header.split(maxsplit=1) or [""])[0]
    if not parts:
        raise lines.error(f"{quoted(name)} is an empty sequence", line=begin)
    return Row(name, "".join(parts), begin, header, tuple(source))


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
