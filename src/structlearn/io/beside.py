"""Predictions beside their inputs: a file as it was, line by line, with the lines of examples annotated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from structlearn.io.format import Example, Format
from structlearn.io.text import MARK, Lines


def beside(lines: Lines, form: Format, predicted: Iterable[tuple[Example, Any]]) -> Iterator[str]:
    """The text of a file with predictions, piece by piece.

    Comments, blank lines and all others between examples stay as they were, and so do line ends and byte order marks.
    Where examples have no lines of their own, as the pairs of a family, there is nothing but predictions.

    Parameters
    ----------
    lines : Lines
        With ``keep=True``; the examples were read from them.
    form : Format
    predicted : iterable of (Example, y)

    Examples
    --------
    >>> from structlearn.io.columns import Columns
    >>> lines = Lines([b"-DOCSTART-\\n\\n\\nthe\\r\\ndog\\n\\n"], "new.txt", keep=True)
    >>> form = Columns()
    >>> "".join(beside(lines, form, ((example, ["D", "N"]) for example in form.read(lines))))
    '-DOCSTART-\\n\\n\\nthe D\\r\\ndog N\\n\\n'
    """
    own = True
    for example, y in predicted:
        try:
            text = form.annotate(example, y)
        except ValueError as error:
            raise ValueError(f"{example.place}: {error}") from error
        own = bool(example.source)
        if own:
            yield from lines.take_originals(example.line)
            yield _dressed(text, lines.take_originals(example.line + len(example.source)))
        else:
            lines.take_originals()
            yield text
    if own:
        yield from lines.take_originals()


def _dressed(text: str, originals: list[str]) -> str:
    """Lines with what stood before and after those in whose place they come."""
    written = text.removesuffix("\n").split("\n")
    if len(written) == len(originals):
        marks = [line[: len(line) - len(line.lstrip(MARK))] for line in originals]
        ends = [line[len(line.rstrip("\r\n")) :] for line in originals]
        return "".join(map("".join, zip(marks, written, ends, strict=True)))
    end = "\r\n" if originals and originals[0].endswith("\r\n") else "\n"
    return "".join(map("".join, zip(written, repeat(end))))
