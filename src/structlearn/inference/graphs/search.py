"""Engines that look for the best labelling, and the one loop that runs all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph, GridGraph
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


@runtime_checkable
class TimedSearch(Protocol):
    """A search whose steps may be long, and end in time."""

    def limit(self, seconds: float) -> None:
        """How long the next step may take, infinite where there is no limit."""


@runtime_checkable
class WarmSearch(Protocol):
    """A search that can begin with an earlier answer."""

    def begin_with(self, start: Labelling) -> None:
        """Takes from it what helps, before the first step; refuses one of a graph of another shape."""


class MapEngine(Protocol):
    """Finds labellings with a high score. Its fields are its options; `name` is what users call it."""

    name: ClassVar[str]

    def search(self, graph: FactorGraph) -> Search:
        """A search that has not begun; refuses, by a ValueError, a graph that the engine cannot serve.

        Every variable has at least two labels; no unary is −∞, and every label has joint labels in all factors that are
        not forbidden.
        """


def run(
    search: Search,
    engine: str,
    limits: Limits,
    progress: Callable[[Record], object] | None = None,
    offset: float = 0.0,
) -> Labelling:
    """Steps until the labels are proven, nothing is left to be done, a limit is met, or Ctrl-C is pressed.

    What is told and returned is by `offset` more than what the search says.
    """
    history: list[Record] = []

    def step() -> bool:
        if isinstance(search, TimedSearch):
            search.limit(limits.left)
        return search.step() and not proven(search.score, search.bound)

    def after(seconds: float) -> bool:
        record = Record(seconds, search.score + offset, search.bound + offset)
        if not history or record[1:] != history[-1][1:]:
            history.append(record)
        return progress is not None and progress(record) is True

    ended = limits.run(step, after)
    if not history:
        history.append(Record(ended.seconds, search.score + offset, search.bound + offset))
    exact = proven(search.score, search.bound)
    return Labelling(
        search.labels,
        search.score + offset,
        max(search.bound, search.score) + offset,
        exact,
        engine,
        "optimal" if exact else ended.reason or "converged",
        ended.iterations,
        ended.seconds,
        tuple(history),
        search.details(),
    )


def checked(search: Search, graph: FactorGraph | GridGraph, engine: str) -> Search:
    """The search, refused in the step in which its labels, score and bound do not belong together.

    Labels of a grid are flat, row after row.
    """
    return _Checked(search, graph, engine)


class _Checked:
    def __init__(self, search: Search, graph: FactorGraph | GridGraph, engine: str):
        self._search = search
        self._graph = graph
        self._engine = engine
        self._take()

    def step(self) -> bool:
        more = self._search.step()
        self._take()
        return more

    def limit(self, seconds: float) -> None:
        if isinstance(self._search, TimedSearch):
            self._search.limit(seconds)

    def details(self) -> Mapping[str, Any]:
        return self._search.details()

    def _take(self) -> None:
        labels = self._graph.checked_labels(self._shaped(self._search.labels))
        score, bound = self._graph.score(labels), float(self._search.bound)
        slack = 1e-6 * max(1.0, abs(score) if score > -np.inf else 1.0)
        if self._search.score > score + slack:
            raise ValueError(f"the engine {self._engine} says that its labels score {self._search.score}, not {score}")
        if not bound >= score - slack:
            raise ValueError(f"the engine {self._engine} has a bound of {bound} and labels that score {score}")
        self.labels, self.score, self.bound = labels.ravel(), score, bound

    def _shaped(self, labels: LabelArray) -> LabelArray:
        if isinstance(self._graph, GridGraph) and np.shape(labels) == (self._graph.n_variables,):
            return np.reshape(labels, self._graph.shape)
        return labels
