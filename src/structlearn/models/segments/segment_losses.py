"""Losses of whole segments, as compiled decoders take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn import _core
from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.ragged import summed
from structlearn.losses import MissedSegments, SpanF1
from structlearn.losses.bound import MAX_LEVEL_TABLE, BoundLoss, Levels, unit_of
from structlearn.losses.own import check_tables, values_of_counts


def bound_segments(
    loss: MissedSegments | SpanF1, codes: LabelArray, offsets: IntArray, classes: tuple[Any, ...], longest: int, Y: Any
) -> BoundLoss:
    """The loss on codes, see ``core/segments/codes.hpp``, and on the segmentations Y that they stand for."""
    counted = loss.counted(classes).astype(np.uint8)
    ends = np.zeros(int(offsets[-1]), np.uint8)
    for first, y in zip(offsets, Y, strict=False):
        for counts, (_, _, end) in zip(loss.counted([label for label, _, _ in y]), y, strict=True):
            ends[first + end - 1] = counts
    n_true = np.asarray(summed(ends.astype(np.int64), offsets), np.int64)
    truth = _core.TrueSegments(codes, offsets, longest, counted, ends)
    lengths = np.diff(offsets)
    identity = counted, ends, np.array([float(loss.beta), isinstance(loss, SpanF1)])

    def tables(n_levels: IntArray) -> IntArray:
        # Segments enter and leave with every label at every token.
        return np.asarray(16 * len(classes) * lengths * n_levels)

    if isinstance(loss, SpanF1):
        ranges = np.stack([n_true + 1, lengths + 1], axis=1)
        check_tables(loss, ranges.prod(axis=1), tables(ranges.prod(axis=1)))
        values = values_of_counts(lambda i, found: loss.value(found, np.repeat(n_true[i], 2)), ranges.tolist())
        return BoundLoss(levels=Levels(_core.FoundSegments(truth), ranges.prod(axis=1), values), identity=identity)
    missed = float(loss.beta) ** 2
    unit = unit_of(np.array([1.0, missed]))
    levels = None
    if unit is not None:
        units = round(missed / unit), round(1.0 / unit)
        n_levels = units[0] * n_true + units[1] * lengths + 1
        if tables(n_levels).max(initial=0) <= MAX_LEVEL_TABLE:
            levels = Levels.of_units(_core.MissedSegmentSteps(truth, *units), n_levels, unit)
    return BoundLoss(_core.MissedSegments(truth, missed), levels, identity=identity)
