"""The same work on many things by several threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from threadpoolctl import threadpool_limits

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        ahead: deque[Future[Result]] = deque(pool.submit(work, item) for item in islice(items, n_threads))
        while ahead:
            result = ahead.popleft().result()
            ahead.extend(pool.submit(work, item) for item in islice(items, 1))
            yield result
