"""Columns as in the CoNLL shared tasks and CRF++: one token a line, blank lines between sequences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, ClassVar, Self

from structlearn.io.format import (
    BLANKS,
    Example,
    Format,
    Structure,
    check_written,
    column_of,
    paired,
    paragraphs,
    split_all_blanks,
    split_blanks,
    token_values,
)
from structlearn.io.text import Lines, quoted

#: Begins documents in the files of CoNLL-2003; such a line is no token.
DOCUMENT = "-DOCSTART-"
SKIPPED = "_"
#: Lines with more columns are not taken for such.
MOST_COLUMNS = 1000


def default_names(n_columns: int) -> tuple[str, ...]:
    """
    >>> default_names(3)
    ('word', 'pos', 'column3')
    """
    return ("word", "pos", *(f"column{k}" for k in range(3, n_columns + 1)))[:n_columns]


@dataclass(frozen=True)
class Columns(Format):
    """Tokens with a label in one column, or without it.

    A line that has exactly the other columns is a token without a label; all tokens of a file must agree in that. Lines
    that begin with ``-DOCSTART-`` are ignored. Predictions come as a further column, after the label if there is one.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns beside the label, in their order; those named "_" are not read.
    label : int or str, optional
        Which column of a line is the label: its number from 0, negative from the end, or the name of one of `columns`.
        None for files that never have one.
    separator : str, optional
        What separates columns; None stands for any number of spaces and tabs. There are no quotation marks.
    comment : str, optional
        What lines begin with that are no tokens.
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``A|B`` for one of several.

    Examples
    --------
    >>> lines = Lines([b"The DT B-NP\\ndog NN I-NP\\n\\nRuns VB B-VP\\n"], "chunks.txt")
    >>> for example in Columns(("word", "pos")).read(lines):
    ...     print(example.x, example.y)
    [('The', 'DT'), ('dog', 'NN')] ['B-NP', 'I-NP']
    [('Runs', 'VB')] ['B-VP']
    """

    name: ClassVar[str] = "columns"

    columns: tuple[str, ...] = ("word",)
    label: int | str | None = -1
    separator: str | None = None
    comment: str | None = None
    partial: bool = False

    def __post_init__(self) -> None:
        named = [name for name in self.columns if name != SKIPPED]
        if isinstance(self.columns, str) or len(set(named)) < len(named) or not all(self.columns):
            raise ValueError(f"columns is {self.columns!r}; expected a tuple of different names")
        if isinstance(self.label, str) and self.label not in named:
            raise ValueError(f"label is {self.label!r}, which is none of the columns {', '.join(self.columns)}")
        n_columns = len(self.columns) + 1
        if isinstance(self.label, int) and not -n_columns <= self.label < n_columns:
            raise ValueError(f"label is {self.label}, but there are {n_columns} columns with it")
        if not self.inputs:
            raise ValueError("columns names nothing but the label; a token needs at least one input")
        if self.separator is not None and (not self.separator or set(self.separator) & set("\n\r\0")):
            raise ValueError(f"separator is {self.separator!r}; expected a text on one line, or None for blanks")
        if self.comment is not None and not self.comment:
            raise ValueError("comment is empty; expected what comments begin with, or None")

    @property
    def structure(self) -> Structure:
        return "words"

    @property
    def inputs(self) -> tuple[str, ...]:
        return tuple(name for name in self.columns if name not in (SKIPPED, self.label))

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        tokens = [line for line in head if line.strip(BLANKS) and not line.startswith(DOCUMENT)]
        uncommented = [line for line in tokens if not line.startswith("#")]
        # A few lines that do not fit are errors, which reading will name.
        for fitting in (1.0, 0.9):
            for comment, lines in ((None, tokens), ("#", uncommented)):
                for separator in ("\t", None, ","):
                    split = cls(separator=separator)._split
                    widths = Counter(len(split(line)) for line in lines).most_common(1)
                    if widths and 1 < widths[0][0] <= MOST_COLUMNS and widths[0][1] >= fitting * len(lines):
                        return cls(default_names(widths[0][0] - 1), separator=separator, comment=comment)
                if lines and all(len(split_blanks(line)) == 1 for line in lines):
                    return cls(comment=comment)
        return None

    @classmethod
    def odd_line(cls, head: Sequence[str]) -> tuple[int, str] | None:
        """Which of some lines, too many of which differ in their number of columns, is the first, and a complaint.

        >>> Columns.odd_line(["The DT", "dog NN", "barks"])
        (3, "expected 2 columns, as most lines have, found 1: 'barks'; if these are no columns, name the format")
        """
        tokens = [(number, line) for number, line in enumerate(head, 1) if line.strip(BLANKS)]
        widths = [len(split_blanks(line)) for _, line in tokens]
        ((usual, often),) = Counter(widths).most_common(1) or [(0, 0)]
        if usual < 2 or often <= len(tokens) / 2:
            return None
        found, (number, line) = next((n, token) for n, token in zip(widths, tokens, strict=True) if n != usual)
        told = f"expected {usual} columns, as most lines have, found {found}: {quoted(line)}"
        return number, f"{told}; if these are no columns, name the format"

    def parse(self, lines: Lines) -> Iterator[Example]:
        layouts = {len(layout): layout for layout in self._layouts()}
        n_columns = 0
        for number, paragraph in paragraphs(lines, DOCUMENT):
            places = tuple(range(len(paragraph)))
            if self.comment is not None:
                places = tuple(k for k in places if not self._is_comment(paragraph[k]))
            rows = self._split_all([paragraph[k] for k in places])
            if not rows:
                continue
            n_columns = n_columns or len(rows[0])
            if n_columns not in layouts or {*map(len, rows)} != {n_columns} or not all(map(all, rows)):
                raise self._complaint(lines, number, paragraph, [n_columns] if n_columns in layouts else list(layouts))
            take, label = _takers(layouts[n_columns])
            x = list(map(take, rows))
            y = None if label is None else [row[label] for row in rows]
            yield Example(x, y, number, tuple(paragraph), file=lines.name, rows=places)

    def write(self, x: Any, y: Any) -> str:
        separator = " " if self.separator is None else self.separator
        with_label, *without = self._layouts()
        layout = with_label if y is not None or not without else without[0]
        if y is not None and None not in layout:
            raise ValueError("this format has no column for labels, label=None")
        text = ""
        for t, (token, label) in enumerate(paired(x, y)):
            fields = dict(zip(self.inputs, token_values(token, self.inputs, t), strict=True)) | {SKIPPED: SKIPPED}
            row = [
                check_written(label if name is None else fields[name], f"x[{t}]", self.separator or BLANKS)
                for name in layout
            ]
            line = separator.join(row)
            if line.startswith(DOCUMENT) or self._is_comment(line) or not line.strip(BLANKS):
                raise ValueError(f"x[{t}] cannot be written: {quoted(line)} would not be read as a token")
            text += line + "\n"
        if not text:
            raise ValueError("a sequence without tokens cannot be written")
        return text + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        labels = iter([check_written(label, "label", self.separator or BLANKS) for _, label in paired(example.x, y)])
        text = ""
        for line in example.source:
            if self._is_comment(line):
                text += f"{line}\n"
            elif self.separator is None:
                text += f"{line}{chr(9) if chr(9) in line else ' '}{next(labels)}\n"
            else:
                text += f"{line}{self.separator}{next(labels)}\n"
        return text

    def begins_document(self, line: str) -> bool:
        return line.startswith(DOCUMENT)

    def _split(self, line: str) -> list[str]:
        return split_blanks(line) if self.separator is None else line.split(self.separator)

    def _split_all(self, lines: Sequence[str]) -> list[list[str]]:
        return split_all_blanks(lines) if self.separator is None else [line.split(self.separator) for line in lines]

    def _is_comment(self, line: str) -> bool:
        return self.comment is not None and line.startswith(self.comment)

    def _layouts(self) -> list[tuple[str | None, ...]]:
        """The names of a line's columns with the label, which is None, and without it if lines can have none."""
        if self.label is None:
            return [self.columns]
        if isinstance(self.label, str):
            place = self.columns.index(self.label)
            others = self.columns[:place] + self.columns[place + 1 :]
        else:
            place = self.label % (len(self.columns) + 1)
            others = self.columns
        return [(*others[:place], None, *others[place:]), others]

    def _complaint(self, lines: Lines, number: int, paragraph: list[str], widths: list[int]) -> Exception:
        """What is wrong with the first line of a paragraph that has not one of these numbers of columns."""
        between = "blanks" if self.separator is None else repr(self.separator)
        for k, line in enumerate(paragraph):
            row = self._split(line)
            if self._is_comment(line) or (len(row) in widths and "" not in row):
                continue
            if len(row) in widths:
                column = column_of(line, row.index(""), self.separator)
                return lines.error(f"column {row.index('') + 1} is empty: {quoted(line)}", column, number + k)
            expected = " or ".join(map(str, widths))
            column = column_of(line, min(len(row), max(widths)) if len(row) > max(widths) else 0, self.separator)
            return lines.error(
                f"expected {expected} columns separated by {between}, found {len(row)}: {quoted(line)}",
                column,
                number + k,
            )
        raise AssertionError("every line of the paragraph is right")


def _takers(layout: tuple[str | None, ...]) -> tuple[Callable[[list[str]], Any], int | None]:
    """What takes the inputs of a row, and the place of the label."""
    places = [k for k, name in enumerate(layout) if name not in (None, SKIPPED)]
    return itemgetter(*places), layout.index(None) if None in layout else None
