"""Passes of a user's model over its examples by several processes: the interpreter runs one thread at a time.

Each process gets the model and its data once, pickled by value, and afterwards only numbers of examples and weights.
Answers are put together in the order of the examples, so that they do not depend on the number of processes.
"""

from __future__ import annotations

import os
import signal
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from itertools import pairwise
from multiprocessing import resource_tracker
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.models.own.spot_check import CALLS, contradiction
from structlearn.waist.problem import Problem

#: Seconds that passes take here before processes start, which takes them about as long.
PATIENCE = 1.0
#: Seconds that a pass must be expected to take to be worth the messages.
WORTH = 0.005
#: Messages to each process in a pass, since some examples take longer than others; one where each has this many bytes.
MESSAGES, LARGE = 4, 2**18
#: Seconds after which a process that nobody asks ends by itself, such as one whose parent was killed.
IDLE = 300


class ProblemInProcesses(Problem):
    """A problem of a user's model whose passes over examples go to `n_threads` processes where that pays.

    What goes there is a method that answers for some examples, ``method(examples, *arguments)``. The first examples
    are asked here, until that has taken as long as starting processes does.
    """

    _model: Any
    _Y: Sequence[Any] | None
    _processes: Processes | None = None

    @property
    def n_threads(self) -> int:
        return 1 if self._processes is None else self._processes.n

    @n_threads.setter
    def n_threads(self, n_threads: int) -> None:
        if n_threads == self.n_threads:
            return
        self.release()
        self._processes = None if n_threads == 1 else Processes(type(self._model).__name__, n_threads)
        if self._processes is not None and self._Y is not None:
            # Before training rather than in its midst.
            self._processes.pickled(self, kept=False)

    def release(self) -> None:
        if self._processes is not None:
            self._processes.end()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in self._of_parent}

    #: What processes have no use for.
    _of_parent: frozenset[str] = frozenset({"_processes", "_truths", "_lists", "part_offsets", "completions"})

    def contradiction(self, w: FloatArray | None = None) -> str | None:
        if w is None:
            return self._contradiction(None, None)
        found = self._answers("_contradiction", np.arange(self.n_examples), w)
        return next((sentence for sentence in found if sentence is not None), None)

    def _contradiction(self, examples: IntArray | None, w: FloatArray | None) -> str | None:
        asked: Any = self
        return contradiction(asked, [name for name in CALLS if hasattr(self._model, name)], w, examples=examples)

    def _answers(self, method: str, examples: IntArray, *arguments: Any, beside: Any = None) -> list[Any]:
        """What a method answers for groups of the examples, one after another; `beside` has a value an example."""
        if self._processes is None or not len(examples):
            return [getattr(self, method)(*_of_group(slice(None), examples, beside), *arguments)]
        found, size, n = [], 1, len(examples)
        begin = 0
        while begin < n and not self._processes.pay(method, n - begin):
            # Groups grow until it is known what examples take, and are all the rest if that is little.
            some = slice(begin, n if self._processes.known(method) else begin + size)
            with self._processes.noted(method, len(examples[some])):
                found.append(getattr(self, method)(*_of_group(some, examples, beside), *arguments))
            begin, size = begin + len(examples[some]), 2 * size
        large = any(isinstance(one, np.ndarray) and one.nbytes >= LARGE for one in arguments)
        ends = np.linspace(begin, n, 1 + min(n - begin, self._processes.n * (1 if large else MESSAGES))).astype(int)
        groups = [slice(*both) for both in pairwise(ends.tolist())]
        return found + self._processes.ask(
            self, method, [(*_of_group(group, examples, beside), *arguments) for group in groups]
        )


