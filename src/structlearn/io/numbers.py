"""Numbers in text files: decimal, finite, in ASCII."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from structlearn.io.text import quoted

# Every text is matched in one way only, so that a long one that does not match is given up in linear time.
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
#: Whole numbers up to here are told apart by floating point.
LARGEST_WHOLE = 2**53


def parse_number(text: str) -> float:
    """The number, which must be finite; ``nan``, ``inf``, ``0x1p3`` and ``1_000`` are none.

    >>> parse_number("-1.5e3"), parse_number(".5")
    (-1500.0, 0.5)
    """
    if NUMBER.fullmatch(text):
        value = float(text)
        if isfinite(value):
            return value
    raise ValueError(f"expected a finite number, found {quoted(text)}")


def write_number(value: Any) -> str:
    """The shortest text that gives the number back.

    >>> write_number(2.0), write_number(0.1), write_number(1e300)
    ('2', '0.1', '1e+300')
    """
    number = float(value)
    if not isfinite(number):
        raise ValueError(f"{number} cannot be written; only finite numbers can")
    return str(int(number)) if number.is_integer() and abs(number) < LARGEST_WHOLE else repr(number)
