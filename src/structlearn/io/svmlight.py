"""The sparse rows of SVM^light, SVM^multiclass and LIBSVM: ``label index:value … # comment``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Self

from structlearn.io.format import UNKNOWN, Example, Format, Structure, column_of, label_text, paired, split_blanks
from structlearn.io.numbers import LARGEST_WHOLE, NUMBER, parse_number, write_number
from structlearn.io.text import Lines, quoted

INDEX = re.compile(r"[1-9][0-9]{0,17}")
BEGUN = re.compile(r"[0-9]+:")
FEATURE = re.compile(rf"({INDEX.pattern}):({NUMBER.pattern})")


@dataclass(frozen=True)
class SvmLight(Format):
    """One example a line: a number as its label, and the features that are not zero by their indices.

    Indices are whole numbers from 1 and increase; as names of features they are texts, "3". The label is a text as
    well, in its shortest form, so that "+1", "1" and "1.0" are one label "1". A line that begins with a feature has no
    label. What follows "#" is a comment. Predictions replace the labels.

    Parameters
    ----------
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``1|2`` for one of several.

    Examples
    --------
    >>> lines = Lines([b"# two classes\\n+1 1:0.5 7:2\\n-1 2:1 # the second\\n"], "rows.txt")
    >>> for example in SvmLight().read(lines):
    ...     print(example.y, example.x)
    1 {'1': 0.5, '7': 2.0}
    -1 {'2': 1.0}
    """

    name: ClassVar[str] = "svmlight"

    partial: bool = False

    @property
    def structure(self) -> Structure:
        return "row"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        labels = re.compile(rf"[?_]|{NUMBER.pattern}(\|{NUMBER.pattern})*")
        features = [fields[1:] if labels.fullmatch(fields[0]) else fields for fields in rows_of(head)]
        return cls() if any(features) and all(BEGUN.match(field) for row in features for field in row) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        for line in lines:
            fields = fields_before_comment(line)
            if not fields:
                continue
            y = None if ":" in fields[0] else parse_label(lines, fields[0], line, partial=self.partial)
            n_before = 0 if y is None else 1
            if len(fields) > n_before and fields[n_before].startswith("qid:"):
                raise lines.error(
                    "'qid:' groups lines into sequences or rankings; they are read with the formats svmhmm and letor",
                    column_of(line, n_before, None),
                )
            yield Example(parse_features(lines, line, fields, n_before), y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        fields = ([] if y is None else [write_label(label_text(y), partial=self.partial)]) + write_features(x)
        if not fields:
            raise ValueError("an example without label and features cannot be written")
        return " ".join(fields) + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        return with_label(line, y, had_one=":" not in fields_before_comment(line)[0]) + "\n"


def fields_before_comment(line: str) -> list[str]:
    return split_blanks(line.partition("#")[0])


def parse_features(lines: Lines, line: str, fields: Sequence[str], first: int) -> dict[str, float]:
    """The features among the fields of a line from the given one on."""
    features: dict[str, float] = {}
    last = 0
    for k in range(first, len(fields)):
        match = FEATURE.fullmatch(fields[k])
        if not match:
            raise lines.error(_complaint(fields[k]), column_of(line, k, None))
        name, text = match.groups()
        index, value = int(name), float(text)
        if index <= last:
            message = f"the index {index} comes after {last}; indices must increase"
            raise lines.error(message, column_of(line, k, None))
        if not isfinite(value):
            raise lines.error(_complaint(fields[k]), column_of(line, k, None))
        features[name] = value
        last = index
    return features


def _complaint(field: str) -> str:
    """Why a field is no feature."""
    index, colon, value = field.partition(":")
    if not colon:
        return f"expected index:value, found {quoted(field)}"
    if not INDEX.fullmatch(index):
        return f"expected a whole number from 1 as index, found {quoted(index)}"
    return f"expected a finite number, found {quoted(value)}"


def parse_label(lines: Lines, text: str, line: str, *, partial: bool = False) -> str:
    """
    >>> [parse_label(Lines([], ""), text, "") for text in ("+1", "-1.0", "2.50")]
    ['1', '-1', '2.5']
    >>> [parse_label(Lines([], ""), text, "", partial=True) for text in ("?", "1.0|+2")]
    ['?', '1|2']
    """
    if partial and text in UNKNOWN:
        return text
    if partial and "|" in text:
        return "|".join(parse_label(lines, one, line) for one in text.split("|"))
    try:
        number = parse_number(text)
    except ValueError as error:
        raise lines.error(f"{error} as label", column_of(line, 0, None)) from None
    if abs(number) >= LARGEST_WHOLE:
        raise lines.error(f"the label {quoted(text)} is too large to be told from others", column_of(line, 0, None))
    return write_number(number)


def write_label(label: Any, *, partial: bool = False) -> str:
    if partial and label in UNKNOWN:
        return str(label)
    if partial and "|" in str(label):
        return "|".join(map(write_label, str(label).split("|")))
    try:
        return write_number(parse_number(str(label)))
    except ValueError:
        raise ValueError(f"labels are numbers in this format; {quoted(str(label))} cannot be written") from None


def write_features(x: Any) -> list[str]:
    named = x if isinstance(x, Mapping) else Counter(x)
    for name in named:
        if not INDEX.fullmatch(str(name)):
            raise ValueError(f"features are whole numbers from 1 in this format; {quoted(str(name))} cannot be written")
    return [f"{name}:{write_number(named[name])}" for name in sorted(named, key=int)]


def with_label(line: str, y: Any, *, had_one: bool) -> str:
    """A line with another label, or with one, and all else as it was."""
    start = column_of(line, 0, None) - 1
    rest = line[start:]
    if had_one:
        rest = rest[len(split_blanks(rest)[0].partition("#")[0]) :]
        return f"{line[:start]}{write_label(y)}{rest}"
    return f"{line[:start]}{write_label(y)} {rest}"


def with_labels(source: Sequence[str], y: Sequence[Any], *, had_some: bool) -> str:
    """Lines with other labels, or with some; those between them, of comments and blanks, stay as they are."""
    tokens = [k for k, line in enumerate(source) if fields_before_comment(line)]
    labels = dict(paired(tokens, y))
    lines = (with_label(line, labels[k], had_one=had_some) if k in labels else line for k, line in enumerate(source))
    return "".join(f"{line}\n" for line in lines)


def rows_of(head: Iterable[str]) -> list[list[str]]:
    """The fields of all lines that have some before a comment."""
    return [fields for line in head if (fields := fields_before_comment(line))]
