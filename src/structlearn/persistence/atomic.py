"""Files that are there in full or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def check_writable(path: Path) -> None:
    """Refuses, before any work, a path where no file can be written."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} in")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is no ordinary file; it cannot be replaced by one")
    if not os.access(path.parent, os.W_OK):
        raise PermissionError(f"the folder {path.parent} is not writable; {path.name} cannot be written there")


def check_folder(path: Path) -> None:
    """Refuses, before any work, a folder in which no files can be written, nor made where there is none."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file; give the name of a folder")
    if not path.exists() and not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.absolute().parent} to make {path.name} in")
    if not os.access(path if path.exists() else path.absolute().parent, os.W_OK):
        raise PermissionError(f"no files can be written in {path}")


def write(path: Path, data: bytes) -> None:
    """Writes a whole file at once; see `writing`."""
    with writing(path) as file:
        file.write(data)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """A file beside the target that takes its name at the end: neither a full disk nor a crash leaves half a file.

    What was at `path` before stays there unless all was written.
    """
    check_writable(path)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(beside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        # An error that names a file is about another one.
        if isinstance(error, OSError) and error.filename is None:
            raise OSError(error.errno, f"{path} was not written: {error.strerror}") from error
        raise
