"""Losses of one's own on data, in the form in which compiled decoders take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.ragged import Ragged
from structlearn.data.trees import Tree, leaves, nodes
from structlearn.losses.bound import MAX_LEVEL_TABLE, MAX_LEVELS, BoundLoss, Levels, unit_of
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss
from structlearn.wording import shown

#: Whole numbers ≥ 0, for every local part or for outputs.
Counts = npt.NDArray[np.int64]
#: Of numbers for the local parts of every example, the sum over those that its truth has.
TrueSums = Callable[[Ragged], FloatArray]
#: Of a count for every local part of every example, no less than any output of each has.
Most = Callable[[list[Counts]], IntArray]
#: Δ of outputs of an example with these counts, (m, 1 or 2) → (m,).
Value = Callable[[int, Counts], FloatArray]


def bound_own(
    loss: Loss,
    truths: list[Any],
    local: list[LocalParts],
    true_sums: TrueSums,
    *,
    of_spans: bool = False,
    most: Most | None = None,
) -> BoundLoss:
    """A user's own loss, as compiled decoders take it; see ``core/segments/losses.hpp`` for `of_spans`."""
    most = most or _one_a_row
    if isinstance(loss, AdditiveLoss):
        return _bound_additive(loss, truths, local, true_sums, of_spans, most)
    if isinstance(loss, CountedLoss):
        return _bound_counted(loss, truths, local, true_sums, of_spans, most)
    raise ValueError(f"loss is {shown(loss)}; a loss of one's own is an AdditiveLoss or a CountedLoss")


def _bound_additive(
    loss: AdditiveLoss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, of_spans: bool, most: Most
) -> BoundLoss:
    """A user's own additive loss: the numbers of all parts of all examples are kept."""
    name = f"{type(loss).__name__}.parts"
    arrays = [
        _checked(loss.parts(y, parts), parts.shape, name, i)
        for i, (y, parts) in enumerate(zip(truths, local, strict=True))
    ]
    values = Ragged.of([array.ravel() for array in arrays], np.float64)
    sums = true_sums(values)
    constant = bool(np.any(sums != 0.0))
    listed = _core.ListedSpans if of_spans else _core.ListedLosses
    return BoundLoss(
        listed(values.flat, values.offsets, sums),
        levels=_levels_of_sums(arrays, sums, of_spans, most),
        local=None if constant or of_spans else lambda i: np.asarray(values[i]),
        identity=(values.flat,),
    )


def _levels_of_sums(arrays: list[FloatArray], sums: FloatArray, of_spans: bool, most: Most) -> Levels | None:
    """Where all numbers are multiples of a unit: what is above zero is one count, what is below another."""
    sizes = np.abs(np.concatenate([*(array.ravel() for array in arrays), np.zeros(1)]))
    unit = unit_of(sizes)
    if unit is None or sizes.max() > MAX_LEVELS * unit:
        return None
    whole = [np.round(array / unit).astype(np.int64) for array in arrays]
    signed = any((array < 0).any() for array in whole)
    counts = [np.stack([np.maximum(array, 0), np.maximum(-array, 0)][: 1 + signed]) for array in whole]

    def value(i: int, found: Counts) -> FloatArray:
        return np.asarray(unit * (found[:, 0] - (found[:, 1] if signed else 0)) - sums[i])

    ranges = _ranges(counts, most)
    tables = [_table(each, count) for each, count in zip(ranges, counts, strict=True)]
    few = max(map(prod, ranges)) <= MAX_LEVELS**2 and max(tables) <= MAX_LEVEL_TABLE
    return _levels(counts, ranges, value, of_spans) if few else None


def _bound_counted(
    loss: CountedLoss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, of_spans: bool, most: Most
) -> BoundLoss:
    """A user's own counted loss: a level for every pair of counts."""
    name = f"{type(loss).__name__}.counts"
    counts = []
    for i, (y, parts) in enumerate(zip(truths, local, strict=True)):
        found = np.asarray(loss.counts(y, parts))
        if found.shape[1:] != parts.shape or found.shape[0] not in (1, 2):
            raise ValueError(f"{name} of example {i} has shape {found.shape}; expected (1 or 2, {str(parts.shape)[1:]}")
        if found.dtype.kind not in "iub" or found.min(initial=0) < 0:
            raise ValueError(f"{name} of example {i} holds {found.min(initial=0)}; expected whole numbers ≥ 0")
        counts.append(found.astype(np.int64))
    ranges = _ranges(counts, most)
    for i, (each, count) in enumerate(zip(ranges, counts, strict=True)):
        if (table := _table(each, count)) > MAX_LEVEL_TABLE:
            raise ValueError(
                f"{name} of example {i} makes {prod(each)} levels, whose table would take {table / 2**30:.3g} GB"
            )
    true_counts = [true_sums(Ragged.of([both[k].ravel() for both in counts], np.int64)) for k in range(len(counts[0]))]
    of_truths = np.stack(true_counts, axis=1).astype(np.int64)

    def value(i: int, every: Counts) -> FloatArray:
        found = np.asarray(loss.value(every, of_truths[i]), np.float64)
        if found.shape != (len(every),):
            raise ValueError(
                f"{type(loss).__name__}.value has shape {found.shape} for {len(every)} pairs of counts of example {i}"
            )
        return found

    levels = _levels(counts, ranges, value, of_spans)
    return BoundLoss(levels=levels, identity=(np.concatenate([count.ravel() for count in counts]),))


