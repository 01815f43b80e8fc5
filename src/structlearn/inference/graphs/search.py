"""Engines that look for the best labelling, and the one loop that runs all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.inference.graphs.answers import Labelling, Record, proven
from structlearn.inference.graphs.limits import Limits


class Search(Protocol):
    """One engine at work on one graph, an iteration at a time.

    Attributes
    ----------
    labels : (n_variables,)
        The best that were found so far.
    score : float
        F(y) of these.
    bound : float
        No labelling scores more; never rises.
    """

    labels: LabelArray
    score: float
    bound: float

    def step(self) -> bool:
        """One iteration, of seconds at most where that can be; False if there is nothing left to be done."""

    def details(self) -> Mapping[str, Any]:
        """What this engine alone can tell."""


class MapEngine(Protocol):
    """Finds labellings with a high score. Its fields are its options; `name` is what users call it."""

    name: ClassVar[str]

    def search(self, graph: FactorGraph) -> Search:
        """A search that has not begun; refuses, by a ValueError, a graph that the engine cannot serve.

        Every variable has at least two labels; no unary is −∞, and every label has joint labels in all factors that are
        not forbidden.
        """


def run(search: Search, engine: str, limits: Limits, progress: Callable[[Record], object] | None = None) -> Labelling:
    """Steps until the labels are proven, nothing is left to be done, a limit is met, or Ctrl-C is pressed."""
    history: list[Record] = []

    def step() -> bool:
        return search.step() and not proven(search.score, search.bound)

    def after(seconds: float) -> bool:
        record = Record(seconds, search.score, search.bound)
        if not history or record[1:] != history[-1][1:]:
            history.append(record)
        return progress is not None and progress(record) is True

    ended = limits.run(step, after)
    exact = proven(search.score, search.bound)
    return Labelling(
        search.labels,
        search.score,
        max(search.bound, search.score),
        exact,
        engine,
        "optimal" if exact else ended.reason or "converged",
        ended.iterations,
        ended.seconds,
        tuple(history),
        search.details(),
    )
