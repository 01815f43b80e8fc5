"""Callbacks in scikit-learn's protocol: `setup`, `on_fit_task_begin`, `on_fit_task_end`, `teardown`.

scikit-learn's own callbacks work with every estimator here, and these with scikit-learn: attach them with
``estimator.set_callbacks(...)``. A hook `on_fit_task_end` that asks for ``fitted_estimator`` gets an estimator that
predicts with the present weights and whose ``history_`` ends with this iteration; returning True ends the run.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np


class Progress:
    """One line that tells how far training is: iteration, objective, relative duality gap, time.

    Parameters
    ----------
    stream : text stream, optional
        Standard error by default. On a terminal the line is rewritten in place; elsewhere a line is written at most
        every five seconds.
    """

    def __init__(self, stream: Any = None):
        self.stream = stream

    def setup(self, estimator: Any, context: Any) -> None:
        self._out = self.stream if self.stream is not None else sys.stderr
        self._live = bool(getattr(self._out, "isatty", lambda: False)())
        self._written = -np.inf
        self._line = ""
        self._open = False

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        if history := getattr(fitted_estimator, "history_", None):
            self.show(estimator, history[-1])

    def show(self, estimator: Any, record: dict[str, Any]) -> None:
        self._line = f"{type(estimator).__name__}  {describe(record)}"
        now = time.monotonic()
        if now - self._written >= (0.1 if self._live else 5.0):
            self._write()
            self._written = now

    def teardown(self, estimator: Any, context: Any) -> None:
        if self._line:
            self._write()
        if self._live and self._open:
            self._out.write("\n")
            self._out.flush()

    def _write(self) -> None:
        self._out.write(f"\r\x1b[2K{self._line}" if self._live else f"{self._line}\n")
        self._out.flush()
        self._open = True


def describe(record: dict[str, Any]) -> str:
    """A line of the history in words.

    >>> describe({"iteration": 3, "primal": 203.1, "gap": 20.31, "planes": 12, "seconds": 1.25})
    'iteration 3  objective 203.1  gap 10%  12 planes  1.2 s'
    """
    parts = [f"iteration {record['iteration']}"]
    if np.isfinite(record.get("primal", np.nan)):
        parts.append(f"objective {record['primal']:.6g}")
    elif np.isfinite(record.get("dual", np.nan)):
        parts.append(f"objective ≥ {record['dual']:.6g}")
    if np.isfinite(record.get("gap", np.nan)):
        parts.append(f"gap {record['gap'] / record['primal'] if record['primal'] else 0.0:.2%}".replace(".00%", "%"))
    if record.get("planes"):
        parts.append(f"{record['planes']} planes")
    for name, words in (
        ("mistakes", "mistakes"),
        ("train_loss", "training loss"),
        ("validation_loss", "held-out loss"),
    ):
        if name in record:
            parts.append(f"{words} {record[name]:.4g}")
    return "  ".join([*parts, f"{record['seconds']:.1f} s"])
