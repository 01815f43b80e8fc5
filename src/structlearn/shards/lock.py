"""One writer at a time in a folder of shards."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

#: A file that is locked, and there, only while somebody writes.
NAME = ".writing"
#: What systems answer whose files cannot be locked.
_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)


@contextmanager
def claimed(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder, made if it is not there, in which nobody else writes meanwhile; refused at once if somebody does.

    The lock ends with its process, however that ends.
    """
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is there already and is no folder; give the name of a new one")
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    lock = _locked(folder)
    try:
        yield folder
    finally:
        (folder / NAME).unlink(missing_ok=True)
        lock.close()
        if made:
            # Only if nothing was written.
            with suppress(OSError):
                folder.rmdir()


def _locked(folder: Path) -> IO[bytes]:
    # Reading needs no locks, which not all systems have.
    import fcntl

    while True:
        file = open(folder / NAME, "ab")  # noqa: SIM115
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise BlockingIOError(
                f"{folder} is being written by another process; wait for its end, or give another folder"
            ) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                file.close()
                raise
            return file
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), os.stat(folder / NAME)):
                return file
        # Its last owner has removed it after it was opened here.
        file.close()
