"""Options as users give them: numbers and flags, which Python takes for each other."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Sequence
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np

from structlearn.wording import shown


def real_option(name: str, value: Any, *, positive: bool = False) -> float:
    """A finite number ≥ 0, or above it if it must be positive; a flag is none."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = _as_float(value)
        if np.isfinite(number) and (number > 0 if positive else number >= 0):
            return number
    raise ValueError(f"{name} is {shown(value)}; it must be {'a positive number' if positive else 'a number ≥ 0'}")


def whole_option(name: str, value: Any, least: int, most: int = 2**63 - 1) -> int:
    """A whole number; a flag is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"{name} is {shown(value)}; it must be a whole number ≥ {least}")
    if int(value) > most:
        raise ValueError(f"{name} is {shown(value)}; it must be a whole number from {least} to {most}")
    return int(value)


def flag_option(name: str, value: Any) -> bool:
    """True or False, or 1 or 0 for it, but no text."""
    if not isinstance(value, (bool, np.bool_, numbers.Integral)) or value not in (0, 1):
        raise ValueError(f"{name} is {shown(value)}; it must be True or False")
    return bool(value)


def jobs_option(name: str, value: Any) -> int:
    """How many threads: a number, −1 for all cores, −2 for all but one; None means one."""
    if value is None:
        return 1
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 0 < abs(int(value)) < 2**15:
        raise ValueError(f"{name} is {value!r}; give a number of threads, or -1 for all cores")
    n = int(value)
    return n if n > 0 else max(1, (os.cpu_count() or 1) + 1 + n)


_NUMERIC: dict[Any, Callable[[str, Any], Any]] = {
    bool: flag_option,
    int: lambda name, value: whole_option(name, value, 0),
    float: real_option,
}


def choice_option(name: str, value: Any, choices: Sequence[str | None]) -> None:
    """One of several words, or None where that is among them."""
    if not (value is None or isinstance(value, str)) or value not in choices:
        raise ValueError(f"{name} is {shown(value)}; it may be {_listed(choices)}")


def declared_option(name: str, value: Any, declared: Any) -> None:
    """A value of the type that a field declares, where that is made of numbers, flags, words and None.

    >>> declared_option("memory", "8", int)
    Traceback (most recent call last):
    ...
    ValueError: memory is '8'; it must be a whole number ≥ 0
    """
    kinds = get_args(declared) if get_origin(declared) in (Union, UnionType) else (declared,)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    numeric = [_NUMERIC[kind] for kind in kinds if kind in _NUMERIC]
    if len(numeric) + (len(words) > 0) + (NoneType in kinds) < len(kinds):
        return  # a type that is none of these
    if (value is None and NoneType in kinds) or (isinstance(value, str) and value in words):
        return
    if numeric:
        numeric[0](name, value)
    else:
        choice_option(name, value, words)


def _listed(choices: Sequence[str | None]) -> str:
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}" if others else last


def _as_float(value: Any) -> float:
    """A number as a float, infinite where no float is that large."""
    try:
        return float(value)
    except OverflowError:
        return np.inf
