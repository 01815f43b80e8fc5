"""What runs on workers: parts are made of their sources, kept as long as there is a run for them, and asked."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from structlearn.waist.sharded import Part

#: Of how many runs parts are kept: what a client left behind that is gone must not fill the memory.
MOST_RUNS = 4

_RUNS: OrderedDict[str, dict[int, Part]] = OrderedDict()
_LOCK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a part answered, and how long it took; `absent` where the worker does not have the part."""

    value: Any = None
    seconds: float = 0.0
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """What the whole data must know of a part before it is bound."""

    spec: Any
    n_examples: int


def count_examples(source: Any, needed: Any) -> int:
    with named(source):
        X, _ = source.read(needed)
        return int(X.shape[0] if hasattr(X, "shape") else len(X))


def survey(source: Any, needed: Any, model: Any) -> Survey:
    """What a model learns about a part alone."""
    with named(source):
        X, Y = model.read(*source.read(needed))
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        return Survey(model.specify(X, Y), n)


def load(run: str, k: int, source: Any, model: Any, spec: Any, n_examples: int, needed: Any) -> float:
    """Makes a part of its source, and keeps it; returns the seconds that it took."""
    begin = time.perf_counter()
    with named(source):
        X, Y = model.read(*source.read(needed))
        problem = model.bind(spec, X, Y)
        if problem.n_examples != n_examples:
            raise ValueError(f"it has {problem.n_examples} examples, but had {n_examples} when it was first read")
    with _LOCK:
        _RUNS.setdefault(run, {})[k] = Part(problem)
        _RUNS.move_to_end(run)
        while len(_RUNS) > MOST_RUNS:
            _RUNS.popitem(last=False)
    return time.perf_counter() - begin


def ask(run: str, k: int, call: Callable[..., Any], common: tuple[Any, ...], own: tuple[Any, ...]) -> Reply:
    """call(part, *common, *own), if the part is here."""
    part = _RUNS.get(run, {}).get(k)
    if part is None:
        return Reply(absent=True)
    begin = time.perf_counter()
    with threadpool_limits(1, user_api="blas"):
        value = call(part, *common, *own)
    return Reply(value, time.perf_counter() - begin)


def forget(run: str) -> None:
    """Gives up the parts of a run that is over."""
    with _LOCK:
        _RUNS.pop(run, None)


class named:  # noqa: N801
    """Errors about a part, or a file, name it."""

    def __init__(self, source: Any):
        self._source = source

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, (ValueError, OSError, TypeError)) and str(self._source) not in str(error):
            raise type(error)(f"{self._source}: {error}") from error
