"""Predictions as text for people: pictures, or a table of latent parts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from structlearn.cli.predictions.distributions import Writer
from structlearn.io.format import Example, Reader
from structlearn.persistence.model_file import steps_of


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
