"""Reading shards: files mapped into memory, in the form in which models take sequences."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import digest
from structlearn.data.labels import LabelSequences
from structlearn.data.matrices import LARGEST_FEATURE
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences
from structlearn.shards import features_file
from structlearn.shards.manifest import ARRAYS, Manifest, digest_of, file_of, read_manifest
from structlearn.wording import count


def open_shards(path: str | os.PathLike[str]) -> Shards:
    """Opens a corpus that `write_shards` or ``structlearn prepare`` wrote.

    The manifest and the sizes of all files are checked at once, what is in them when it is first asked for: digests,
    and that every number is in its range, so that a file that anybody could have written can do no harm.

    Parameters
    ----------
    path : path
        The folder.

    Returns
    -------
    Shards
    """
    folder = Path(path)
    manifest = read_manifest(folder)
    if not manifest.complete:
        raise ValueError(
            f"{folder} is unfinished, with {count(len(manifest.shards), 'shard')} so far; what was writing it goes on "
            "from there when it is run again"
        )
    if manifest.features is not None and not (folder / features_file.NAME).is_file():
        raise FileNotFoundError(f"{folder / features_file.NAME} is missing, which the manifest of {folder} asks for")
    for name in ARRAYS:
        file = file_of(folder, name)
        size = file.stat().st_size if file.is_file() else None
        if size is None:
            raise FileNotFoundError(f"{file} is missing, which the manifest of {folder} asks for")
        if size != manifest.nbytes(name):
            raise ValueError(
                f"{file} has {size} bytes, but the manifest says {manifest.nbytes(name)}: cut short or changed; remove "
                f"{folder} and write it again"
            )
    return Shards(folder, manifest)


class Shards:
    """A corpus in files: what it has stands in memory only while it is used.

    `X` and `Y` are what estimators with a `Chain` take; the pages of the files that they point to come and go as the
    system sees fit. One shard alone, ``shards[k]``, is such a pair as well. Files must not change while they are open.

    Attributes
    ----------
    path : Path
    n_examples, n_tokens, n_features : int
    classes : tuple
        The labels, as far as they can be sorted, in that order.
    X : Sequences
        All sequences; each is a sparse matrix when it is asked for.
    Y : LabelSequences
        Their labels as codes among `classes`.
    features : transformer or None
        What made features of words, for a pipeline that predicts.

    Examples
    --------
    >>> import tempfile
    >>> from structlearn import StructuralSVM, open_shards, write_shards
    >>> from structlearn.models import Chain
    >>> chunks = [([[[1, 0], [0, 1]]], [["a", "b"]]), ([[[0, 1]], [[1, 0]]], [["b"], ["a"]])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = write_shards(chunks, folder)
    ...     corpus = open_shards(folder)
    ...     print(len(corpus), corpus.n_examples, corpus.n_tokens, corpus.classes)
    ...     svm = StructuralSVM(Chain(), C=10).fit(corpus.X, corpus.Y)
    2 3 4 ('a', 'b')
    >>> svm.predict([[[0, 1], [1, 0]]])
    [['b', 'a']]
    """

    def __init__(self, path: Path, manifest: Manifest):
        self.path = path
        self._manifest = manifest
        self._checked: set[int] = set()
        self._arrays = {name: _mapped(file_of(path, name), manifest, name) for name in ARRAYS}

    def __repr__(self) -> str:
        return f"<Shards {str(self.path)!r}: {self.n_examples} sequences, {self.n_tokens} tokens in {len(self)} shards>"

    def __len__(self) -> int:
        return len(self._manifest.shards)

    def __getitem__(self, k: int) -> tuple[Sequences, LabelSequences]:
        k = range(len(self))[k]
        return self.between(k, k + 1)

    def between(self, begin: int, end: int) -> tuple[Sequences, LabelSequences]:
        """Neighbouring shards as one, from `begin` to `end` − 1."""
        if not 0 <= begin < end <= len(self):
            raise IndexError(f"shards {begin} to {end - 1} are asked for, but there are {len(self)}")
        for k in range(begin, end):
            self._check(k)
        begins = self._manifest.begins("examples")
        X, Y = self._pair
        return X.between(begins[begin], begins[end]), Y.between(begins[begin], begins[end])

    @property
    def n_examples(self) -> int:
        return len(self._arrays["offsets"]) - 1

    @property
    def n_tokens(self) -> int:
        return len(self._arrays["labels"])

    @property
    def n_features(self) -> int:
        return self._manifest.n_features

    @property
    def classes(self) -> tuple[Any, ...]:
        return self._manifest.classes

    @property
    def identity(self) -> str:
        """A digest of what the manifest says, with those of all that is in the files."""
        return digest_of(self._manifest)

    @property
    def shard_sizes(self) -> list[int]:
        """How many tokens each shard has."""
        return [shard.tokens for shard in self._manifest.shards]

    @property
    def source(self) -> str | None:
        """What was said to be its source when it was written."""
        return self._manifest.source

    @property
    def X(self) -> Sequences:
        return self._all[0]

    @property
    def Y(self) -> LabelSequences:
        return self._all[1]

    @property
    def features(self) -> Any:
        return self._features_and_reader[0]

    @property
    def reader(self) -> Any:
        """The format of the files that it was made from, or None."""
        return self._features_and_reader[1]

    @property
    def _all(self) -> tuple[Sequences, LabelSequences]:
        for k in range(len(self)):
            self._check(k)
        return self._pair

    @cached_property
    def _features_and_reader(self) -> tuple[Any, Any]:
        digest = self._manifest.features
        return (None, None) if digest is None else features_file.read_features(self.path, digest)

    @cached_property
    def _pair(self) -> tuple[Sequences, LabelSequences]:
        """All of it, without a look at what is in it."""
        arrays = self._arrays
        tokens = TokenMatrix(arrays["row_starts"], arrays["columns"], arrays["values"], self.n_features)
        offsets = arrays["offsets"]
        return Sequences.made_of(tokens, offsets), LabelSequences(arrays["labels"], offsets, self.classes)

    def _check(self, k: int) -> None:
        """Refuses a shard that is not as it was written, or could not have been written."""
        if k in self._checked:
            return
        shard, manifest = self._manifest.shards[k], self._manifest
        for name in ARRAYS:
            part = self._arrays[name][manifest.part(name, k)]
            fault = "" if digest(part) == shard.digests[name] else "its contents do not have the digest of the manifest"
            fault = fault or self._fault(name, k, part)
            if fault:
                raise ValueError(f"shard {k} of {file_of(self.path, name)} is damaged or edited: {fault}")
        self._checked.add(k)

    def _fault(self, name: str, k: int, part: npt.NDArray[Any]) -> str:
        """What is wrong with the numbers of a part; the core follows them without a look."""
        if name in ("row_starts", "offsets"):
            below, least = ("entries", 0) if name == "row_starts" else ("tokens", 1)
            begins = self._manifest.begins(below)
            wrong = part[0] != begins[k] or part[-1] != begins[k + 1] or np.diff(part).min(initial=least) < least
            return f"it does not increase from {begins[k]} to {begins[k + 1]}" if wrong else ""
        if name == "values":
            # Not a number is not within any bounds.
            fits = not len(part) or (float(part.min()) >= -LARGEST_FEATURE and float(part.max()) <= LARGEST_FEATURE)
            return "" if fits else f"a value is no number between ±{LARGEST_FEATURE:g}"
        most = len(self.classes) if name == "labels" else self.n_features
        fits = not len(part) or (part.min() >= 0 and part.max() < most)
        return "" if fits else f"it has numbers that are not between 0 and {most - 1}"


def _mapped(file: Path, manifest: Manifest, name: str) -> npt.NDArray[Any]:
    if not manifest.length(name):
        return np.empty(0, manifest.dtype_of(name))  # nothing can be mapped of an empty file
    return np.asarray(np.memmap(file, manifest.dtype_of(name), "r"))
