"""Documents with coreference in columns, as in the shared task of CoNLL 2012."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from structlearn.data.clusterings import to_labels
from structlearn.data.documents import Document, Mention
from structlearn.io.format import LONGEST_SEQUENCE, Example, Format, Structure, check_written, split_blanks
from structlearn.io.text import Lines, quoted

#: The place of words among the columns of the shared task; what is coreferent is in the last one.
WORD = 3
NOTHING = ("", "-", "_", "*")

_BEGIN = re.compile(r"#begin document \((.*?)\)(?:;\s*part\s*(\d{1,9}))?\s*$")
_PIECE = re.compile(r"(\()?([^()|\s]+)(\))?$")
#: Mentions as nothing else is written; a bracket with a star, (NP*, is a phrase.
_MENTIONS = re.compile(r"(?:(?:\([^()|\s*]++\)?|[^()|\s*]++\))(?:\||$))+")


@dataclass(frozen=True)
class Conll2012(Format):
    """Documents and their mentions; x is a `Document`, y the list of the mentions' labels.

    A document lies between ``#begin document (name); part 000`` and ``#end document``. A line has a word in its fourth
    column and, in the last one, which mentions begin and end with it: ``(3`` begins one of entity 3, ``3)`` ends it,
    ``(3)`` is one of a single word, and ``|`` stands between several. Columns are separated by tabs, or else by blanks.
    A prediction replaces the last column and nothing else. A file that does not begin so is one document without name.

    Parameters
    ----------
    word : int
        The column of the words, counted from 0.

    Examples
    --------
    >>> text = b'''#begin document (d); part 000
    ... d 0 0 The  - (0
    ... d 0 1 dog  - 0)
    ... d 0 2 saw  - -
    ... d 0 3 its  - (1|(0)
    ... d 0 4 tail - 1)
    ...
    ... #end document
    ... '''
    >>> (example,) = Conll2012().read(Lines([text], "d.conll"))
    >>> [" ".join(example.x.words(mention)) for mention in example.x.mentions], example.y
    (['The dog', 'its tail', 'its'], [0, 1, 0])
    """

    name: ClassVar[str] = "conll2012"

    word: int = WORD

    def __post_init__(self) -> None:
        if not self.word >= 0:
            raise ValueError(f"word is {self.word}; expected the number of a column, from 0")

    @property
    def structure(self) -> Structure:
        return "document"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        lines = [line for line in head if line.strip()]
        if lines and _BEGIN.match(lines[0]):
            return cls()
        rows = [_fields(line) for line in lines if not line.startswith("#")]
        marks = [row[-1] for row in rows if row[-1] not in NOTHING]
        table = len(rows) > 1 and len(set(map(len, rows))) == 1 < len(rows[0])
        return cls() if table and marks and all(map(_MENTIONS.fullmatch, marks)) else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        reading: _Reading | None = None
        named = False
        for line in lines:
            begin = _BEGIN.match(line)
            if begin:
                if reading is not None:
                    raise lines.error("a document begins before the one before it has ended")
                reading, named = _Reading(begin[1], int(begin[2] or 0), lines.number), True
                reading.source.append(line)
            elif line.startswith("#end document"):
                if reading is None:
                    raise lines.error("a document ends that has not begun")
                reading.source.append(line)
                yield reading.example(lines)
                reading = None
            elif reading is not None:
                self._take(reading, line, lines)
            elif line.strip() and not line.startswith("#"):
                if named:
                    raise lines.error(f"expected '#begin document', found {quoted(line)}")
                reading = _Reading("", 0, lines.number)
                self._take(reading, line, lines)
        if reading is not None and not named:
            yield reading.example(lines)
        elif reading is not None:
            raise lines.error("the document that begins here has no '#end document'", line=reading.line)

    def write(self, x: Any, y: Any) -> str:
        if not isinstance(x, Document):
            raise ValueError(f"x is a {type(x).__name__}; this format holds documents")
        if y is None:
            raise ValueError("mentions cannot be written without entities; give each one of its own")
        name = check_written(x.name, "the document's name", " \t()") if x.name else ""
        marks = _marks(x, y)
        rows = []
        for s, sentence in enumerate(x.sentences):
            for t, word in enumerate(sentence):
                word = check_written(word, "word", "\t")
                before = [name or "-", str(x.part), str(t), *["-"] * self.word][: self.word]
                row = "\t".join([*before, word, "-", marks.get((s, t), "-")])
                if not self._is_row(row):
                    raise ValueError(f"the word {quoted(word)} cannot be written: its line would not be read as one")
                rows.append(row)
            rows.append("")
        return "\n".join([f"#begin document ({name}); part {x.part:03d}", *rows, "#end document", ""])

    def annotate(self, example: Example, y: Any) -> str:
        marks = _marks(example.x, y)
        s, t = 0, 0
        written = []
        for line in example.source:
            if not line.strip():
                s, t = s + (t > 0), 0
            elif self._is_row(line):
                old = _fields(line)[-1]
                nothing = old if old in NOTHING else "-"
                line = line.rstrip(" ")
                line = line[: len(line) - len(old)] + marks.get((s, t), nothing)
                t += 1
            written.append(line)
        return "\n".join([*written, ""])

    def title(self, example: Example) -> str:
        return f"{example.x.name} {example.x.part}" if example.x.name else example.place

    def _take(self, reading: _Reading, line: str, lines: Lines) -> None:
        reading.source.append(line)
        if len(reading.source) > LONGEST_SEQUENCE:
            raise lines.error(f"a document of more than {LONGEST_SEQUENCE:,} lines", line=reading.line)
        if not line.strip():
            reading.end_sentence(lines)
        elif self._is_row(line):
            fields, fewest = _fields(line), self.word + 2
            if len(fields) < fewest:
                where = f"words are in column {self.word + 1}, mentions in the last"
                names = ",".join(["word", *["_"] * max(len(fields) - 1, 1)])
                told = f"{where}; --format {self.name} --columns {names} names another column of words"
                raise lines.error(f"expected at least {fewest} columns, found {len(fields)}: {told}")
            reading.take(fields[self.word], fields[-1], lines)

    def _is_row(self, line: str) -> bool:
        """Whether a line has a word; others are comments, or begin and end the document."""
        if not line.startswith("#"):
            return True
        if line.startswith(("#begin document", "#end document")):
            return False
        fields = _fields(line)
        comment = self.word < WORD and fields[-1] not in NOTHING and not _MENTIONS.fullmatch(fields[-1])
        return len(fields) >= self.word + 2 and not comment


class _Reading:
    """A document as far as it was read."""

    def __init__(self, name: str, part: int, line: int):
        self.name, self.part, self.line = name, part, line
        self.source: list[str] = []
        self.sentences: list[tuple[str, ...]] = []
        self.words: list[str] = []
        self.open: dict[str, list[int]] = {}
        self.found: dict[Mention, str] = {}

    def take(self, word: str, mentions: str, lines: Lines) -> None:
        """A word, and which mentions begin and end with it."""
        t = len(self.words)
        self.words.append(word)
        if mentions in NOTHING:
            return
        for piece in mentions.split("|"):
            match = _PIECE.match(piece)
            if match is None or not (match[1] or match[3]):
                raise lines.error(f"{quoted(mentions)} in the last column says not which mentions begin and end")
            if match[1]:
                self.open.setdefault(match[2], []).append(t)
            if match[3]:
                if not self.open.get(match[2]):
                    raise lines.error(f"a mention of entity {quoted(match[2])} ends that has not begun")
                mention = Mention(len(self.sentences), self.open[match[2]].pop(), t + 1)
                if mention in self.found:
                    twice = " and of ".join(map(quoted, (self.found[mention], match[2])))
                    raise lines.error(f"the same words are a mention twice, of {twice}")
                self.found[mention] = match[2]

    def example(self, lines: Lines) -> Example:
        self.end_sentence(lines)
        mentions = sorted(self.found, key=lambda m: (m.sentence, m.begin, -m.end))
        document = Document(tuple(self.sentences), tuple(mentions), self.name, self.part)
        labels = to_labels(np.array([self.found[m] for m in mentions], object), len(mentions))
        return Example(document, labels.tolist(), self.line, tuple(self.source))

    def end_sentence(self, lines: Lines) -> None:
        unclosed = next((entity for entity, begins in self.open.items() if begins), None)
        if unclosed is not None:
            raise lines.error(f"a mention of entity {quoted(unclosed)} is not closed in its sentence")
        if self.words:
            self.sentences.append(tuple(self.words))
        self.words = []


def _check_nested(x: Document, labels: list[int]) -> None:
    by_entity: dict[tuple[int, int], list[Mention]] = {}
    for mention, label in zip(x.mentions, labels, strict=True):
        others = by_entity.setdefault((mention.sentence, label), [])
        for other in others:
            a, b = sorted((other, mention), key=lambda m: m.begin)
            if a.begin < b.begin < a.end - 1 and a.end < b.end:
                texts = " and ".join(quoted(" ".join(x.words(m))) for m in (a, b))
                raise ValueError(f"{texts}, of one entity, cannot be written: they overlap, neither within the other")
        others.append(mention)


def _fields(line: str) -> list[str]:
    return line.split("\t") if "\t" in line else split_blanks(line)


def _marks(x: Document, y: Any) -> dict[tuple[int, int], str]:
    """What the last column says, by sentence and word."""
    labels = to_labels(y, len(x.mentions), "y")
    _check_nested(x, labels.tolist())
    singles: dict[tuple[int, int], list[str]] = {}
    begins: dict[tuple[int, int], list[str]] = {}
    ends: dict[tuple[int, int], list[str]] = {}
    for (s, begin, end), label in zip(x.mentions, labels.tolist(), strict=True):
        if not (0 <= s < len(x.sentences) and 0 <= begin < end <= len(x.sentences[s])):
            raise ValueError(f"the mention {(s, begin, end)} is not in the document")
        if end == begin + 1:
            singles.setdefault((s, begin), []).append(f"({label})")
        else:
            begins.setdefault((s, begin), []).append(f"({label}")
            ends.setdefault((s, end - 1), []).insert(0, f"{label})")
    places = {*singles, *begins, *ends}
    return {at: "|".join([*ends.get(at, []), *begins.get(at, []), *singles.get(at, [])]) for at in places}
