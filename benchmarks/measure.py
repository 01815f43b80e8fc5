"""Timed runs: each in a fresh process with one thread, competitors taking turns so that noise hits all of them."""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Run = dict[str, Any]

HERE = Path(__file__).parent
#: Models that one task trains and another uses.
SCRATCH = HERE.parent / "build" / "bench"
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")


#: A ceiling on the repeats of every entry, for quick looks.
MOST_REPEATS = 1000


@dataclass(frozen=True)
class Entry:
    """A competitor: a function ``module:name`` of this folder with its arguments, and how often it runs.

    Where `seeded`, the turns differ in the argument `seed`, so that their spread is that of the algorithm too.
    """

    name: str
    function: str
    arguments: dict[str, Any] = field(default_factory=dict)
    repeats: int = 3
    seeded: bool = False


@dataclass(frozen=True)
class Row:
    """A line of the results: seconds of both sides, what they reached, and what was asked.

    Attributes
    ----------
    key : str
        Name in ``baseline.json``.
    ours, theirs : float
        Median seconds.
    bar : float or None
        Largest allowed ``ours / theirs``; None for lines that only inform.
    good : bool
        Whether what was reached (F1, objective) is as good as asked.
    """

    key: str
    task: str
    rival: str
    ours: float
    theirs: float
    bar: float | None = None
    good: bool = True
    reached: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def met(self) -> bool | None:
        return None if self.bar is None else self.good and self.ratio <= self.bar

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "met": self.met}


@dataclass
class Report:
    """What a task found: lines of the table, lines about the library alone, and series to plot."""

    rows: list[Row] = field(default_factory=list)
    facts: list[tuple[str, str]] = field(default_factory=list)
    series: dict[str, Any] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def in_fresh_process(function: str, library: str | None = None, /, **arguments: Any) -> Run:
    """Calls ``module:name`` of this folder in a process of its own; its dict comes back with `peak_mb` if it has none.

    `library` is a folder with the package structlearn, to be used instead of the one that is installed.
    """
    environment = os.environ | ONE_THREAD | ({} if library is None else {"PYTHONPATH": library})
    command = [sys.executable, str(HERE / "measure.py"), function, json.dumps(arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{function} {arguments} failed:\n{done.stderr}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def race(entries: Iterable[Entry]) -> dict[str, list[Run]]:
    """Runs the competitors in turns; the runs of each, by its name."""
    entries = list(entries)
    runs: dict[str, list[Run]] = {entry.name: [] for entry in entries}
    for turn in range(min(MOST_REPEATS, max(entry.repeats for entry in entries))):
        for entry in entries:
            if turn < entry.repeats:
                seed = {"seed": turn} if entry.seeded else {}
                run = in_fresh_process(entry.function, **entry.arguments, **seed)
                runs[entry.name].append(run)
                shown = ", ".join(f"{k} {v:.5g}" for k, v in run.items() if isinstance(v, (int, float)))
                print(f"  {entry.name}: {shown}", file=sys.stderr, flush=True)
    return runs


def exponent(sizes: Sequence[float], taken: Sequence[float]) -> str:
    """p where what is taken grows like size^p, fitted to the last three sizes.

    >>> exponent([1, 2, 4, 8], [9, 4, 16, 64])
    '2.0'
    """
    logarithms = ([math.log(value) for value in values[-3:]] for values in (sizes, taken))
    return f"{statistics.linear_regression(*logarithms).slope:.1f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [header, ["---"] * len(header), *rows])


def median(runs: Iterable[Run], what: str = "seconds") -> float:
    return float(statistics.median(run[what] for run in runs))


def seconds(work: Callable[[], object], repeats: int = 1) -> float:
    """Median wall-clock time of several calls."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def in_turns(turns: int = 5, **works: Callable[[], object]) -> Run:
    """Median processor times by name, taking turns in this process: for what is too short for a process a turn."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(turns):
        for name, work in works.items():
            begin = time.process_time()
            work()
            taken[name].append(time.process_time() - begin)
    return {name: statistics.median(times) for name, times in taken.items()}


def peak_mb() -> float:
    """Peak memory of this process; on Linux since it began or `clear_refs` was written, not since its parents did."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def _worker() -> None:
    function, arguments = sys.argv[1:3]
    module, _, name = function.partition(":")
    result = getattr(importlib.import_module(module), name)(**json.loads(arguments))
    result.setdefault("peak_mb", peak_mb())
    print(json.dumps(result))


if __name__ == "__main__":
    _worker()
