"""Losses on data, in the form in which compiled decoders take them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, prod
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import FloatArray, IntArray, LabelArray
from structlearn.data.ragged import Ragged, offsets_of, ranks_of, summed
from structlearn.data.trees import Tree, leaves, nodes
from structlearn.waist.loss import AdditiveLoss, CountedLoss, LocalParts, Loss
from structlearn.wording import shown

#: Unequal costs make many loss levels; beyond this number there is no decoder for them.
MAX_LEVELS = 256
#: Bytes that a decoder of levels may need for one example: local parts × levels doubles.
MAX_LEVEL_TABLE = 2**32


@dataclass(frozen=True, slots=True)
class Levels:
    """The values that a loss can have, by the steps that the local parts of an output take.

    Attributes
    ----------
    steps : compiled steps
    level : compiled loss
        The level of an output, as if it were its loss.
    n_levels : (n_examples,)
    values : callable
        Δ of all levels of some examples, one example after another.
    """

    steps: _core.PartSteps
    level: _core.PartLoss
    n_levels: IntArray
    values: Callable[[IntArray], FloatArray]

    def of_outputs(self, examples: IntArray, levels: FloatArray) -> FloatArray:
        """Δ of one output for each of the examples, given their levels."""
        begins = offsets_of(self.n_levels[examples])[:-1]
        return np.asarray(self.values(examples)[begins + levels.astype(np.int64)])


@dataclass(frozen=True, slots=True)
class BoundLoss:
    """A loss on the truths of some examples; without `parts` and `levels` it is zero-one.

    Attributes
    ----------
    parts : compiled loss, optional
        Δ as a sum over local parts.
    levels : Levels, optional
        Δ by levels, where these are few.
    local : callable, optional
        ℓ of an example with Δ(y, ŷ) = ⟨ℓ, μ(ŷ)⟩ over the first local parts; None if Δ has a constant term.
    max_losses : (n_examples,), optional
        Where they are known without decoding.
    identity : arrays
        What tells the loss from others on the same truths, for digests.
    """

    parts: _core.PartLoss | None = None
    levels: Levels | None = None
    local: Callable[[int], FloatArray] | None = None
    max_losses: FloatArray | None = None
    identity: tuple[npt.NDArray[Any], ...] = ()

    @property
    def zero_one(self) -> bool:
        return self.parts is None and self.levels is None


def bound_label_costs(
    labels: LabelArray, offsets: IntArray, cost: FloatArray, *, with_levels: bool = True
) -> BoundLoss:
    """Δ = Σ_t cost[y_t, ŷ_t], with 1 for every label where the true one is not known, −1."""
    known = np.where(labels < 0, 0, labels)
    most = np.where(labels < 0, 1.0, cost.max(axis=1)[known])
    max_losses = np.asarray(summed(most, offsets))

    def local(i: int) -> FloatArray:
        return np.asarray(cost[labels[offsets[i] : offsets[i + 1]]]).ravel()

    levels = None
    unit = unit_of(cost)
    if with_levels and unit is not None and (labels >= 0).all():
        different = len(set(cost.ravel().tolist()) - {0.0}) > 1
        if not different or max_losses.max(initial=0.0) / unit < MAX_LEVELS:
            whole = np.round(cost / unit).astype(np.int32)
            n_levels = np.asarray(summed(whole.max(axis=1)[known], offsets)).astype(np.int64) + 1
            levels = Levels(
                _core.LabelSteps(labels, offsets, whole),
                _core.LabelCosts(labels, offsets, whole.astype(np.float64)),
                n_levels,
                lambda examples: np.asarray(unit * ranks_of(offsets_of(n_levels[examples])), np.float64),
            )
    return BoundLoss(_core.LabelCosts(labels, offsets, cost), levels, local, max_losses, (cost,))


def class_levels(labels: LabelArray, cost: FloatArray) -> Levels:
    """Where an output is one label, every class is a level of its own, whatever the costs are."""
    K, offsets = len(cost), np.arange(len(labels) + 1)
    number = np.tile(np.arange(K, dtype=np.int32), (K, 1))
    return Levels(
        _core.LabelSteps(labels, offsets, number),
        _core.LabelCosts(labels, offsets, number.astype(np.float64)),
        np.full(len(labels), K),
        lambda examples: np.asarray(cost[labels[examples]]).ravel(),
    )


def unit_of(costs: FloatArray) -> float | None:
    """The largest unit of which all costs are whole multiples; None if there is none that is not tiny."""
    different = set(costs.ravel().tolist()) - {0.0}
    if not different:
        return 1.0
    if len(different) == 1:
        return float(different.pop())
    fractions = [Fraction(cost).limit_denominator(10_000) for cost in different]
    if not all(fractions):
        return None
    denominator = lcm(*(fraction.denominator for fraction in fractions))
    unit = Fraction(gcd(*(int(fraction * denominator) for fraction in fractions)), denominator)
    on_grid = all(abs(round(cost / unit) * unit - cost) <= 1e-12 * cost for cost in different)
    return float(unit) if on_grid else None


#: Of numbers for the local parts of every example, the sum over those that its truth has.
TrueSums = Callable[[Ragged], FloatArray]
#: A compiled loss from a number for every part, where those of each example begin, and the sums over the truths' parts.
Listed = Callable[[FloatArray, IntArray, FloatArray], _core.PartLoss]


def bound_own(loss: Loss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, listed: Listed) -> BoundLoss:
    """A user's own loss, as compiled decoders take it."""
    if isinstance(loss, AdditiveLoss):
        return _bound_additive(loss, truths, local, true_sums, listed)
    if isinstance(loss, CountedLoss):
        return _bound_counted(loss, truths, local, true_sums, listed)
    raise ValueError(f"loss is {shown(loss)}; a loss of one's own is an AdditiveLoss or a CountedLoss")


