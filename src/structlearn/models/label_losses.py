"""Losses of models whose outputs are a label for each token or node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.examples import Words, is_listed
from structlearn.data.known.labels import label_mask
from structlearn.data.labels import LabelSequences, is_partial, partial_label, read_label_sequences
from structlearn.data.ragged import Ragged, locate, reduced
from structlearn.losses import Hamming, LabelF1, LabelLoss, Loss, ZeroOneLoss
from structlearn.losses.bound import BoundLoss, bound_impossible, bound_label_costs, bound_possible_costs
from structlearn.losses.own import bound_own, label_truth
from structlearn.wording import shown


def label_loss(loss: Any, label_weight: Mapping[Any, float] | None) -> Loss:
    """The loss that the options of a model stand for."""
    if isinstance(loss, Loss):
        return loss
    if loss == "f1":
        return LabelF1()
    return ZeroOneLoss() if loss == "zero_one" else Hamming(label_weight)


def check_loss_labels(option: Any, loss: Loss, classes: tuple[Any, ...]) -> None:
    """Refuses labels that the loss, or the option that stands for it, does not speak of."""
    if isinstance(option, str) and option == "f1" and LabelF1().negative not in classes:
        known = ", ".join(map(shown, classes[:10])) + ", …" * (len(classes) > 10)
        raise ValueError(
            f"loss='f1' counts all labels but {LabelF1().negative!r}, which is none of the labels, {known}: give "
            "loss=LabelF1(negative=…) the one that does not count, or LabelF1(labels=[…]) those that do"
        )
    loss.check_labels(classes)


def check_label_weight(loss: Any, label_weight: Any) -> None:
    """Refuses costs of labels that are none, or belong to another loss."""
    Hamming(label_weight).check_options()
    if label_weight and loss != "hamming":
        raise ValueError(f"label_weight belongs to the Hamming loss; with loss={shown(loss)} leave it out")


def refuse_partial(Y: LabelSequences, classes: tuple[Any, ...], *, declared: bool) -> None:
    """Refuses labels that are known in part, unless they are declared to be labels."""
    for code, label in enumerate(Y.classes):
        if is_partial(label) and not (declared and label in classes):
            i, t = locate(Y.offsets, int(np.argmax(Y.flat == code)))
            raise partial_label(f"Y[{i}][{t}]", label)


def bound_labels(
    loss: Loss, classes: tuple[Any, ...], codes: LabelArray | None, offsets: IntArray, Y: Any, *, few: bool = True
) -> BoundLoss:
    """A loss on labels, −1 for those that are none of the classes; `few` says whether its levels are."""
    if codes is None:
        return BoundLoss()
    if isinstance(loss, LabelLoss):
        return bound_label_costs(codes, offsets, loss.cost(classes), with_levels=few)
    if isinstance(loss, ZeroOneLoss):
        wrong = reduced(np.logical_or, (codes < 0) | (len(classes) > 1), offsets)
        return BoundLoss(max_losses=wrong.astype(np.float64))
    given = read_label_sequences(Y)
    truths = [
        [classes[code] if code >= 0 else given.classes[own] for code, own in zip(known, y, strict=True)]
        for known, y in zip(Ragged(codes, offsets), given, strict=True)
    ]
    return bound_own(loss, [label_truth(y, classes) for y in truths])


def possible_labels(
    Y: Any, classes: tuple[Any, ...], offsets: IntArray, words: Words, *, allow_unknown: bool = False
) -> Any:
    """Which labels each token or node of some examples may have; `words` are for messages."""
    if not is_listed(Y) or len(Y) != len(offsets) - 1:
        raise ValueError(f"X has {len(offsets) - 1} {words.example}s but Y has {len(Y) if is_listed(Y) else 'none'}")
    return label_mask(Y, classes, offsets, name="Y", allow_unknown=allow_unknown, words=words)


def bound_possible(
    loss: Loss, classes: tuple[Any, ...], possible: Any, offsets: IntArray, *, few: bool = True, why_not: str = ""
) -> BoundLoss:
    """A loss beside labels that are possible: one that is not costs what it costs beside the cheapest that is.

    Without few levels a zero-one loss is refused, for the reason `why_not`.
    """
    if isinstance(loss, LabelLoss):
        return bound_possible_costs(possible, offsets, loss.cost(classes), with_levels=few)
    if not isinstance(loss, ZeroOneLoss):
        raise ValueError(f"loss={shown(loss)} needs all labels; with labels known in part use 'hamming' or 'zero_one'")
    if not few:
        raise ValueError(f"loss='zero_one' with labels known in part needs a decoder of loss levels{why_not}")
    return bound_impossible(possible, offsets)
