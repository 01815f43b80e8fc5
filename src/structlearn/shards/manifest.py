"""What a folder of shards holds, as its manifest says: JSON, read strictly."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from structlearn.contract import library_version
from structlearn.data.arrays import IntArray
from structlearn.data.fields import check_distinct, check_tuple
from structlearn.data.ragged import offsets_of
from structlearn.persistence import atomic
from structlearn.persistence.codec import decode, encode

FORMAT = "structlearn shards"
VERSION = 1
NAME = "manifest.json"
#: What an entry of each array stands for, and whether there is one more, as there is where the others begin and end.
ARRAYS = {
    "row_starts": ("tokens", 1),
    "columns": ("entries", 0),
    "values": ("entries", 0),
    "offsets": ("examples", 1),
    "labels": ("tokens", 0),
}
#: Labels with the codes in which they were found, while it is not known which others there are.
FOUND_LABELS = "found_labels"


def is_corpus(folder: Path) -> bool:
    """Whether shards were written there, be they whole or not; other folders may have a file of that name as well."""
    return (folder / NAME).is_file() and any((folder / f"{name}.bin").is_file() for name in ARRAYS)


def check_no_corpus(folder: Path) -> None:
    """Refuses shards in the place of files."""
    if is_corpus(folder):
        raise ValueError(
            f"{folder} was made by prepare, for train and evaluate: it holds features and no words; give the files of "
            "words that it was made of"
        )


@dataclass(frozen=True, slots=True)
class Shard:
    """How much of everything a shard has, and a digest of its part of every array."""

    examples: int
    tokens: int
    entries: int
    digests: dict[str, str]


@dataclass(frozen=True, slots=True)
class Manifest:
    """See `structlearn.shards.reading.Shards`; without `complete`, `classes` are in the order in which they came.

    `features` is the digest of the file of what made the features, if there is one.
    """

    complete: bool
    n_features: int
    dtype: str
    classes: tuple[Any, ...] = ()
    shards: tuple[Shard, ...] = ()
    source: str | None = None
    features: str | None = None
    library: str = ""

    @property
    def arrays(self) -> dict[str, tuple[str, int]]:
        """As `ARRAYS`, by the names of the files that there are now."""
        if self.complete:
            return ARRAYS
        return {FOUND_LABELS if name == "labels" else name: what for name, what in ARRAYS.items()}

    def begins(self, unit: str) -> IntArray:
        """Where each shard begins, counted in examples, tokens or entries, and where the last one ends."""
        return offsets_of([getattr(shard, unit) for shard in self.shards])

    def part(self, name: str, shard: int) -> slice:
        """The places of a shard in an array."""
        unit, more = self.arrays[name]
        begins = self.begins(unit)
        return slice(int(begins[shard]), int(begins[shard + 1]) + more)

    def length(self, name: str) -> int:
        """How many entries an array has."""
        unit, more = self.arrays[name]
        return int(self.begins(unit)[-1]) + more

    def dtype_of(self, name: str) -> np.dtype[Any]:
        return np.dtype({"columns": "<i4", "values": self.dtype}.get(name, "<i4" if "labels" in name else "<i8"))

    def nbytes(self, name: str) -> int:
        return self.length(name) * self.dtype_of(name).itemsize

    def write(self, folder: Path) -> None:
        """Whole or not at all, with a digest of its own."""
        values = _plain(replace(self, library=library_version())) | {"format": FORMAT, "version": VERSION}
        values["digest"] = _digest(values)
        atomic.write(folder / NAME, json.dumps(values, indent=1).encode())


def file_of(folder: Path, name: str) -> Path:
    return folder / f"{name}.bin"


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a folder, in which nothing is taken on trust but what only reading the arrays can tell."""
    path = folder / NAME
    if not path.is_file():
        raise FileNotFoundError(f"{folder} is no folder of shards: there is no {NAME} in it")
    try:
        values = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or cut short ({error})") from None
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError(f"{path} is not the manifest of shards of this library")
    if values.get("version") != VERSION:
        raise ValueError(f"{path} is of version {values.get('version')!r}; this version of the library reads {VERSION}")
    try:
        return _checked(values)
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError) as error:
        raise ValueError(f"{path} is damaged or edited: {error}") from None


def digest_of(manifest: Manifest) -> str:
    """One short text for a corpus: the same where all that is in it is the same."""
    return _digest(_plain(manifest))


def _plain(manifest: Manifest) -> dict[str, Any]:
    return asdict(manifest) | {"classes": [encode(label, "the label") for label in manifest.classes]}


def _checked(values: dict[str, Any]) -> Manifest:
    stated = values.pop("digest", None)
    if stated != _digest(values):
        raise ValueError("its contents do not have the digest that it states")
    del values["format"], values["version"]
    if set(values) != {field.name for field in fields(Manifest)}:
        raise ValueError(f"it has the fields {', '.join(sorted(values))}")
    if type(values["complete"]) is not bool or values["dtype"] not in ("<f4", "<f8"):
        raise ValueError(f"complete is {values['complete']!r} and dtype {values['dtype']!r}")
    for name in ("classes", "shards"):
        if type(values[name]) is not list:
            raise ValueError(f"{name} is no list")
    _check_whole("n_features", values["n_features"], np.iinfo(np.int32).max)
    texts = (values["source"] or "", values["features"] or "", values["library"])
    check_tuple("source, features and library", texts, str)
    classes = tuple(decode(values["classes"]))
    check_distinct("classes", classes)
    manifest = Manifest(**values | {"classes": classes, "shards": ()})
    shards = tuple(_shard(k, given, manifest.arrays) for k, given in enumerate(values["shards"]))
    if manifest.complete and not (shards and classes):
        raise ValueError("it is complete, but has no shards or no classes")
    return replace(manifest, shards=shards)


def _shard(k: int, given: Any, arrays: dict[str, Any]) -> Shard:
    where = f"shards[{k}]"
    if type(given) is not dict or set(given) != {field.name for field in fields(Shard)}:
        raise ValueError(f"{where} does not have the fields of a shard")
    for name in ("examples", "tokens", "entries"):
        _check_whole(f"{name} of {where}", given[name], 2**48)
    digests = given["digests"]
    if (
        type(digests) is not dict
        or set(digests) != set(arrays)
        or not all(type(text) is str for text in digests.values())
    ):
        raise ValueError(f"{where} does not have a digest for each of {', '.join(arrays)}")
    return Shard(**given)


def _check_whole(name: str, value: Any, most: int) -> None:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError(f"{name} is {value!r}; it must be a whole number ≥ 0 and ≤ {most}")


def _digest(values: dict[str, Any]) -> str:
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=16).hexdigest()
