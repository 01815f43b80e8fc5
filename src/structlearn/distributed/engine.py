"""Dask, imported when it is asked for, and what must hold of the workers before any work."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

from structlearn.contract import library_version


def dask_distributed() -> ModuleType:
    try:
        return import_module("distributed")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"training on several machines needs {error.name}, which is not installed: pip install 'structlearn[dask]'",
            name=error.name,
        ) from None


def check_workers(client: Any, *, wait: float = 30.0) -> list[str]:
    """The addresses of the workers, refused if there are none or if one has another library or another Python."""
    distributed = dask_distributed()
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(f"client is a {type(client).__name__}; a distributed.Client that is not asynchronous is needed")
    try:
        client.wait_for_workers(1, timeout=wait)
    except TimeoutError:
        raise ConnectionError(f"the scheduler at {address_of(client)} has no workers after {wait:g} s") from None
    here = _versions()

    def versions() -> Any:
        # Sent as it is, since a worker may not have the library.
        import importlib.metadata
        import sys

        try:
            return importlib.metadata.version("structlearn"), sys.version_info[:2]
        except importlib.metadata.PackageNotFoundError:
            return None, sys.version_info[:2]

    found = client.run(versions)
    for worker, (library, python) in sorted(found.items()):
        if library is None:
            raise ConnectionError(f"the worker {worker} has no structlearn; this is {here[0]}")
        if (library, tuple(python)) != here:
            raise ConnectionError(
                f"the worker {worker} has structlearn {library} on Python {python[0]}.{python[1]}, but this is "
                f"{here[0]} on Python {here[1][0]}.{here[1][1]}"
            )
    return sorted(found)


def address_of(client: Any) -> str:
    return str(getattr(client.scheduler, "address", "an unknown address"))


def check_travels(what: str, value: Any) -> None:
    """Refuses, by name, what cannot be sent to a worker."""
    import cloudpickle

    try:
        cloudpickle.dumps(value)
    except Exception as error:  # whatever pickling an object of the user's may raise
        raise TypeError(f"{what} is a {type(value).__name__}, which cannot be sent to workers: {error}") from None


def _versions() -> tuple[str, tuple[int, int]]:
    return library_version(), sys.version_info[:2]
