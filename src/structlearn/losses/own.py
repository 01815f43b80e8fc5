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
from structlearn.losses.bound import MAX_LEVEL_TABLE, BoundLoss, Levels
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss
from structlearn.wording import shown

#: Of numbers for the local parts of every example, the sum over those that its truth has.
TrueSums = Callable[[Ragged], FloatArray]
#: Of a count for every local part of an example, no less than any output has.
Most = Callable[[npt.NDArray[np.int64]], int]


def bound_own(
    loss: Loss,
    truths: list[Any],
    local: list[LocalParts],
    true_sums: TrueSums,
    *,
    of_spans: bool = False,
    most: Most | None = None,
) -> BoundLoss:
    """A user's own loss, as compiled decoders take it; see `SpanLoss` of the core for `of_spans`."""
    if isinstance(loss, AdditiveLoss):
        return _bound_additive(loss, truths, local, true_sums, of_spans)
    if isinstance(loss, CountedLoss):
        return _bound_counted(loss, truths, local, true_sums, of_spans, most or _one_a_place)
    raise ValueError(f"loss is {shown(loss)}; a loss of one's own is an AdditiveLoss or a CountedLoss")


def _bound_additive(
    loss: AdditiveLoss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, of_spans: bool
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
        local=None if constant or of_spans else lambda i: np.asarray(values[i]),
        identity=(values.flat,),
    )


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
    sizes = [[most(count) + 1 for count in both] for both in counts]
    for i, (size, parts) in enumerate(zip(sizes, local, strict=True)):
        if (table := 8 * prod(size) * prod(parts.shape)) > MAX_LEVEL_TABLE:
            raise ValueError(
                f"{name} of example {i} makes {prod(size)} levels, whose table would take {table / 2**30:.3g} GB"
            )
    flat = Ragged.of([_flattened(count, size).ravel() for count, size in zip(counts, sizes, strict=True)], np.int32)
    n_levels = np.array([prod(size) for size in sizes], np.int64)
    widths = np.array([size[-1] for size in sizes], np.int64)
    true_levels = true_sums(flat).astype(np.int64)

    def values_of(i: int) -> FloatArray:
        every = _unflattened(np.arange(n_levels[i]), sizes[i])
        found = np.asarray(loss.value(every, _unflattened(true_levels[i : i + 1], sizes[i])[0]), np.float64)
        if found.shape != (n_levels[i],):
            raise ValueError(
                f"{type(loss).__name__}.value has shape {found.shape} for {n_levels[i]} pairs of counts of example {i}"
            )
        # Pairs of counts that no output has may have any value.
        return np.where(found >= 0.0, found, 0.0)

    def values(examples: IntArray) -> FloatArray:
        return np.concatenate([*(values_of(int(i)) for i in examples), np.empty(0)])

    steps = _core.ListedSteps(flat.flat, flat.offsets, np.stack([n_levels, widths], axis=1), of_spans)
    return BoundLoss(levels=Levels(steps, n_levels, values), identity=(flat.flat,))


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

    def most(count: npt.NDArray[np.int64]) -> int:
        # A binary tree over n words has 2n − 1 spans.
        spans = np.sort(count.reshape(-1, len(labels)), axis=1)[:, -longest_chain - 1 :].sum(axis=1)
        return int(np.sort(spans)[-(2 * len(count) - 3) :].sum())

    return bound_own(loss, trees, local, true_sums, most=most)


def _checked(values: Any, shape: tuple[int, ...], method: str, i: int) -> FloatArray:
    found = np.asarray(values, np.float64)
    if found.shape != shape:
        raise ValueError(f"{method} of example {i} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{method} of example {i} holds {found[~np.isfinite(found)][0]}; expected finite numbers")
    return found


def _one_a_place(count: npt.NDArray[np.int64]) -> int:
    """Where an output has one part a row: one label a token, one partner a letter, one segment from each begin."""
    return int(count.max(initial=0) if count.ndim == 1 else count.reshape(len(count), -1).max(axis=1, initial=0).sum())


def _flattened(counts: npt.NDArray[np.int64], size: list[int]) -> npt.NDArray[np.int64]:
    flat = counts[0] if len(counts) == 1 else counts[0] * size[1] + counts[1]
    return np.asarray(flat)


def _unflattened(levels: npt.NDArray[np.int64], size: list[int]) -> npt.NDArray[np.int64]:
    if len(size) == 1:
        return levels[:, None]
    return np.stack([levels // size[1], levels % size[1]], axis=1)
