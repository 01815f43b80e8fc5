"""Looking inside a fitted model: its strongest weights by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.options import whole_option
from structlearn.models.base import Model
from structlearn.models.description import feature_text


class FeatureWeight(NamedTuple):
    """A feature, by name or column number, and its weight for a label."""

    feature: str | int
    weight: float


class TransitionWeight(NamedTuple):
    """The weight of one label after another; None is what is beyond the ends."""

    before: Any
    after: Any
    weight: float


class PairWeight(NamedTuple):
    """A feature of a token and its weight for the token's label and the next."""

    feature: str | int
    before: Any
    after: Any
    weight: float


@dataclass(frozen=True)
class TopWeights:
    """The strongest weights of a model: of each kind the largest above and the smallest below zero, in falling order.

    Attributes
    ----------
    features : dict from label to tuple of FeatureWeight
        What is no label's own has a title of its own: "matches" and "gaps" of alignments, "rules" of grammars.
    transitions, start, stop : tuple of TransitionWeight
        Empty where the model has none.
    pairs : tuple of PairWeight
        Features of label pairs; empty where the model has none.
    """

    features: dict[Any, tuple[FeatureWeight, ...]]
    transitions: tuple[TransitionWeight, ...] = ()
    start: tuple[TransitionWeight, ...] = ()
    stop: tuple[TransitionWeight, ...] = ()
    pairs: tuple[PairWeight, ...] = ()

    def __str__(self) -> str:
        blocks: dict[str, Sequence[tuple[Any, ...]]] = {str(label): found for label, found in self.features.items()}
        blocks |= {"transitions": self.transitions, "start": self.start, "stop": self.stop, "label pairs": self.pairs}
        return "\n\n".join(
            "\n".join([title, *(f"  {weight[-1]:+9.4f}  {_text(weight[:-1])}" for weight in weights)])
            for title, weights in blocks.items()
            if weights
        )


def feature_names(estimator: Any) -> Sequence[str] | None:
    """The names that the steps of a pipeline give to the features; None where they give none."""
    steps = getattr(estimator, "steps", [])
    if len(steps) < 2 or not hasattr(steps[-2][1], "get_feature_names_out"):
        return None
    try:
        return list(steps[-2][1].get_feature_names_out())
    except ValueError:
        return None


def top_weights(
    model: Model, spec: Any, w: FloatArray, n: int = 10, feature_names: Sequence[str] | None = None
) -> TopWeights:
    """See `StructuredEstimator.top_weights`."""
    n = whole_option("n", n, 1)
    features: dict[Any, tuple[FeatureWeight, ...]] = {}
    steps: dict[str, tuple[Any, ...]] = {}
    for block in model.named_weights(spec, w, feature_names):
        if block.kind == "features":
            names, labels = block.axes
            for label, (which, weights) in zip(labels, block.by_last_axis(), strict=True):
                strongest = _strongest(weights, n)
                features[label] = tuple(FeatureWeight(names[int(which[k])], float(weights[k])) for k in strongest)
            continue
        flat = block.weights.ravel()
        valued = [(k, float(flat[k])) for k in _strongest(flat, n)]
        if block.kind == "others":
            found = (FeatureWeight(block.name(k), weight) for k, weight in valued)
            features[block.title] = (*features.get(block.title, ()), *found)
        else:
            make = _STEPS[block.kind]
            steps[block.kind] = tuple(make(*block.names(k), weight) for k, weight in valued)
    return TopWeights(features, **steps)


#: What a weight becomes, by the kind of its block: from its names and its value.
_STEPS: dict[str, Callable[..., Any]] = {
    "transitions": TransitionWeight,
    "start": lambda label, weight: TransitionWeight(None, label, weight),
    "stop": lambda label, weight: TransitionWeight(label, None, weight),
    "pairs": PairWeight,
}


def _strongest(weights: FloatArray, n: int) -> list[int]:
    """Where the n largest weights above zero and the n smallest below are, in falling order."""
    order: npt.NDArray[np.intp] = np.arange(weights.size)
    if weights.size > 2 * n:
        order = np.unique(
            np.argpartition(weights, [n - 1, weights.size - n])[np.r_[:n, weights.size - n : weights.size]]
        )
    order = order[np.argsort(-weights[order], kind="stable")]
    above, below = order[weights[order] > 0], order[weights[order] < 0]
    return [*above[:n].tolist(), *below[-n:].tolist()]


def _text(parts: tuple[Any, ...]) -> str:
    """A feature, labels, or both, as they are printed."""
    match parts:
        case (feature,):
            return feature_text(feature)
        case (None, after):
            return str(after)
        case (before, None):
            return str(before)
        case (before, after):
            return f"{before} → {after}"
    return f"{_text(parts[:1])}: {_text(parts[1:])}"
