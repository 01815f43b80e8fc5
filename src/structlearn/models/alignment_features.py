"""What an alignment model sees of two letters and of a gap: annotations as codes, and which have weights together.

A *stream* gives every letter of a sequence a code: its residue, its residue and structure together, the residues of a
window around it. The weights of a match are indicators of two codes, one stream of each sequence; those of a gap are
indicators of the letter that has no partner and of the place in the other sequence. The substitution models are those
of Yu (2011), chapter 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from structlearn.models.base import Spec
from structlearn.problem import FloatArray, LabelArray

Features = Literal["substitution", "simple", "anova2", "tensor", "sum", "window", "profile"]
Gaps = Literal["linear", "affine"]
GapFeatures = Literal["plain", "context"]

#: The annotations with codes, in the order in which they are put together.
ANNOTATIONS = ("residue", "structure", "accessibility")
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
        if self.features == "simple":
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
        if self.features != "profile":
            return 0, 0
        s, t = (sum(map(len, self.spec.symbols(side).values())) + self.spec.profile_sizes[side] for side in (0, 1))
        return s, t

    def size(self, side: int, stream: Stream) -> int:
        """How many codes a stream has."""
        if stream[:1] == ("window",):
            return int(_WINDOW_BINS[stream[1]] ** (2 * WINDOWS[stream[1]] + 1))
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


SIDES = ("first", "second")
_WINDOW_BINS = {"residue": len(RESIDUE_GROUPS) + 1, "structure": len(STRUCTURE_GROUPS) + 1, "accessibility": 2}


@dataclass(frozen=True, eq=False)
class CodedSequences:
    """One side of all pairs as the core takes it: letters one after another."""

    offsets: npt.NDArray[np.int64]
    codes: LabelArray
    gaps: LabelArray
    borders: LabelArray
    dense: FloatArray


def coded(layout: Layout, side: int, sequences: Sequence[Any]) -> CodedSequences:
    """The codes of one side's sequences; names what is missing or unknown."""
    spec = layout.spec
    symbols = spec.symbols(side)
    columns: dict[str, list[LabelArray]] = {name: [] for name in symbols}
    profiles = []
    lengths = []
    for i, sequence in enumerate(sequences):
        where = f"X[{i}][{side}]"
        parts = annotated(sequence, where)
        lengths.append(len(parts["residue"]))
        for name, known in symbols.items():
            if name not in parts:
                raise ValueError(f"{where} has no {name!r}, which the model was trained with")
            columns[name].append(_codes(parts[name], known, f"{where} has the {_WORDS[name]}"))
        if layout.dense[side]:
            if "profile" not in parts or np.shape(parts["profile"])[1] != spec.profile_sizes[side]:
                raise ValueError(f"{where} has no profile of {spec.profile_sizes[side]} columns, as in training")
            profiles.append(np.asarray(parts["profile"], np.float64))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    flat = {name: np.concatenate([*parts, np.empty(0, np.int32)]).astype(np.int64) for name, parts in columns.items()}

    def stream(names: Stream) -> npt.NDArray[np.int64]:
        if names[:1] == ("window",):
            return _windows(names[1], flat[names[1]], symbols[names[1]], offsets)
        code = np.zeros(int(offsets[-1]), np.int64)
        for name in names:
            code = code * len(symbols[name]) + flat[name]
        return code

    def stack(rows: list[npt.NDArray[np.int64]], width: int) -> LabelArray:
        return np.ascontiguousarray(np.array(rows, np.int32).reshape(len(rows), width))

    letters = int(offsets[-1])
    dense = np.empty((letters, 0))
    if layout.dense[side]:
        one_hot = [np.eye(len(symbols[name]))[flat[name]] for name in symbols]
        dense = np.hstack([*one_hot, np.concatenate(profiles)])
    return CodedSequences(
        offsets=offsets,
        codes=stack([stream(names) for names in layout.streams[side]], letters),
        gaps=stack([stream(names) for names in layout.gap_streams[side]], letters),
        borders=stack(
            [_borders(stream(names), layout.size(side, names), offsets) for names in layout.border_streams(side)],
            letters + len(lengths),
        ),
        dense=np.ascontiguousarray(dense),
    )


def annotated(sequence: Any, where: str) -> dict[str, Any]:
    """The annotations of a sequence, of one length and not empty; a text or a list is its residues."""
    parts = dict(sequence) if isinstance(sequence, Mapping) else {"residue": sequence}
    unknown = sorted(set(map(str, parts)) - {*ANNOTATIONS, "profile"})
    if unknown:
        raise ValueError(f"{where} has the annotation {unknown[0]!r}; there are {', '.join(ANNOTATIONS)} and profile")
    if "residue" not in parts:
        raise ValueError(f"{where} has no 'residue'")
    for name, values in parts.items():
        if not hasattr(values, "__len__") or isinstance(values, bytes):
            raise ValueError(f"{where} is {values!r}; expected a text, a list of symbols or a dict of annotations")
        if len(values) != len(parts["residue"]):
            raise ValueError(f"{where} has {len(values)} values of {name!r} but {len(parts['residue'])} letters")
    if not len(parts["residue"]):
        raise ValueError(f"{where} is an empty sequence")
    if "profile" in parts and np.ndim(parts["profile"]) != 2:
        raise ValueError(f"{where} has a profile of {np.ndim(parts['profile'])} dimensions; it must be a matrix")
    return parts


_WORDS = {"residue": "letter", "structure": "structure", "accessibility": "accessibility"}


def _codes(values: Sequence[Any], known: tuple[Any, ...], what: str) -> LabelArray:
    index = {symbol: k for k, symbol in enumerate(known)}
    codes = [index.get(value, -1) for value in _plain(values)]
    if -1 in codes:
        at = codes.index(-1)
        raise ValueError(f"{what} {values[at]!r} at {at}, which is not among {' '.join(map(str, known))}")
    return np.array(codes, np.int32)


def _plain(values: Sequence[Any]) -> Sequence[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _windows(
    name: str, codes: npt.NDArray[np.int64], symbols: tuple[Any, ...], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The bins of the letters around each letter, as one number."""
    n_bins = _WINDOW_BINS[name]
    # What is beyond the ends: no residue, a coil, exposed.
    beyond = 1 if name == "accessibility" else n_bins - 1
    bins = np.array([_bin(name, symbol, symbols) for symbol in symbols], np.int64)[codes]
    reach = WINDOWS[name]
    found = np.zeros(len(codes), np.int64)
    for begin, end in pairwise(offsets):
        padded = np.pad(bins[begin:end], reach, constant_values=beyond)
        for shift in range(2 * reach + 1):
            found[begin:end] = found[begin:end] * n_bins + padded[shift : shift + end - begin]
    return found


def _bin(name: str, symbol: Any, symbols: tuple[Any, ...]) -> int:
    if name == "accessibility":
        # Bins of exposed area are in the order of their size; the upper half of them is exposed.
        return int(2 * symbols.index(symbol) >= len(symbols))
    groups = RESIDUE_GROUPS if name == "residue" else STRUCTURE_GROUPS
    return next((k for k, group in enumerate(groups) if str(symbol) in group), len(groups))


def _borders(codes: npt.NDArray[np.int64], size: int, offsets: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The codes of the letters on both sides of each border, as one number; beyond the ends there is a code more."""
    found = []
    for begin, end in pairwise(offsets):
        padded = np.pad(codes[begin:end], 1, constant_values=size)
        found.append(padded[:-1] * (size + 1) + padded[1:])
    return np.concatenate([*found, np.empty(0, np.int64)])
