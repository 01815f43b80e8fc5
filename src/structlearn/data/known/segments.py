"""Segments that are known, with gaps between them where nothing is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.examples import is_listed
from structlearn.data.known.labels import called, check_allowed, label_flags
from structlearn.data.ragged import locate
from structlearn.data.tokens.segments import Segment, checked_triple
from structlearn.wording import shown


@dataclass(frozen=True, slots=True)
class KnownSegments:
    """Known segments of several sequences, at the tokens with which they end.

    Attributes
    ----------
    sizes : (n_tokens,)
        Of the known segment that ends with the token, 0 for none.
    labels : (n_tokens, n_labels)
        The labels that it may have.
    offsets : (n_sequences + 1,)
    """

    sizes: LabelArray
    labels: Flags
    offsets: IntArray

    @classmethod
    def read(
        cls,
        given: Any,
        classes: Sequence[Any],
        max_length: int,
        offsets: IntArray,
        *,
        name: str = "allowed",
        one: str | None = None,
        allow_unknown: bool = False,
    ) -> KnownSegments:
        """From a list of (label, begin, end) for each sequence, or None; a label may be None or a set of labels.

        With `allow_unknown` segments may have labels that no segment can have, and any length. `name` and `one` are for
        messages, see `called`.
        """
        check_allowed(given, len(offsets) - 1, "sequences", name=name)
        codes = {label: code for code, label in enumerate(classes)}
        sizes = np.zeros(int(offsets[-1]), np.int32)
        labels = np.zeros((len(sizes), len(codes)), bool)
        for i, segments in enumerate(given):
            length = int(offsets[i + 1] - offsets[i])
            longest = length if allow_unknown else max_length
            where, sequence = called(name, i, one)
            known = _checked(segments, length, longest, where, sequence)
            for k, (label, begin, end) in enumerate(known):
                last = offsets[i] + end - 1
                sizes[last] = end - begin
                labels[last] = label_flags(label, codes, f"the label of {where}[{k}]", allow_unknown=allow_unknown)
        return cls(sizes, labels, offsets)

    def token_labels(self) -> Flags:
        """Which labels each token may have, (n_tokens, n_labels)."""
        flags = np.ones_like(self.labels)
        for last in np.flatnonzero(self.sizes):
            flags[last + 1 - self.sizes[last] : last + 1] = self.labels[last]
        return flags

    def runs(self) -> LabelArray:
        """How long segments may be, see ``core/segments/structure.hpp``."""
        lasts = np.flatnonzero(self.sizes)
        firsts = lasts + 1 - self.sizes[lasts]
        tokens = np.arange(len(self.sizes))
        begins = np.zeros(len(tokens) + 1, bool)
        begins[firsts] = begins[lasts + 1] = begins[self.offsets] = True
        inner = np.zeros(len(tokens) + 1, bool)
        for first, last in zip(firsts, lasts, strict=True):
            inner[first + 1 : last + 1] = True
        barriers = np.where(self.token_labels(), (begins[:-1] * tokens)[:, None], tokens[:, None] + 1)
        runs = tokens[:, None] + 1 - np.maximum.accumulate(barriers, axis=0)
        runs[inner[1:]] *= -1
        return runs.astype(np.int32)

    def costs(self, cost: FloatArray) -> FloatArray:
        """Of each label at each token the least cost[y, label] over the labels y that are possible, (n_tokens, L)."""
        flags = self.token_labels()
        costs = np.zeros(flags.shape)
        for token in np.flatnonzero(~flags.all(axis=1)):
            costs[token] = cost[flags[token]].min(axis=0) if flags[token].any() else 1.0
        return costs


def rules_out(runs: LabelArray, codes: LabelArray, offsets: IntArray) -> Flags:
    """Which tokens of segmentations, coded as in ``core/segments/codes.hpp``, are in a segment that may not be."""
    L = runs.shape[1]
    begins = np.flatnonzero((codes >= -1) & (codes < L))
    ends = np.append(begins[1:], len(codes))
    known = codes[begins] >= 0
    barred = np.zeros(len(begins), bool)
    barred[known] = runs[ends[known] - 1, codes[begins[known]]] < (ends - begins)[known]
    return np.repeat(barred, ends - begins)


def check_truth(barred: Flags, Y: Any, offsets: IntArray) -> None:
    """Refuses training segmentations that have a segment that is ruled out, naming the first."""
    if barred.any():
        i, t = locate(offsets, int(np.argmax(barred)))
        segment = next(segment for segment in Y[i] if segment[1] <= t < segment[2])
        raise ValueError(f"Y[{i}] has {shown(segment)}, which allowed[{i}] rules out")


def checked_triples(segments: Any, where: str) -> list[Segment]:
    """Known segments (label, begin, end), none for None; names what is none."""
    if segments is None:
        return []
    if not is_listed(segments):
        raise ValueError(f"{where} is {shown(segments)}; expected None or a list of segments (label, begin, end)")
    return [checked_triple(segment, f"{where}[{k}]") for k, segment in enumerate(segments)]


def _checked(segments: Any, length: int, max_length: int, where: str, sequence: str) -> list[Segment]:
    """Segments that lie within a sequence and do not overlap, in their order; names the first that does not."""
    found = checked_triples(segments, where)
    for k, (_, begin, end) in enumerate(found):
        if end <= begin:
            raise ValueError(f"{where}[{k}] is {shown(found[k])}; it must end after it begins")
        if not 0 <= begin <= end <= length:
            raise ValueError(f"{where}[{k}] is {shown(found[k])}, but {sequence} has {length} rows")
        if end - begin > max_length:
            raise ValueError(
                f"{where}[{k}] is {shown(found[k])}, {end - begin} tokens long, but max_length is {max_length}"
            )
    found.sort(key=lambda segment: segment[1:])
    for left, right in pairwise(found):
        if right[1] < left[2]:
            raise ValueError(f"{where}: no segmentation has {shown(left)} and {shown(right)}, which overlap")
    return found
