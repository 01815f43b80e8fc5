"""Writing shards: one chunk of examples after another, so that what is there is whole at any moment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import LabelArray, digest
from structlearn.data.labels import LabelSequences, is_partial, observed_classes, partial_label, read_label_sequences
from structlearn.data.matrices import check_squares
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.data.tokens.sequences import Sequences, entry_names, read_sequences
from structlearn.persistence import atomic
from structlearn.shards import features_file, lock, manifest
from structlearn.shards.lock import claimed
from structlearn.shards.manifest import FOUND_LABELS, Manifest, Shard, file_of, read_manifest
from structlearn.shards.reading import Shards, open_shards
from structlearn.wording import shown

_DTYPES = {"float32": "<f4", "float64": "<f8"}


def write_shards(
    chunks: Iterable[tuple[Any, Any]],
    path: str | os.PathLike[str],
    *,
    features: Any = None,
    dtype: Literal["float32", "float64"] = "float32",
    source: str | None = None,
    reader: Any = None,
    observe: Callable[[Shard], None] | None = None,
) -> Shards:
    """Writes sequences and their labels to a folder from which models are trained without holding them in memory.

    Every chunk becomes a shard and is in the files, whole, before the next one is asked for. If the disk is full, or
    the process is stopped, the shards so far stay, and the same call goes on after them; chunks that were written
    before are compared by their labels and then left out. While one process writes into a folder, others are refused.

    Parameters
    ----------
    chunks : iterable of (X, Y)
        Some thousand sequences each, as `structlearn.models.Chain` takes them, but for features by name: these need
        `features` that know all names.
    path : path
        A folder, which is made if it is not there.
    features : fitted transformer, optional
        Makes features of every X, such as a `TextFeatures` that has learnt. It is kept beside the corpus.
    dtype : {"float32", "float64"}
        How features are kept; numbers that single precision does not hold exactly are refused there.
    source : str, optional
        What the chunks are from. A call that goes on must say the same.
    reader : Format, optional
        How files look that `features` are made for, for the command line.
    observe : callable, optional
        Is told of every shard that was written.

    Returns
    -------
    Shards

    Examples
    --------
    >>> import tempfile
    >>> from structlearn.features import TextFeatures
    >>> words = TextFeatures(["word[0]", "word.suffix2[0]"], n_hashed=1000)
    >>> chunks = [([["the", "dog"]], [["DET", "NOUN"]]), ([["dogs", "sleep"]], [["NOUN", "VERB"]])]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_shards(chunks, f"{folder}/corpus", features=words.fit(chunks[0][0])).classes
    ('DET', 'NOUN', 'VERB')
    """
    if dtype not in _DTYPES:
        raise ValueError(f"dtype is {dtype!r}; it may be 'float32' or 'float64'")
    with claimed(path) as folder:
        return write_claimed(
            chunks, folder, features=features, dtype=dtype, source=source, reader=reader, observe=observe
        )


def write_claimed(
    chunks: Iterable[tuple[Any, Any]],
    folder: Path,
    *,
    features: Any = None,
    dtype: Literal["float32", "float64"] = "float32",
    source: str | None = None,
    reader: Any = None,
    observe: Callable[[Shard], None] | None = None,
) -> Shards:
    """`write_shards` into a folder that is `claimed`."""
    writer = _Writer(folder, _begun(folder, Manifest(False, 0, _DTYPES[dtype], source=source)))
    if features is not None:
        writer.manifest = replace(writer.manifest, features=features_file.write_features(folder, features, reader))
    finished = len(writer.manifest.shards)
    for k, chunk in enumerate(chunks):
        if not (isinstance(chunk, (tuple, list)) and len(chunk) == 2):
            raise ValueError(f"chunk {k} is {shown(chunk)}; expected a pair (X, Y) of examples")
        X, Y = chunk
        try:
            labels = _labels(Y)
            if k < finished:
                writer.compare(k, labels)
                continue
            sequences = read_sequences(X if features is None else features.transform(X))
            shard = writer.add(sequences, labels)
        except ValueError as error:
            raise ValueError(f"chunk {k}: {error}") from error
        if observe is not None:
            observe(shard)
    writer.finish()
    return open_shards(folder)


def _begun(folder: Path, new: Manifest) -> Manifest:
    """The manifest of what is to be gone on with, or a new one, which is then in the folder."""
    if (folder / manifest.NAME).exists():
        found = read_manifest(folder)
        if found.complete:
            raise FileExistsError(f"{folder} holds a finished corpus; give another folder, or remove it")
        if (found.dtype, found.source) != (new.dtype, new.source):
            raise ValueError(
                f"{folder} was begun with dtype {found.dtype!r} from the source {found.source!r}, not with "
                f"{new.dtype!r} from {new.source!r}; give another folder, or remove it"
            )
        return found
    if any(path.name != lock.NAME for path in folder.iterdir()):
        raise FileExistsError(f"{folder} is there already and holds something else; give the name of a new folder")
    new.write(folder)
    return new


class _Writer:
    """The files of an unfinished corpus, as long as the manifest says."""

    def __init__(self, folder: Path, begun: Manifest):
        self.folder = folder
        self.manifest = begun
        self._codes = {label: code for code, label in enumerate(begun.classes)}
        self._cut()

    def compare(self, k: int, Y: LabelSequences) -> None:
        """Refuses to go on after other chunks than those that were written."""
        if digest(self._coded(Y)) != self.manifest.shards[k].digests[FOUND_LABELS]:
            raise ValueError(f"it has other labels than shard {k} in {self.folder}, which was written from it before")

    def add(self, X: Sequences, Y: LabelSequences) -> Shard:
        arrays = self._arrays(X, Y)
        n_features = X.tokens.shape[1]
        sizes = len(X), len(Y.flat), len(arrays["columns"])
        shard = Shard(*sizes, {name: digest(array) for name, array in arrays.items()})
        grown = replace(
            self.manifest,
            n_features=n_features,
            classes=tuple(self._codes),
            shards=(*self.manifest.shards, shard),
        )
        try:
            for name, array in arrays.items():
                self._append(name, array)
            grown.write(self.folder)
        except BaseException as error:
            # What a full disk, or Ctrl-C, left of this shard goes; those before it stay.
            self._cut()
            if isinstance(error, OSError):
                told = f"shard {len(self.manifest.shards)} of {self.folder} was not written: {error.strerror or error}"
                raise OSError(error.errno, f"{told}; the same call goes on after those before it") from error
            raise
        self.manifest = grown
        return shard

    def finish(self) -> None:
        """Gives labels the codes of sorted classes, and says that all is there."""
        if not self.manifest.shards:
            raise ValueError("there are no chunks; a corpus needs at least one")
        classes = observed_classes(self.manifest.classes)
        order = np.array([classes.index(label) for label in self.manifest.classes], np.int32)
        found = np.memmap(file_of(self.folder, FOUND_LABELS), "<i4", "r")
        shards = []
        with atomic.writing(file_of(self.folder, "labels")) as file:
            for k, shard in enumerate(self.manifest.shards):
                labels = order[found[self.manifest.part(FOUND_LABELS, k)]]
                file.write(labels.data)
                digests = {name: text for name, text in shard.digests.items() if name != FOUND_LABELS}
                shards.append(replace(shard, digests=digests | {"labels": digest(labels)}))
        replace(self.manifest, complete=True, classes=classes, shards=tuple(shards)).write(self.folder)
        file_of(self.folder, FOUND_LABELS).unlink()

    def _arrays(self, X: Sequences, Y: LabelSequences) -> dict[str, npt.NDArray[Any]]:
        """The arrays of a shard, with starts that go on from those before."""
        if X.names is not None:
            raise ValueError("X has features by name; without features=… that know all names they have no columns")
        known = self.manifest.n_features
        if known and X.tokens.shape[1] != known:
            raise ValueError(f"X has {X.tokens.shape[1]} features a token, but chunks before had {known}")
        Y.coded(Y.classes, X.offsets)
        check_squares(X.tokens, entry_names(X.offsets))
        tokens = TokenMatrix.from_matrix(X.tokens, intercept=False)
        dtype = self.manifest.dtype_of("values")
        if tokens.values.dtype.itemsize > dtype.itemsize:
            inexact = tokens.values[tokens.values != tokens.values.astype(dtype)][0]
            raise ValueError(f"X has the feature {inexact}, which single precision does not hold; give dtype='float64'")
        arrays = {
            "row_starts": tokens.indptr + int(self.manifest.begins("entries")[-1]),
            "columns": tokens.columns,
            "values": tokens.values,
            "offsets": X.offsets + int(self.manifest.begins("tokens")[-1]),
            FOUND_LABELS: self._coded(Y),
        }
        return {name: np.ascontiguousarray(array, self.manifest.dtype_of(name)) for name, array in arrays.items()}

    def _coded(self, Y: LabelSequences) -> LabelArray:
        """Labels by the order in which they are found."""
        codes = [self._codes.setdefault(label, len(self._codes)) for label in Y.classes]
        return np.asarray(np.array(codes, np.int32)[Y.flat])

    def _append(self, name: str, array: npt.NDArray[Any]) -> None:
        with open(file_of(self.folder, name), "ab") as file:
            # Where one shard ends, the next one begins.
            file.write(array[1 if self.manifest.arrays[name][1] and file.tell() else 0 :].data)
            file.flush()
            os.fsync(file.fileno())

    def _cut(self) -> None:
        """Brings all files to the length that the manifest says."""
        for name in self.manifest.arrays:
            path = file_of(self.folder, name)
            length = self.manifest.nbytes(name) if self.manifest.shards else 0
            if path.exists() and path.stat().st_size < length:
                raise ValueError(
                    f"{path} has {path.stat().st_size} bytes, but {length} were written: remove {self.folder}"
                )
            if length or path.exists():
                os.truncate(path, length)


def _labels(Y: Any) -> LabelSequences:
    labels = read_label_sequences(Y)
    for code, label in enumerate(labels.classes):
        if is_partial(label):
            i = int(np.searchsorted(labels.offsets, np.argmax(labels.flat == code), side="right")) - 1
            raise partial_label(f"Y[{i}]", label)
    return labels
