"""α-expansion and αβ-swap: many labels by many cuts (Boykov, Veksler and Zabih 2001)."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from structlearn import _core
from structlearn.data.arrays import LabelArray
from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.inference.graphs.engines.fusion import Fusion, grid_fusion
from structlearn.inference.graphs.engines.pairs import check_pairs


@dataclass(frozen=True)
class AlphaExpansion:
    """Moves in which all variables may take one label α, the best of them found by a cut, until none helps.

    For pairs and any number of labels; an iteration is one move. Where −θ is a metric of the labels (`Potts` with a
    positive score, `TruncatedLinear`), each move is the best of its kind, and where all costs are at least 0 the end
    costs at most 2 c times the least, with c the largest cost of two different labels by the smallest, 1 for `Potts`.
    Elsewhere, pairs that are not submodular in a move count as dearer than they are: the move need not be the best
    one, and never makes the score worse. `details` has their number over all moves, `truncated`. The bound is the sum
    of the best unaries and pairs, each on its own.
    """

    name: ClassVar[str] = "alpha_expansion"

    def search(self, graph: FactorGraph) -> MoveSearch:
        check_pairs(graph, self.name)
        moves = range(int(graph.n_labels.max(initial=1)))
        return MoveSearch(_core.SparseFusion(graph.core), "expand", ((a,) for a in moves), graph)

    def search_grid(self, grid: GridGraph) -> MoveSearch:
        if not np.isfinite(grid.table).all():
            return self.search(grid.factor_graph)
        return MoveSearch(grid_fusion(grid), "expand", ((a,) for a in range(grid.n_labels)), grid)


@dataclass(frozen=True)
class AlphaBetaSwap:
    """Moves in which the variables of two labels α and β may change them for each other, until none helps.

    For pairs and any number of labels; an iteration is one move. Moves are best where no label likes another more than
    itself, θ(α,α) + θ(β,β) ≥ θ(α,β) + θ(β,α); elsewhere pairs are truncated as by `AlphaExpansion`.
    """

    name: ClassVar[str] = "alpha_beta_swap"

    def search(self, graph: FactorGraph) -> MoveSearch:
        check_pairs(graph, self.name)
        moves = combinations(range(int(graph.n_labels.max(initial=1))), 2)
        return MoveSearch(_core.SparseFusion(graph.core), "swap", moves, graph)

    def search_grid(self, grid: GridGraph) -> MoveSearch:
        if not np.isfinite(grid.table).all():
            return self.search(grid.factor_graph)
        return MoveSearch(grid_fusion(grid), "swap", combinations(range(grid.n_labels), 2), grid)


class MoveSearch:
    """All moves in turn; from the same start, all in reverse; the best of both ends; and on from there.

    Where one order of moves has gone astray, the other seldom has, too: a cut that chooses between their ends, variable
    by variable, gains more than many turns of moves.
    """

    def __init__(self, fusion: Fusion, kind: str, moves: Iterable[tuple[int, ...]], graph: FactorGraph | GridGraph):
        self._fusion = fusion
        self._kind = kind
        self._move: Callable[..., bool] = getattr(fusion, kind)
        self._moves = list(moves)
        self._graph = graph
        self.labels: LabelArray = fusion.labels()
        self.score = self._score()
        self._least = fusion.total
        self._truncated_between = 0
        constant = float(graph.constants.sum()) if isinstance(graph, FactorGraph) else 0.0
        self.bound = constant - fusion.lower_bound()
        self._steps = self._all_moves()

    def step(self) -> bool:
        more = next(self._steps, False)
        if self._fusion.total < self._least:
            self._least = self._fusion.total
            self.labels = self._fusion.labels()
            self.score = self._score()
        if not more:
            # The moves hold the search that holds them: memory would wait for the garbage collector.
            self._steps.close()
        return more

    def details(self) -> Mapping[str, Any]:
        moves = self._fusion.truncated - self._truncated_between
        return {"truncated": moves, "truncated_between_ends": self._truncated_between}

    def _all_moves(self) -> Generator[bool, None, None]:
        # Where only two labels at a time are free, best unaries are a trap: one label for all leaves every way open.
        if self._kind == "swap":
            self._fusion.take_one()
        start = self._fusion.labels()
        for move in self._moves:
            self._move(*move)
            yield True
        forwards = self._fusion.labels()
        self._fusion.take(start)
        for move in reversed(self._moves):
            self._move(*move)
            yield True
        before = self._fusion.truncated
        self._fusion.fuse(forwards)
        self._truncated_between = self._fusion.truncated - before
        in_vain = 0
        while in_vain < len(self._moves):
            for move in self._moves:
                # A move that has just been made has nothing left to gain.
                in_vain = 1 if self._move(*move) else in_vain + 1
                yield in_vain < len(self._moves)

    def _score(self) -> float:
        # A grid's costs are finite, and its score their sum.
        return self._graph.score(self.labels) if isinstance(self._graph, FactorGraph) else -self._fusion.total
