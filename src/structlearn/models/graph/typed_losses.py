"""Losses of nodes with types: those of each type are judged by a loss of their own, and added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import Flags, FloatArray, IntArray, LabelArray
from structlearn.data.options import choice_option
from structlearn.data.ragged import Ragged, interleaved, offsets_of, reduced
from structlearn.losses import Hamming, LabelLoss
from structlearn.losses.bound import BoundLoss, bound_node_costs, possible_costs
from structlearn.wording import shown


def check_typed_loss(loss: Any) -> None:
    """Refuses what is neither the name of a loss nor losses by type."""
    if not isinstance(loss, Mapping):
        return choice_option("loss", loss, ("hamming", "zero_one"))
    for kind, one in loss.items():
        if not isinstance(one, LabelLoss):
            raise ValueError(f"loss[{kind!r}] is {shown(one)}; expected a LabelLoss, such as Hamming or LabelCosts")
        one.check_options()


def loss_of(loss: Any, kind: str) -> LabelLoss:
    """The loss of the labels of a type."""
    found: LabelLoss = loss.get(kind, Hamming()) if isinstance(loss, Mapping) else Hamming()
    return found


def check_typed_labels(loss: Any, classes: Mapping[str, tuple[Any, ...]]) -> None:
    """Refuses losses of types or labels that there are not."""
    for kind in loss if isinstance(loss, Mapping) else ():
        if kind not in classes:
            raise ValueError(f"loss names the type {shown(kind)}; the types are {', '.join(map(repr, classes))}")
    for kind, labels in classes.items():
        loss_of(loss, kind).check_labels(labels)


def bound_typed(loss: Any, classes: Mapping[str, tuple[Any, ...]], codes: Sequence[Ragged]) -> BoundLoss:
    """The loss on labels of each type, −1 for those that are none of its classes."""
    unknown = interleaved([Ragged(each.flat < 0, each.offsets) for each in codes])
    if loss == "zero_one":
        choice = [
            Ragged(np.full(len(each.flat), len(classes[kind]) > 1), each.offsets)
            for kind, each in zip(classes, codes, strict=True)
        ]
        wrong = unknown.flat | interleaved(choice).flat
        return BoundLoss(max_losses=reduced(np.logical_or, wrong, unknown.offsets).astype(np.float64))
    costs = []
    for (kind, labels), each in zip(classes.items(), codes, strict=True):
        known: LabelArray = np.maximum(each.flat, 0)
        found = loss_of(loss, kind).cost(labels)[known]
        found[each.flat < 0] = 1.0
        costs.append(found)
    return _bound(costs, [each.offsets for each in codes], with_levels=not unknown.flat.any())


def bound_typed_possible(
    loss: Any, classes: Mapping[str, tuple[Any, ...]], possible: Sequence[Flags], offsets: Sequence[IntArray]
) -> BoundLoss:
    """The same beside labels that are possible: one that is not costs what it does beside the cheapest that is."""
    if loss == "zero_one":
        found = _bound([(~flags).astype(np.float64) for flags in possible], offsets)
        assert found.levels is not None
        return BoundLoss(levels=found.levels.zero_one(), max_losses=(found.levels.n_levels > 1).astype(np.float64))
    costs = [
        possible_costs(flags, loss_of(loss, kind).cost(labels))
        for (kind, labels), flags in zip(classes.items(), possible, strict=True)
    ]
    return _bound(costs, offsets)


def _bound(costs: Sequence[FloatArray], offsets: Sequence[IntArray], *, with_levels: bool = True) -> BoundLoss:
    """From the costs of all labels of the nodes of each type, (n_nodes, n_labels)."""
    values = interleaved(
        [Ragged(np.ravel(cost), places * cost.shape[1]) for cost, places in zip(costs, offsets, strict=True)]
    )
    sizes = [Ragged(np.full(len(cost), cost.shape[1]), places) for cost, places in zip(costs, offsets, strict=True)]
    n_labels = interleaved(sizes)
    return bound_node_costs(values.flat, offsets_of(n_labels.flat), n_labels.offsets, with_levels=with_levels)
