"""Processes of this machine, or the workers of a cluster, for commands that can be shared out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

PANEL = "Several machines"
#: Seconds without an answer after which the command says for what it waits.
PATIENCE = 3.0

Workers = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        help="By so many processes of this machine, which share out the files.",
        rich_help_panel=PANEL,
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="By the workers of the Dask scheduler at an address, such as tcp://10.0.0.1:8786, which see the same "
        "files.",
        rich_help_panel=PANEL,
    ),
]


def are_asked(workers: int | None, cluster: str | None) -> bool:
    if workers is not None and cluster is not None:
        raise ValueError("--workers and --cluster exclude each other")
    return workers is not None or cluster is not None


@contextmanager
def asked_for(workers: int | None, cluster: str | None) -> Iterator[Any]:
    """A client of the workers that are asked for, for a ``with`` block."""
    from structlearn.distributed.local import scheduler_at, workers_here

    if cluster is None:
        with workers_here(workers or 1) as client:
            yield client
        return
    waiting = threading.Timer(PATIENCE, typer.echo, [f"waiting for {cluster} …"], {"err": True})
    waiting.start()
    try:
        with scheduler_at(cluster) as client:
            waiting.cancel()
            yield client
    finally:
        waiting.cancel()


@contextmanager
def files_done(doing: str, *, shown: bool) -> Iterator[Callable[[int, int], None]]:
    """A line on the terminal that says how many files are done."""
    told = False

    def tell(n_done: int, n: int) -> None:
        nonlocal told
        told = shown
        if shown:
            typer.echo(f"\r{doing}: {n_done:,} of {n:,} files", err=True, nl=False)

    try:
        yield tell
    finally:
        if told:
            typer.echo(err=True)
