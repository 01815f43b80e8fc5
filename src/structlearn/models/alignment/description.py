"""What the weights and the parts of alignments are called."""

from __future__ import annotations

from itertools import product
from typing import Any

from structlearn.data.arrays import FloatArray
from structlearn.models.alignment.features import (
    RESIDUE_GROUPS,
    SIDES,
    STRUCTURE_GROUPS,
    WINDOWS,
    Layout,
    Stream,
)
from structlearn.models.description import WeightBlock, blocks_of

#: What the bins of windows stand for, the last of residues and structures also for what is beyond the ends.
_BINS = {
    "residue": (*RESIDUE_GROUPS, "other"),
    "structure": (*STRUCTURE_GROUPS, "coil"),
    "accessibility": ("buried", "exposed"),
}


def alignment_blocks(layout: Layout, w: FloatArray) -> tuple[WeightBlock, ...]:
    """w in the order of `Layout`: matches by two streams each, products of dense features, gaps."""
    described: list[tuple[Any, ...]] = []
    for left, right in layout.pairs:
        plain = left == right == ("residue",)
        title = "matches" if plain else f"matches by {_stream_name(left)} and {_stream_name(right)}"
        axes = _symbols(layout, 0, left), _symbols(layout, 1, right)
        described.append((title, axes, "others", "{} {}" if plain else "{}, {}"))
    if layout.dense[0] * layout.dense[1]:
        described.append(("products", (_dense(layout, 0), _dense(layout, 1)), "others", "{} × {}"))
    for first in range(1 + (layout.gaps == "affine")):
        if layout.gap_features == "plain":
            described.append(("gaps", (["the first letter, on top" if first else "each letter"],)))
            continue
        for own in (0, 1):
            described += _gap_blocks(layout, own, ", the first letter on top" if first else "")
    return blocks_of(w, *described)


def alignment_part(part: int, m: int, n: int) -> str:
    """What a part of a pair of m and n letters is called, by its number; see ``core/alignment/data.hpp``."""
    if part < m * n:
        return f"match {part // n}~{part % n}"
    first, part = divmod(part - m * n, 2 * (m + n + 1))
    for own, length, other in ((0, m, n), (1, n, m)):
        if part < length:
            found = f"letter {part} of the {SIDES[own]} without partner"
            break
        part -= length
        if part < other + 1:
            found = f"gap before letter {part} of the {SIDES[1 - own]}"
            break
        part -= other + 1
    return f"{found}, the first of its gap" if first else found


def _gap_blocks(layout: Layout, own: int, which: str) -> list[tuple[Any, ...]]:
    """Of letters of one side without partner, and of where in the other sequence these are missing."""
    title = f"gaps: letters of the {SIDES[own]}{which}"
    found: list[tuple[Any, ...]] = [(title, (_symbols(layout, own, stream),)) for stream in layout.gap_streams[own]]
    for stream in layout.border_streams(1 - own):
        beside = [*_symbols(layout, 1 - own, stream), "the end"]
        title = f"gaps: between letters of the {SIDES[1 - own]}{which}"
        found.append((title, (beside, beside), "others", "after {}, before {}"))
    return found


def _stream_name(stream: Stream) -> str:
    return f"{stream[1]} windows" if stream[:1] == ("window",) else " and ".join(stream)


def _symbols(layout: Layout, side: int, stream: Stream) -> list[str]:
    """What the codes of a stream stand for."""
    if stream[:1] == ("window",):
        name = stream[1]
        return ["|".join(bins) for bins in product(_BINS[name], repeat=2 * WINDOWS[name] + 1)]
    symbols = layout.spec.symbols(side)
    return [" ".join(map(str, values)) for values in product(*(symbols[name] for name in stream))]


def _dense(layout: Layout, side: int) -> list[str]:
    indicators = [f"{name} {symbol}" for name, values in layout.dense_symbols(side).items() for symbol in values]
    return [*indicators, *(f"profile {k}" for k in range(layout.spec.profile_sizes[side]))]