def _ranges(counts: list[Counts], most: Most) -> list[list[int]]:
    """How many values each count of each example can have."""
    each = [most([both[k] for both in counts]) + 1 for k in range(len(counts[0]))]
    return [[int(size) for size in both] for both in zip(*each, strict=True)]


def _table(ranges: list[int], count: Counts) -> int:
    """Bytes that a decoder of levels may need."""
    return 8 * prod(ranges) * int(count[0].size)


def _levels(counts: list[Counts], ranges: list[list[int]], value: Value, of_spans: bool) -> Levels:
    flat = Ragged.of([_flattened(count, size).ravel() for count, size in zip(counts, ranges, strict=True)], np.int32)
    n_levels = np.array([prod(size) for size in ranges], np.int64)
    widths = np.array([size[-1] for size in ranges], np.int64)

    def values(examples: IntArray) -> FloatArray:
        found = [value(i, _unflattened(np.arange(n_levels[i]), ranges[i])) for i in examples.tolist()]
        # Pairs of counts that no output has may have any value.
        return np.asarray(np.maximum(np.concatenate([*found, np.empty(0)]), 0.0))

    steps = _core.ListedSteps(flat.flat, flat.offsets, np.stack([n_levels, widths], axis=1), of_spans)
    return Levels(steps, n_levels, values)


def own_label_loss(loss: Loss, codes: Ragged, Y: list[Any], labels: Sequence[Any]) -> BoundLoss:
    """A user's own loss of labels at tokens; the local parts of an output begin with those."""
    L = len(labels)
    local = [LocalParts((len(y), L), tuple(labels)) for y in codes]
    known = [bool((y >= 0).all()) for y in codes]

    def true_sums(parts: Ragged) -> FloatArray:
        # A truth with labels that training never saw has no parts.
        sums = np.zeros(len(codes))
        for i, (values, y) in enumerate(zip(parts, codes, strict=True)):
            if known[i]:
                sums[i] = values.reshape(-1, L)[np.arange(len(y)), y].sum()
        return sums

    return bound_own(loss, Y, local, true_sums)


def own_segment_loss(loss: Loss, codes: Ragged, Y: Iterable[Any], labels: Sequence[Any], max_length: int) -> BoundLoss:
    """A user's own loss of whole segments."""
    Y = list(Y)
    place = {label: k for k, label in enumerate(labels)}
    local = [LocalParts((len(y), max_length, len(labels)), tuple(labels)) for y in codes]

    def true_sums(parts: Ragged) -> FloatArray:
        sums = np.zeros(len(Y))
        for i, (values, y) in enumerate(zip(parts, Y, strict=True)):
            prices = values.reshape(local[i].shape)
            # A truth with labels that training never saw, or with too long a segment, has no parts.
            if all(label in place and end - begin <= max_length for label, begin, end in y):
                sums[i] = sum(prices[begin, end - begin - 1, place[label]] for label, begin, end in y)
        return sums

    return bound_own(loss, Y, local, true_sums, of_spans=True)


def own_phrase_loss(loss: Loss, trees: list[Tree], labels: Sequence[str], longest_chain: int) -> BoundLoss:
    """A user's own loss of the phrases of trees, of which at most `longest_chain` + 1 span the same words."""
    place = {label: k for k, label in enumerate(labels)}
    sizes = [len(leaves(tree)) + 1 for tree in trees]
    local = [LocalParts((n, n, len(labels)), tuple(labels)) for n in sizes]

    def true_sums(parts: Ragged) -> FloatArray:
        sums = np.zeros(len(trees))
        for i, (values, tree) in enumerate(zip(parts, trees, strict=True)):
            prices = values.reshape(local[i].shape)
            phrases = list(nodes(tree))
            # A truth with labels that training never saw has no parts.
            if all(label in place for label, _, _ in phrases):
                sums[i] = sum(prices[begin, end, place[label]] for label, begin, end in phrases)
        return sums

    def most(counts: list[Counts]) -> IntArray:
        # A binary tree over n words has 2n − 1 spans.
        found = []
        for count in counts:
            spans = np.sort(count.reshape(-1, len(labels)), axis=1)[:, -longest_chain - 1 :].sum(axis=1)
            found.append(np.sort(spans)[-(2 * len(count) - 3) :].sum())
        return np.array(found, np.int64)

    return bound_own(loss, trees, local, true_sums, most=most)


def _checked(values: Any, shape: tuple[int, ...], method: str, i: int) -> FloatArray:
    found = np.asarray(values, np.float64)
    if found.shape != shape:
        raise ValueError(f"{method} of example {i} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{method} of example {i} holds {found[~np.isfinite(found)][0]}; expected finite numbers")
    return found


def _one_a_row(counts: list[Counts]) -> IntArray:
    """Where an output has one part a row: one label a token, one partner a letter, one segment from each begin."""
    places = (count[None, :] if count.ndim == 1 else count for count in counts)
    return np.array([rows.max(axis=tuple(range(1, rows.ndim)), initial=0).sum() for rows in places], np.int64)


def _flattened(counts: Counts, size: list[int]) -> Counts:
    flat = counts[0] if len(counts) == 1 else counts[0] * size[1] + counts[1]
    return np.asarray(flat)


def _unflattened(levels: IntArray, size: list[int]) -> Counts:
    if len(size) == 1:
        return levels[:, None]
    return np.stack([levels // size[1], levels % size[1]], axis=1)
