"""Options as users give them: numbers and flags, which Python takes for each other."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def real_option(name: str, value: Any, *, positive: bool = False) -> float:
    """A finite number ≥ 0, or above it if it must be positive; a flag is none."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = float(value)
        if np.isfinite(number) and (number > 0 if positive else number >= 0):
            return number
    raise ValueError(f"{name} is {value!r}; it must be {'a positive number' if positive else 'a number ≥ 0'}")


def whole_option(name: str, value: Any, least: int) -> int:
    """A whole number; a flag is none."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < least:
        raise ValueError(f"{name} is {value!r}; it must be a whole number ≥ {least}")
    return int(value)


def flag_option(name: str, value: Any) -> bool:
    """True or False, or 1 or 0 for it, but no text."""
    if not isinstance(value, (bool, np.bool_, numbers.Integral)) or value not in (0, 1):
        raise ValueError(f"{name} is {value!r}; it must be True or False")
    return bool(value)
