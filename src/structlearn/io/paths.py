"""Which files are meant by a path, a pattern, or a folder that stands for all its files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import glob
from pathlib import Path

from structlearn.io.formats import without_companions

#: A path, a pattern such as ``"corpus/*.conll"``, a folder, or a list of such.
Given = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def in_folder(folder: str | os.PathLike[str]) -> list[str]:
    """The files of a folder in the order of their names, without hidden ones and folders."""
    paths = sorted(path for path in Path(folder).iterdir() if path.is_file() and not path.name.startswith("."))
    found = list(map(str, without_companions(paths)))
    if not found:
        raise ValueError(f"{folder} is a folder without files")
    return found


def matching(given: Given) -> list[str]:
    """The files that are meant, each of them once; a pattern that no file matches is refused.

    >>> matching("/no/such/folder/*.conll")
    Traceback (most recent call last):
    ...
    FileNotFoundError: no file matches /no/such/folder/*.conll
    """
    each = [given] if isinstance(given, (str, os.PathLike)) else given
    return list(dict.fromkeys(path for one in each for path in _matching(os.fspath(one))))


def _matching(given: str) -> list[str]:
    if Path(given).is_dir():
        return in_folder(given)
    if Path(given).exists():
        return [given]
    found = list(map(str, without_companions([Path(path) for path in sorted(glob(given)) if not Path(path).is_dir()])))
    if not found:
        raise FileNotFoundError(f"no file matches {given}")
    return found
