"""Sparse rows with sets of labels, as LIBSVM's multi-label data have them: ``1,3 index:value … # comment``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.io.format import Example, Format, Structure, split_blanks
from structlearn.io.numbers import NUMBER
from structlearn.io.svmlight import (
    BEGUN,
    fields_before_comment,
    parse_features,
    parse_label,
    rows_of,
    write_features,
    write_label,
)
from structlearn.io.text import Lines, quoted

LABELS = re.compile(rf"{NUMBER.pattern}(?:,{NUMBER.pattern})*")


@dataclass(frozen=True)
class MultiLabelRows(Format):
    """One example a line: its labels, numbers with commas between, and the features that are not zero by their indices.

    Labels and features are texts, as in `SvmLight`. A line that begins with a feature has no label, which is the empty
    set and nothing unknown: a file does not tell whether its labels are missing. Predictions replace the labels.

    Examples
    --------
    >>> lines = Lines([b"1,3 1:0.5 7:2\\n 2:1\\n2 1:1 # the third\\n"], "rows.txt")
    >>> for example in MultiLabelRows().read(lines):
    ...     print(sorted(example.y), example.x)
    ['1', '3'] {'1': 0.5, '7': 2.0}
    [] {'2': 1.0}
    ['2'] {'1': 1.0}
    """

    name: ClassVar[str] = "multilabel"

    @property
    def structure(self) -> Structure:
        return "set"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        rows = rows_of(head)
        several = any("," in fields[0] and ":" not in fields[0] for fields in rows)
        return cls() if several and cls._are_rows(rows) else None

    @classmethod
    def fits(cls, head: Sequence[str], filename: str) -> bool:
        return cls._are_rows(rows_of(head))

    @staticmethod
    def _are_rows(rows: list[list[str]]) -> bool:
        features = [fields[1:] if LABELS.fullmatch(fields[0]) else fields for fields in rows]
        return any(features) and all(BEGUN.match(field) for row in features for field in row)

    def parse(self, lines: Lines) -> Iterator[Example]:
        for line in lines:
            fields = fields_before_comment(line)
            if not fields:
                continue
            labelled = ":" not in fields[0]
            y = _labels(lines, fields[0], line) if labelled else set()
            x = parse_features(lines, line, fields, int(labelled))
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        if y is None:
            raise ValueError("an example without labels cannot be written: here that is the empty set")
        labels, features = write_labels(y), write_features(x)
        if not labels and not features:
            raise ValueError("an example without label and features cannot be written")
        return " ".join([*filter(None, [labels]), *features]) + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        body = line.lstrip(" \t")
        first = split_blanks(body)[0].partition("#")[0]
        rest = body if ":" in first else body[len(first) :].lstrip(" \t")
        labels = write_labels(y)
        if not labels and (not rest or rest.startswith("#")):
            raise ValueError("an example without label and features cannot be written")
        return f"{labels} {rest}".strip(" \t") + "\n"


def _labels(lines: Lines, text: str, line: str) -> set[str]:
    labels = [parse_label(lines, one, line) for one in text.split(",")]
    if len(set(labels)) < len(labels):
        twice = next(label for k, label in enumerate(labels) if label in labels[:k])
        raise lines.error(f"the label {quoted(twice)} is there twice")
    return set(labels)


def write_labels(labels: Any) -> str:
    """
    >>> write_labels({"10", "2"})
    '2,10'
    """
    return ",".join(sorted(map(write_label, labels), key=float))
