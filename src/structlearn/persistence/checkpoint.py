"""Checkpoints: where a run stood, in one file, and whose run it was."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from structlearn.contract import library_version
from structlearn.persistence import container
from structlearn.persistence.codec import check_sizes, decode, encode

KIND = "structlearn-checkpoint"
#: From 2 on, a file of this library must state its digest.
VERSION = 2


@dataclass(frozen=True, slots=True)
class Identity:
    """What must be the same for a run to go on; differences are named in this order.

    Attributes
    ----------
    options : dict
        Plain values by the name that a person gave them, such as ``C``.
    sizes : dict
        Numbers of what the data have, such as ``examples``.
    digests : dict
        Digests, or None, of what is too large to show, such as ``data``.
    """

    options: dict[str, Any]
    sizes: dict[str, int]
    digests: dict[str, str | None]

    def difference(self, saved: dict[str, Any]) -> str | None:
        """What was otherwise, in words."""
        for name, value in self.options.items():
            if saved["options"].get(name) != value:
                return f"with {name}={saved['options'].get(name)!r}, this run has {name}={value!r}"
        for name, size in self.sizes.items():
            if saved["sizes"].get(name) != size:
                return f"with {saved['sizes'].get(name)} {name}, this run has {size}"
        for name, digest in self.digests.items():
            if saved["digests"].get(name) != digest:
                return f"with other {name}"
        return None


def write(path: Path, identity: Identity, contents: Any) -> None:
    """Writes plain values and arrays, whole or not at all."""
    tensors: dict[str, Any] = {}
    metadata = {
        "version": VERSION,
        "library": library_version(),
        "identity": encode(asdict(identity), "parameter"),
        "contents": encode(contents, "state", tensors),
    }
    container.write(path, KIND, metadata, tensors)


def read(path: Path, identity: Identity) -> Any:
    """What was written, refused if it belongs to another run."""
    metadata, tensors = container.read(path, KIND, what="structlearn checkpoint")
    way_out = "delete it or give another path"
    if metadata.get("library") != library_version():
        raise ValueError(
            f"the checkpoint {path} was written by structlearn {metadata.get('library')}, this is "
            f"{library_version()}; {way_out}"
        )
    try:
        check_sizes(metadata, tensors)
        difference = identity.difference(decode(metadata["identity"]))
        contents = None if difference else decode(metadata["contents"], tensors)
    except Exception as error:
        raise damaged(path, error) from error
    if difference:
        raise ValueError(f"the checkpoint {path} was written {difference}; {way_out}")
    return contents


def damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(f"the checkpoint {path} is damaged ({type(error).__name__}: {error}); delete it")


def remove(path: Path) -> None:
    """Removes the file, and what a process that was killed while writing left beside it."""
    path.unlink(missing_ok=True)
    unfinished = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{8}}")
    for beside in path.parent.iterdir():
        if unfinished.fullmatch(beside.name):
            beside.unlink(missing_ok=True)
