"""The attributes of CRFsuite: ``label<tab>name:weight<tab>…``, one token a line, blank lines between sequences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Self

from structlearn.io.format import BLANKS, Example, Format, Structure, check_written, column_of, paired, paragraphs
from structlearn.io.numbers import parse_number, write_number
from structlearn.io.text import FormatError, Lines, quoted

Token = list[str] | dict[str, float]


@dataclass(frozen=True)
class CrfSuite(Format):
    r"""Labels and attributes, which count with a weight of 1 if none is given.

    In labels and names ``\:`` is a colon and ``\\`` a backslash; before other characters a backslash is itself. An
    attribute that a token has twice counts with the sum of its weights, as in CRFsuite. A line that begins with a tab
    has no label. The line ``@weight:2.5`` gives the weight of the sequence it stands in; CRFsuite knows no other line
    that begins with @, and others are refused, as they are there. Predictions replace the labels.

    Parameters
    ----------
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``A|B`` for one of several.

    Examples
    --------
    >>> lines = Lines([b"DET\tw=the\tcap\nNOUN\tw=dog\tlength:3\n"], "tags.txt")
    >>> (example,) = CrfSuite().read(lines)
    >>> example.y, example.x
    (['DET', 'NOUN'], [['w=the', 'cap'], {'w=dog': 1.0, 'length': 3.0}])
    """

    name: ClassVar[str] = "crfsuite"

    partial: bool = False

    @property
    def structure(self) -> Structure:
        return "attributes"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        tokens = [line.split("\t") for line in head if line.strip(BLANKS) and not line.startswith("@")]
        if not tokens or not all(len(row) > 1 for row in tokens):
            return None
        attributes = [field for row in tokens for field in row[1:] if field]
        varies = len({len(row) for row in tokens}) > 1
        named = sum("=" in field or ":" in field for field in attributes) > len(attributes) / 2
        return cls() if varies or named else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        for number, paragraph in paragraphs(lines):
            x: list[Token] = []
            y: list[str | None] = []
            weight = 1.0
            for k, line in enumerate(paragraph):
                try:
                    if line.startswith("@"):
                        weight = _weight(line)
                        continue
                    label, *attributes = line.split("\t")
                    x.append(_token(lines, line, number + k, attributes))
                    y.append(_parsed_label(label) if label else None)
                    if (y[-1] is None) != (y[0] is None):
                        raise ValueError(f"a token {'with' if label else 'without'} a label, unlike those before it")
                except FormatError:
                    raise
                except ValueError as error:
                    raise lines.error(str(error), 1, number + k) from None
            if x:
                yield Example(x, None if y[0] is None else y, number, tuple(paragraph), weight, lines.name)

    def write(self, x: Any, y: Any) -> str:
        text = ""
        for token, label in paired(x, y):
            weights = token if isinstance(token, Mapping) else None
            fields = ["" if label is None else _label(label)]
            for name in token:
                weight = "" if weights is None or weights[name] == 1 else f":{write_number(weights[name])}"
                fields.append(_escaped(check_written(name, "attribute", "\t")) + weight)
            line = "\t".join(fields)
            if not line.strip(BLANKS):
                raise ValueError(f"the token {quoted(repr(token))} cannot be written: it would be a blank line")
            text += line + "\n"
        if not text:
            raise ValueError("a sequence without tokens cannot be written")
        return text + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        labels = iter([_label(str(label)) for _, label in paired(example.x, y)])
        text = ""
        for line in example.source:
            _, tab, attributes = line.partition("\t")
            text += f"{line}\n" if line.startswith("@") else f"{next(labels)}{tab}{attributes}\n"
        return text


def _token(lines: Lines, line: str, number: int, fields: list[str]) -> Token:
    """The attributes of a line; a dict if one has a weight."""
    names: list[str] = []
    weights: list[float] = []
    for k, field in enumerate(fields, start=1):
        if not field:
            continue
        try:
            name, weight = _parts(field)
            if not name:
                raise ValueError(f"an attribute without a name: {quoted(field)}")
            weights.append(parse_number(weight) if weight else 1.0)
        except ValueError as error:
            raise lines.error(str(error), column_of(line, k, "\t"), number) from None
        names.append(_unescaped(name))
    if names and weights.count(1.0) == len(weights):
        return names
    token: dict[str, float] = {}
    for name, value in zip(names, weights, strict=True):
        token[name] = token.get(name, 0.0) + value
        if not isfinite(token[name]):
            raise lines.error(f"the weights of {quoted(name)} add up to more than a number can hold", 1, number)
    return token


def _parts(field: str) -> tuple[str, str]:
    """What is before and after the bare colon of a field."""
    if ":" not in field:
        return field, ""
    # No line holds a NUL character, so that one can stand for what is escaped.
    name, _, weight = field.replace("\\\\", "\0\0").replace("\\:", "\0\0").partition(":")
    if ":" in weight:
        raise ValueError(f"a second colon in {quoted(field)}; within a name it is written \\:")
    return field[: len(name)], field[len(name) + 1 :]


def _parsed_label(field: str) -> str:
    name, _ = _parts(field)
    if len(name) < len(field):
        raise ValueError(f"a bare colon in the label {quoted(field)}; there it is written \\:")
    return _unescaped(name)


def _weight(line: str) -> float:
    name, weight = _parts(line)
    if name != "@weight":
        raise ValueError(f"the declaration {quoted(name)} is unknown; only @weight is")
    value = parse_number(weight)
    if value < 0:
        raise ValueError(f"the weight of a sequence must not be negative, found {quoted(weight)}")
    return value


def _label(label: str) -> str:
    if label.startswith("@"):
        raise ValueError(f"the label {quoted(label)} cannot be written: lines that begin with @ are declarations")
    return _escaped(check_written(label, "label", "\t"))


def _unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\:", ":").replace("\0", "\\") if "\\" in text else text


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace(":", "\\:")
