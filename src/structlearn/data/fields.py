"""Checks of single fields of values that anybody could have written into a file."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

#: Sizes and numbers of columns go to the kernels as 32-bit integers.
LARGEST = 2**31 - 1


def check_whole(name: str, value: Any, least: int = 0, most: int = LARGEST) -> None:
    """
    >>> check_whole("n_inputs", -1)
    Traceback (most recent call last):
    ...
    ValueError: n_inputs is -1; it must be a whole number from 0 to 2147483647
    """
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"{name} is {value!r}; it must be a whole number from {least} to {most}")


def check_flag(name: str, value: Any) -> None:
    if type(value) is not bool:
        raise ValueError(f"{name} is {value!r}; it must be True or False")


def check_tuple(name: str, value: Any, kind: type = object) -> None:
    """A tuple of values of this kind; a bool is no int."""
    if not isinstance(value, tuple):
        raise ValueError(f"{name} is a {type(value).__name__}, not a tuple")
    for k, item in enumerate(value):
        if not isinstance(item, kind) or (kind is int and type(item) is not int):
            raise ValueError(f"{name}[{k}] is {item!r}, not of type {kind.__name__}")


def check_distinct(name: str, values: Iterable[Any]) -> None:
    """Values that can be looked up, none of them twice."""
    seen: set[Any] = set()
    for k, value in enumerate(values):
        if not _is_hashable(value):
            raise ValueError(f"{name}[{k}] is {value!r}, which is no label")
        if value in seen:
            raise ValueError(f"{name}[{k}] is {value!r}, which {name} has before")
        seen.add(value)


def check_within(name: str, values: Iterable[Any], begin: int, end: int) -> None:
    """Whole numbers from `begin` to before `end`."""
    for k, value in enumerate(values):
        if type(value) is not int or not begin <= value < end:
            raise ValueError(f"{name}[{k}] is {value!r}; it must be a whole number ≥ {begin} and < {end}")


def _is_hashable(value: Any) -> bool:
    return isinstance(value, Hashable) and not (isinstance(value, tuple) and not all(map(_is_hashable, value)))
