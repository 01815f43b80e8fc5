"""Sites of a pattern in sequences of DNA, on plain arrays of scores.

A site h of a pattern of l letters scores F(h) = Σ_j pattern[j, x_{h+j}] − Σ_{h ≤ i < h+l} background[…, x_{i−1}, x_i]:
letters of the pattern replace those of the background. A window with a letter that is no base is no site; such a letter
has no background, nor has one without as many bases right before it as the background looks back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.biosequences.dna import BASES, OTHER, Site, base_codes
from structlearn.data.ragged import Ragged

#: How many letters the background may look back: its scores are numbered by 16 bits.
HIGHEST_ORDER = 6

#: Letters that the core reads at once.
_WORD = 4


def best_site(
    x: str, pattern: npt.ArrayLike, background: npt.ArrayLike = (0.0, 0.0, 0.0, 0.0), *, both_strands: bool = False
) -> tuple[Site | None, float]:
    """The best site of a pattern and its score, exact in O(length · width); None and −∞ where there is no site.

    Parameters
    ----------
    x : str
        Letters; small ones are as good as capital ones, and U is T.
    pattern : (width, 4)
        Scores of A, C, G and T at each place; −∞ forbids.
    background : (4,), (4, 4), …, at most seven axes
        Scores of a letter after those before it, the present letter last. Finite.
    both_strands : bool
        Whether the pattern may also lie on the other strand, where letters are read backwards as their complements.

    Examples
    --------
    >>> pattern = [[0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    >>> best_site("GGTATACC", pattern)
    (Site(start=2, strand='+', width=4), 4.0)
    >>> best_site("GGN", pattern)
    (None, -inf)
    """
    scores, behind = np.asarray(pattern, np.float64), np.asarray(background, np.float64)
    if scores.ndim != 2 or scores.shape[1] != len(BASES) or not len(scores):
        raise ValueError(f"pattern has shape {scores.shape}; expected (width, 4)")
    if set(behind.shape) != {len(BASES)} or behind.ndim > HIGHEST_ORDER + 1:
        raise ValueError(f"background has shape {behind.shape}; expected one to {HIGHEST_ORDER + 1} axes of 4")
    _refuse("pattern", scores, ~(scores < np.inf), "a score is a number or -inf")
    _refuse("background", behind, ~np.isfinite(behind), "expected a finite number")
    sites = Sites([base_codes(x, "x")], (len(scores),), behind.ndim - 1, both_strands)
    found, values = sites.best(np.concatenate([scores.ravel(), behind.ravel()]), np.zeros(1, np.int64), 1)
    return sites.present(found)[0], float(values[0])


def _refuse(name: str, values: FloatArray, wrong: Flags, why: str) -> None:
    if wrong.any():
        place = tuple(int(k) for k in np.argwhere(wrong)[0])
        raise ValueError(f"{name}{list(place)} is {values[place]}; {why}")


class Sites:
    """All sites of patterns of several widths in several sequences, on one strand or both.

    A site is a row (number of the width, strand, start), in which the number −1 is no site. Its parts are the letters
    at places of its pattern, and with the coefficient −1 those of the background. Scores of parts are one array: the
    patterns, (width, 4) each, then the background.
    """

    def __init__(
        self, letters: Sequence[npt.NDArray[np.int8]], widths: tuple[int, ...], order: int, both_strands: bool
    ):
        self.letters = Ragged.of(letters, np.int8)
        self.widths = widths
        self.order = order
        self.both_strands = both_strands
        #: Of every letter the number of its score in the background, or −1.
        self.contexts = _windows(letters, range(-order, 1), len(BASES))
        words = _windows(letters, range(_WORD), OTHER + 1)
        self._core = _core.Motif(self.letters.offsets, words, self.contexts, np.array(widths, np.int64), both_strands)

    @property
    def pattern_size(self) -> int:
        """How many scores the patterns have."""
        return len(BASES) * sum(self.widths)

    @property
    def n_parts(self) -> int:
        return self.pattern_size + int(len(BASES) ** (self.order + 1))

    def best(self, scores: FloatArray, examples: IntArray, n_threads: int) -> tuple[LabelArray, FloatArray]:
        """The first of the best sites of each of the sequences, and its score; no site and −∞ where there is none."""
        sites, values = np.empty((len(examples), 3), np.int32), np.empty(len(examples))
        self._core.best(scores, examples, sites.reshape(-1), values, n_threads)
        return sites, values

    def between(self, examples: IntArray, left: LabelArray, right: LabelArray) -> tuple[IntArray, IntArray, FloatArray]:
        """How often the left site has each part less how often the right one has, as sparse rows."""
        return self._core.between(examples, left, right)

    def of(self, i: int) -> LabelArray:
        """All sites of a sequence, (n_sites, 3)."""
        letters = self.letters[i]
        found = [np.empty((0, 3), np.int32)]
        others = np.concatenate([[0], np.cumsum(letters == OTHER)])
        for number, width in enumerate(self.widths):
            starts = np.flatnonzero(others[width:] == others[:-width]) if width <= len(letters) else np.empty(0)
            for strand in range(1 + self.both_strands):
                rows = np.column_stack([np.full(len(starts), number), np.full(len(starts), strand), starts])
                found.append(rows.astype(np.int32))
        return np.concatenate(found)

    def present(self, sites: LabelArray) -> list[Site | None]:
        return [
            None if number < 0 else Site(start, "-" if strand else "+", self.widths[number])
            for number, strand, start in sites.tolist()
        ]


def no_sites(n: int) -> LabelArray:
    """Rows that are no site."""
    return np.tile(np.array((-1, 0, 0), np.int32), (n, 1))


def _windows(letters: Sequence[npt.NDArray[np.int8]], places: range, base: int) -> npt.NDArray[np.int16]:
    """The letters at these places beside each letter, as digits of one number; −1 if one is no digit of that base."""
    apart = np.full(max(map(abs, places)), OTHER, np.int8)
    row = np.concatenate([apart, *(part for x in letters for part in (x, apart))]).astype(np.int16)
    code, known = np.zeros(len(row), np.int16), np.ones(len(row), bool)
    for place in places:
        digit = np.roll(row, -place)
        code = base * code + digit
        known &= digit < base
    gaps = len(apart) * np.arange(1, len(letters) + 1)
    inside = np.arange(sum(map(len, letters))) + np.repeat(gaps, [len(x) for x in letters])
    return np.where(known, code, np.int16(-1))[inside]
