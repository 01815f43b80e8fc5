"""Losses of one's own on data, in the form in which compiled decoders take them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
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
#: Of a count for every local part of every example, no less than any output of each has.
Most = Callable[[list[Counts]], IntArray]
#: Δ of outputs of an example with these counts, (m, 1 or 2) → (m,).
Value = Callable[[int, Counts], FloatArray]


@dataclass(frozen=True, slots=True)
class Truth:
    """What a loss is asked about an example.

    Attributes
    ----------
    output : object
        In the user's own terms.
    local : LocalParts
        The local parts that outputs can have, and in each axis after them what only the truth has: labels that
        training never saw, segments that are too long.
    known : tuple of slices
        The local parts that outputs can have.
    parts : tuple of arrays
        The places of the parts of the truth in an array of all.
    """

    output: Any
    local: LocalParts
    known: tuple[slice, ...]
    parts: tuple[IntArray, ...]

    def total(self, numbers: npt.NDArray[Any]) -> Any:
        """The sum over the parts of the truth."""
        return numbers[self.parts].sum()


def bound_own(loss: Loss, truths: list[Truth], *, of_spans: bool = False, most: Most | None = None) -> BoundLoss:
    """A user's own loss, as compiled decoders take it; see ``core/segments/losses.hpp`` for `of_spans`."""
    most = most or _one_a_row
    if isinstance(loss, AdditiveLoss):
        return _bound_additive(loss, truths, of_spans, most)
    if isinstance(loss, CountedLoss):
        return _bound_counted(loss, truths, of_spans, most)
    raise ValueError(f"loss is {shown(loss)}; a loss of one's own is an AdditiveLoss or a CountedLoss")


def _bound_additive(loss: AdditiveLoss, truths: list[Truth], of_spans: bool, most: Most) -> BoundLoss:
    """A user's own additive loss: the numbers of all parts of all examples are kept."""
    every = [_checked_parts(loss, truth, i) for i, truth in enumerate(truths)]
    sums = np.array([truth.total(numbers) for truth, numbers in zip(truths, every, strict=True)], np.float64)
    arrays = [numbers[truth.known] for truth, numbers in zip(truths, every, strict=True)]
    values = Ragged.of([array.ravel() for array in arrays], np.float64)
    constant = bool(np.any(sums != 0.0))
    listed = _core.ListedSpans if of_spans else _core.ListedLosses
    return BoundLoss(
        listed(values.flat, values.offsets, sums),
        levels=_levels_of_sums(arrays, sums, of_spans, most),
        local=None if constant or of_spans else lambda i: np.asarray(values[i]),
        identity=(values.flat,),
    )


def _levels_of_sums(arrays: list[FloatArray], sums: FloatArray, of_spans: bool, most: Most) -> Levels | None:
    """Where an example's numbers are multiples of a unit: what is above zero is one count, what is below another."""
    units = [unit for unit in map(_unit, arrays) if unit is not None]
    if len(units) < len(arrays):
        return None
    whole = [np.round(array / unit).astype(np.int64) for array, unit in zip(arrays, units, strict=True)]
    signed = any((array < 0).any() for array in whole)
    counts = [np.stack([np.maximum(array, 0), np.maximum(-array, 0)][: 1 + signed]) for array in whole]

    def value(i: int, found: Counts) -> FloatArray:
        return np.asarray(units[i] * (found[:, 0] - (found[:, 1] if signed else 0)) - sums[i])

    ranges = _ranges(counts, most)
    tables = [_table(each, count) for each, count in zip(ranges, counts, strict=True)]
    few = max(map(prod, ranges)) <= MAX_LEVELS**2 and max(tables) <= MAX_LEVEL_TABLE
    return _levels(counts, ranges, value, of_spans) if few else None


def _unit(numbers: FloatArray) -> float | None:
    """Of which all numbers are multiples; None if there is none, or if one of them has too many."""
    unit = unit_of(np.abs(numbers))
    return None if unit is None or np.abs(numbers).max(initial=0.0) > MAX_LEVELS * unit else unit


