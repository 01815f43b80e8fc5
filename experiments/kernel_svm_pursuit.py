"""Subspace pursuits of many sizes for the price of the largest."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from structlearn.solvers import SubspacePursuit


@dataclass(frozen=True, kw_only=True)
class EverySize(SubspacePursuit):
    """A pursuit that is left at some sizes for a run to the end with the basis so far: what that `n_basis` does."""

    sizes: tuple[int, ...] = ()
    tell: Callable[[int, float, Any], bool] | None = field(default=None, compare=False)
    clock: dict[str, float] = field(default_factory=dict, compare=False)

    def update(self, state: Any, problem: Any, objective: Any) -> Any:
        state = super().update(state, problem, objective)
        size = len(state.cuts)
        if size not in self.sizes or size == self.clock.get("size"):
            return state
        reached = time.process_time()
        ended = copy.copy(state)
        ended.cuts = copy.copy(state.cuts)
        ended.cuts.cuts, ended.cuts.full = list(state.cuts.cuts), True
        plain = SubspacePursuit(n_basis=size, tol=self.tol, eps=self.eps)
        steps = 0
        while not plain.done(ended) and steps < 1000:
            ended = plain.update(ended, problem, objective)
            steps += 1
        seconds = time.process_time() - self.clock["begin"]
        self.clock["size"] = size
        assert self.tell is not None
        if not self.tell(size, seconds, ended) or size == self.sizes[-1]:
            # Nothing is left to find; the end of the run with the last basis is known.
            state.cuts.full, state.primal = True, 0.0
        self.clock["begin"] += time.process_time() - reached
        return state
