"""Images and labels of pixels as arrays of NumPy, in its files ``.npz``."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO, ClassVar

import numpy as np
import numpy.typing as npt

from structlearn.io.compression import HARMLESS_RATIO
from structlearn.io.format import Example
from structlearn.io.images import HARMLESS, ImageReader
from structlearn.io.text import quoted

#: Kinds of numbers, and of labels: no objects, which would have to be unpickled.
NUMBERS, LABELS = "biuf", "biuU"
#: Bytes of the description of an array, and what NumPy raises where it is none.
LONGEST_HEADER = 10_000
HEADER_ERRORS = (ValueError, SyntaxError, TypeError, RecursionError, MemoryError, OverflowError, TokenError)


@dataclass(frozen=True)
class ImageArrays(ImageReader):
    """What ``numpy.savez(path, images=X, labels=Y)`` writes.

    Images of one size are (n, rows, columns) or (n, rows, columns, channels). A file may also have one ``image``,
    (rows, columns) or (rows, columns, channels), so that a folder of files holds images of any sizes. ``labels`` are
    whole numbers or texts, (n, rows, columns) or (rows, columns), and may be left out. Other arrays are kept.
    Predictions take the place of labels. Nothing in a file is unpickled.
    """

    name: ClassVar[str] = "npz"
    suffix: ClassVar[str] = ".npz"

    def read_file(self, path: Path) -> Iterator[Example]:
        images, labels, single = _read(path)
        for i in range(len(images)):
            place = str(path) if single else f"{path}[{i}]"
            yield Example(images[i], None if labels is None else labels[i], 0, (), file=place)

    def write_file(self, source: Path, labels: Sequence[Any], target: BinaryIO) -> None:
        arrays = _arrays(source)
        found = np.array([np.asarray(each).tolist() for each in labels])
        arrays["labels"] = found[0] if "image" in arrays else found
        np.savez_compressed(target, **arrays)  # type: ignore[arg-type]


def _read(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any] | None, bool]:
    """Images and labels, both with an axis for images, and whether there is only one."""
    arrays = _arrays(path)
    keys = [key for key in ("image", "images") if key in arrays]
    if len(keys) != 1:
        told = "both" if keys else ", ".join(map(quoted, sorted(arrays))) or "nothing"
        raise ValueError(f"{path}: expected an array 'images' or one 'image', found {told}")
    single = keys == ["image"]
    images, labels = arrays[keys[0]], arrays.get("labels")
    if single:
        images, labels = images[None], None if labels is None else labels[None]
    lead = () if single else (len(images),)
    if images.ndim not in (3, 4) or 0 in images.shape:
        told = "rows, columns and perhaps channels" if single else "images, rows, columns and perhaps channels"
        raise ValueError(f"{path}: {keys[0]!r} has shape {(*lead, *images.shape[1:])}; expected {told}, none of them 0")
    if images.dtype.kind not in NUMBERS:
        raise ValueError(f"{path}: {keys[0]!r} has the type {images.dtype}; expected numbers")
    if labels is not None and labels.shape != images.shape[:3]:
        begin = 1 if single else 0
        found, expected = labels.shape[begin:], images.shape[begin:3]
        raise ValueError(f"{path}: 'labels' has shape {found}, but the pixels have {expected}")
    if labels is not None and labels.dtype.kind not in LABELS:
        raise ValueError(f"{path}: 'labels' has the type {labels.dtype}; expected whole numbers or texts")
    return images, labels, single


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    """All arrays of a file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            size, packed = (sum(getattr(each, name) for each in members) for name in ("file_size", "compress_size"))
            if size > HARMLESS and size > HARMLESS_RATIO * packed:
                raise ValueError(
                    f"{path}: the arrays unpack to {size:,} bytes, more than {HARMLESS_RATIO} times their size"
                )
            return {member.filename.removesuffix(".npy"): _array(archive, member, path) for member in members}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"{path}: this is no file of arrays: {str(error)[:200]}") from None


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> npt.NDArray[Any]:
    """An array, whose header is compared with the number of its bytes before any memory is taken."""
    name = member.filename.removesuffix(".npy")
    with archive.open(member) as file:
        try:
            shape, fortran, dtype = _header(file)
        except HEADER_ERRORS as error:
            raise ValueError(f"{path}: {quoted(name)} is no array: {str(error)[:200]}") from None
        if dtype.hasobject or dtype.kind not in NUMBERS + LABELS + "Sc":
            raise ValueError(f"{path}: {quoted(name)} has the type {dtype}; objects are not read")
        n, content = math.prod(shape), file.read()
    if min(shape, default=0) < 0 or n * dtype.itemsize != len(content):
        raise ValueError(
            f"{path}: {quoted(name)} has {len(content):,} bytes, which are not those of {shape} of {dtype}"
        )
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise ValueError(f"its version is {version}")
    found: tuple[tuple[int, ...], bool, np.dtype[Any]] = read(file, max_header_size=LONGEST_HEADER)
    return found
