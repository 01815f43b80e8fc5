"""Predictions for files of images, which are written as such files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from structlearn.cli import data
from structlearn.io.images import ImageReader
from structlearn.persistence import atomic


def write_images(estimator: Any, reader: ImageReader, file: str, output: str | None) -> None:
    """Writes labels for the images of a file to a file, for those of a folder into a folder."""
    if output is None or output == "-":
        raise ValueError(f"predictions for images are {reader.name} files: say where they go, by -o")
    target = Path(output)
    if not Path(file).is_dir():
        _write(estimator, reader, Path(file), target)
        return
    target.mkdir(exist_ok=True)
    for each in map(Path, data.in_folder(file)):
        _write(estimator, reader, each, target / reader.written_name(each))


def _write(estimator: Any, reader: ImageReader, source: Path, target: Path) -> None:
    from structlearn.io.formats import image_reader

    image_reader(source, reader)
    atomic.check_writable(target)
    if target.exists() and target.samefile(source):
        raise ValueError(f"{target} is the file that is read; give the output another name")
    examples = list(reader.read_file(source))
    with data.places(examples):
        labels = estimator.predict([example.x for example in examples])
    with atomic.writing(target) as stream:
        reader.write_file(source, labels, stream)
