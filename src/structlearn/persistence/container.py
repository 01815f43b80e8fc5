"""The files of this library: arrays in safetensors, the rest as JSON in its header, and a digest of all of it.

A file that was cut short, damaged or edited does not have the digest that it states, and is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load, save

from structlearn.persistence import atomic

Tensors = Mapping[str, npt.NDArray[Any]]

_DIGEST = b'"digest":"'
_LENGTH = 64


def write(path: Path, kind: str, metadata: dict[str, Any], tensors: Tensors) -> None:
    """Writes a file of a kind, such as "structlearn" for models, whole or not at all."""
    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    data = bytearray(save(contiguous, {kind: json.dumps(metadata), "digest": "0" * _LENGTH}))
    place = _digest_place(data)
    data[place : place + _LENGTH] = _digest(data).encode()
    atomic.write(path, bytes(data))


def read(path: Path, kind: str, *, what: str) -> tuple[dict[str, Any], Tensors]:
    """The metadata and the arrays of a file; `what` it should be is for the message that it is not."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    data = bytearray(path.read_bytes())
    try:
        header = json.loads(data[8 : _end_of_header(data)])
        texts = header.get("__metadata__", {})
        text, stated = texts.get(kind), texts.get("digest")
    except (ValueError, AttributeError, RecursionError, OverflowError):
        raise ValueError(f"{path} is no {what}, or it is damaged or cut short (it has no readable header)") from None
    if not isinstance(text, str):
        raise ValueError(f"{path} is a safetensors file, but not a {what}")
    if stated is not None and not _has_digest(data, stated):
        raise ValueError(f"{path} is damaged, cut short or edited: its contents do not have the digest it states")
    try:
        metadata = json.loads(text)
        tensors = load(bytes(data))
    except Exception as error:  # whatever a header that was written on purpose makes the two parsers do
        raise ValueError(f"{path} is no {what}, or it is damaged or cut short ({error})") from None
    if not isinstance(metadata, dict) or type(metadata.get("version")) is not int or metadata["version"] < 1:
        raise ValueError(f"{path} is no {what}: its header does not state a version")
    if stated is None and metadata["version"] > 1:
        raise ValueError(f"{path} is damaged or edited: it states no digest")
    return metadata, tensors


def _end_of_header(data: bytearray) -> int:
    return 8 + int.from_bytes(data[:8], "little")


def _has_digest(data: bytearray, stated: Any) -> bool:
    place = _digest_place(data)
    if place < 0:
        return False
    data[place : place + _LENGTH] = b"0" * _LENGTH
    return bool(_digest(data) == stated)


def _digest_place(data: bytearray) -> int:
    # Quotation marks inside the other texts of the header are escaped, so this is found nowhere else.
    found = data.find(_DIGEST, 8, _end_of_header(data))
    return found if found < 0 else found + len(_DIGEST)


def _digest(data: bytearray) -> str:
    return blake2b(data, digest_size=_LENGTH // 2).hexdigest()
