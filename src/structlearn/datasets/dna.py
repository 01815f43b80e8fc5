"""Promoters of E. coli and splice junctions of primates: short labelled sequences of DNA."""

from dataclasses import dataclass

from structlearn.data.biosequences.dna import base_codes
from structlearn.datasets._files import find_file, reading
from structlearn.io.arff import read_arff

PROMOTERS = "https://archive.ics.uci.edu/dataset/67"
SPLICE = "https://archive.ics.uci.edu/dataset/69"


@dataclass(frozen=True, eq=False, slots=True)
class LabelledDNA:
    """Sequences with a label each.

    Attributes
    ----------
    X : list of str
        Capital letters: A, C, G, T, and others where the base is not known for sure.
    Y : list of str
    names : list of str
    """

    X: list[str]
    Y: list[str]
    names: list[str]


def fetch_promoters() -> LabelledDNA:
    """Read the promoters of E. coli (Towell, Shavlik and Noordewier 1990): 53 promoters "+", 53 other sequences "-".

    Each has 57 letters, from 50 before to 6 behind the place where transcription starts. The file is
    ``promoters/promoters.data``.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("promoters", "promoters.data", PROMOTERS)
    with reading(path):
        lines = path.read_text(encoding="ascii").splitlines()
        return _labelled([[part.strip() for part in line.split(",")] for line in lines if line.strip()], {"+", "-"})


def fetch_splice() -> LabelledDNA:
    """Read the splice junctions of primates (Noordewier, Towell and Shavlik 1991): 3,190 sequences of 60 letters.

    "EI" has the border of an exon and the intron behind it in the middle, "IE" that of an intron and the exon behind
    it, "N" neither: 767, 768 and 1,655. The file is ``splice/splice.arff.gz``.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("splice", "splice.arff.gz", SPLICE)
    with reading(path):
        table = read_arff(path)
        columns = [[str(value) for value in table.column(attribute.name)] for attribute in table.attributes]
        rows = zip(*columns, strict=True)
        return _labelled([[label, name, "".join(letters)] for name, *letters, label in rows], {"EI", "IE", "N"})


def _labelled(rows: list[list[str]], labels: set[str]) -> LabelledDNA:
    """From rows (label, name, letters)."""
    if not rows:
        raise ValueError("it holds no sequence")
    for row in rows:
        if len(row) != 3 or row[0] not in labels:
            raise ValueError(f"it has the row {row!r}")
        base_codes(row[2], row[1])
    return LabelledDNA([row[2].upper() for row in rows], [row[0] for row in rows], [row[1] for row in rows])
