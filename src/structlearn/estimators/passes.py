"""What happens after every pass of a fit: its time goes into the history, and people see how far it is."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType
from typing import Any, Self

from structlearn.callbacks import Progress


class Passes:
    """Observes a run; with `verbose` of the estimator one line tells how far it is.

    >>> from types import SimpleNamespace
    >>> with Passes(SimpleNamespace(verbose=0)) as passes:
    ...     passes.observe({"iteration": 1, "primal": 2.0, "gap": 0.5})["seconds"] >= 0.0
    True
    """

    def __init__(self, estimator: Any):
        self._estimator = estimator
        self._begun = perf_counter()
        self._progress = Progress() if estimator.verbose else None

    def __enter__(self) -> Self:
        if self._progress is not None:
            self._progress.setup(self._estimator, None)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.teardown(self._estimator, None)

    def observe(self, record: dict[str, Any]) -> dict[str, Any]:
        """The record of a pass, with its time if nobody has taken it."""
        record.setdefault("seconds", perf_counter() - self._begun)
        if self._progress is not None:
            self._progress.show(self._estimator, record)
        return record
