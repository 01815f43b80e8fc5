"""Bounds by messages: block-coordinate ascent on the dual of the linear program, tightened by cycles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph
from structlearn.data.options import flag_option, real_option
from structlearn.inference.graphs.answers import Labelling

#: Of the gap: passes that close less of it in one iteration give way to clusters.
LITTLE = 0.01
#: Entries of tables and messages that an iteration of several passes may touch.
WORK = 2 * 10**5


@dataclass(frozen=True)
class DualAscent:
    """Sequential reweighted message passing (Kolmogorov 2015), which is TRW-S where factors have two variables.

    Passes over the variables, forward and backward, lower an upper bound that ends near the value of `LinearProgram`,
    and labels are decoded on the way. A pass costs as much as the tables are large; Potts and truncated linear factors
    cost as much as they have labels, cardinality factors n sorts of n variables. Where the bound stays above the score,
    clusters of three variables are added along cycles of pairs that contradict themselves (Sontag, Choe and Li 2012);
    the bound still never rises. Clusters of more than a million joint labels are left out.

    Begun with an earlier answer, see `best_labelling`, it goes on from its messages: whatever these are, the bound is
    valid. The answer's details are `clusters`, how many were added, and `messages`, those of passes without clusters.

    Parameters
    ----------
    tighten : bool
        Whether to add clusters.
    tol : float
        Converged where an iteration lowers the bound by no more than this share of it, and no cluster can be added.

    Examples
    --------
    >>> from structlearn.data import Potts
    >>> from structlearn.inference.graphs import best_labelling
    >>> triangle = FactorGraph.pairwise([[0.1, 0.0], [0.0, 0.0], [0.0, 0.2]], [(0, 1), (1, 2), (0, 2)], Potts(-1.0))
    >>> loose, tight = (best_labelling(triangle, DualAscent(tighten=tighten)) for tighten in (False, True))
    >>> round(loose.bound, 6), round(tight.bound, 6), tight.exact
    (0.15, -0.7, True)
    """

    name: ClassVar[str] = "dual_ascent"
    tighten: bool = True
    tol: float = 1e-7

    def search(self, graph: FactorGraph) -> DualAscentSearch:
        return DualAscentSearch(graph, tighten=flag_option("tighten", self.tighten), tol=real_option("tol", self.tol))


class DualAscentSearch:
    """`tighten` may change on the way."""

    def __init__(self, graph: FactorGraph, *, tighten: bool, tol: float):
        self._graph = graph
        self._dual = _core.DualAscent(graph.core)
        self.tighten = tighten
        self._messages: FloatArray | None = None
        self._tol = tol
        self._passes = 2 * int(np.clip(WORK // (1 + len(graph.scopes) + len(graph.values)), 1, 10))
        self.labels: LabelArray = self._dual.labels()
        self.score = self._dual.score
        self.bound = np.inf

    def set_unaries(self, unaries: FloatArray) -> None:
        """Other scores of the labels, as `FactorGraph.unaries` has them: messages stay, labels and bound begin anew."""
        given = np.ascontiguousarray(unaries, np.float64)
        if given.shape != self._graph.unaries.shape:
            raise ValueError(f"unaries has shape {given.shape}; expected {self._graph.unaries.shape}")
        self._dual.set_unaries(given)
        self.score, self.bound = self._dual.score, np.inf

    def begin_with(self, start: Labelling) -> None:
        """The messages of an answer of dual ascent; those of other engines have none."""
        messages = start.details.get("messages")
        if messages is not None:
            self._dual.begin_with(messages)

    def step(self) -> bool:
        before = self.bound
        self._dual.passes(self._passes)
        self.labels, self.score, self.bound = self._dual.labels(), self._dual.score, min(before, self._dual.bound)
        gained = before - self.bound
        gap = self.bound - self.score if self.score > -np.inf else abs(self.bound)
        if self.tighten and gained <= LITTLE * gap:
            if not self._dual.n_clusters:
                self._messages = self._dual.messages()
            return self._dual.tighten(max(20, self._graph.n_variables // 4)) > 0 or gained > self._tol * abs(self.bound)
        return bool(gained > self._tol * abs(self.bound))

    def details(self) -> Mapping[str, Any]:
        messages = self._messages if self._dual.n_clusters else self._dual.messages()
        return {"clusters": self._dual.n_clusters, "messages": messages}
