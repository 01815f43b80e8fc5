"""Engines that look for the best labelling, and the one loop that runs all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np

from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import real_option, whole_option
from structlearn.inference.graphs.answers import Labelling, Record, proven


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

        The graph has no forbidden labels in `unaries`, and every variable has at least two labels.
        """


def run(
    start: Callable[[], Search],
    engine: str,
    *,
    max_seconds: float | None = None,
    max_iterations: int | None = None,
    progress: Callable[[Record], object] | None = None,
) -> Labelling:
    """Steps until the labels are proven, nothing is left to be done, a limit is met, or Ctrl-C is pressed."""
    seconds = np.inf if max_seconds is None else real_option("max_seconds", max_seconds)
    iterations = np.inf if max_iterations is None else whole_option("max_iterations", max_iterations, 0)
    begin = time.perf_counter()
    search = start()
    history: list[Record] = []
    done = 0
    stopped = ""
    while not stopped:
        try:
            stopped = _reason(search, done, iterations, time.perf_counter() - begin, seconds)
            if not stopped:
                more = search.step()
                done += 1
                stopped = "" if more or proven(search.score, search.bound) else "converged"
        except KeyboardInterrupt:
            stopped = "interrupted"
        record = Record(time.perf_counter() - begin, search.score, search.bound)
        if not history or record[1:] != history[-1][1:]:
            history.append(record)
        if progress is not None:
            progress(record)
    exact = proven(search.score, search.bound)
    return Labelling(
        search.labels,
        search.score,
        max(search.bound, search.score),
        exact,
        engine,
        "optimal" if exact else stopped,
        done,
        time.perf_counter() - begin,
        tuple(history),
        search.details(),
    )


def _reason(search: Search, done: int, iterations: float, elapsed: float, seconds: float) -> str:
    if proven(search.score, search.bound):
        return "optimal"
    if done >= iterations:
        return "max_iterations"
    # The first iteration is always made: without it there are no labels worth the name.
    return "max_seconds" if done and elapsed >= seconds else ""
