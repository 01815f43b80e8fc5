"""Something done to each of many files by whichever worker is free, however many workers are lost meanwhile."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from structlearn.distributed.engine import check_travels, check_workers, dask_distributed
from structlearn.distributed.watch import LOOK, Watch
from structlearn.distributed.worker import named
from structlearn.io.paths import Given, matching
from structlearn.persistence import model_file
from structlearn.shards.manifest import check_no_corpus

#: Files that a thread of a worker has before it, so that it need not wait for the next.
AHEAD = 2
#: How many times a file may begin anew because of lost workers, each time after what the scheduler does by itself.
MOST_LOSSES = 3
#: How often sending may fail one time after another, while the scheduler is there.
MOST_FAILURES = 50

#: Called with how many files are done, and how many there are.
Progress = Callable[[int, int], None]


def model_of(model: Any) -> tuple[Any, Any]:
    """An estimator, and how the files looked that it learnt from, if a model file says so."""
    if isinstance(model, (str, os.PathLike)):
        model = model_file.read(model)
    if isinstance(model, model_file.Saved):
        return model.fitted, model.reader
    model_file.steps_of(model)
    return model, None


def files_of(given: Given) -> list[str]:
    """The files that are meant, by paths that workers see as well."""
    for each in [given] if isinstance(given, (str, os.PathLike)) else given:
        check_no_corpus(Path(each))
    return list(map(os.path.abspath, matching(given)))


def on_files(
    client: Any, files: Sequence[str], call: Callable[..., Any], shared: Any, *, patience: float
) -> Generator[tuple[int, Any], None, None]:
    """call(shared, file) of every file, with the numbers of the files, in the order in which they are done.

    What is shared travels once to each worker. A file whose worker is lost goes to another one; one that cannot be read
    ends all with what is wrong with it.
    """
    check_workers(client, wait=patience)
    check_travels("the model", shared)
    queue = _Queue(client, files, call, shared, patience)
    try:
        yield from queue.answers()
    finally:
        queue.close()


class _Queue:
    """Files that wait, and tasks that are open."""

    def __init__(self, client: Any, files: Sequence[str], call: Callable[..., Any], shared: Any, patience: float):
        self._dask = dask_distributed()
        self._client, self._files, self._call, self._shared = client, files, call, shared
        self._watch = Watch(client, patience)
        self._waiting = deque(range(len(files)))
        self._open: dict[Any, int] = {}
        self._sent: Any = None
        self._losses: Counter[int] = Counter()
        self._failures = 0

    def answers(self) -> Iterator[tuple[int, Any]]:
        while self._waiting or self._open:
            n_threads = sum(self._watch.alive().values())
            if self._sent is None or self._sent.status != "finished":
                self._begin_anew()
            # Files that may be what workers die of come first and alone, so that it is known which one it is.
            most = 1 if self._losses else AHEAD * n_threads
            while self._waiting and len(self._open) < most and self._send():
                pass
            for task in self._done():
                k = self._open.pop(task)
                if task.status == "error":
                    self._raise_or_repeat(k, task.exception())
                elif task.status != "finished":
                    self._lost(k)
                else:
                    try:
                        answer = task.result(timeout=LOOK)
                    except TimeoutError:
                        # On its way, or its worker is gone, and the scheduler asks another one.
                        self._open[task] = k
                    except (self._dask.CancelledError, OSError):
                        self._lost(k)
                    else:
                        del self._losses[k]
                        yield k, answer

    def close(self) -> None:
        """Gives up what is open."""
        if self._client.status == "running":
            with suppress(OSError, RuntimeError, TimeoutError, AttributeError):
                self._client.cancel(list(self._open), force=True)
        self._open.clear()
        self._sent = None

    def _begin_anew(self) -> None:
        """Sends what is shared to all workers, and what was open again: it went with all workers that had it."""
        open_tasks, lost = list(self._open), sorted(self._open.values(), reverse=True)
        self._open = {}
        for k in lost:
            self._lost(k)
        try:
            self._client.cancel(open_tasks, force=True)
            self._sent = self._client.scatter([self._shared], broadcast=True, hash=False)[0]
        except (OSError, RuntimeError, TimeoutError, AttributeError, KeyError) as error:
            self._failed("the model", error)

    def _send(self) -> bool:
        k = self._waiting.popleft()
        try:
            task = self._client.submit(_called, self._call, self._sent, self._files[k], pure=False)
        except (OSError, RuntimeError, TimeoutError, AttributeError, KeyError) as error:
            self._waiting.appendleft(k)
            self._failed(self._files[k], error)
            return False
        self._open[task] = k
        self._failures = 0
        return True

    def _failed(self, what: str, error: Exception) -> None:
        """The scheduler may be gone, or the worker that something went to."""
        self._watch.alive(now=True)
        self._failures += 1
        if self._failures > MOST_FAILURES:
            raise ConnectionError(f"{what} cannot be sent to workers: {error}") from error

    def _done(self) -> list[Any]:
        if self._open:
            self._watch.wait(list(self._open))
        return [task for task in self._open if task.status != "pending"]

    def _raise_or_repeat(self, k: int, error: Any) -> None:
        lost = (self._dask.scheduler.KilledWorker, self._dask.CancelledError, self._dask.comm.CommClosedError)
        if not isinstance(error, lost):
            raise error
        self._lost(k)

    def _lost(self, k: int) -> None:
        self._losses[k] += 1
        if self._losses[k] > MOST_LOSSES:
            raise ConnectionError(
                f"{self._files[k]}: one worker after another was lost with it; is there memory for it?"
            )
        self._waiting.appendleft(k)


def _called(call: Callable[..., Any], shared: Any, file: str) -> Any:
    with named(file):
        if not Path(file).is_file():
            raise FileNotFoundError(f"{file} is missing on this worker")
        return call(shared, file)
