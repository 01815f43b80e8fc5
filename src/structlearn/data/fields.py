"""Checks of single fields of values that anybody could have written into a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    """A tuple of values of exactly this type."""
    if not isinstance(value, tuple):
        raise ValueError(f"{name} is a {type(value).__name__}, not a tuple")
    if kind is object or set(map(type, value)) <= {kind}:
        return
    k = next(k for k, item in enumerate(value) if type(item) is not kind)
    raise ValueError(f"{name}[{k}] is {value[k]!r}, not of type {kind.__name__}")


def check_distinct(name: str, values: Iterable[Any]) -> None:
    """Values that can be looked up, none of them twice."""
    values = tuple(values)
    try:
        if len(set(values)) == len(values):
            return
    except TypeError as error:
        raise ValueError(f"{name} holds what is no label: {error}") from None
    first: dict[Any, int] = {}
    k = next(k for k, value in enumerate(values) if first.setdefault(value, k) < k)
    raise ValueError(f"{name}[{k}] is {values[k]!r}, which {name} has before")


def check_within(name: str, values: Sequence[Any], begin: int, end: int) -> None:
    """Whole numbers from `begin` to before `end`."""
    if set(map(type, values)) <= {int} and begin <= min(values, default=begin) and max(values, default=begin - 1) < end:
        return
    k = next(k for k, value in enumerate(values) if type(value) is not int or not begin <= value < end)
    raise ValueError(f"{name}[{k}] is {values[k]!r}; it must be a whole number ≥ {begin} and < {end}")
