"""Losses on data, in the form in which compiled decoders take them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn import _core
from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.ragged import offsets_of, ranks_of, reduced, summed

#: Unequal costs make many loss levels; beyond this number there is no decoder for them.
MAX_LEVELS = 256
#: Bytes that a decoder of levels may need for one example: local parts × levels doubles.
MAX_LEVEL_TABLE = 2**32


#: Why a loss of one's own may have no decoder of levels, for messages.
NO_UNIT = (
    ": the numbers that the loss adds up are no multiples of one unit, or make too many loss levels; use "
    "rescaling='margin' with slack='linear'"
)


@dataclass(frozen=True, slots=True)
class Levels:
    """The values that a loss can have, by the steps that the local parts of an output take.

    Attributes
    ----------
    steps : compiled steps
    n_levels : (n_examples,)
    values : callable
        Δ of all levels of some examples, one example after another.
    """

    steps: _core.PartSteps
    n_levels: IntArray
    values: Callable[[IntArray], FloatArray]

    def of_outputs(self, examples: IntArray, levels: IntArray) -> FloatArray:
        """Δ of one output for each of the examples, given their levels."""
        begins = offsets_of(self.n_levels[examples])[:-1]
        return np.asarray(self.values(examples)[begins + levels])

    @classmethod
    def of_units(cls, steps: _core.PartSteps, n_levels: IntArray, unit: float = 1.0) -> Levels:
        """Levels that are the loss, in units."""
        return cls(
            steps,
            n_levels,
            lambda examples: np.asarray(unit * ranks_of(offsets_of(n_levels[examples])), np.float64),
        )

    def zero_one(self) -> Levels:
        """The same levels, of which the first costs nothing and every other 1."""
        return Levels(self.steps, self.n_levels, lambda examples: np.minimum(self.values(examples), 1.0))


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


def level_table(offsets: IntArray, width: int) -> int:
    """Bytes of the level decoder for the longest sequence, with `width` scores a token, if a token is one level."""
    longest = int(np.diff(offsets).max(initial=0))
    return 8 * longest * (longest + 1) * width


def no_levels(offsets: IntArray, width: int, loss: BoundLoss) -> str:
    """Why a loss of sequences has no decoder of levels, for messages."""
    lengths, table = np.diff(offsets), level_table(offsets, width)
    if table > MAX_LEVEL_TABLE:
        return (
            f": X[{lengths.argmax()}] has {lengths.max()} tokens and as many loss levels, whose table would take "
            f"{table / 2**30:.3g} GB; cut it up, or use rescaling='margin' with slack='linear'"
        )
    costs = [cost.max(axis=1).tolist() for cost in loss.identity if cost.ndim == 2]
    if not costs:
        return NO_UNIT
    return (
        f": the costs of wrong labels {costs} give more than {MAX_LEVELS} loss levels; use weights that are small "
        "multiples of one unit, or rescaling='margin' with slack='linear'"
    )


def bound_label_costs(
    labels: LabelArray, offsets: IntArray, cost: FloatArray, *, with_levels: bool = True
) -> BoundLoss:
    """Δ = Σ_t cost[y_t, ŷ_t], with 1 for every label where the true one is not known, −1."""
    max_losses = _label_sums(labels, offsets, np.append(cost.max(axis=1), 1.0))

    def local(i: int) -> FloatArray:
        return np.asarray(cost[labels[offsets[i] : offsets[i + 1]]]).ravel()

    levels = None
    unit = unit_of(cost)
    if with_levels and unit is not None and labels.min(initial=0) >= 0:
        different = len(set(cost.ravel().tolist()) - {0.0}) > 1
        if not different or max_losses.max(initial=0.0) / unit < MAX_LEVELS:
            whole = np.round(cost / unit).astype(np.int32)
            n_levels = _label_sums(labels, offsets, whole.max(axis=1)).astype(np.int64) + 1
            levels = Levels.of_units(_core.LabelSteps(labels, offsets, whole), n_levels, unit)
    return BoundLoss(_core.LabelCosts(labels, offsets, cost), levels, local, max_losses, (cost,))


def _label_sums(labels: LabelArray, offsets: IntArray, of_label: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """What the labels of each example add up to, where label −1 counts what stands last.

    Of some thousand examples at a time: labels may be in files, and larger than memory.
    """
    sums = np.empty(len(offsets) - 1, of_label.dtype)
    for begin in range(0, len(sums), 4096):
        part = offsets[begin : begin + 4097]
        sums[begin : begin + 4096] = summed(of_label[labels[part[0] : part[-1]]], part - part[0])
    return sums


def bound_possible_costs(
    possible: Flags, offsets: IntArray, cost: FloatArray, *, with_levels: bool = True
) -> BoundLoss:
    """Δ = Σ_t min cost[y, ŷ_t] over the labels y that are possible at t, (n_tokens, n_labels); 1 where none is."""
    sets, labels = _possible_sets(possible)
    return bound_label_costs(labels, offsets, _set_costs(sets, cost), with_levels=with_levels)


def possible_costs(possible: Flags, cost: FloatArray) -> FloatArray:
    """What each label costs at each token beside the cheapest that is possible there, (n_tokens, n_labels)."""
    sets, labels = _possible_sets(possible)
    return np.asarray(_set_costs(sets, cost)[labels])


def _set_costs(sets: Flags, cost: FloatArray) -> FloatArray:
    costs = np.array([cost[members].min(axis=0) if members.any() else np.ones(cost.shape[1]) for members in sets])
    return costs.reshape(-1, cost.shape[1])


def bound_impossible(possible: Flags, offsets: IntArray) -> BoundLoss:
    """Δ = 1 if a label is not possible at its token, by how many are not."""
    sets, labels = _possible_sets(possible)
    refuted = (~sets).astype(np.int32)
    n_levels = np.asarray(summed(refuted.max(axis=1, initial=0)[labels], offsets)).astype(np.int64) + 1

    def values(examples: IntArray) -> FloatArray:
        return (ranks_of(offsets_of(n_levels[examples])) > 0).astype(np.float64)

    levels = Levels(_core.LabelSteps(labels, offsets, refuted), n_levels, values)
    return BoundLoss(levels=levels, max_losses=(n_levels > 1).astype(np.float64))


def _possible_sets(possible: Flags) -> tuple[Flags, LabelArray]:
    """The sets of labels that occur, and which of them each token has."""
    sets, which = np.unique(possible, axis=0, return_inverse=True)
    return sets, which.reshape(-1).astype(np.int32)


def bound_token_costs(costs: FloatArray, offsets: IntArray, *, with_levels: bool = True) -> BoundLoss:
    """Δ = Σ_t costs[t, ŷ_t], with costs ≥ 0 of all labels at all tokens, (n_tokens, n_labels)."""
    values, labels = np.ascontiguousarray(costs).ravel(), np.arange(len(costs) + 1) * costs.shape[1]
    return replace(bound_node_costs(values, labels, offsets, with_levels=with_levels), identity=(costs,))


def bound_node_costs(values: FloatArray, labels: IntArray, offsets: IntArray, *, with_levels: bool = True) -> BoundLoss:
    """Δ = Σ_t values[labels[t] + ŷ_t], with values ≥ 0 for the labels of all tokens, which may have different ones."""
    parts, most = labels[offsets], reduced(np.maximum, values, labels)
    max_losses = np.asarray(summed(most, offsets))
    levels, unit = None, unit_of(values)
    if with_levels and unit is not None:
        different = len(set(values.tolist()) - {0.0}) > 1
        if not different or max_losses.max(initial=0.0) / unit < MAX_LEVELS:
            whole = np.round(values / unit).astype(np.int32)
            n_levels = np.asarray(summed(np.round(most / unit), offsets)).astype(np.int64) + 1
            steps = _core.ListedSteps(whole, parts, np.column_stack([n_levels, n_levels]))
            levels = Levels.of_units(steps, n_levels, unit)
    return BoundLoss(
        _core.ListedLosses(values, parts, np.zeros(len(offsets) - 1)),
        levels,
        lambda i: values[parts[i] : parts[i + 1]],
        max_losses,
        (values,),
    )


def class_levels(labels: LabelArray, cost: FloatArray) -> Levels:
    """Where an output is one label, every class is a level of its own, whatever the costs are."""
    K, offsets = len(cost), np.arange(len(labels) + 1)
    number = np.tile(np.arange(K, dtype=np.int32), (K, 1))
    return Levels(
        _core.LabelSteps(labels, offsets, number),
        np.full(len(labels), K),
        lambda examples: np.asarray(cost[labels[examples]]).ravel(),
    )


def unit_of(costs: FloatArray) -> float | None:
    """The largest unit of which all costs are whole multiples; None if there is none that is not tiny."""
    different = set(np.unique(costs).tolist()) - {0.0}
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
