"""The sequences of SVM^hmm: ``tag qid:number index:value … # comment``, one token a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from structlearn.io.format import LONGEST_SEQUENCE, Example, Format, Structure, column_of, paired
from structlearn.io.svmlight import (
    fields_before_comment,
    parse_features,
    parse_label,
    rows_of,
    with_labels,
    write_features,
    write_label,
)
from structlearn.io.text import Lines, quoted

QID = re.compile(r"qid:([0-9]{1,18})")


@dataclass(frozen=True)
class SvmHmm(Format):
    """Tokens of features by their indices; successive lines with the same ``qid`` are a sequence.

    Features, labels, comments and predictions are as in `SvmLight`. A number that comes back after another sequence is
    an error. Sequences that are written are numbered from 1.

    Parameters
    ----------
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``1|2`` for one of several.

    Examples
    --------
    >>> lines = Lines([b"1 qid:1 3:1 # the\\n2 qid:1 5:1 # dog\\n2 qid:2 5:1 # dogs\\n"], "tags.txt")
    >>> for example in SvmHmm().read(lines):
    ...     print(example.y, example.x)
    ['1', '2'] [{'3': 1.0}, {'5': 1.0}]
    ['2'] [{'5': 1.0}]
    """

    name: ClassVar[str] = "svmhmm"
    look_alike: ClassVar[str] = "taken for sequences of tokens; for queries with documents to rank, say --format letor"

    partial: bool = False

    def __post_init__(self) -> None:
        # Not an option: it only keeps apart what one object writes.
        object.__setattr__(self, "_n_written", 0)

    @property
    def structure(self) -> Structure:
        return "attributes"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        rows = rows_of(head)
        return cls() if rows and all(any(map(QID.fullmatch, fields[:2])) for fields in rows) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        return numbered_groups(lines, parse_features, partial=self.partial)

    def write(self, x: Any, y: Any) -> str:
        tokens = [
            " ".join(
                [
                    *([] if label is None else [write_label(label, partial=self.partial)]),
                    "qid:{0}",
                    *write_features(token),
                ]
            )
            for token, label in paired(x, y)
        ]
        if not tokens:
            raise ValueError("a sequence without tokens cannot be written")
        number: int = self._n_written + 1  # type: ignore[attr-defined]
        object.__setattr__(self, "_n_written", number)
        return "".join(token.format(number) + "\n" for token in tokens)

    def annotate(self, example: Example, y: Any) -> str:
        return with_labels(example.source, y, had_some=example.y is not None)


def numbered_groups(
    lines: Lines, features: Callable[[Lines, str, Sequence[str], int], dict[str, float]], *, partial: bool = False
) -> Iterator[Example]:
    """Successive lines with the same ``qid`` as one example; `features` reads the fields of a line from a place on."""
    begun_at: dict[int, int] = {}
    current = -1
    x: list[dict[str, float]] = []
    y: list[str | None] = []
    source: list[str] = []
    between: list[str] = []  # lines without a token, which are of the sequence if it goes on after them
    for line in lines:
        fields = fields_before_comment(line)
        if not fields:
            if x:
                between.append(line)
            if len(between) > LONGEST_SEQUENCE:
                raise lines.error(f"more than {LONGEST_SEQUENCE:,} lines without a token one after another")
            continue
        label = None if fields[0].startswith("qid:") else parse_label(lines, fields[0], line, partial=partial)
        place = 0 if label is None else 1
        match = QID.fullmatch(fields[place]) if len(fields) > place else None
        if not match:
            found = quoted(fields[place]) if len(fields) > place else "nothing"
            raise lines.error(f"expected qid:number, found {found}", column_of(line, place, None))
        number = int(match[1])
        if number != current:
            if x:
                yield _example(x, y, begun_at[current], source, lines.name)
            if number in begun_at:
                raise lines.error(
                    f"qid:{number} comes back, after the sequence that begins in line {begun_at[number]} has ended",
                    column_of(line, place, None),
                )
            begun_at[number] = lines.number
            current, x, y, source, between = number, [], [], [], []
        elif (label is None) != (y[0] is None):
            raise lines.error(f"a token {'without' if label is None else 'with'} a label, unlike those before it")
        x.append(features(lines, line, fields, place + 1))
        y.append(label)
        source += [*between, line]
        between = []
        if len(source) > LONGEST_SEQUENCE:
            raise lines.error(f"more than {LONGEST_SEQUENCE:,} lines with qid:{number}")
    if x:
        yield _example(x, y, begun_at[current], source, lines.name)


def _example(x: list[dict[str, float]], y: list[str | None], line: int, source: list[str], file: str) -> Example:
    return Example(x, None if y[0] is None else y, line, tuple(source), file=file)
