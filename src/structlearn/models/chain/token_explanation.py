"""Why a chain chooses a label at one token, the labels around it being as predicted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import whole_option
from structlearn.models.base import LinearSpec
from structlearn.models.chain.problem import ChainProblem
from structlearn.models.chain.transitions import transition_mask
from structlearn.models.description import feature_text
from structlearn.models.explanation import Explanation
from structlearn.models.label_explanation import LabelTerm, explain_label


def explain_token(
    model: Any,
    spec: LinearSpec,
    w: FloatArray,
    x: Any,
    t: int,
    label: Any,
    against: Any,
    names: Sequence[str | int],
) -> Explanation:
    problem = model.bind(spec, [x])
    predicted = problem.predict(w)[0]
    t = _position(t, len(predicted))
    terms = list(_chain_terms(model, spec, w, problem, predicted, t, names))
    possible = _possible(model, spec, predicted, t)
    return explain_label(terms, spec.classes, possible, int(predicted[t]), label, against, t)


def _chain_terms(
    model: Any,
    spec: LinearSpec,
    w: FloatArray,
    problem: ChainProblem,
    predicted: npt.NDArray[Any],
    t: int,
    names: Sequence[str | int],
) -> Iterator[LabelTerm]:
    """All parts of F(x, y) in which the label at t has a part, the others being as predicted."""
    layout = model.layout(spec)
    for column, value in zip(*problem.token_features(t), strict=True):
        yield names[int(column)], float(value), layout.emissions_of(w, int(column))
    balance, columns, weights = float(model.balance), model.pair_columns(spec), layout.shared(w)
    assert weights.transitions is not None
    if t > 0:
        before, name = predicted[t - 1], spec.classes[predicted[t - 1]]
        yield f"after {name}", balance, weights.transitions[before]
        for k, value in zip(*problem.pair_features(t - 1), strict=True):
            pairs = layout.pairs_of(w, int(k))
            yield f"after {name} with {feature_text(names[columns[k]])}", float(value), pairs[before]
    elif weights.start is not None:
        yield "start", balance, weights.start
    if t < len(predicted) - 1:
        after, name = predicted[t + 1], spec.classes[predicted[t + 1]]
        yield f"before {name}", balance, weights.transitions[:, after]
        for k, value in zip(*problem.pair_features(t), strict=True):
            pairs = layout.pairs_of(w, int(k))
            yield f"{feature_text(names[columns[k]])} before {name}", float(value), pairs[:, after]
    elif weights.stop is not None:
        yield "stop", balance, weights.stop
    if weights.triplets is not None:
        yield from _triplet_terms(spec, weights.triplets, balance, predicted, t)


def _triplet_terms(
    spec: LinearSpec, triplets: FloatArray, balance: float, predicted: npt.NDArray[Any], t: int
) -> Iterator[LabelTerm]:
    """The triplets that the label at t ends, is the middle of, and begins; weights are by middle, before, after."""
    for first in range(max(0, t - 2), min(t, len(predicted) - 3) + 1):
        before, middle, after = (slice(None) if first + k == t else predicted[first + k] for k in range(3))
        around = [spec.classes[predicted[first + k]] if first + k != t else "…" for k in range(3)]
        yield "within {} {} {}".format(*around), balance, triplets[middle, before, after]


def _possible(model: Any, spec: LinearSpec, predicted: npt.NDArray[Any], t: int) -> npt.NDArray[np.bool_]:
    """Which labels the model allows at t beside the labels around it."""
    last = len(predicted) - 1
    if model.ends is not None and t in (0, last):
        return np.array([label == model.ends for label in spec.classes])
    if model.allowed_transitions is None:
        return np.ones(len(spec.classes), bool)
    mask = transition_mask(model.allowed_transitions, spec.classes)
    left = mask.start if t == 0 else mask.moves[predicted[t - 1]]
    return np.asarray(left & (mask.stop if t == last else mask.moves[:, predicted[t + 1]]))


def _position(t: int, length: int) -> int:
    whole_option("t", t, -(2**63))
    if not -length <= t < length:
        raise ValueError(f"t is {t} but x has {length} tokens")
    return t % length
