"""How models say what their weights are: blocks of w with names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Literal

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import is_listed
from structlearn.data.feature_pairs import FeaturePairs
from structlearn.wording import shown

INTERCEPT = "(intercept)"

BlockKind = Literal["features", "transitions", "start", "stop", "pairs", "others"]

#: How the names of one weight are put together where a block does not say it itself.
_FORMS: dict[BlockKind, str] = {
    "features": "{0}",
    "transitions": "{0} → {1}",
    "start": "start → {0}",
    "stop": "{0} → stop",
    "pairs": "{0}",
    "others": "{0}",
}


@dataclass(frozen=True, eq=False)
class WeightBlock:
    """Weights that stand together in w.

    Attributes
    ----------
    title : str
    axes : tuple of sequences
        What the entries along each axis are called; columns of features without a name are numbers.
    weights : array with these axes
        A view of w; of one dimension where `places` says which weights there are.
    kind : {"features", "transitions", "start", "stop", "pairs", "others"}
        What the axes are: features and what they speak for, mostly labels; one label and the next; the first label; the
        last; features, a label and the next; or something else.
    form : str, optional
        How the names along the axes make up that of a weight, for `str.format`.
    places : (n_weights,), optional
        Where the weights that are not 0 stand in the flat array with these axes, increasing.

    Examples
    --------
    >>> block = WeightBlock("matches", ("AC", "AC"), np.arange(4.0).reshape(2, 2), form="{} {}")
    >>> block.name(1)
    'A C'
    """

    title: str
    axes: tuple[Sequence[Any], ...] = field(repr=False)
    weights: FloatArray
    kind: BlockKind = "others"
    form: str | None = None
    places: IntArray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.axes))

    def whole(self) -> FloatArray:
        """The weights with their axes, zeros included."""
        if self.places is None:
            return self.weights
        filled = np.zeros(self.shape)
        filled.ravel()[self.places] = self.weights
        return filled

    def by_last_axis(self) -> Iterator[tuple[IntArray, FloatArray]]:
        """For every entry of the last axis its weights, and which entries of the axis before they are for."""
        n = self.shape[-1]
        if self.places is None:
            everything = np.arange(self.weights.size // n)
            yield from ((everything, weights) for weights in self.weights.reshape(-1, n).T)
            return
        entries = self.places % n
        order = np.argsort(entries, kind="stable")
        for which in np.split(order, np.searchsorted(entries[order], np.arange(1, n))):
            yield self.places[which] // n, self.weights[which]

    def names(self, k: int) -> tuple[Any, ...]:
        """What the weight with this number in the block is called along each axis."""
        places = np.unravel_index(k if self.places is None else self.places[k], self.shape)
        return tuple(axis[int(place)] for axis, place in zip(self.axes, places, strict=True))

    def name(self, k: int) -> str | int:
        names, form = self.names(k), self.form or _FORMS[self.kind]
        return names[0] if form == "{0}" and isinstance(names[0], (str, int)) else form.format(*names)


class WeightNames:
    """The names of all weights of w, from blocks that follow one another in it."""

    def __init__(self, blocks: Sequence[WeightBlock]):
        self._blocks = blocks
        self._begins = [0, *accumulate(block.weights.size for block in blocks)]

    def __len__(self) -> int:
        return self._begins[-1]

    def __getitem__(self, k: int) -> str | int:
        block = int(np.searchsorted(self._begins, k, side="right")) - 1
        return self._blocks[block].name(k - self._begins[block])


@dataclass(frozen=True, eq=False)
class TransitionScores:
    """What the step from one label to the next adds to a score; NaN where the model forbids it.

    Attributes
    ----------
    labels : sequence
    moves : (n_labels, n_labels)
        From row to column.
    start, stop : (n_labels,) or None
        Of the first and of the last label; None where the model has no such scores.
    """

    labels: Sequence[Any]
    moves: FloatArray
    start: FloatArray | None = None
    stop: FloatArray | None = None


def blocks_of(w: FloatArray, *described: tuple[Any, ...]) -> tuple[WeightBlock, ...]:
    """Blocks that follow one another in w, from (title, axes, kind, form) of each; the last two may be left out."""
    blocks, at = [], 0
    for title, axes, *more in described:
        shape = tuple(map(len, axes))
        size = int(np.prod(shape, dtype=np.int64))
        blocks.append(WeightBlock(title, axes, w[at : at + size].reshape(shape), *more))
        at += size
    if at != len(w):
        raise ValueError(f"w has {len(w)} weights but the model has {at}")
    return tuple(blocks)


def stored_blocks(weights: FloatArray, pairs: FeaturePairs, *described: tuple[Any, ...]) -> tuple[WeightBlock, ...]:
    """Blocks of features whose weights are those of `pairs`, row after row, from (title, axes, kind, form) of each."""
    blocks, begin = [], 0
    for title, axes, *more in described:
        end = begin + len(axes[0])
        width = int(np.prod([len(axis) for axis in axes[1:]], dtype=np.int64))
        entries = slice(pairs.until(begin), pairs.until(end))
        places = (pairs.rows[entries] - begin) * width + pairs.parts[entries]
        blocks.append(replace(WeightBlock(title, axes, weights[entries], *more), places=places))
        begin = end
    return tuple(blocks)


def column_names(spec: Any, given: Sequence[str] | None) -> list[str | int]:
    """What the columns of features are called: as given, or as in the spec's vocabulary; otherwise they are numbers.

    The constant feature, where there is one, comes last.
    """
    names = given_names(given, spec.n_inputs)
    if names is None:
        names = getattr(spec, "vocabulary", None)
    found: list[str | int] = [*range(spec.n_inputs)] if names is None else [*names]
    return [*found, INTERCEPT] if getattr(spec, "intercept", False) else found


def given_names(given: Sequence[str] | None, n: int) -> Sequence[str] | None:
    """The names that a user gave to n features, refused if they are none."""
    if given is None:
        return None
    if not is_listed(given):
        raise ValueError(f"feature_names is {shown(given)}; expected a list of names")
    if len(given) != n:
        raise ValueError(f"feature_names has {len(given)} names but there are {n} features")
    wrong = [name for name in given if not isinstance(name, str)]
    if wrong:
        raise ValueError(f"feature_names has {shown(wrong[0])}; expected texts")
    return [str(name) for name in given]


def refuse_names(given: Sequence[str] | None, model: str) -> None:
    """For models whose inputs have no columns of features."""
    if given is not None:
        raise ValueError(f"the inputs of {model} have no columns: leave feature_names out")


def feature_text(feature: str | int) -> str:
    """A feature's name, or which column it is."""
    return f"column {feature}" if isinstance(feature, int) else feature
