"""Alignments of two or more sequences, as files have them, whatever the format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from structlearn.data.biosequences.matches import Matches, from_gapped, to_gapped
from structlearn.io.a3m import read_a3m_rows
from structlearn.io.fasta import Row, read_fasta, write_fasta
from structlearn.io.stockholm import read_stockholm_rows
from structlearn.io.text import Lines, Source, open_text, quoted

GAPS = "-."


@dataclass(frozen=True)
class AlignedRows:
    """Rows of one length, with gaps.

    Attributes
    ----------
    names, rows : tuple of str
    structures : dict from name to str
        Secondary structure, a letter a column, where the file has it.

    Examples
    --------
    >>> rows = AlignedRows(("a", "b"), ("AC-GT", "A-CGT"))
    >>> rows.pair()
    (('ACGT', 'ACGT'), ((0, 0), (2, 2), (3, 3)))
    """

    names: tuple[str, ...]
    rows: tuple[str, ...]
    structures: dict[str, str] = field(default_factory=dict)

    def sequence(self, k: int) -> str:
        """A row without its gaps."""
        return "".join(letter for letter in self.rows[k] if letter not in GAPS)

    def pair(self, first: int = 0, second: int = 1) -> tuple[tuple[str, str], Matches]:
        """Two of the sequences and their matches: an example of `structlearn.models.Alignment`."""
        matches = from_gapped(self.rows[first], self.rows[second], GAPS)
        return (self.sequence(first), self.sequence(second)), matches


def read_alignment(source: Source, encoding: str = "utf-8") -> AlignedRows:
    """Reads aligned FASTA, A3M (a name that ends with .a3m) or Stockholm (a first line that says so).

    Raises
    ------
    FormatError
        Names file, line and column of what is no alignment.

    Examples
    --------
    >>> import io
    >>> read_alignment(io.BytesIO(b">a\\nAC-\\nG\\n>b\\nA-CG\\n")).rows
    ('AC-G', 'A-CG')
    """
    with open_text(source, encoding) as lines:
        head = lines.head()
        if head and head[0].startswith("# STOCKHOLM"):
            rows, annotations = read_stockholm_rows(lines)
            structures = {name: kinds["structure"] for name, kinds in annotations.items() if "structure" in kinds}
        else:
            a3m = lines.name.endswith((".a3m", ".a3m.gz"))
            rows, structures = (read_a3m_rows(lines) if a3m else list(read_fasta(lines, gaps=GAPS))), {}
        return _checked(lines, rows, structures)


def read_aligned_pairs(folder: str | Path) -> Iterator[tuple[tuple[str, str], Matches]]:
    """The first two sequences of every alignment in a folder, in the order of the files' names."""
    files = sorted(path for path in Path(folder).iterdir() if path.is_file())
    if not files:
        raise ValueError(f"{folder} holds no file")
    for path in files:
        found = read_alignment(path)
        if len(found.rows) < 2:
            raise ValueError(f"{path} holds one sequence only; a pair is needed")
        yield found.pair()


def write_aligned_pair(names: Sequence[str], s: str, t: str, matches: Matches) -> str:
    """Aligned FASTA of two sequences.

    >>> print(write_aligned_pair(["a", "b"], "ACG", "AG", ((0, 0), (2, 1))), end="")
    >a
    ACG
    >b
    A-G
    """
    return write_fasta(list(zip(names, to_gapped(s, t, matches), strict=True)))


def _checked(lines: Lines, rows: list[Row], structures: dict[str, str]) -> AlignedRows:
    first = rows[0]
    for row in rows:
        if len(row.sequence) != len(first.sequence):
            raise lines.error(
                f"{quoted(row.name)} has {len(row.sequence)} columns, "
                f"but {quoted(first.name)} has {len(first.sequence)}",
                line=row.line,
            )
        if all(letter in GAPS for letter in row.sequence):
            raise lines.error(f"{quoted(row.name)} is an empty sequence", line=row.line)
    return AlignedRows(tuple(row.name for row in rows), tuple(row.sequence for row in rows), structures)
