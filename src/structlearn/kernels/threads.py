"""The same work on many things by several threads, and BLAS beside them.

Threads of BLAS wait for their next product in loops, at the price of whole cores; where this library has threads of its
own, each has one of BLAS.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


_lock = threading.Lock()
_inside: list[object] = []
_limits: list[threadpool_limits] = []


@contextmanager
def one_thread_of_blas() -> Iterator[None]:
    """Products of matrices take one thread each, until the last of those who asked for it, in any thread, has ended.

    >>> with one_thread_of_blas(), one_thread_of_blas():
    ...     pass
    """
    me = object()
    with _lock:
        if not _inside:
            _limits.append(threadpool_limits(1, user_api="blas"))
        _inside.append(me)
    try:
        yield
    finally:
        with _lock:
            _inside.remove(me)
            if not _inside:
                _limits.pop().restore_original_limits()


def in_order(work: Callable[[Item], Result], items: Iterable[Item], n_threads: int) -> Iterator[Result]:
    """work(item) for all items, in their order; no more results are there at a time than there are threads.

    For work that lets other threads run, as products of matrices and compiled loops do; BLAS has one thread in each.

    >>> list(in_order(abs, [-3, -2, -1], 2))
    [3, 2, 1]
    """
    if n_threads == 1:
        yield from map(work, items)
        return
    items = iter(items)
    with one_thread_of_blas(), ThreadPoolExecutor(n_threads) as pool:
        ahead: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(items, n_threads))
        while ahead:
            result = ahead.popleft().result()
            ahead.extend(pool.submit(work, item) for item in islice(items, 1))
            yield result
