"""Predictions for many files by the workers of a cluster: each file whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any

from structlearn.annotation.files import annotate, annotated_name
from structlearn.distributed.files import Progress, files_of, model_of, on_files
from structlearn.io.paths import Given
from structlearn.persistence import atomic

#: Writes what is wanted of a file: write(estimator, reader, file, target).
Write = Callable[[Any, Any, str, str], None]


def predict_files(
    client: Any,
    model: Any,
    files: Given,
    folder: str | os.PathLike[str],
    *,
    format: Any = None,
    encoding: str = "utf-8",
    patience: float = 60.0,
    progress: Progress | None = None,
) -> list[Path]:
    """Writes files with predictions, as ``structlearn predict`` does, by workers that see the files and the folder.

    The model travels once to each worker. Of a worker that is lost, others do the files again. A file appears in the
    folder when all of it is written; the first one that cannot be read ends the run, and those that are done stay.

    Parameters
    ----------
    client : distributed.Client
    model : path or fitted estimator
        A model file, or what `load` gives for one.
    files : path, list of paths
        A pattern such as ``"files/*.conll"``, a folder, or a list of such.
    folder : path
        Where files of the same names are written, without ``.gz`` and the like: text is not packed.
    format : Format or str, optional
        Of the files; left out, that of the model, or recognised.
    encoding : str
    patience : float
        Seconds for which the cluster may be without any worker.
    progress : callable, optional
        Called with the number of files that are done, and of all.

    Returns
    -------
    list of Path
        The files that were written, in the order of those that were read.
    """
    estimator, reader = model_of(model)
    listed = files_of(files)
    write = partial(annotate, format=format, encoding=encoding)
    names = [annotated_name(reader, file) for file in listed]
    return write_files(client, (estimator, reader), listed, names, Path(folder), write, patience, progress)


def write_files(
    client: Any,
    model: tuple[Any, Any],
    files: Sequence[str],
    names: Sequence[str],
    folder: Path,
    write: Write,
    patience: float = 60.0,
    progress: Progress | None = None,
) -> list[Path]:
    """Writes what is wanted of each file under its name into a folder, which is made."""
    targets = [Path(os.path.abspath(folder)) / name for name in names]
    atomic.check_folder(folder)
    _check_targets(files, targets)
    made = not folder.exists()
    folder.mkdir(exist_ok=True)
    # What is not whole yet lies there, so that nobody meets it and all of it can be removed.
    begun = Path(os.path.abspath(folder)) / f".structlearn-{secrets.token_hex(8)}"
    begun.mkdir()
    named = dict(zip(files, map(str, targets), strict=True))
    try:
        shared = model, write, named, str(begun)
        with closing(on_files(client, files, _write, shared, patience=patience)) as answers:
            for n_done, (k, _) in enumerate(answers, 1):
                if not targets[k].is_file():
                    raise FileNotFoundError(f"a worker wrote {targets[k]}, which is not there here: is it shared?")
                if progress is not None:
                    progress(n_done, len(files))
    finally:
        _remove(begun)
        if made:
            with suppress(OSError):
                # Where it is empty.
                folder.rmdir()
    return targets


def _write(shared: Any, file: str) -> None:
    """What a worker does with a file."""
    (estimator, reader), write, targets, begun = shared
    if not Path(begun).is_dir():
        raise FileNotFoundError(f"the folder {Path(begun).parent} is not there on this worker")
    # The scheduler may think a worker lost that is not: two may write the same.
    whole = f"{begun}/{secrets.token_hex(8)}"
    write(estimator, reader, file, whole)
    Path(whole).replace(targets[file])


def _check_targets(files: Sequence[str], targets: Sequence[Path]) -> None:
    by_target: dict[Path, str] = {}
    for file, target in zip(files, targets, strict=True):
        if target in by_target:
            raise ValueError(f"{by_target[target]} and {file} would both be written to {target}")
        by_target[target] = file
    read = {(found.st_dev, found.st_ino) for found in map(os.stat, files)}
    for target in targets:
        if target.exists():
            if ((found := target.stat()).st_dev, found.st_ino) in read:
                raise ValueError(f"{target} is a file that is read; give another folder")
            atomic.check_writable(target)


def _remove(begun: Path) -> None:
    """Removes a folder in which workers may still begin a file."""
    for _ in range(10):
        shutil.rmtree(begun, ignore_errors=True)
        if not begun.exists():
            return