def _bound_counted(loss: CountedLoss, truths: list[Truth], of_spans: bool, most: Most) -> BoundLoss:
    """A user's own counted loss: a level for every pair of counts."""
    name = type(loss).__name__
    every = _checked_counts(loss, truths)
    counts = [count[(slice(None), *truth.known)] for truth, count in zip(truths, every, strict=True)]
    ranges = _ranges(counts, most)
    tables = [_table(each, count) for each, count in zip(ranges, counts, strict=True)]
    check_tables(loss, np.array([prod(each) for each in ranges]), np.array(tables))
    true_counts = [
        np.array([truth.total(number) for number in count], np.int64)
        for truth, count in zip(truths, every, strict=True)
    ]

    def value(i: int, found: Counts) -> FloatArray:
        values = np.asarray(loss.value(found, true_counts[i]), np.float64)
        if values.shape != (len(found),):
            raise ValueError(f"{name}.value has shape {values.shape} for {len(found)} pairs of counts of example {i}")
        return values

    for i, count in enumerate(true_counts):
        if not (own := value(i, count[None, :])[0]) == 0.0:
            raise ValueError(f"{name}.value of the truth of example {i}, with counts {count.tolist()}, is {own}; not 0")
    levels = _levels(counts, ranges, value, of_spans)
    # The values of one example tell losses apart that count the same.
    values = levels.values(np.array([np.argmax(levels.n_levels)]))
    return BoundLoss(levels=levels, identity=(np.concatenate([count.ravel() for count in counts]), values))


def _checked_parts(loss: AdditiveLoss, truth: Truth, i: int) -> FloatArray:
    shape, name = truth.local.shape, f"{type(loss).__name__}.parts"
    # There is nothing to ask about an empty sequence.
    found = np.asarray(loss.parts(truth.output, truth.local) if prod(shape) else np.zeros(shape), np.float64)
    if found.shape != shape:
        raise ValueError(f"{name} of example {i} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{name} of example {i} holds {found[~np.isfinite(found)][0]}; expected finite numbers")
    return found


def _checked_counts(loss: CountedLoss, truths: list[Truth]) -> list[Counts]:
    name = f"{type(loss).__name__}.counts"
    every: list[Counts | None] = []
    for i, truth in enumerate(truths):
        shape = truth.local.shape
        if not prod(shape):
            every.append(None)
            continue
        found = np.asarray(loss.counts(truth.output, truth.local))
        if found.shape[1:] != shape or found.shape[0] not in (1, 2):
            raise ValueError(f"{name} of example {i} has shape {found.shape}; expected (1 or 2, {str(shape)[1:]}")
        if found.dtype.kind not in "iub" or found.min(initial=0) < 0:
            wrong = found[(found < 0) | (found % 1 != 0)] if found.dtype.kind in "iubf" else found.ravel()
            held = f"{wrong[0]}" if wrong.size else f"{found.dtype} numbers"
            raise ValueError(f"{name} of example {i} holds {held}; expected whole numbers ≥ 0")
        every.append(found.astype(np.int64))
    # As many counts for empty sequences as for the others.
    n = next((len(found) for found in every if found is not None), None)
    n = len(loss.counts(truths[0].output, truths[0].local)) if n is None else n
    return [
        np.zeros((n, *truth.local.shape), np.int64) if found is None else found
        for found, truth in zip(every, truths, strict=True)
    ]


def _ranges(counts: list[Counts], most: Most) -> list[list[int]]:
    """How many values each count of each example can have."""
    each = [most([both[k] for both in counts]) + 1 for k in range(len(counts[0]))]
    return [[int(size) for size in both] for both in zip(*each, strict=True)]


def _table(ranges: list[int], count: Counts) -> int:
    """Bytes that a decoder of levels may need."""
    return 8 * prod(ranges) * int(count[0].size)


def check_tables(loss: CountedLoss, n_levels: IntArray, tables: IntArray) -> None:
    """Refuses counts whose levels would take too many bytes in some example."""
    if tables.max(initial=0) > MAX_LEVEL_TABLE:
        i = int(tables.argmax())
        raise ValueError(
            f"{type(loss).__name__}.counts of example {i} makes {n_levels[i]} levels, whose table would take "
            f"{tables[i] / 2**30:.3g} GB; cut the example up, or use an additive loss"
        )


def values_of_counts(value: Value, ranges: list[list[int]]) -> Callable[[IntArray], FloatArray]:
    """Δ of all levels of some examples, where each is a combination of counts."""

    def values(examples: IntArray) -> FloatArray:
        found = [value(i, _unflattened(np.arange(prod(ranges[i])), ranges[i])) for i in examples.tolist()]
        # Pairs of counts that no output has may have any value.
        return np.asarray(np.maximum(np.concatenate([*found, np.empty(0)]), 0.0))

    return values


