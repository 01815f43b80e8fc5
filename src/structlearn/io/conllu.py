"""CoNLL-U, the format of Universal Dependencies: ten columns a word, comments, blank lines between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, Literal, Self

from structlearn.io.format import Example, Format, Structure, check_written, column_of, paired, paragraphs, token_values
from structlearn.io.text import Lines, quoted

NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LABELS = ("upos", "xpos", "deprel", "feats")
EMPTY = "_"
#: The number of a word, the numbers of the words in a contraction such as "3-4", or of one that is not there, "5.1".
IDENTIFIER = re.compile(r"[1-9][0-9]{0,8}|[0-9]{1,9}[-.][1-9][0-9]{0,8}")


@dataclass(frozen=True)
class ConllU(Format):
    """Sentences of syntactic words, of which one column is the label.

    Words are numbered from 1. Contractions and words that the text leaves out are passed over; they stay where they
    are when predictions are written, which replace the column of the label. A sentence of which all labels are "_" has
    none; among features, "_" is a label like others.

    Parameters
    ----------
    label : {"upos", "xpos", "deprel", "feats"}
    columns : tuple of str
        What a token consists of: "form", "lemma", or others of the ten columns.
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``A|B`` for one of several.

    Examples
    --------
    >>> rows = ["1 Go go VERB VB _ 0 root _ _", "2 ! ! PUNCT . _ 1 punct _ _"]
    >>> text = "# text = Go!\\n" + "\\n".join(rows).replace(" ", "\\t")
    >>> (example,) = ConllU().read(Lines([text.encode()], "go.conllu"))
    >>> example.x, example.y
    (['Go', '!'], ['VERB', 'PUNCT'])
    """

    name: ClassVar[str] = "conllu"

    label: Literal["upos", "xpos", "deprel", "feats"] = "upos"
    columns: tuple[str, ...] = ("form",)
    partial: bool = False

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"label is {self.label!r}; it may be {', '.join(LABELS)}")
        possible = [name for name in NAMES if name not in ("id", self.label)]
        if isinstance(self.columns, str) or not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns is {self.columns!r}; expected a tuple of different names")
        for name in self.columns:
            if name not in possible:
                raise ValueError(f"columns holds {name!r}; beside the label there are {', '.join(possible)}")

    @property
    def structure(self) -> Structure:
        return "words"

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        words = [line.split("\t") for line in head if line and not line.startswith("#")]
        fits = all(len(row) == len(NAMES) and IDENTIFIER.fullmatch(row[0]) for row in words)
        return cls() if words and fits else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        take = itemgetter(*map(NAMES.index, self.columns))
        place = NAMES.index(self.label)
        for number, paragraph in paragraphs(lines):
            words = [row for row in self._rows(lines, number, paragraph) if row is not None]
            if not words:
                continue
            y = [row[place] for row in words]
            if self.label != "feats" and EMPTY in y and not self.partial:
                if any(label != EMPTY for label in y):
                    raise self._unlabelled(lines, number, paragraph, place)
                yield Example(list(map(take, words)), None, number, tuple(paragraph), file=lines.name)
            else:
                yield Example(list(map(take, words)), y, number, tuple(paragraph), file=lines.name)

    @property
    def only_whole(self) -> str:
        return "among features, '_' and '|' are part of labels" if self.label == "feats" else ""

    def write(self, x: Any, y: Any) -> str:
        text = ""
        for t, (token, label) in enumerate(paired(x, y)):
            row = (
                dict.fromkeys(NAMES, EMPTY)
                | dict(zip(self.columns, token_values(token, self.columns, t), strict=True))
                | {"id": str(t + 1)}
            )
            if label is not None:
                row[self.label] = self._checked(label)
            elif self.label == "feats":
                raise ValueError("no labels cannot be written: among features, '_' is a label")
            text += "\t".join(check_written(value, f"x[{t}]", "\t") for value in row.values()) + "\n"
        if not text:
            raise ValueError("a sentence without words cannot be written")
        return text + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        labels = iter([self._checked(label) for _, label in paired(example.x, y)])
        place = NAMES.index(self.label)
        text = ""
        for line in example.source:
            row = line.split("\t")
            if not line.startswith("#") and row[0].isdecimal():
                row[place] = next(labels)
            text += "\t".join(row) + "\n"
        return text

    def begins_document(self, line: str) -> bool:
        return line.startswith("#") and line[1:].split()[:1] == ["newdoc"]

    def _rows(self, lines: Lines, number: int, paragraph: list[str]) -> Iterator[list[str] | None]:
        """The columns of every line that is a word, None for the others."""
        n_words = 0
        for k, line in enumerate(paragraph):
            if line.startswith("#"):
                yield None
                continue
            row = line.split("\t")
            if len(row) != len(NAMES):
                raise lines.error(
                    f"expected {len(NAMES)} columns separated by tabs, found {len(row)}: {quoted(line)}", 1, number + k
                )
            if "" in row:
                empty = row.index("")
                raise lines.error(f"the column {NAMES[empty]} is empty", column_of(line, empty, "\t"), number + k)
            if not IDENTIFIER.fullmatch(row[0]):
                raise lines.error(f"expected the number of a word, found {quoted(row[0])}", 1, number + k)
            if not row[0].isdecimal():
                yield None
                continue
            n_words += 1
            if row[0] != str(n_words):
                raise lines.error(
                    f"expected word {n_words} of the sentence, found {row[0]}; is a blank line missing?", 1, number + k
                )
            yield row

    def _unlabelled(self, lines: Lines, number: int, paragraph: list[str], place: int) -> Exception:
        for k, row in enumerate(self._rows(lines, number, paragraph)):
            if row is not None and row[place] == EMPTY:
                column = column_of(paragraph[k], place, "\t")
                return lines.error(f"this word has no {self.label}, but others of the sentence do", column, number + k)
        raise AssertionError("every word of the sentence has a label")

    def _checked(self, label: str | None) -> str:
        if label == EMPTY and self.label != "feats":
            raise ValueError(f"the label '_' cannot be written: it stands for no {self.label}")
        return check_written(label, "label", "\t")
