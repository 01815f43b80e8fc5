"""What an alignment model sees of two letters and of a gap: annotations as codes, and which have weights together.

A *stream* gives every letter of a sequence a code: its residue, its residue and structure together, the residues of a
window around it. The weights of a match are indicators of two codes, one stream of each sequence; those of a gap are
indicators of the letter that has no partner and of the place in the other sequence. The substitution models are those
of Yu (2011), chapter 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.models.base import Spec

Features = Literal["substitution", "simple", "anova2", "tensor", "sum", "window", "profile", "products"]
Gaps = Literal["linear", "affine"]
GapFeatures = Literal["plain", "context"]

#: Yu's groups of residues in windows; the last is for others and for what is beyond the ends.
RESIDUE_GROUPS = ("AGPST", "C", "DENQ", "FWY", "HKR", "ILMV")
#: How the structures of windows are told apart, with DSSP's letters; anything else, and beyond the ends, is a coil.
STRUCTURE_GROUPS = ("HGI", "EB")
#: Letters on either side in a window, by annotation.
WINDOWS = {"residue": 1, "structure": 2, "accessibility": 3}

Stream = tuple[str, ...]  # names of annotations, or ("window", name of an annotation)


@dataclass(frozen=True)
class AlignmentSpec(Spec):
    """The symbols of every annotation.

    Attributes
    ----------
    residues : tuple
        The alphabet of both sequences.
    structures, accessibilities : pair of tuples or None
        The symbols on either side; None where the side has no such annotation.
    profile_sizes : pair of int
        Columns of the profiles, 0 for none.
    """

    residues: tuple[Any, ...]
    structures: tuple[tuple[Any, ...] | None, tuple[Any, ...] | None] = (None, None)
    accessibilities: tuple[tuple[Any, ...] | None, tuple[Any, ...] | None] = (None, None)
    profile_sizes: tuple[int, int] = (0, 0)

    def check(self) -> None:
        check_tuple("residues", self.residues)
        check_distinct("residues", self.residues)
        for name in ("structures", "accessibilities", "profile_sizes"):
            check_tuple(name, getattr(self, name))
            if len(getattr(self, name)) != 2:
                raise ValueError(f"{name} has {len(getattr(self, name))} sides; it must have two")
        for name in ("structures", "accessibilities"):
            for side, symbols in enumerate(getattr(self, name)):
                if symbols is not None:
                    check_tuple(f"{name}[{side}]", symbols)
                    check_distinct(f"{name}[{side}]", symbols)
        for side, size in enumerate(self.profile_sizes):
            check_whole(f"profile_sizes[{side}]", size)

    def symbols(self, side: int) -> dict[str, tuple[Any, ...]]:
        """The symbols of each annotation that a side has."""
        found = {
            "residue": self.residues,
            "structure": self.structures[side],
            "accessibility": self.accessibilities[side],
        }
        return {name: symbols for name, symbols in found.items() if symbols is not None}


@dataclass(frozen=True)
class Layout:
    """Which streams there are, which of them have weights together, and where those are.

    Attributes
    ----------
    spec : AlignmentSpec
    features, gaps, gap_features : str
        See `Alignment`.
    """

    spec: AlignmentSpec
    features: Features
    gaps: Gaps
    gap_features: GapFeatures

    @cached_property
    def pairs(self) -> tuple[tuple[Stream, Stream], ...]:
        """The streams of s and t whose codes have weights together."""
        given = [tuple(self.spec.symbols(side)) for side in (0, 1)]
        singles: list[list[Stream]] = [[(name,) for name in names] for names in given]
        twos: list[list[Stream]] = [list(combinations(names, 2)) for names in given]
        simple, anova2 = list(product(singles[0], singles[1])), list(product(twos[0], twos[1]))
        tensor = [(given[0], given[1])]
        if self.features == "substitution":
            return ((("residue",), ("residue",)),)
        if self.features in ("simple", "products"):
            return tuple(simple)
        if self.features == "anova2":
            if not anova2:
                raise ValueError(
                    "features='anova2' is about pairs of annotations, but "
                    + " and ".join(
                        f"the {side} sequences have {', '.join(g)}" for side, g in zip(SIDES, given, strict=True)
                    )
                )
            return tuple(anova2)
        if self.features == "tensor":
            return tuple(tensor)
        union = ([] if self.features == "profile" else simple) + anova2 + tensor
        if self.features in ("window", "profile"):
            union += [(("window", name), ("window", name)) for name in given[0] if name in given[1]]
        drop = set(simple) if self.features == "profile" else set()
        return tuple(pair for pair in dict.fromkeys(union) if pair not in drop)

    @cached_property
    def streams(self) -> tuple[list[Stream], list[Stream]]:
        """The streams of s and of t that matches need."""
        s, t = (list(dict.fromkeys(pair[side] for pair in self.pairs)) for side in (0, 1))
        return s, t

    @cached_property
    def gap_streams(self) -> tuple[list[Stream], list[Stream]]:
        """The streams of letters without partner; the empty one is a constant."""
        if self.gap_features == "plain":
            return [()], [()]
        s, t = ([("residue",), *self._context(side)] for side in (0, 1))
        return s, t

    def _context(self, side: int) -> list[Stream]:
        given = tuple(name for name in self.spec.symbols(side) if name != "residue")
        return [given] if given else []

    def border_streams(self, side: int) -> list[Stream]:
        return self._context(side) if self.gap_features == "context" else []

    @cached_property
    def dense(self) -> tuple[int, int]:
        """How many dense features a letter of s and of t has."""
        if not has_profiles(self.features):
            return 0, 0
        s, t = (sum(map(len, self.dense_symbols(side).values())) + self.spec.profile_sizes[side] for side in (0, 1))
        return s, t

    def dense_symbols(self, side: int) -> dict[str, tuple[Any, ...]]:
        """The annotations whose indicators stand before the profile among the dense features."""
        return self.spec.symbols(side) if self.features == "profile" else {}

    def size(self, side: int, stream: Stream) -> int:
        """How many codes a stream has."""
        if stream[:1] == ("window",):
            return int(WINDOW_BINS[stream[1]] ** (2 * WINDOWS[stream[1]] + 1))
        symbols = self.spec.symbols(side)
        return int(np.prod([len(symbols[name]) for name in stream], dtype=np.int64))

    @cached_property
    def _tables(self) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]], int, int]:
        """Rows of match and gap channels as the core takes them, where the dense weights begin, and all weights."""
        s, t = self.streams
        at = 0
        matches = []
        for left, right in self.pairs:
            matches.append((s.index(left), t.index(right), self.size(1, right), at))
            at += self.size(0, left) * self.size(1, right)
        dense_at = at
        at += self.dense[0] * self.dense[1]
        channels: list[tuple[int, ...]] = []
        for first in range(1 + (self.gaps == "affine")):
            if self.gap_features == "plain":
                channels += [(deletion, 0, first, 0, at) for deletion in (1, 0)]
                at += 1
                continue
            for deletion in (1, 0):
                own, other = (0, 1) if deletion else (1, 0)
                for k, stream in enumerate(self.gap_streams[own]):
                    channels.append((deletion, 0, first, k, at))
                    at += self.size(own, stream)
                for k, stream in enumerate(self.border_streams(other)):
                    channels.append((deletion, 1, first, k, at))
                    at += (self.size(other, stream) + 1) ** 2
        return sorted(matches), channels, dense_at, at

    @property
    def matches(self) -> npt.NDArray[np.int64]:
        return np.array(self._tables[0], np.int64).reshape(-1, 4)

    @property
    def gap_channels(self) -> npt.NDArray[np.int64]:
        return np.array(self._tables[1], np.int64).reshape(-1, 5)

    @property
    def dense_at(self) -> int:
        return self._tables[2]

    @property
    def n_features(self) -> int:
        return self._tables[3]


def has_profiles(features: Features) -> bool:
    """Whether matches are described by profiles."""
    return features in ("profile", "products")


SIDES = ("first", "second")
WINDOW_BINS = {"residue": len(RESIDUE_GROUPS) + 1, "structure": len(STRUCTURE_GROUPS) + 1, "accessibility": 2}
