"""Clusters by a word: workers on this machine, or the scheduler at an address."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from structlearn.data.options import whole_option
from structlearn.distributed.engine import dask_distributed
from structlearn.models.own.processes import without_interrupts


@contextmanager
def workers_here(n_workers: int) -> Iterator[Any]:
    """A client of so many workers on this machine, processes with one thread each, for a ``with`` block.

    They listen on 127.0.0.1 alone and have no dashboard. As with all that starts processes, scripts do so below ``if
    __name__ == "__main__"``.
    """
    distributed = dask_distributed()
    n_workers = whole_option("n_workers", n_workers, 1)
    # A worker that was lost is started anew; for good it would be gone if it were down once more after 15 s.
    config = distributed.dask.config.set({"distributed.deploy.lost-worker-timeout": "1000 days"})
    with config, _cluster(n_workers) as cluster, distributed.Client(cluster) as client:
        yield client


def _cluster(n_workers: int) -> Any:
    """What goes wrong in them is raised here, so that they need not write it to the terminal as well."""
    with without_interrupts():
        return dask_distributed().LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=logging.CRITICAL,
        )


@contextmanager
def scheduler_at(address: str, *, security: Any = None) -> Iterator[Any]:
    """A client of the scheduler at an address, such as ``tcp://10.0.0.1:8786``, for a ``with`` block."""
    distributed = dask_distributed()
    try:
        client = distributed.Client(address, timeout="30s", security=security)
    except (OSError, TimeoutError, ValueError, RuntimeError) as error:
        raise ConnectionError(f"the scheduler at {address} cannot be reached: {error}") from None
    except TypeError:
        # What Dask says of a missing context.
        raise ConnectionError(
            f"the scheduler at {address} needs certificates: name them in Dask's configuration, distributed.comm.tls, "
            "or by `security` of the client"
        ) from None
    with client:
        yield client
