"""Files as they were, with what a fitted estimator predicts: beside each example, or in the place of its output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from structlearn.annotation.examples import as_labels, batches, places
from structlearn.features.template_columns import Vocabulary
from structlearn.features.templates import Field
from structlearn.io.beside import beside
from structlearn.io.columns import Columns
from structlearn.io.compression import PACKED
from structlearn.io.format import Example, Format, Reader
from structlearn.io.formats import format_of, image_reader, preferred
from structlearn.io.images import ImageReader
from structlearn.io.text import Lines, open_text, text_writer
from structlearn.persistence import atomic
from structlearn.persistence.model_file import steps_of

#: Gives examples with their predictions, as `beside` takes them.
Predicting = Callable[[Any, Any, Iterator[Example]], Iterable[tuple[Example, Any]]]


def annotate(
    estimator: Any,
    reader: Reader | None,
    source: str,
    target: str,
    *,
    format: Reader | str | None = None,
    encoding: str = "utf-8",
) -> None:
    """Writes a file with predictions, whole or not at all.

    Parameters
    ----------
    estimator : fitted estimator
    reader : Reader or None
        How the files looked that it learnt from.
    source, target : str
    format : Reader or str, optional
        Of the file, if it is another one.
    encoding : str
        Of both files.
    """
    given = None if reader is None else reader.before_predictions()
    wanted = format.before_predictions() if isinstance(format, Reader) else format
    if isinstance(given, ImageReader):
        annotate_images(estimator, given, Path(source), Path(target))
        return
    with atomic.writing(Path(target)) as file, kept(source, wanted, encoding, given) as (form, lines):
        write = text_writer(file, encoding)
        for text in annotated(estimator, form, lines):
            write(text)


def annotate_images(estimator: Any, reader: ImageReader, source: Path, target: Path) -> None:
    """Writes labels for the images of a file."""
    image_reader(source, reader)
    atomic.check_writable(target)
    if target.exists() and target.samefile(source):
        raise ValueError(f"{target} is the file that is read; give the output another name")
    examples = list(reader.read_file(source))
    with places(examples):
        labels = estimator.predict([example.x for example in examples])
    with atomic.writing(target) as stream:
        reader.write_file(source, labels, stream)


def annotated_name(reader: Reader | None, file: str) -> str:
    """What a file with predictions is called in a folder of such; text is written as it is, not packed.

    >>> annotated_name(None, "files/a.conll.gz")
    'a.conll'
    """
    path = Path(file)
    if isinstance(reader, ImageReader):
        return reader.written_name(path)
    return path.stem if path.suffix.lower() in PACKED else path.name


@contextmanager
def kept(file: str, wanted: Reader | str | None, encoding: str, given: Reader | None) -> Iterator[tuple[Format, Lines]]:
    """The format of a file, `given` unless another one is wanted, and its lines, which are kept as they were."""
    with open_text(file, encoding, keep=True) as lines:
        yield format_of(lines, **preferred(wanted, given)), lines


def predicted(estimator: Any, reader: Reader, examples: Iterator[Example]) -> Iterator[tuple[Example, Any]]:
    """Examples with their predictions, as labels of files."""
    for batch in batches(examples):
        if isinstance(reader, Columns) and batch[0].y is None:
            _check_last_input(estimator, reader, batch)
        with places(batch):
            outputs = as_labels(estimator, estimator.predict([example.x for example in batch]))
        yield from zip(batch, outputs, strict=True)


def annotated(estimator: Any, form: Format, lines: Lines, predicting: Predicting = predicted) -> Iterator[str]:
    """The text of a file as it was, with predictions."""
    return beside(lines, form, predicting(estimator, form, form.read(lines)))


def _check_last_input(estimator: Any, reader: Columns, batch: Sequence[Example]) -> None:
    """Refuses labels in the place of the last input: lines may lack their label, but no other column."""
    steps, last = steps_of(estimator)
    name = reader.inputs[-1]
    numbering = getattr(steps[0][1], "numbering_", None) if steps else None
    known = numbering.texts.get((Field(name, "", 0),)) if isinstance(numbering, Vocabulary) else None
    if len(reader.inputs) == 1 or not known:
        return
    values = {token[-1] for example in batch for token in example.x}
    labels = values & set(map(str, last.classes_))
    if len(labels) > len(values & set(known)):
        n, shown = len(reader.columns), ", ".join(sorted(labels - set(known))[:3])
        raise ValueError(
            f"{batch[0].place}: column {reader.columns.index(name) + 1} of {n} holds labels ({shown}) where the model "
            f"has {name!r}; it learnt from {n + 1} columns, of which only the label may be left out"
        )
