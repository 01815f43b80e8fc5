"""A3M: aligned FASTA in which letters without a column in the first sequence are small and need no gaps elsewhere."""

from __future__ import annotations

from itertools import zip_longest

from structlearn.io.fasta import Row, raw_rows
from structlearn.io.text import Lines


def read_a3m_rows(lines: Lines) -> list[Row]:
    """The rows written out, all of one length: insertions get columns of their own.

    Examples
    --------
    >>> [row.sequence for row in read_a3m_rows(Lines([b">a\\nAC-G\\n>b\\nAtt-GG\\n>c\\nAcCGG\\n"], "small.a3m"))]
    ['A--C-G', 'ATT-GG', 'AC-CGG']
    """
    rows = list(raw_rows(lines, "-."))
    split = [_columns(row.sequence.replace(".", "")) for row in rows]
    for row, columns in zip(rows, split, strict=True):
        if len(columns) != len(split[0]):
            raise lines.error(
                f"{row.name!r} has {len(columns) - 1} capital letters and gaps, but {rows[0].name!r} has "
                f"{len(split[0]) - 1}",
                line=row.line,
            )
    widths = [max(len(inserted) for _, inserted in column) for column in zip_longest(*split)]
    return [
        row._replace(
            sequence="".join(
                letter + inserted.upper().ljust(width, "-")
                for (letter, inserted), width in zip(columns, widths, strict=True)
            )
        )
        for row, columns in zip(rows, split, strict=True)
    ]


def _columns(sequence: str) -> list[tuple[str, str]]:
    """Each column's letter with the small letters after it; those before the first have an empty letter."""
    columns = [("", "")]
    for letter in sequence:
        if letter.islower():
            columns[-1] = (columns[-1][0], columns[-1][1] + letter)
        else:
            columns.append((letter, ""))
    return columns
