"""Origins of replication of the yeast S. cerevisiae, with other sequences from between its genes."""

import gzip
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from structlearn.data.biosequences.dna import Site, reverse_complement
from structlearn.datasets._checks import RandomState, as_generator
from structlearn.datasets._files import find_file, reading

HOME = "https://www.yeastgenome.org"
N_CHROMOSOMES = 16
#: Sequences with as many equal letters in a row, on either strand, are taken to be of one family.
COMMON_LETTERS = 30

Span = tuple[int, int, int]  # chromosome, begin, end


@dataclass(frozen=True, eq=False, slots=True)
class ReplicationOrigins:
    """Autonomously replicating sequences (ARS) of yeast and as many others of the same lengths.

    Attributes
    ----------
    X : list of str
        First the 352 origins, then as many sequences from between genes, the i-th as long as the i-th origin.
    Y : list of int
        1 and 0.
    names : list of str
        Of an origin its name, ``ARS104``, of another its place, ``chr01:15380-15618``, counted from 0.
    consensus : list of lists of Site
        Where the database has the ARS consensus sequence in an origin; no site for most of the others.
    families : (n,) ints
        Different families have no 30 letters in a row in common, on either strand.
    intergenic : list of str
        What is left between genes.
    """

    X: list[str]
    Y: list[int]
    names: list[str]
    consensus: list[list[Site]]
    families: NDArray[np.int64]
    intergenic: list[str]


def fetch_yeast_origins(*, random_state: RandomState = 0) -> ReplicationOrigins:
    """Read the 352 origins of replication of S. cerevisiae, and draw sequences that are none.

    Origins are the features ``rep_origin`` of the chromosomes in GenBank format, whole. Between genes is what no
    feature of a chromosome covers, origins among them, in pieces of at least 51 letters, as long as the shortest
    origin. For each origin, the longest first, a sequence of its length is drawn there, uniformly over all places that
    no sequence drawn before overlaps. What then is left of the pieces, where it is long enough, is `intergenic`. All
    sequences are of the strand that the files have. The database knows the consensus sequence of 191 origins, in 196
    places.

    The files are ``yeast_ars/Saccharomyces_cerevisiae.zip`` with ``chr01.gb`` to ``chr16.gb`` and
    ``yeast_ars/SGD_features.tab.gz``.

    Parameters
    ----------
    random_state : int, numpy Generator or None
        Seed of the sequences that are no origins.

    Raises
    ------
    FileNotFoundError
        If a file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    ValueError
        If a file is damaged or holds something else.
    """
    genome, annotation = (
        find_file("yeast_ars", name, HOME) for name in ("Saccharomyces_cerevisiae.zip", "SGD_features.tab.gz")
    )
    with reading(genome):
        chromosomes, origins, pieces = _genome(genome)
    with reading(annotation):
        consensus = _consensus(annotation)
    names = list(origins)
    shortest = min(end - begin for _, begin, end in origins.values())
    free = [piece for piece in pieces if piece[2] - piece[1] >= shortest]
    others, free = _drawn(
        [end - begin for _, begin, end in origins.values()], free, shortest, as_generator(random_state)
    )
    X = [chromosomes[c][begin:end] for c, begin, end in [*origins.values(), *others]]
    return ReplicationOrigins(
        X=X,
        Y=[1] * len(origins) + [0] * len(others),
        names=names + [f"chr{c:02d}:{begin}-{end}" for c, begin, end in others],
        consensus=[_sites(consensus, origin) for origin in origins.values()] + [[] for _ in others],
        families=_families(X),
        intergenic=[chromosomes[c][begin:end] for c, begin, end in free],
    )


def _genome(path: Path) -> tuple[dict[int, str], dict[str, Span], list[Span]]:
    """The letters of the chromosomes, the origins by name, and what no feature covers."""
    chromosomes, origins, pieces = {}, {}, []
    with zipfile.ZipFile(path) as archive:
        for c in range(1, N_CHROMOSOMES + 1):
            table, _, letters = archive.read(f"chr{c:02d}.gb").decode("ascii").partition("\nORIGIN")
            chromosomes[c] = re.sub(r"[^a-z]", "", letters).upper()
            covered = np.zeros(len(chromosomes[c]) + 1, bool)
            covered[-1] = True
            features = re.split(r"\n {5}(?=\S)", table.partition("\nFEATURES")[2])[1:]
            for feature in features:
                kind, location = feature.split(None, 1)
                if kind == "source":
                    continue
                # Of a gene with introns the whole, from the first number to the last.
                numbers = [int(number) for number in re.findall(r"\d+", re.split(r"\n\s*/", location)[0])]
                begin, end = min(numbers) - 1, max(numbers)
                covered[begin:end] = True
                if kind == "rep_origin":
                    name = re.search(r'/note="([^;"]+)', location)
                    if name is None or name[1] in origins:
                        raise ValueError(f"chromosome {c} has a rep_origin without a name of its own at {begin + 1}")
                    origins[name[1]] = (c, begin, end)
            changes = np.flatnonzero(np.diff(np.concatenate([[True], covered])))
            pieces += [(c, int(begin), int(end)) for begin, end in changes.reshape(-1, 2)]
    if not origins:
        raise ValueError("it holds no rep_origin")
    return chromosomes, origins, pieces


def _consensus(path: Path) -> list[tuple[Span, str]]:
    """Where the consensus sequences are, and on which strand."""
    found = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if fields[1] == "ARS_consensus_sequence":
                first, last = sorted((int(fields[9]), int(fields[10])))
                found.append(((int(fields[8]), first - 1, last), "-" if fields[11] == "C" else "+"))
    if not found:
        raise ValueError("it holds no ARS_consensus_sequence")
    return found


def _sites(consensus: list[tuple[Span, str]], origin: Span) -> list[Site]:
    chromosome, begin, end = origin
    return [
        Site(first - begin, strand, last - first)
        for (c, first, last), strand in consensus
        if c == chromosome and begin <= first and last <= end
    ]


def _drawn(
    lengths: list[int], free: list[Span], shortest: int, random: np.random.Generator
) -> tuple[list[Span], list[Span]]:
    """A place of each length in the free spans, none overlapping another, and what is then free."""
    places: dict[int, Span] = {}
    for i in np.argsort([-length for length in lengths], kind="stable"):
        room = np.array([max(0, end - begin - lengths[i] + 1) for _, begin, end in free])
        chosen = int(random.integers(room.sum()))
        k = int(np.searchsorted(room.cumsum(), chosen, side="right"))
        c, first, last = free.pop(k)
        begin = first + chosen - int(room[:k].sum())
        end = begin + lengths[i]
        places[int(i)] = (c, begin, end)
        rest = [(c, first, begin), (c, end, last)]
        free[k:k] = [span for span in rest if span[2] - span[1] >= shortest]
    return [places[i] for i in range(len(lengths))], free


def _families(X: list[str]) -> NDArray[np.int64]:
    """A number for every sequence, the same for those that common letters connect, directly or through others."""
    holders: dict[str, int] = {}
    links = [(0, 0)]
    for i, x in enumerate(X):
        for strand in (x, reverse_complement(x)):
            for start in range(len(strand) - COMMON_LETTERS + 1):
                links.append((holders.setdefault(strand[start : start + COMMON_LETTERS], i), i))
    rows, columns = np.array(sorted(set(links))).T
    _, families = connected_components(coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(X),) * 2))
    return np.asarray(families, np.int64)
