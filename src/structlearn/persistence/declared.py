"""Whether the options that a file gives have the types that a class declares for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np


def check_declared(kind: type, options: Any) -> None:
    """Refuses an option whose value is nothing that its annotation allows.

    >>> from structlearn.models import Chain
    >>> check_declared(Chain, {"boundaries": "yes"})
    Traceback (most recent call last):
    ...
    ValueError: boundaries of Chain is 'yes', which is no bool
    """
    if not isinstance(options, dict) or not all(isinstance(name, str) for name in options):
        raise ValueError(f"the options of {kind.__name__} are no mapping of names")
    if not kind.__module__.startswith("structlearn."):
        return
    for name, hint in _hints(kind).items():
        if name in options and not _allows(hint, options[name]):
            said = getattr(hint, "__name__", str(hint)) if get_origin(hint) is None else str(hint)
            raise ValueError(f"{name} of {kind.__name__} is {options[name]!r:.80}, which is no {said}")


def _hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind.__init__)  # type: ignore[misc]
    except NameError:  # a name that is imported for type checkers only
        return {}


def _allows(hint: Any, value: Any) -> bool:
    """Of containers the kind is looked at, not what they hold; unknown annotations allow everything."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in arguments)
    if origin in (Union, UnionType):
        return any(_allows(one, value) for one in arguments)
    kind: Any = origin or hint
    if kind in (None, NoneType):
        return value is None
    if kind is bool:
        return isinstance(value, (bool, int)) and value in (0, 1)
    if kind is float:
        return isinstance(value, (int, float)) and abs(value) < 2**1023
    if kind is int:
        return isinstance(value, int) and abs(value) < 2**63
    if not isinstance(kind, type) or kind in (Any, object) or getattr(kind, "_is_protocol", False):
        return True
    if kind is Callable:
        return callable(value)
    if issubclass(kind, Mapping):
        return isinstance(value, dict)
    if issubclass(kind, Iterable) and kind is not str:
        return isinstance(value, (list, tuple, set, frozenset, np.ndarray, str, dict))
    return isinstance(value, kind)
