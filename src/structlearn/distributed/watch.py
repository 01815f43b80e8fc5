"""Whether a cluster is there: its scheduler, and the workers."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from structlearn.distributed.engine import address_of, dask_distributed

#: Seconds between two looks.
LOOK = 0.5


class Watch:
    """Looks at the workers of a client, every half second at most, while tasks are waited for.

    Parameters
    ----------
    client : distributed.Client
    patience : float
        Seconds for which a cluster may be without any worker.
    advice : str
        What may be done where it is gone.
    """

    def __init__(self, client: Any, patience: float, advice: str = ""):
        self._dask = dask_distributed()
        self._client = client
        self._patience = patience
        self._advice = advice
        self._there: dict[str, int] = {}
        self._looked = -math.inf

    def alive(self, *, now: bool = False) -> dict[str, int]:
        """The addresses of the workers that are there, with their numbers of threads; waits while there are none."""
        if now or time.monotonic() - self._looked > LOOK:
            self._there = self._look()
            self._looked = time.monotonic()
        return self._there

    def wait(self, tasks: Sequence[Any]) -> None:
        """Until one of the tasks is done, or it is time for the next look."""
        try:
            # Dask would take the client that was made last.
            with self._client.as_current():
                self._dask.wait(tasks, timeout=LOOK, return_when="FIRST_COMPLETED")
        except TimeoutError:
            return
        except (self._dask.CancelledError, OSError, AttributeError):
            time.sleep(0.05)

    def _look(self) -> dict[str, int]:
        deadline = time.monotonic() + self._patience
        while True:
            try:
                alive = dict(self._client.nthreads())
            except (OSError, RuntimeError, ValueError, TimeoutError, AttributeError) as error:
                raise self._gone("is gone") from error
            if self._client.status != "running":
                raise self._gone("is gone")
            if alive:
                return alive
            if time.monotonic() > deadline:
                raise self._gone(f"has had no workers for {self._patience:g} s")
            time.sleep(LOOK)

    def _gone(self, told: str) -> ConnectionError:
        return ConnectionError(f"the scheduler at {address_of(self._client)} {told}{self._advice}")
