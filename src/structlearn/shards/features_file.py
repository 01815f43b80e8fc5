"""What made the features of a corpus, beside it: a fitted transformer, and the format of the files it was made from."""

from __future__ import annotations

import json
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.persistence import container
from structlearn.persistence.codec import check_sizes, decode, encode
from structlearn.persistence.steps import decode_step, encode_step

NAME = "features.safetensors"
_KIND = "structlearn.features"


def write_features(folder: Path, features: Any, reader: Any = None) -> str:
    """Writes them, or compares them with those that are there; returns the digest of the file."""
    tensors: dict[str, npt.NDArray[Any]] = {}
    encoded = encode_step("features", features, tensors)
    metadata = {"version": 1, "features": encoded, "reader": encode(reader, "the reader", tensors)}
    if not (folder / NAME).exists():
        container.write(folder / NAME, _KIND, metadata, tensors)
        return _digest(folder)
    known, arrays = container.read(folder / NAME, _KIND, what="file of features")
    same = known == json.loads(json.dumps(metadata)) and set(arrays) == set(tensors)
    if not same or not all(np.array_equal(arrays[name], tensors[name]) for name in tensors):
        raise ValueError(f"{folder} was begun with other features; give another folder, or remove it")
    return _digest(folder)


def read_features(folder: Path, digest: str) -> tuple[Any, Any]:
    """The transformer and the format of the file with that digest; never runs code from it."""
    path = folder / NAME
    if _digest(folder) != digest:
        raise ValueError(f"{path} is not the one that the corpus was written with: it has another digest")
    metadata, tensors = container.read(path, _KIND, what="file of features")
    if metadata["version"] != 1 or set(metadata) != {"version", "features", "reader"}:
        raise ValueError(f"{path} was written by another version of the library")
    try:
        check_sizes(metadata, tensors)
        features = decode_step(path, "features", metadata["features"], tensors, {})
        reader = decode(metadata["reader"], tensors)
    except Exception as error:  # whatever values that were written on purpose make the classes do
        raise ValueError(f"{path} is damaged or edited: {error}") from None
    if not hasattr(features, "transform"):
        raise ValueError(f"{path} holds a {type(features).__name__}, which makes no features")
    return features, reader


def _digest(folder: Path) -> str:
    return blake2b((folder / NAME).read_bytes(), digest_size=16).hexdigest()
