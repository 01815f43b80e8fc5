"""Where the files of published data sets are looked for, and how a damaged one is reported."""

import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray


def find_file(dataset: str, name: str, home: str) -> Path:
    """Path of the file `name` of a data set.

    Parameters
    ----------
    dataset : str
        Subfolder of the data folder.
    name : str
        File name expected in that subfolder.
    home : str
        Public address of the data set, for the error message.

    Raises
    ------
    FileNotFoundError
        If the file is neither in ``$STRUCTLEARN_DATA`` nor in the user's cache.
    """
    configured = os.environ.get("STRUCTLEARN_DATA")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "structlearn"
    folders = [Path(configured), cache] if configured else [cache]
    for folder in folders:
        path = folder / dataset / name
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"{dataset}/{name} was not found in $STRUCTLEARN_DATA ({configured or 'not set'}) "
        f"nor in the cache ({cache}). The data set's home is {home}"
    )


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever a truncated or foreign file provokes into a ValueError that names the file."""
    try:
        yield
    except (
        ValueError,
        LookupError,
        EOFError,
        zlib.error,
        gzip.BadGzipFile,
        lzma.LZMAError,
        zipfile.BadZipFile,
        tarfile.TarError,
        ElementTree.ParseError,
    ) as error:
        raise ValueError(f"{path} is damaged or is not the expected file: {error}") from error


def arrays_of(path: Path, *names: str) -> list[NDArray[Any]]:
    """Arrays of an .npz archive, by name; one that is pickled is refused."""
    with path.open("rb") as file:
        archive = np.load(file)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise ValueError("it is not an .npz archive")
        with archive:
            return [archive[name] for name in names]
