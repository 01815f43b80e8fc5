"""Errors of a user's own code, with a note of what it was asked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def noted(call: str) -> Iterator[None]:
    """Adds to what is raised within, whatever its type, which call of the user's own code raised it.

    >>> try:
    ...     with noted("features(X[3], 'a')"):
    ...         {}["b"]
    ... except KeyError as error:
    ...     print(error, error.__notes__)
    'b' ["in features(X[3], 'a')"]
    """
    try:
        yield
    except Exception as error:
        error.add_note(f"in {call}")
        raise
