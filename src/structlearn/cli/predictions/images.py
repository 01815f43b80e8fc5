"""Predictions for files of images, which are written as such files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structlearn.annotation.files import annotate_images
from structlearn.cli import data
from structlearn.io.images import ImageReader


def write_images(estimator: Any, reader: ImageReader, file: str, output: str | None) -> None:
    """Writes labels for the images of a file to a file, for those of a folder into a folder."""
    if output is None or output == "-":
        raise ValueError(f"predictions for images are {reader.name} files: say where they go, by -o")
    target = Path(output)
    if not Path(file).is_dir():
        annotate_images(estimator, reader, Path(file), target)
        return
    target.mkdir(exist_ok=True)
    for each in map(Path, data.files_of(file)):
        annotate_images(estimator, reader, each, target / reader.written_name(each))
