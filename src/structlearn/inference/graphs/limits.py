"""The one loop that runs everything that goes on until it is stopped."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from structlearn.data.options import real_option, whole_option


class Ended(NamedTuple):
    """Why a loop ended, empty where nothing was left to be done; and after how many iterations and seconds."""

    reason: str
    iterations: int
    seconds: float


class Limits:
    """When to stop, at least one iteration after the beginning, which is now."""

    def __init__(self, max_seconds: float | None, max_iterations: int | None):
        self._seconds = np.inf if max_seconds is None else real_option("max_seconds", max_seconds)
        self._iterations = np.inf if max_iterations is None else whole_option("max_iterations", max_iterations, 1)
        self._begin = time.perf_counter()

    @property
    def elapsed(self) -> float:
        return time.perf_counter() - self._begin

    @property
    def left(self) -> float:
        """Seconds, which may be infinite, and are never below 0."""
        return max(0.0, self._seconds - self.elapsed)

    def run(self, step: Callable[[], bool], after: Callable[[float], object]) -> Ended:
        """Steps while they return True, and until `after`, which is told the seconds, does; Ctrl-C ends it as well."""
        done, reason, more = 0, "", True
        while more and not reason:
            try:
                more = step()
                done += 1
                reason = self._met(done) if more else ""
                if after(self.elapsed) and more:
                    reason = reason or "progress"
            except KeyboardInterrupt:
                reason = "interrupted"
        return Ended(reason, done, self.elapsed)

    def _met(self, done: int) -> str:
        if done >= self._iterations:
            return "max_iterations"
        return "max_seconds" if self.elapsed >= self._seconds else ""
