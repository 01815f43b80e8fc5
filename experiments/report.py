"""What the page of an experiment is made of: tables, the command that made it, and all runs in a file beside it."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from structlearn import __version__
from structlearn.metrics import Interval

Run = dict[str, Any]


def table(*rows: Sequence[object]) -> str:
    """A table of markdown; the first row is the head.

    >>> print(table(["a", "b"], [1, 2]))
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def percent(interval: Interval, sign: str = "") -> str:
    """
    >>> percent(Interval(0.5, 0.25, 0.75))
    '50.00 [25.00, 75.00]'
    """
    middle, low, high = (f"{100 * value:{sign}.2f}" for value in (interval.estimate, interval.low, interval.high))
    return f"{middle} [{low}, {high}]"


def verdict(difference: Interval, more_is_better: bool = True) -> str:
    """Whether the first of two is better, worse, or whether the interval leaves it open.

    >>> verdict(Interval(0.1, 0.05, 0.2)), verdict(Interval(0.1, -0.1, 0.3))
    ('better', 'open')
    """
    if difference.low <= 0 <= difference.high:
        return "open"
    return "better" if (difference.estimate > 0) == more_is_better else "worse"


def findings(text: str, day: str) -> str:
    """Sentences written by hand, with the day of the run that they are about: tables beside them may be of a later one.

    >>> print(findings("It works.", "1 May 2026"))
    *Written of the run of 1 May 2026.*
    <BLANKLINE>
    It works.
    """
    return f"*Written of the run of {day}.*\n\n{text.strip()}"


def publish(
    folder: Path, name: str, docstring: str, sections: Mapping[str, str], runs: list[Run], begin: float
) -> None:
    """Writes name.md, with the docstring as title and protocol, and name.json with all runs, a row each."""
    title, _, protocol = docstring.partition("\n\n")
    facts = {
        "date": f"{datetime.now():%-d %B %Y}",
        "command": f"python experiments/{name}.py {' '.join(sys.argv[1:])}",
        "seconds": round(time.perf_counter() - begin),
        "seconds of processor time": round(sum(os.times()[:4])),
        "versions": f"structlearn {__version__}, numpy {np.__version__}",
    }
    parts = [f"# {title}"]
    for heading, text in {**sections, "Protocol": protocol.strip()}.items():
        parts += [f"## {heading}", text]
    parts += ["## The run", "\n".join(f"- {key}: {value}" for key, value in facts.items())]
    parts += [f"All runs, those that chose the settings included, are in `{name}.json`."]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    columns = list(dict.fromkeys(key for run in runs for key in run))
    rows = ",\n".join(json.dumps([_rounded(run.get(key)) for key in columns], ensure_ascii=False) for run in runs)
    head = json.dumps({**facts, "columns": columns}, ensure_ascii=False)
    (folder / f"{name}.json").write_text(f'{head[:-1]}, "table": [\n{rows}\n]}}\n', encoding="utf-8")


def _rounded(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    return float(f"{value:.6g}") if np.isfinite(value) else None