def _levels(counts: list[Counts], ranges: list[list[int]], value: Value, of_spans: bool) -> Levels:
    flat = Ragged.of([_flattened(count, size).ravel() for count, size in zip(counts, ranges, strict=True)], np.int32)
    n_levels = np.array([prod(size) for size in ranges], np.int64)
    widths = np.array([size[-1] for size in ranges], np.int64)
    steps = _core.ListedSteps(flat.flat, flat.offsets, np.stack([n_levels, widths], axis=1), of_spans)
    return Levels(steps, n_levels, values_of_counts(value, ranges))


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


def _places(labels: Sequence[Any], true: Iterable[Hashable]) -> dict[Any, int]:
    """The numbers of all labels, first those that outputs can have, then those that only the truth has."""
    return {label: k for k, label in enumerate(dict.fromkeys([*labels, *true]))}


def label_truth(y: Any, labels: Sequence[Any]) -> Truth:
    """The labels y of tokens."""
    place = _places(labels, y)
    codes = np.array([place[label] for label in y], np.int64)
    local = LocalParts((len(codes), len(place)), tuple(place))
    return Truth(y, local, (slice(None), slice(len(labels))), (np.arange(len(codes)), codes))


def single_label_truth(y: Any, labels: Sequence[Any]) -> Truth:
    """The label y of an example."""
    place = _places(labels, [y])
    return Truth(y, LocalParts((len(place),), tuple(place)), (slice(len(labels)),), (np.array([place[y]]),))


def segment_truth(y: Any, length: int, labels: Sequence[Any], max_length: int) -> Truth:
    """The segments y of a sequence."""
    place = _places(labels, (label for label, _, _ in y))
    longest = max([max_length, *(end - begin for _, begin, end in y)])
    codes, begins, sizes = (
        np.array(numbers, np.int64)
        for numbers in (
            [place[label] for label, _, _ in y],
            [begin for _, begin, _ in y],
            [end - begin - 1 for _, begin, end in y],
        )
    )
    local = LocalParts((length, longest, len(place)), tuple(place))
    known = (slice(None), slice(max_length), slice(len(labels)))
    return Truth(y, local, known, (begins, sizes, codes))


def match_truth(y: Any, m: int, n: int) -> Truth:
    """The matches y of two sequences of m and n letters."""
    rows, columns = np.array(list(y), np.int64).reshape(-1, 2).T
    return Truth(y, LocalParts((m, n)), (slice(None), slice(None)), (rows, columns))


def phrase_truth(y: Tree, labels: Sequence[str]) -> Truth:
    """The phrases of a tree."""
    phrases = list(nodes(y))
    place = _places(labels, (label for label, _, _ in phrases))
    n = len(leaves(y)) + 1
    found = np.array([(begin, end, place[label]) for label, begin, end in phrases], np.int64).reshape(-1, 3)
    local = LocalParts((n, n, len(place)), tuple(place))
    return Truth(y, local, (slice(None), slice(None), slice(len(labels))), tuple(found.T))


def arc_truth(known: npt.NDArray[np.int32], labels: Sequence[Any]) -> Truth:
    """A dependency tree, given the head and the number of the label of every token, −2 for one never seen."""
    heads, codes = known.T.astype(np.int64)
    names = [*labels, *([None] if (codes < 0).any() else [])]
    y = [(head, names[max(code, -1)]) for head, code in known.tolist()] if labels else heads.tolist()
    n = len(heads) + 1
    shape = (n, n, len(names)) if labels else (n, n, 1)
    known_parts = (slice(None), slice(None), slice(max(len(labels), 1)))
    return Truth(
        y, LocalParts(shape, tuple(names)), known_parts, (heads, np.arange(1, n), np.where(codes < 0, -1, codes))
    )


def most_arcs(counts: list[Counts]) -> IntArray:
    """The most that a dependency tree counts, which has one arc to each token."""
    return np.array([count[:, 1:].max(axis=(0, 2), initial=0).sum() for count in counts], np.int64)


def most_phrases(counts: list[Counts], longest_chain: int) -> IntArray:
    """The most that a tree counts, of whose phrases at most `longest_chain` + 1 span the same words."""
    found = []
    for count in counts:
        spans = np.sort(count.reshape(-1, count.shape[-1]), axis=1)[:, -longest_chain - 1 :].sum(axis=1)
        # A binary tree over n words has 2n − 1 spans.
        found.append(np.sort(spans)[-(2 * len(count) - 3) :].sum())
    return np.array(found, np.int64)
