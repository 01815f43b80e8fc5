"""Predictions as text: in the format of the file, as pictures, or as a table of latent parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from structlearn.cli import data
from structlearn.cli.predictions.distributions import Writer, with_probability
from structlearn.features.template_columns import Vocabulary
from structlearn.features.templates import Field
from structlearn.io.beside import beside
from structlearn.io.columns import Columns
from structlearn.io.format import Example, Format, Reader
from structlearn.io.text import Lines
from structlearn.persistence.model_file import steps_of


def annotated(estimator: Any, reader: Format, lines: Lines, *, with_probabilities: bool = False) -> Iterator[str]:
    """The text of a file as it was, with predictions, and how probable they are."""
    predicted = with_probability if with_probabilities else _predicted
    return beside(lines, reader, predicted(estimator, reader, reader.read(lines)))


def _predicted(estimator: Any, reader: Reader, examples: Iterator[Example]) -> Iterator[tuple[Example, Any]]:
    for batch in data.batches(examples):
        if isinstance(reader, Columns) and batch[0].y is None:
            _check_last_input(estimator, reader, batch)
        with data.places(batch):
            outputs = data.as_labels(estimator, estimator.predict([example.x for example in batch]))
        yield from zip(batch, outputs, strict=True)


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


def drawn(estimator: Any, reader: Reader, *, to_file: bool) -> Writer:
    """Pictures of the predictions, in colours if a terminal shows them."""
    from rich.console import Console

    from structlearn.evaluation import model_of

    steps, last = steps_of(estimator)
    model = model_of(last)
    screen = Console(no_color=True, force_terminal=False) if to_file else Console()

    def texts(batch: Sequence[Example]) -> Iterator[str]:
        X = _transformed(steps, [example.x for example in batch])
        latent = last.predict_latent(X) if hasattr(last, "predict_latent") else [None] * len(batch)
        return map(picture, batch, last.predict(X), latent)

    def picture(example: Example, y: Any, h: Any) -> str:
        drawing = model.latent_drawing(example.x, y, h, example.y, width=screen.width)
        if drawing is None:
            raise ValueError(f"--draw is not for {type(model).__name__}, whose outputs have no drawing")
        with screen.capture() as text:
            if reader.structure == "query":
                # Only the file knows which one it is.
                screen.print(reader.title(example), highlight=False, markup=False)
            screen.print(drawing, end="\n\n", soft_wrap=True)
        return text.get()

    return texts


def tabled(estimator: Any, reader: Reader) -> Writer:
    """A line for each example with its name, its prediction and its latent part; before the first, the headings."""
    steps, last = steps_of(estimator)
    if not hasattr(last, "describe_latent"):
        name = getattr(last, "model_", last).__class__.__name__
        told = f"--latent is for models whose outputs have latent parts; those of {name} have none"
        if hasattr(last, "complete"):
            told += ": what was not known in training were outputs themselves, and predictions have all of them"
        raise ValueError(told)
    headed = False

    def texts(batch: Sequence[Example]) -> Iterator[str]:
        nonlocal headed
        X = _transformed(steps, [example.x for example in batch])
        for example, y, row in zip(batch, last.predict(X), last.describe_latent(X), strict=True):
            if not headed:
                yield _line(["name", "predicted", *row])
                headed = True
            yield _line([reader.title(example), y, *row.values()])

    return texts


def _transformed(steps: Sequence[tuple[str, Any]], X: Any) -> Any:
    for _, step in steps[:-1]:
        X = step.transform(X)
    return X


def _line(values: Sequence[Any]) -> str:
    return "\t".join(map(_cell, values)) + "\n"


def _cell(value: Any) -> str:
    """Text and numbers as they are, nothing for None, all else as JSON.

    >>> _cell(0.123456789), _cell(None), _cell([("a", 1)]), _cell("a\\tb")
    ('0.123457', '', '[["a", 1]]', '"a\\\\tb"')
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    match value:
        case None:
            return ""
        case float():
            return f"{value:.6g}"
        case str() if value.isprintable():
            return value
    return json.dumps(value, ensure_ascii=False, default=str)
