"""Runs that are kept in files: what was finished once is not run again."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any


def file_of(work: Path, *arguments: Any) -> Path:
    """Where a run with these arguments is kept."""
    return work / ("_".join(map(str, arguments)).replace(" ", "-").replace(",", "") + ".json")


def kept(file: Path, make: Callable[..., Any], *arguments: Any) -> Any:
    """What a file holds, or what is made of the arguments now and put there."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(make(*arguments)))
    return json.loads(file.read_text())


def alone(make: Callable[..., Any], *arguments: Any) -> Any:
    """The same in a process of its own, whose memory is that of the run alone."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(make, *arguments).result()