def _bound_additive(
    loss: AdditiveLoss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, listed: Listed
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
    return BoundLoss(
        listed(values.flat, values.offsets, sums),
        local=None if constant else lambda i: np.asarray(values[i]),
        identity=(values.flat,),
    )


def _bound_counted(
    loss: CountedLoss, truths: list[Any], local: list[LocalParts], true_sums: TrueSums, listed: Listed
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
        counts.append(found.reshape(len(found), *parts.shape).astype(np.int64))
    most = [_most(count) for count in counts]
    sizes = [[m + 1 for m in each] for each in most]
    for i, (size, parts) in enumerate(zip(sizes, local, strict=True)):
        if (table := 8 * prod(size) * prod(parts.shape)) > MAX_LEVEL_TABLE:
            raise ValueError(
                f"{name} of example {i} makes {prod(size)} levels, whose table would take {table / 2**30:.3g} GB"
            )
    flat = Ragged.of([_flattened(count, size).ravel() for count, size in zip(counts, sizes, strict=True)], np.int32)
    n_levels = np.array([prod(size) for size in sizes], np.int64)
    true_levels = true_sums(flat).astype(np.int64)
    level = listed(flat.flat.astype(np.float64), flat.offsets, np.zeros(len(truths)))

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

    levels = Levels(_core.ListedSteps(flat.flat, flat.offsets, n_levels), level, n_levels, values)
    return BoundLoss(levels=levels, identity=(flat.flat,))


def own_label_loss(loss: Loss, codes: Ragged, Y: list[Any], labels: Sequence[Any], *, counted: bool) -> BoundLoss:
    """A user's own loss of labels at tokens; the local parts of an output begin with those."""
    if isinstance(loss, CountedLoss) and not counted:
        raise ValueError(f"{type(loss).__name__} counts, but this model has no decoder for counts")
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

    return bound_own(loss, Y, local, true_sums, _core.ListedLosses)


def own_segment_loss(loss: Loss, codes: Ragged, Y: Iterable[Any], labels: Sequence[Any], max_length: int) -> BoundLoss:
    """A user's own loss of whole segments."""
    if isinstance(loss, CountedLoss):
        raise ValueError(f"{type(loss).__name__} counts, but Segments has no decoder for counts")
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

    return bound_own(loss, Y, local, true_sums, _core.ListedSpans)


def own_phrase_loss(loss: Loss, trees: list[Tree], labels: Sequence[str]) -> BoundLoss:
    """A user's own loss of the phrases of trees."""
    if isinstance(loss, CountedLoss):
        raise ValueError(f"{type(loss).__name__} counts, but Grammar has a decoder for the counts of BracketF1 only")
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

    return bound_own(loss, trees, local, true_sums, _core.ListedLosses)


def _checked(values: Any, shape: tuple[int, ...], method: str, i: int) -> FloatArray:
    found = np.asarray(values, np.float64)
    if found.shape != shape:
        raise ValueError(f"{method} of example {i} has shape {found.shape}; expected {shape}")
    if not np.isfinite(found).all():
        raise ValueError(f"{method} of example {i} holds {found[~np.isfinite(found)][0]}; expected finite numbers")
    return found


def _most(counts: npt.NDArray[np.int64]) -> list[int]:
    """No output counts more than the largest number of every place together."""
    return [int(count.reshape(-1, count.shape[-1]).max(axis=1, initial=0).sum()) for count in counts]


def _flattened(counts: npt.NDArray[np.int64], size: list[int]) -> npt.NDArray[np.int64]:
    flat = counts[0] if len(counts) == 1 else counts[0] * size[1] + counts[1]
    return np.asarray(flat)


def _unflattened(levels: npt.NDArray[np.int64], size: list[int]) -> npt.NDArray[np.int64]:
    if len(size) == 1:
        return levels[:, None]
    return np.stack([levels // size[1], levels % size[1]], axis=1)
