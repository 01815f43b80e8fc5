"""Sequences of the bases A, C, G and T: codes, sites of a pattern, and what the letters at the sites have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray

BASES = "ACGT"
OTHER = len(BASES)
_CODES = np.full(128, -1, np.int8)
for _letter in "abcdefghijklmnopqrstuvwxyz":
    _CODES[[ord(_letter), ord(_letter.upper())]] = OTHER
for _code, _letter in enumerate(BASES):
    _CODES[[ord(_letter), ord(_letter.lower())]] = _code
_CODES[[ord("U"), ord("u")]] = BASES.index("T")

#: What stands for several bases (IUPAC 1970), by the bases.
AMBIGUOUS = {
    "AC": "M",
    "AG": "R",
    "AT": "W",
    "CG": "S",
    "CT": "Y",
    "GT": "K",
    "ACG": "V",
    "ACT": "H",
    "AGT": "D",
    "CGT": "B",
    "ACGT": "N",
}


class Site(NamedTuple):
    """Where a pattern lies: ``x[start : start + width]``, read backwards as its complement on the strand "-"."""

    start: int
    strand: str = "+"
    width: int = 0


def base_codes(x: Any, where: str) -> npt.NDArray[np.int8]:
    """0 to 3 for A, C, G, T (or U), small or capital, and 4 for another letter such as N.

    >>> base_codes("ACGTun", "x").tolist()
    [0, 1, 2, 3, 3, 4]
    """
    if not isinstance(x, str):
        raise TypeError(f"{where} is a {type(x).__name__}; expected a string of bases such as 'ACGT'")
    try:
        letters = np.frombuffer(x.encode("ascii"), np.uint8)
    except UnicodeEncodeError as error:
        raise ValueError(f"{where} has {x[error.start]!r} at {error.start}, which is no letter of a sequence") from None
    codes: npt.NDArray[np.int8] = _CODES[letters]
    if len(codes) and codes.min() < 0:
        k = int(np.argmin(codes))
        raise ValueError(f"{where} has {x[k]!r} at {k}, which is no letter of a sequence")
    return codes


def reverse_complement(x: str) -> str:
    """The other strand, read in its own direction; letters that are no bases stay.

    >>> reverse_complement("AACGTN")
    'NACGTT'
    """
    return x[::-1].translate(str.maketrans("ACGTUacgtu", "TGCAAtgcaa"))


def site_letters(x: str, site: Site) -> str:
    """The letters of a site, as the pattern reads them.

    >>> site_letters("GGTTTACC", Site(2, "-", 4))
    'TAAA'
    """
    letters = x[site.start : site.start + site.width]
    return reverse_complement(letters) if site.strand == "-" else letters


def base_counts(X: Sequence[str], sites: Sequence[Site | None]) -> FloatArray:
    """How often each base stands at each place of the pattern, (width, 4), from one site a sequence; None is no site.

    >>> base_counts(["GGTTA", "CTAAA"], [Site(2, "+", 3), Site(1, "-", 3)]).astype(int).tolist()
    [[0, 0, 0, 2], [0, 0, 0, 2], [2, 0, 0, 0]]
    """
    if len(X) != len(sites):
        raise ValueError(f"there are {len(X)} sequences but {len(sites)} sites")
    widths = sorted({site.width for site in sites if site is not None})
    if len(widths) != 1:
        raise ValueError(f"the sites have the widths {widths}; sites of one width are needed" if widths else "no site")
    counts = np.zeros((widths[0], OTHER + 1))
    for i, (x, site) in enumerate(zip(X, sites, strict=True)):
        if site is not None:
            codes = base_codes(site_letters(x, site), f"X[{i}]")
            if len(codes) != site.width:
                raise ValueError(f"site {i} is {tuple(site)}, but X[{i}] has {len(x)} letters")
            counts[np.arange(site.width), codes] += 1.0
    return counts[:, :OTHER]


def consensus(counts: npt.ArrayLike) -> str:
    """The pattern as letters, after Cavener (1987).

    A base that makes up more than half and has more than twice as many as the next; else the letter for the two most
    frequent if they make up more than three quarters; else N.

    >>> consensus([[9, 0, 1, 0], [5, 0, 0, 4], [3, 3, 2, 2]])
    'AWN'
    """
    letters = ""
    for row in np.asarray(counts, np.float64):
        first, second = np.argsort(-row, kind="stable")[:2]
        if 2 * row[first] > row.sum() and row[first] > 2 * row[second]:
            letters += BASES[first]
        elif 4 * (row[first] + row[second]) > 3 * row.sum():
            letters += AMBIGUOUS["".join(sorted(BASES[first] + BASES[second]))]
        else:
            letters += "N"
    return letters


def information(counts: npt.ArrayLike, background: npt.ArrayLike = (0.25, 0.25, 0.25, 0.25)) -> FloatArray:
    """Σ_b p_b log₂(p_b / q_b) of each place, in bits; 2 for a certain base among equally frequent ones, (width,).

    >>> information([[4, 0, 0, 0], [1, 1, 1, 1], [2, 2, 0, 0]])
    array([2., 0., 1.])
    """
    p = np.asarray(counts, np.float64)
    p = p / p.sum(axis=1, keepdims=True)
    q = np.asarray(background, np.float64) / np.sum(background)
    ratio = np.divide(p, q, out=np.ones_like(p), where=p > 0)
    bits: FloatArray = (p * np.log2(ratio)).sum(axis=1)
    return bits
