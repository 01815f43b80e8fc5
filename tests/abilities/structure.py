"""A row of the table of abilities: a small instance of a structure, with all its outputs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from structlearn.models import Model


class Listed(NamedTuple):
    """All outputs of an example at some weights, with the score of the truth; `true` says which count as such."""

    scores: np.ndarray
    losses: np.ndarray
    true: np.ndarray
    true_score: float


@dataclass(frozen=True)
class Structure:
    """A row of the table.

    Attributes
    ----------
    name, model, X, Y
    listed : callable
        From the number of an example and weights to all its outputs.
    reference : object
        For structures with sums: the same model with ``outputs(x)`` and ``joint_feature(x, y)``.
    singles, pairs : callable
        From an input and an output to what the output has of each part, or of each pair: an array, several, or a dict.
    partial : sequence
        A partial output for each example, or None.
    agrees : callable
        Whether an output of an example agrees with what is said.
    needs_whole : bool
        Whether it learns from partial outputs only beside whole ones.
    shown : callable
        What is predicted of an output that the reference lists.
    """

    name: str
    model: Model
    X: Sequence[Any]
    Y: Sequence[Any]
    listed: Callable[[int, np.ndarray], Listed]
    reference: Any = None
    singles: Callable[[Any, Any], Any] | None = None
    pairs: Callable[[Any, Any], Any] | None = None
    partial: Sequence[Any] = ()
    agrees: Callable[[Any, Any], bool] | None = None
    needs_whole: bool = False
    shown: Callable[[Any], Any] = lambda y: y

    def bound(self, **options: Any) -> Any:
        return self.model.bind(self.model.specify(self.X, self.Y), self.X, self.Y, **options)


def enumerated(name, model, reference, X, Y, **more):
    """A structure whose outputs a reference lists."""

    def listed(i, w):
        outputs = list(reference.outputs(X[i]))
        truth = reference.joint_feature(X[i], Y[i])
        return Listed(
            np.array([reference.joint_feature(X[i], y) @ w for y in outputs]),
            np.array([reference.loss(Y[i], y) for y in outputs]),
            np.array([repr(y) == repr(Y[i]) for y in outputs]),
            float(truth @ w),
        )

    return Structure(name, model, X, Y, listed, reference, **more)


def latent(name, model, X, Y, scored, **more):
    """A structure with latent parts: `scored(i, w)` has the scores and losses of all pairs, of loss 0 where true."""

    def listed(i, w):
        scores, losses = map(np.array, zip(*scored(i, w), strict=True))
        return Listed(scores, losses, losses == 0, float(scores[losses == 0].max()))

    return Structure(name, model, X, Y, listed, **more)
