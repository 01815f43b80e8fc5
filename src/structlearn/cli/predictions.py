"""Predictions as text: in the format of the file, as pictures, or as a table of latent parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from structlearn.estimators import LatentStructuralSVM
from structlearn.io.format import Example, Format
from structlearn.persistence.model_file import steps_of

#: Gives the texts of some examples with their predictions.
Writer = Callable[[Sequence[Example]], Iterator[str]]


def annotated(estimator: Any, reader: Format) -> Writer:
    """The examples as they were read, with predictions."""

    def texts(batch: Sequence[Example]) -> Iterator[str]:
        predicted = estimator.predict([example.x for example in batch])
        return map(reader.annotate, batch, predicted)

    return texts


def drawn(estimator: Any, reader: Format, *, to_file: bool) -> Writer:
    """Pictures of the predictions, in colours if a terminal shows them."""
    from rich.console import Console

    steps, last = steps_of(estimator)
    screen = Console(no_color=True, force_terminal=False) if to_file else Console()

    def texts(batch: Sequence[Example]) -> Iterator[str]:
        X = _transformed(steps, [example.x for example in batch])
        latent = last.predict_latent(X) if isinstance(last, LatentStructuralSVM) else [None] * len(batch)
        return map(picture, batch, last.predict(X), latent)

    def picture(example: Example, y: Any, h: Any) -> str:
        drawing = last.model_.latent_drawing(example.x, y, h, example.y, width=screen.width)
        if drawing is None:
            raise ValueError(f"--draw is not for {type(last.model_).__name__}, whose outputs have no drawing")
        with screen.capture() as text:
            if reader.structure == "query":
                # Only the file knows which one it is.
                screen.print(reader.title(example), highlight=False, markup=False)
            screen.print(drawing, end="\n\n", soft_wrap=True)
        return text.get()

    return texts


def tabled(estimator: Any, reader: Format) -> Writer:
    """A line for each example with its name, its prediction and its latent part; before the first, the headings."""
    steps, last = steps_of(estimator)
    if not isinstance(last, LatentStructuralSVM):
        raise ValueError(
            f"--latent is for models with latent parts; this is a {type(last).__name__} of {type(last.model_).__name__}"
        )
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