class Processes:
    """Workers with a copy of a problem each, to whose methods they answer."""

    def __init__(self, model: str, n: int):
        self.n = n
        self._model = model
        self._seconds = 0.0
        self._each: dict[str, float] = {}
        self._executor: Any = None
        self._end: Any = None

    def known(self, method: str) -> bool:
        """Whether it is known how long a method takes."""
        return self._seconds >= PATIENCE and method in self._each

    def pay(self, method: str, n_examples: int) -> bool:
        """Whether a pass over so many examples is worth the messages, and processes their start."""
        return self.known(method) and n_examples > 1 and self._each[method] * n_examples >= WORTH

    @contextmanager
    def noted(self, method: str, n_examples: int) -> Iterator[None]:
        """Notes how long a method took here."""
        begin = time.perf_counter()
        yield
        seconds = time.perf_counter() - begin
        self._seconds += seconds
        self._each[method] = seconds / max(n_examples, 1)

    def ask(self, problem: Problem, method: str, parts: list[tuple[Any, ...]]) -> list[Any]:
        """The answers to these arguments, in their order; an error is that of the first which fails."""
        if not parts:
            return []
        from joblib.externals.loky import BrokenProcessPool

        futures: list[Any] = []
        try:
            executor = self._started(problem)
            with without_interrupts():
                futures += [executor.submit(_answer, method, part) for part in parts]
            return [future.result() for future in futures]
        except BrokenProcessPool as error:
            self.end()
            raise RuntimeError(
                f"a process with a {self._model} died: it was killed, had no memory, or crashed in compiled code; "
                "n_jobs=None asks the model in this process"
            ) from error
        except Exception:
            for future in futures:
                future.cancel()
            self.end()
            raise
        except BaseException:
            self._kill()
            raise

    def _kill(self) -> None:
        """Ends the processes in the midst of their work: after Ctrl-C nobody waits for it."""
        for number in list(getattr(self._executor, "_processes", ())):
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGTERM)
        self.end()

    def end(self) -> None:
        """Ends the processes; the next question starts new ones."""
        if self._executor is not None:
            self._end()
            self._executor = None

    def pickled(self, problem: Problem, *, kept: bool = True) -> bytes:
        """The problem with its model by value; refused where it cannot be."""
        from joblib.externals.loky.backend import reduction

        to = BytesIO() if kept else _Nowhere()
        try:
            reduction.dump(problem, to)
        except Exception as error:
            raise ValueError(
                f"{self._model} or its data cannot be pickled ({type(error).__name__}: {error}), but n_jobs={self.n} "
                "asks it in processes of their own; n_jobs=None asks it in this one"
            ) from error
        return to.getvalue() if isinstance(to, BytesIO) else b""

    def _started(self, problem: Problem) -> Any:
        if self._executor is None:
            from joblib.externals.loky import ProcessPoolExecutor

            pickled = self.pickled(problem)
            executor = ProcessPoolExecutor(self.n, timeout=IDLE, initializer=_begin, initargs=(pickled,))
            self._end = weakref.finalize(self, executor.shutdown)
            self._executor = executor
        return self._executor


def _of_group(some: slice, examples: IntArray, beside: Any) -> tuple[Any, ...]:
    return (examples[some],) if beside is None else (examples[some], beside[some])


class _Nowhere:
    """A file that keeps nothing: to see whether something can be written."""

    def write(self, data: Any) -> int:
        return len(data)


@contextmanager
def without_interrupts() -> Iterator[None]:
    """Ctrl-C reaches all processes of a terminal: those that start here leave it to this one."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # When it starts, it clears the mask.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


_problem: Any = None


def _begin(pickled: bytes) -> None:
    """What a process does first."""
    import pickle

    from threadpoolctl import threadpool_limits

    global _problem
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # There are as many processes as there may be threads.
    threadpool_limits(1)
    try:
        _problem = pickle.loads(pickled)
    except Exception as error:
        _problem = error


def _answer(method: str, arguments: tuple[Any, ...]) -> Any:
    if isinstance(_problem, Exception):
        raise RuntimeError(f"another process cannot read the model or its data: {_problem}") from _problem
    return getattr(_problem, method)(*arguments)
