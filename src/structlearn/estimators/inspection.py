"""Looking inside a fitted model: its strongest weights, and why a label was chosen."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import FloatArray
from structlearn.data.examples import is_listed
from structlearn.data.matrices import checked_matrix
from structlearn.data.options import whole_option
from structlearn.models.alignment.alignment import Alignment
from structlearn.models.alignment.features import AlignmentSpec
from structlearn.models.base import LinearSpec, Model, Weights
from structlearn.models.chain.chain import Chain
from structlearn.models.chain.problem import ChainProblem
from structlearn.models.chain.transitions import transition_mask
from structlearn.models.clustering.pairs import PairModel, PairSpec
from structlearn.models.multiclass.multiclass import Multiclass, MulticlassProblem
from structlearn.wording import shown

INTERCEPT = "(intercept)"


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
        Of alignments, from "matches" and "gaps".
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


class Contribution(NamedTuple):
    """What one source adds to the difference of two labels' scores: value × (weight − other_weight)."""

    source: str | int
    value: float
    weight: float
    other_weight: float
    amount: float


@dataclass(frozen=True)
class Explanation:
    """Why one label scores higher than another at a place, the labels around it being as predicted.

    Attributes
    ----------
    label, against : labels
    position : int or None
        Which token; None for one label an example.
    contributions : tuple of Contribution
        The greatest first, whatever their sign.
    """

    label: Any
    against: Any
    position: int | None
    contributions: tuple[Contribution, ...]

    @property
    def difference(self) -> float:
        """F(x, y) − F(x, y'), where y has `label` and y' has `against`: the sum of all contributions."""
        return math.fsum(each.amount for each in self.contributions)

    def __str__(self) -> str:
        place = "" if self.position is None else f" at token {self.position}"
        width = max(8, len(str(self.label)), len(str(self.against)))
        lines = [
            f"{each.amount:+12.4f}  {each.value:8.4g}  {each.weight:+{width}.4f}  {each.other_weight:+{width}.4f}  "
            f"{_text((each.source,))}"
            for each in self.contributions
        ]
        return "\n".join(
            [
                f"{self.label} against {self.against}{place}: {self.difference:+.4f}",
                f"contribution     value  {self.label!s:>{width}}  {self.against!s:>{width}}  from",
                *lines,
            ]
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
    if isinstance(model, Alignment):
        return _alignment_weights(model, spec, w, n)
    if isinstance(model, PairModel):
        column = _names(spec, feature_names)
        return TopWeights({"together": _strongest(w, n, lambda k, value: FeatureWeight(column(k), value))})
    weights = _unpacked(model, spec, w)
    names = _names(spec, feature_names)
    classes = spec.classes
    features = {
        label: _strongest(weights.emissions[:, code], n, lambda k, value: FeatureWeight(names(k), value))
        for code, label in enumerate(classes)
    }
    if not isinstance(model, Chain):
        return TopWeights(features)
    columns = model.pair_columns(spec)
    return TopWeights(
        features,
        _strongest(weights.transitions, n, lambda a, b, value: TransitionWeight(classes[a], classes[b], value)),
        _strongest(weights.start, n, lambda b, value: TransitionWeight(None, classes[b], value)),
        _strongest(weights.stop, n, lambda a, value: TransitionWeight(classes[a], None, value)),
        _strongest(
            weights.pairs, n, lambda k, a, b, value: PairWeight(names(columns[k]), classes[a], classes[b], value)
        ),
    )


def explain(
    model: Model,
    spec: LinearSpec,
    w: FloatArray,
    x: Any,
    t: int | None = None,
    label: Any = None,
    against: Any = None,
    feature_names: Sequence[str] | None = None,
) -> Explanation:
    """See `StructuredEstimator.explain`."""
    weights = _unpacked(model, spec, w)
    names = _names(spec, feature_names)
    if isinstance(model, Chain):
        problem = model.bind(spec, [x])
        predicted = problem.predict(w)[0]
        t = _position(t, len(predicted))
        terms = list(_chain_terms(model, spec, weights, problem, predicted, t, names))
        possible = _possible(model, spec, predicted, t)
        code = predicted[t]
    else:
        assert isinstance(model, Multiclass)
        if t is not None:
            raise ValueError(f"t is {t}, but x has one label and no tokens; leave t out")
        rows = model.bind(spec, checked_matrix(x, "x").reshape(1, -1))
        terms = list(_emission_terms(weights, rows, 0, names))
        possible = np.ones(len(spec.classes), bool)
        code = rows.predict(w)[0]
    if label is not None:
        code = _code(label, "label", spec, possible)
    if against is not None:
        other = _code(against, "against", spec, possible)
        if other == code:
            raise ValueError(f"label and against are both {against!r}; give two different labels")
    else:
        possible[code] = False
        if not possible.any():
            raise ValueError(f"only {spec.classes[code]!r} is possible here: there is nothing to compare it with")
        scores = np.sum([value * row for _, value, row in terms], axis=0)
        other = int(np.argmax(np.where(possible, scores, -np.inf)))
    found = [
        Contribution(source, value, float(row[code]), float(row[other]), value * float(row[code] - row[other]))
        for source, value, row in terms
    ]
    found.sort(key=lambda each: -abs(each.amount))
    return Explanation(spec.classes[code], spec.classes[other], t, tuple(found))


def _alignment_weights(model: Alignment, spec: AlignmentSpec, w: FloatArray, n: int) -> TopWeights:
    """Pairs of letters, and what a gap costs."""
    if model.layout(spec).pairs != ((("residue",), ("residue",)),) or model.gap_features != "plain":
        raise TypeError(
            "of alignments, top_weights is for those whose matches are described by the two letters and whose gaps by "
            "nothing: features='substitution', gap_features='plain'"
        )
    letters = spec.residues
    matrix = w[: len(letters) ** 2].reshape(len(letters), -1)
    named = zip(("each letter", "the first letter, on top"), w[matrix.size :].tolist(), strict=False)
    return TopWeights(
        {
            "matches": _strongest(matrix, n, lambda a, b, value: FeatureWeight(f"{letters[a]} {letters[b]}", value)),
            "gaps": tuple(FeatureWeight(name, value) for name, value in named),
        }
    )


#: Where a part of the score comes from, the size of the feature, and its weight for every label, (n_labels,).
_Term = tuple[str | int, float, FloatArray]
_Names = Callable[[int], str | int]


def _emission_terms(
    weights: Weights, problem: ChainProblem | MulticlassProblem, token: int, names: _Names
) -> Iterator[_Term]:
    for column, value in zip(*problem.token_features(token), strict=True):
        yield names(int(column)), float(value), weights.emissions[column]


def _chain_terms(
    model: Chain,
    spec: LinearSpec,
    weights: Weights,
    problem: ChainProblem,
    predicted: npt.NDArray[Any],
    t: int,
    names: _Names,
) -> Iterator[_Term]:
    """All parts of F(x, y) in which the label at t has a part, the others being as predicted."""
    yield from _emission_terms(weights, problem, t, names)
    balance, columns = float(model.balance), model.pair_columns(spec)
    assert weights.transitions is not None
    if t > 0:
        before, name = predicted[t - 1], spec.classes[predicted[t - 1]]
        yield f"after {name}", balance, weights.transitions[before]
        for k, value in zip(*problem.pair_features(t - 1), strict=True):
            assert weights.pairs is not None
            yield f"after {name} with {_text((names(columns[k]),))}", float(value), weights.pairs[k, before]
    elif weights.start is not None:
        yield "start", balance, weights.start
    if t < len(predicted) - 1:
        after, name = predicted[t + 1], spec.classes[predicted[t + 1]]
        yield f"before {name}", balance, weights.transitions[:, after]
        for k, value in zip(*problem.pair_features(t), strict=True):
            assert weights.pairs is not None
            yield f"{_text((names(columns[k]),))} before {name}", float(value), weights.pairs[k, :, after]
    elif weights.stop is not None:
        yield "stop", balance, weights.stop
    if weights.triplets is not None:
        yield from _triplet_terms(spec, weights.triplets, balance, predicted, t)


def _triplet_terms(
    spec: LinearSpec, triplets: FloatArray, balance: float, predicted: npt.NDArray[Any], t: int
) -> Iterator[_Term]:
    """The triplets that the label at t ends, is the middle of, and begins; weights are by middle, before, after."""
    for first in range(max(0, t - 2), min(t, len(predicted) - 3) + 1):
        before, middle, after = (slice(None) if first + k == t else predicted[first + k] for k in range(3))
        around = [spec.classes[predicted[first + k]] if first + k != t else "…" for k in range(3)]
        yield "within {} {} {}".format(*around), balance, triplets[middle, before, after]


def _possible(model: Chain, spec: LinearSpec, predicted: npt.NDArray[Any], t: int) -> npt.NDArray[np.bool_]:
    """Which labels the model allows at t beside the labels around it."""
    last = len(predicted) - 1
    if model.ends is not None and t in (0, last):
        return np.array([label == model.ends for label in spec.classes])
    if model.allowed_transitions is None:
        return np.ones(len(spec.classes), bool)
    mask = transition_mask(model.allowed_transitions, spec.classes)
    left = mask.start if t == 0 else mask.moves[predicted[t - 1]]
    return np.asarray(left & (mask.stop if t == last else mask.moves[:, predicted[t + 1]]))


def _unpacked(model: Model, spec: LinearSpec, w: FloatArray) -> Weights:
    if isinstance(model, (Chain, Multiclass)):
        return model.unpack(spec, w)
    name = type(getattr(model, "user_model", model)).__name__
    raise TypeError(f"the weights of {name} are w_, in the order of Ψ(x, y), and have no names")


def _names(spec: LinearSpec | PairSpec, given: Sequence[str] | None) -> _Names:
    """The name of a column; its number where it has none."""
    names = getattr(spec, "vocabulary", None) if given is None else given
    if names is not None and not is_listed(names):
        raise ValueError(f"feature_names is {shown(names)}; expected a list of names")
    if names is not None and len(names) != spec.n_inputs:
        raise ValueError(f"feature_names has {len(names)} names but there are {spec.n_inputs} features")
    if given is not None and not all(isinstance(name, str) for name in given):
        wrong = next(name for name in given if not isinstance(name, str))
        raise ValueError(f"feature_names has {shown(wrong)}; expected texts")

    def name(column: int) -> str | int:
        if column == spec.n_inputs:
            return INTERCEPT
        return column if names is None else str(names[column])

    return name


def _strongest(weights: FloatArray | None, n: int, named: Callable[..., Any]) -> tuple[Any, ...]:
    """The n largest weights above zero and the n smallest below, in falling order, as `named` makes them."""
    if weights is None:
        return ()
    flat = weights.ravel()
    order: npt.NDArray[np.intp] = np.arange(flat.size)
    if flat.size > 2 * n:
        order = np.unique(np.argpartition(flat, [n - 1, flat.size - n])[np.r_[:n, flat.size - n : flat.size]])
    order = order[np.argsort(-flat[order], kind="stable")]
    above, below = order[flat[order] > 0], order[flat[order] < 0]
    chosen = np.concatenate([above[:n], below[-n:]])
    return tuple(named(*map(int, np.unravel_index(k, weights.shape)), float(flat[k])) for k in chosen)


def _position(t: int | None, length: int) -> int:
    if t is None:
        raise ValueError(f"t is missing: say which of the {length} tokens, by its number")
    whole_option("t", t, -(2**63))
    if not -length <= t < length:
        raise ValueError(f"t is {t} but x has {length} tokens")
    return t % length


def _code(label: Any, option: str, spec: LinearSpec, possible: npt.NDArray[np.bool_]) -> int:
    if label not in spec.classes:
        raise ValueError(f"{option} is {label!r}, which is not one of the labels")
    code = spec.classes.index(label)
    if not possible[code]:
        raise ValueError(f"{option} is {label!r}, which the model does not allow beside the labels around it")
    return code


def _text(parts: tuple[Any, ...]) -> str:
    """A feature, labels, or both, as they are printed."""
    match parts:
        case (int(column),):
            return f"column {column}"
        case (name,):
            return str(name)
        case (None, after):
            return str(after)
        case (before, None):
            return str(before)
        case (before, after):
            return f"{before} → {after}"
    return f"{_text(parts[:1])}: {_text(parts[1:])}"
