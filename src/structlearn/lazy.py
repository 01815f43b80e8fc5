"""Names of a package that are imported when they are first asked for, so that nobody waits for what is not used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package whose public names are defined in its modules.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    homes : mapping
        From names to the modules that define them, within the package.

    Examples
    --------
    >>> find, _ = names("json", {"JSONDecoder": "decoder"})
    >>> find("JSONDecoder").__module__
    'json.decoder'
    """

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(f"{package}.{homes[name]}"), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, listed
