"""Proteins whose structures were superposed: HOMSTRAD's families, pairs of TM-align, and pairs of BAliBASE 3."""

import gzip
import re
import tarfile
from dataclasses import dataclass
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from structlearn.data.biosequences.matches import Matches, from_gapped
from structlearn.datasets import balibase
from structlearn.datasets._files import find_file, reading
from structlearn.io.aligned import AlignedRows

#: Where the alignments of HOMSTRAD's families by several programs come from: the benchmark of Foldmason.
HOMSTRAD_HOME = "https://github.com/steineggerlab/foldmason-analysis"
TMALIGN_HOME = "https://github.com/flatironinstitute/deepblast"


@dataclass(frozen=True, eq=False, slots=True)
class AlignedPairs:
    """Examples of `structlearn.models.Alignment`.

    Attributes
    ----------
    X : list of (s, t)
        Residues as texts, or dicts with "residue" and "structure".
    Y : list of tuples of (i, j)
    families : (n,) ints or strs
        Pairs of different families have nothing in common.
    """

    X: list[tuple[Any, Any]]
    Y: list[Matches]
    families: NDArray[Any]


def fetch_homstrad(aligner: str = "mustang") -> dict[str, AlignedRows]:
    """Read the alignments of 1,032 HOMSTRAD families, 630 of them pairs, by family.

    The file is ``homstrad/alignments.tar.gz`` with members ``./asprs/mustang.afasta`` and so on.

    Parameters
    ----------
    aligner : str
        "mustang", "matt", "usalign", "mtmalign", "caretta" superposed structures; "clustalo", "mafft", "famsa" and
        "muscle" saw sequences only.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or has nothing by that aligner.
    """
    path = find_file("homstrad", "alignments.tar.gz", HOMSTRAD_HOME)
    found = {}
    with reading(path), tarfile.open(path, "r:gz") as archive:
        for member in archive:
            match = re.fullmatch(rf"\./(.+)/{re.escape(aligner)}\.a?fasta", member.name)
            file = archive.extractfile(member) if match else None
            if match and file:
                found[match[1]] = _rows(file.read().decode("ascii"), member.name)
        if not found:
            raise ValueError(f"it holds no alignment by {aligner!r}")
    return dict(sorted(found.items()))


def fetch_tmalign_pairs(minimum: float = 0.5) -> AlignedPairs:
    """Read pairs of proteins that TM-align superposed, of 2,000 those with both TM-scores of at least `minimum`.

    The files are ``tmalign_pairs/deepblast_valid.txt.gz`` and ``deepblast_test.txt.gz``. Matches are all pairs that
    TM-align put beneath one another, close (":") or not ("."). A pair's family is its file.
    """
    X: list[tuple[Any, Any]] = []
    Y: list[Matches] = []
    families = []
    for part in ("valid", "test"):
        path = find_file("tmalign_pairs", f"deepblast_{part}.txt.gz", TMALIGN_HOME)
        with reading(path), gzip.open(path, "rt", encoding="ascii") as file:
            for line in file:
                _, _, first, second, _, s, t, states = line.rstrip("\n").split("\t")
                if min(float(first), float(second)) >= minimum:
                    X.append((s, t))
                    Y.append(_matches(s, t, states))
                    families.append(part)
    return AlignedPairs(X, Y, np.array(families))


def fetch_balibase_pairs() -> AlignedPairs:
    """Read pairs of proteins with known helices and strands, from the full-length alignments of BAliBASE 3.

    All pairs of annotated proteins of an alignment are taken, a pair of sequences once. Families are those of
    `fetch_balibase_structures`. Structures are 'H' helix, 'E' strand, 'C' neither.
    """
    path = find_file("balibase3", "balibase3.tar.xz", balibase.HOME)
    X: list[tuple[Any, Any]] = []
    Y: list[Matches] = []
    names = []
    with reading(path):
        alignments = balibase._alignments(path)
        proteins = list(balibase._proteins(alignments))
        structure = {protein.residues: "".join(balibase._labels(protein)) for protein in proteins if protein.elements}
        seen = set()
        for name, xml in alignments.items():
            rows = [re.sub(r"\s", "", s.findtext("seq-data", "")) for s in ElementTree.fromstring(xml).iter("sequence")]
            known = [(row, re.sub(r"[-.]", "", row).upper()) for row in rows]
            known = [(row, residues) for row, residues in known if residues in structure]
            for (a, s), (b, t) in combinations(known, 2):
                if s == t or (s, t) in seen or len(a) != len(b):
                    continue
                seen |= {(s, t), (t, s)}
                X.append(({"residue": s, "structure": structure[s]}, {"residue": t, "structure": structure[t]}))
                Y.append(from_gapped(a, b))
                names.append(name)
    number = balibase._families(proteins)
    return AlignedPairs(X, Y, np.array([number[name] for name in names]))


def _rows(text: str, name: str) -> AlignedRows:
    names, rows = [], []
    for block in text.split(">")[1:]:
        head, _, row = block.partition("\n")
        names.append(head.strip().removesuffix(".pdb"))
        rows.append(re.sub(r"\s", "", row).upper())
    if len({len(row) for row in rows}) != 1:
        raise ValueError(f"the rows of {name} have different lengths")
    return AlignedRows(tuple(names), tuple(rows))


def _matches(s: str, t: str, states: str) -> Matches:
    """The matches of a string of states: ":" and "." for a match, "1" and "2" for a letter of s and of t alone."""
    matches = []
    i = j = 0
    for state in states:
        if state not in ":.12":
            raise ValueError(f"there is no state {state!r}")
        if state in ":.":
            matches.append((i, j))
        i += state != "2"
        j += state != "1"
    if (i, j) != (len(s), len(t)):
        raise ValueError(f"the states read {i} and {j} letters of sequences of {len(s)} and {len(t)}")
    return tuple(matches)
