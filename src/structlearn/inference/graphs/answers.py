"""What engines find on factor graphs, and how much of it is proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.ragged import Ragged

#: Of the larger of two scores: what two sums of the same numbers in another order may differ by.
ROUNDING = 1e-9


class Record(NamedTuple):
    """How far a search was at one time."""

    seconds: float
    score: float
    bound: float


@dataclass(frozen=True, slots=True)
class Labelling:
    """A labelling, and what is known of the best one.

    Attributes
    ----------
    labels : (n_variables,), or (n_rows, n_columns) for a grid
    score : float
        F(y) of these labels; −∞ where only forbidden ones were found.
    bound : float
        No labelling scores more; +∞ from engines that know no bound.
    exact : bool
        Whether the labels are proven to be best: score and bound are equal but for rounding.
    engine : str
    stopped : str
        Why it ended: "optimal", "converged" (nothing changes any more, nothing is proven), "max_seconds",
        "max_iterations", "progress" (the callback asked for it) or "interrupted".
    iterations : int
    seconds : float
        Of wall-clock time, the making of the engine's own arrays included.
    history : tuple of Record
        Seconds, score and bound, whenever one of them got better.
    details : mapping
        What this engine alone can tell, such as the width of a junction tree.
    """

    labels: LabelArray
    score: float
    bound: float
    exact: bool
    engine: str
    stopped: str
    iterations: int
    seconds: float
    history: tuple[Record, ...] = field(repr=False)
    details: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class LabellingMarginals:
    """What the distribution P(y) = exp F(y) / Z over labellings is like, exactly or nearly.

    Attributes
    ----------
    log_z : float
        log Σ_y exp F(y), or an estimate of it.
    lower, upper : float
        Between these it lies, if the engine knows bounds; −∞ and +∞ otherwise.
    nodes : Ragged
        The probabilities of the labels of each variable.
    factors : Ragged or None
        Those of the joint labels of each factor, the label of its last variable running fastest, if asked for.
    log_zs : (n_graphs,)
        log Z of each graph of a batch.
    exact : bool
    engine, stopped, iterations, seconds, details
        As for `Labelling`; "exact" is why an exact engine ended, and "sampled" why one that draws samples did.
    """

    log_z: float
    lower: float
    upper: float
    nodes: Ragged = field(repr=False)
    factors: Ragged | None = field(repr=False)
    log_zs: FloatArray = field(repr=False)
    exact: bool
    engine: str
    stopped: str
    iterations: int
    seconds: float
    details: Mapping[str, Any] = field(repr=False)


def proven(score: float, bound: float) -> bool:
    """Whether a score reaches a bound, but for rounding."""
    return score > -float("inf") and bound - score <= ROUNDING * max(1.0, abs(score))
