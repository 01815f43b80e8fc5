"""Engines that sum over all labellings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from structlearn.data.arrays import FloatArray
from structlearn.data.factor_graphs import FactorGraph


class Sums(Protocol):
    """One engine at work on the sums of one graph, an iteration at a time."""

    @property
    def log_zs(self) -> FloatArray:
        """log Z of each graph of a batch, as estimated so far; NaN from engines that do not estimate it."""

    @property
    def lower(self) -> float:
        """log Z of all graphs together is at least this."""

    @property
    def upper(self) -> float:
        """And at most this; equal where the engine is exact."""

    def step(self) -> bool:
        """One iteration; False if there is nothing left to be done."""

    def marginals(self, factors: bool) -> tuple[FloatArray, FloatArray | None]:
        """Probabilities of the labels of all variables, and of the joint labels of all factors if asked for."""

    def details(self) -> Mapping[str, Any]:
        """What this engine alone can tell."""


class SumEngine(Protocol):
    """Sums over labellings. Its fields are its options; `name` is what users call it."""

    name: ClassVar[str]

    def sums(self, graph: FactorGraph) -> Sums:
        """Sums that have not begun; refuses, by a ValueError, a graph that the engine cannot serve.

        The graph is one as `MapEngine.search` gets it.
        """
