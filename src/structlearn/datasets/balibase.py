"""Proteins of known secondary structure, from the annotated alignments of BAliBASE 3."""

import re
import tarfile
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from structlearn.datasets._files import find_file, reading

HOME = "https://www.lbgi.fr/balibase"
LABELS = {"HELIX": "H", "STRAND": "E"}
#: Annotated proteins with as many equal residues in a row are taken to be of one family.
COMMON_RESIDUES = 12


@dataclass(frozen=True, eq=False, slots=True)
class ProteinStructures:
    """Proteins with the secondary structure of every residue.

    Attributes
    ----------
    X : list of str
        Residues by their one-letter codes, X where unknown.
    Y : list of (length,) arrays of str
        'H' helix, 'E' strand, 'C' neither.
    names : list of str
        PDB codes with the chain, such as ``1aab_``.
    families : (n,) ints
        Number of the family; different families have no alignment and no sequence in common.
    """

    X: list[str]
    Y: list[NDArray[np.str_]]
    names: list[str]
    families: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Protein:
    alignment: str
    reference: str  # the protein after which the alignment is named
    name: str
    residues: str
    elements: list[tuple[int, int, str]]  # first and last residue, counted from 1, and its label


def fetch_balibase_structures() -> ProteinStructures:
    """Read the helices and strands that BAliBASE 3 knows: 499 different proteins of 63 families, 140,813 residues.

    The sequences come from the full-length alignments, without their gaps; a sequence that stands in several of them
    is taken once, as annotated in the first. Residues past the end of a sequence are dropped from its annotation, and
    where two elements overlap, usually by one residue, the one that begins later has it. Alignments are of one family
    if they are named after the same protein (ref1/v1/1aab_ref1, ref2/test/1aab_ref2), or have a sequence in common,
    annotated or not, or 12 equal residues in a row in annotated ones.

    The file is ``balibase3/balibase3.tar.xz`` with members ``balibase3/RV11/BB11001.xml`` and so on.

    Returns
    -------
    ProteinStructures

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If the file is damaged or holds something else.
    """
    path = find_file("balibase3", "balibase3.tar.xz", HOME)
    with reading(path):
        proteins = list(_proteins(_alignments(path)))
        annotated: dict[str, _Protein] = {}
        for protein in proteins:
            if protein.elements:
                annotated.setdefault(protein.residues, protein)
        if not annotated:
            raise ValueError("it holds no protein with a helix or a strand")
    family = _families(proteins)
    return ProteinStructures(
        X=list(annotated),
        Y=[_labels(protein) for protein in annotated.values()],
        names=[protein.name for protein in annotated.values()],
        families=np.unique([family[p.alignment] for p in annotated.values()], return_inverse=True)[1],
    )


def _alignments(path: object) -> dict[str, bytes]:
    """The XML of every alignment but the truncated twins (BBS), by name."""
    found = {}
    with tarfile.open(str(path), "r:xz") as archive:
        for member in archive:
            match = re.search(r"RV\d\d/(BB\d+)\.xml$", member.name)
            file = archive.extractfile(member) if match else None
            if match and file:
                found[match[1]] = file.read()
    return dict(sorted(found.items()))


def _proteins(alignments: dict[str, bytes]) -> Iterator[_Protein]:
    for alignment, xml in alignments.items():
        root = ElementTree.fromstring(xml)
        reference = re.sub(r"(.*/)?(.*)_ref\d", r"\2", root.findtext("alignment/aln-name", alignment))
        for sequence in root.iter("sequence"):
            name = sequence.findtext("seq-name", "")
            residues = re.sub(r"[-.\s]", "", sequence.findtext("seq-data", "")).upper()
            if not residues.isalpha():
                raise ValueError(f"{name} in {alignment} has the residues {residues!r}")
            elements = []
            for item in sequence.iter("fitem"):
                if item.findtext("ftype") == "STRUCT":
                    kind = item.findtext("fnote", "")
                    if kind not in LABELS:
                        raise ValueError(f"{name} in {alignment} has the structure {kind!r}")
                    begin, end = int(item.findtext("fstart", "")), int(item.findtext("fstop", ""))
                    elements.append((begin, end, LABELS[kind]))
            yield _Protein(alignment, reference, name, residues, elements)


def _labels(protein: _Protein) -> NDArray[np.str_]:
    labels = np.full(len(protein.residues), "C")
    for begin, end, label in sorted(protein.elements):
        labels[max(begin, 1) - 1 : end] = label
    return labels


def _families(proteins: list[_Protein]) -> dict[str, int]:
    """A number for every alignment, the same for those that something common connects, directly or through others."""
    holders: dict[Hashable, set[str]] = defaultdict(set)
    for protein in proteins:
        holders["reference", protein.reference].add(protein.alignment)
        holders["whole", protein.residues].add(protein.alignment)
        if protein.elements:
            for start in range(len(protein.residues) - COMMON_RESIDUES + 1):
                holders[protein.residues[start : start + COMMON_RESIDUES]].add(protein.alignment)
    number = {alignment: k for k, alignment in enumerate(dict.fromkeys(p.alignment for p in proteins))}
    links = np.array(
        [(number[first], number[other]) for first, *rest in map(sorted, holders.values()) for other in rest]
    )
    rows, columns = links.reshape(-1, 2).T
    _, family = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(number),) * 2))
    return {alignment: int(family[k]) for alignment, k in number.items()}
