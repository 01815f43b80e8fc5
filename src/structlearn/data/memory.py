"""Memory: how much a user grants, and how much the machine has."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from structlearn.data.options import whole_option
from structlearn.wording import shown

_UNITS = {"": 1} | {f"{letter}b": 1000**k for k, letter in enumerate(("", "k", "m", "g", "t"))}
_UNITS |= {f"{letter}ib": 1024**k for k, letter in enumerate(("k", "m", "g", "t"), 1)}
_MEMINFO = Path("/proc/meminfo")
#: Where the limit of a container stands, and what it takes of it: control groups of version 2, then of version 1.
_CONTAINERS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes"),
)


def memory_option(name: str, value: Any) -> int | None:
    """A number of bytes above zero, also as text with a unit; None stays None.

    >>> memory_option("max_memory", "2GB"), memory_option("max_memory", "1.5 GiB"), memory_option("max_memory", 4096)
    (2000000000, 1610612736, 4096)
    >>> memory_option("max_memory", "lots")
    Traceback (most recent call last):
    ...
    ValueError: max_memory is 'lots'; it must be a number of bytes, or text such as '500MB' or '2GiB'
    """
    if value is None:
        return None
    if not isinstance(value, str):
        return whole_option(name, value, 1)
    found = re.fullmatch(r"\s*(\d{1,18}(?:\.\d{1,9})?)\s*([a-z]*)\s*", value.lower(), re.ASCII)
    if found is None or found[2] not in _UNITS:
        raise ValueError(f"{name} is {shown(value)}; it must be a number of bytes, or text such as '500MB' or '2GiB'")
    return whole_option(name, int(float(found[1]) * _UNITS[found[2]]), 1)


def available_memory() -> int | None:
    """Bytes that this process could still take; all that the machine has where only that is known, or None.

    Linux tells what is available; a container may have less.
    """
    found = [number for number in (_of_the_system(), *(_left(*files) for files in _CONTAINERS)) if number is not None]
    return min(found, default=None)


def _of_the_system() -> int | None:
    try:
        return 1024 * int(re.findall(r"^MemAvailable:\s+(\d+) kB", _MEMINFO.read_text(), re.MULTILINE)[0])
    except (OSError, IndexError):
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no such function
        return None


def _left(folder: Path, limit: str, taken: str) -> int | None:
    try:
        left = int((folder / limit).read_text()) - int((folder / taken).read_text())
        # Files that were read stay in memory, and count as taken, until the room is needed.
        files = re.findall(r"^(?:total_)?inactive_file (\d+)", (folder / "memory.stat").read_text(), re.MULTILINE)
    except (OSError, ValueError):  # no container, or the word "max"
        return None
    return max(0, left + int(max(files, key=int, default="0")))
