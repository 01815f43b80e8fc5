"""What engines find on factor graphs, and how much of it is proven."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from structlearn.data.arrays import LabelArray

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
        "max_iterations" or "interrupted".
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


def proven(score: float, bound: float) -> bool:
    """Whether a score reaches a bound, but for rounding."""
    return score > -float("inf") and bound - score <= ROUNDING * max(1.0, abs(score))
