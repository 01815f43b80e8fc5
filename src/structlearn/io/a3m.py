"""A3M: aligned FASTA in which letters without a column in the first sequence are small and need no gaps elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from structlearn.io.fasta import Row, raw_rows
from structlearn.io.text import Lines, quoted

#: The most letters and gaps of all rows together, once insertions have columns.
LARGEST = 1_000_000_000


def read_a3m_rows(lines: Lines) -> list[Row]:
    """The rows written out, all of one length: insertions get columns of their own.

    Examples
    --------
    >>> [row.sequence for row in read_a3m_rows(Lines([b">a\\nAC-G\\n>b\\nAtt-GG\\n>c\\nAcCGG\\n"], "small.a3m"))]
    ['A--C-G', 'ATT-GG', 'AC-CGG']
    """
    return _written_out(lines, list(raw_rows(lines, "-.")))


def read_a3m_pairs(lines: Lines) -> Iterator[tuple[Row, Row]]:
    """The first row with each other one, written out for the two alone."""
    rows = raw_rows(lines, "-.")
    first = next(rows)
    for row in rows:
        one, other = _written_out(lines, [first, row])
        yield one, other


def _written_out(lines: Lines, rows: Sequence[Row]) -> list[Row]:
    split = [_columns(row.sequence.replace(".", "")) for row in rows]
    for row, columns in zip(rows, split, strict=True):
        if len(columns) != len(split[0]):
            raise lines.error(
                f"{quoted(row.name)} has {len(columns) - 1} capital letters and gaps, but {quoted(rows[0].name)} has "
                f"{len(split[0]) - 1}",
                line=row.line,
            )
    widths = [max(len(inserted) for _, inserted in column) for column in zip(*split, strict=True)]
    if (size := (sum(widths) + len(widths)) * len(rows)) > LARGEST:
        raise lines.error(f"with a column for every insertion these are {size:,} letters and gaps, too many to hold")
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
