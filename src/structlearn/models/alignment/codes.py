"""Annotated sequences as the codes that an alignment model's streams give their letters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.ragged import offsets_of
from structlearn.models.alignment.features import RESIDUE_GROUPS, STRUCTURE_GROUPS, WINDOW_BINS, WINDOWS, Layout, Stream
from structlearn.wording import shown


@dataclass(frozen=True, eq=False)
class CodedSequences:
    """One side of all pairs as the core takes it: letters one after another."""

    offsets: npt.NDArray[np.int64]
    codes: LabelArray
    gaps: LabelArray
    borders: LabelArray
    dense: FloatArray


def coded(layout: Layout, side: int, sequences: Sequence[dict[str, Any]]) -> CodedSequences:
    """The codes of one side's sequences, dicts of annotations; names what is missing or unknown."""
    spec = layout.spec
    symbols = spec.symbols(side)
    columns: dict[str, list[LabelArray]] = {name: [] for name in symbols}
    profiles = []
    lengths = []
    for i, parts in enumerate(sequences):
        where = f"X[{i}][{side}]"
        lengths.append(len(parts["residue"]))
        for name, known in symbols.items():
            if name not in parts:
                raise ValueError(f"{where} has no {shown(name)}, which the model was trained with")
            columns[name].append(_codes(parts[name], known, f"{where} has the {_WORDS[name]}"))
        if layout.dense[side]:
            if "profile" not in parts or np.shape(parts["profile"])[1] != spec.profile_sizes[side]:
                raise ValueError(f"{where} has no profile of {spec.profile_sizes[side]} columns, as in training")
            profiles.append(np.asarray(parts["profile"], np.float64))
    offsets = offsets_of(lengths)
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
        one_hot = [np.eye(len(known))[flat[name]] for name, known in layout.dense_symbols(side).items()]
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


_WORDS = {"residue": "letter", "structure": "structure", "accessibility": "accessibility"}


def _codes(values: Sequence[Any], known: tuple[Any, ...], what: str) -> LabelArray:
    index = {symbol: k for k, symbol in enumerate(known)}
    codes = [index.get(value, -1) if isinstance(value, Hashable) else -1 for value in _plain(values)]
    if -1 in codes:
        at = codes.index(-1)
        raise ValueError(f"{what} {shown(values[at])} at {at}, which is not among {' '.join(map(str, known))}")
    return np.array(codes, np.int32)


def _plain(values: Sequence[Any]) -> Sequence[Any]:
    return values.tolist() if isinstance(values, np.ndarray) else values


def _windows(
    name: str, codes: npt.NDArray[np.int64], symbols: tuple[Any, ...], offsets: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The bins of the letters around each letter, as one number."""
    n_bins = WINDOW_BINS[name]
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
