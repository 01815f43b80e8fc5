"""Callbacks in scikit-learn's protocol: `setup`, `on_fit_task_begin`, `on_fit_task_end`, `teardown`.

scikit-learn's own callbacks work with every estimator here, and these with scikit-learn: attach them with
``estimator.set_callbacks(...)``. A hook `on_fit_task_end` that asks for ``fitted_estimator`` gets an estimator that
predicts with the present weights and whose ``history_`` ends with this iteration; returning True ends the run.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from structlearn.wording import count, in_bytes


class Callback:
    """Does nothing at all four moments; derive from it and override what is needed.

    Parameters are passed by name, so their names must stay.
    """

    def setup(self, estimator: Any, context: Any) -> None:
        """Before the fit."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Before an iteration, and before all of them."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool | None:
        """After an iteration, and after all of them; True ends the run."""
        return None

    def teardown(self, estimator: Any, context: Any) -> None:
        """After the fit, also if it failed."""


class Progress(Callback):
    """One line that tells how far training is: iteration, objective, relative duality gap, time, and time left.

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
        self._gaps: list[tuple[float, float]] = []

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> None:
        if history := getattr(fitted_estimator, "history_", None):
            self.show(estimator, history[-1])

    def show(self, estimator: Any, record: dict[str, Any]) -> None:
        if record.get("primal") and np.isfinite(record.get("gap", np.nan)):
            self._gaps.append((record["seconds"], record["gap"] / record["primal"]))
        left = seconds_left(self._gaps, record["seconds"], _tolerance(estimator))
        if left is None and record["iteration"] and not self._gaps and estimator.max_iter:
            left = record["seconds"] * (estimator.max_iter / record["iteration"] - 1.0)
        about = "" if left is None else f", about {_duration(left)} left"
        self._line = f"{type(estimator).__name__}  {describe(record)}{about}"
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


def seconds_left(gaps: Sequence[tuple[float, float]], now: float, tolerance: float) -> float | None:
    """When a gap that shrinks at its present rate will meet the tolerance; None where that cannot be told.

    Parameters
    ----------
    gaps : sequence of (seconds, relative gap)
        Of the certificates so far; the rate is that of their second half.
    now : float
        Seconds since the start.
    tolerance : float

    >>> seconds_left([(1.0, 0.1), (2.0, 0.01)], 2.5, 0.001)
    0.5
    """
    recent = gaps[max(0, min(len(gaps) // 2, len(gaps) - 2)) :]
    if len(recent) < 2 or recent[-1][1] <= 0.0 or recent[-1][1] >= recent[0][1]:
        return None
    (begin, larger), (end, smaller) = recent[0], recent[-1]
    rate = np.log(larger / smaller) / max(end - begin, 1e-9)
    return max(0.0, end + float(np.log(smaller / tolerance) / rate) - now)


def _tolerance(estimator: Any) -> float:
    solver = estimator._solver() if hasattr(estimator, "_solver") else None
    tolerance: float = getattr(estimator, "tol", None) or getattr(solver, "tolerance", 0.0) or 0.0
    return tolerance if tolerance > 0.0 else 1e-3


def _duration(seconds: float) -> str:
    """
    >>> _duration(4.2), _duration(200), _duration(10000)
    ('4 s', '3 min', '2.8 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


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
    if "completion" in record:
        parts.append(f"completion {record['completion']}")
    if record.get("planes"):
        parts.append(f"{record['planes']} planes")
    if "parts" in record:
        parts.append(_whereabouts(record))
    for name, words in (
        ("mistakes", "mistakes"),
        ("train_loss", "training loss"),
        ("validation_loss", "held-out loss"),
    ):
        if name in record:
            parts.append(f"{words} {record[name]:.4g}")
    return "  ".join([*parts, f"{record['seconds']:.1f} s"])


def _whereabouts(record: dict[str, Any]) -> str:
    """What a line of the history says of other machines.

    >>> _whereabouts({"parts": 4, "workers": 2, "bytes_sent": 3e6, "bytes_received": 1e6, "lost_parts": 0})
    '4 parts on 2 workers  4.0 MB moved'
    """
    told = f"{count(record['parts'], 'part')} on {count(record['workers'], 'worker')}  "
    told += f"{in_bytes(int(record['bytes_sent'] + record['bytes_received']))} moved"
    if "slowest_worker" in record:
        told += f"  slowest {record['slowest_worker']} {record['slowest_seconds']:.1f} s"
    return told + (f"  {count(record['lost_parts'], 'part')} lost" if record["lost_parts"] else "")
