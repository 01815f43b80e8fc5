"""What a file format is: how examples are recognised, read, written and annotated."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import islice
from typing import Any, ClassVar, Literal, Self

from structlearn.io.text import Lines, quoted

Structure = Literal[
    "words",
    "attributes",
    "row",
    "set",
    "tree",
    "dependencies",
    "pair",
    "translation",
    "document",
    "sequence",
    "query",
    "network",
    "image",
]

#: What files of a structure hold.
STRUCTURES: dict[Structure, str] = {
    "words": "sequences",
    "attributes": "sequences",
    "row": "single examples",
    "set": "sets of labels",
    "tree": "trees",
    "dependencies": "dependency trees",
    "pair": "pairs of sequences",
    "translation": "translated sentences",
    "document": "documents",
    "sequence": "labelled sequences",
    "query": "queries",
    "network": "networks",
    "image": "images",
}

#: Why outputs of a structure are whole in files, where labels known in part have no place.
ONLY_WHOLE: dict[Structure, str] = {
    "tree": "they hold whole trees; from Python, LatentStructuralSVM also learns from phrases that are known",
    "pair": "they hold whole alignments; from Python, LatentStructuralSVM also learns from matches that are known",
    "translation": "they hold all links; from Python, LatentStructuralSVM also learns from links that are known",
    "document": "a mention is of one entity or of none",
    "sequence": "whether a sequence holds the motif is what the model learns from",
    "query": "relevance is a number",
    "set": "they hold whole sets; from Python, LatentStructuralSVM also learns from tables with gaps",
    "image": "all pixels have a label",
}

#: The most lines that a sequence may have.
LONGEST_SEQUENCE = 1_000_000
BLANKS = " \t"
#: What stands for a label of which nothing is known, where labels are known in part.
UNKNOWN = ("?", "_")


@dataclass(frozen=True, slots=True)
class Example:
    """An input and its output, as a file has them.

    Attributes
    ----------
    x : list or dict
        See `Reader.structure`.
    y : label, list or set of labels, numbers, tree or matches, or None where the file has none
    line : int
        Where it begins in the file, counted from 1; 0 in files without lines.
    source : tuple of str
        Its lines, as they were, from the one where it begins without a gap; none if they are not its own alone.
    weight : float
        How much it counts in training.
    file : str
        The name of its file, for messages.
    rows : tuple of int
        Which lines of `source` its tokens are, counted from 0; none where these are all lines, or nobody knows.
    """

    x: Any
    y: Any
    line: int
    source: tuple[str, ...]
    weight: float = 1.0
    file: str = field(default="", compare=False)
    rows: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def place(self) -> str:
        """Where it is, as messages say it."""
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


class Reader(ABC):
    """What is said of files of a kind, with options; subclasses are frozen dataclasses of plain values."""

    name: ClassVar[str]
    #: Whether labels may be known in part, see `known_in_part`; a field of formats that can be read so.
    partial: bool = False
    #: Whether it is no matter what is wrong with outputs, see `before_predictions`; a field of formats that can be so.
    tolerant: bool = False
    #: What other files look alike, for people whose file was taken for the wrong one.
    look_alike: ClassVar[str] = ""

    @property
    @abstractmethod
    def structure(self) -> Structure:
        """What x is.

        "words": a list of strings, or of tuples with a string for every one of `inputs`. "attributes": a list with,
        for every token, a dict of names and numbers or, where all numbers are 1, a list of names. "row": one dict of
        names and numbers. "tree": a list of (word, tag) pairs, with a tree as y. "dependencies": as
        "words", with a list as y that has (head, label), or a head, for every token. "pair": two sequences, with the
        places of letters that belong together as y. "translation": a `SentencePair`, with `Links` as y. "document": a
        `Document`, with labels of its mentions as y.
        "sequence": one sequence as a string, with its label as y. "query": a list with a dict of names and numbers for
        every document, with their relevance as y. "set": one dict of names and numbers, with a set of labels as y.
        "network": a `Network`, with a label for each node as y. "image": an array of rows, columns and channels, with
        one of labels as y.
        """

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of what a token consists of, if x is words; they go to `TextFeatures` as its columns."""
        return ()

    @property
    def described(self) -> str:
        """What messages call such files, with the options that decide on their structure."""
        return self.name

    def before_predictions(self) -> Self:
        """The same format where outputs are about to be replaced, so that it is no matter what is wrong with them."""
        return self

    def begins_document(self, line: str) -> bool:
        """Whether a line begins a document, so that the examples up to the next one belong together."""
        return False

    @property
    def only_whole(self) -> str:
        """Why labels of such files cannot be known in part; nothing where they can."""
        if self.structure in ONLY_WHOLE:
            return ONLY_WHOLE[self.structure]
        known = is_dataclass(self) and "partial" in {field.name for field in fields(self)}
        return "" if known else "this format has no way to write them"

    def in_part(self) -> Self:
        """The same format where labels are known in part, see `known_in_part`; refused where there are none such."""
        if self.only_whole:
            raise ValueError(f"labels of {self.name} files cannot be known in part: {self.only_whole}")
        return replace(self, partial=True)  # type: ignore[type-var]

    def hint(self, labels: Iterable[Any]) -> str:
        """What to say where a label looks as if it were known in part only, and the file was read as if all were known.

        >>> from structlearn.io import Columns
        >>> Columns().hint({"NOUN", "VERB", "?"}).partition(";")[0]
        '? is taken for a label as all others'
        """
        if self.partial or self.only_whole:
            return ""
        known = set(labels)
        several = sorted(label for label in known if isinstance(label, str) and "|" in label)
        odd = [*(text for text in UNKNOWN if text in known), *(text for text in several if known >= {*text.split("|")})]
        if not odd:
            return ""
        return f"{odd[0]} is taken for a label as all others; if it stands for one that is not known, say --partial"

    def known(self, label: Any) -> Any:
        """What a label that was read says, where labels are known in part: one, several in a frozenset, or None."""
        return known_in_part(label)

    def title(self, example: Example) -> str:
        """What an example is called in a table: the name that the file gives it, or where it stands."""
        return example.place


class Format(Reader):
    """A text format.

    A subclass has a `name` and implements `structure`, `recognise`, `parse` and `write`.
    """

    @classmethod
    @abstractmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        """The format with the options that fit the first lines of a file, or None if it is another one."""

    @classmethod
    def fits(cls, head: Sequence[str], filename: str) -> bool:
        """Whether a file may be one of this format, where that was said: more files may than are recognised."""
        return cls.recognise(head, filename) is not None

    @abstractmethod
    def parse(self, lines: Lines) -> Iterator[Example]:
        """The examples, one after another; what cannot be understood raises ``lines.error(…)``."""

    @abstractmethod
    def write(self, x: Any, y: Any) -> str:
        """The text of an example, from which `read` gets x and y back; y is None for none.

        The blank line after a sequence is part of it, where the format has one. Raises ValueError for what the format
        cannot hold.
        """

    def annotate(self, example: Example, y: Any) -> str:
        """The lines of an example that was read, with the prediction y; those between examples are none of its."""
        return self.write(example.x, y).rstrip("\n") + "\n"

    def read(self, lines: Lines) -> Iterator[Example]:
        """All examples of a file: at least one, and all with labels or none."""
        labelled, mixed = None, self.partial and self.structure == "row"
        for example in self.parse(lines):
            if labelled is None:
                labelled = example.y is not None
            elif labelled != (example.y is not None) and not (mixed or self.tolerant):
                here, before = ("no labels", "have some") if labelled else ("labels", "have none")
                raise lines.error(f"an example with {here}, where those before {before}", line=example.line)
            if self.partial and example.y is not None:
                y = self.known(example.y) if self.structure == "row" else list(map(self.known, example.y))
                example = replace(example, y=y)
            yield example if example.file else replace(example, file=lines.name)
        if labelled is None:
            raise lines.error("the file holds no example")


def known_in_part(text: str) -> str | frozenset[str] | None:
    """What a label says where labels are known in part: nothing by ? or _, one of several by a bar between them.

    >>> known_in_part("?"), known_in_part("NOUN"), sorted(known_in_part("NOUN|VERB"))
    (None, 'NOUN', ['NOUN', 'VERB'])
    """
    if text in UNKNOWN:
        return None
    several = text.split("|")
    return frozenset(several) if len(several) > 1 and all(several) else text


def label_text(label: Any) -> str:
    """The same as text.

    >>> label_text(None), label_text(frozenset({"VERB", "NOUN"})), label_text("NOUN")
    ('?', 'NOUN|VERB', 'NOUN')
    """
    if label is None:
        return UNKNOWN[0]
    return "|".join(sorted(map(str, label))) if isinstance(label, (set, frozenset, list)) else str(label)


def paragraphs(lines: Lines, border: str = "") -> Iterator[tuple[int, list[str]]]:
    """Lines between blank lines and those that begin with `border`, with the number of the first."""
    paragraph: list[str] = []
    special = BLANKS + border[:1]
    for line in lines:
        if not line or (line[0] in special and (not line.strip(BLANKS) or (border and line.startswith(border)))):
            if paragraph:
                yield lines.number - len(paragraph), paragraph
                paragraph = []
        else:
            paragraph.append(line)
            if len(paragraph) > LONGEST_SEQUENCE:
                raise lines.error(f"more than {LONGEST_SEQUENCE:,} lines without a blank one between sequences")
    if paragraph:
        yield lines.number - len(paragraph) + 1, paragraph


def split_blanks(line: str) -> list[str]:
    """The fields between runs of spaces and tabs, and of no other white space.

    >>> split_blanks("10\\xa0000  CD\\tO ")
    ['10\\xa0000', 'CD', 'O']
    """
    fields = line.replace("\t", " ").split(" ")
    return [field for field in fields if field] if "" in fields else fields


def split_all_blanks(lines: Sequence[str]) -> list[list[str]]:
    """`split_blanks` of several lines, which mostly have one space between fields.

    >>> split_all_blanks(["the DT", "dog  NN"])
    [['the', 'DT'], ['dog', 'NN']]
    """
    rows = [line.split(" ") for line in lines]
    plain = all(map(all, rows)) and "\t" not in "".join(lines)
    return rows if plain else list(map(split_blanks, lines))


def column_of(line: str, field: int, separator: str | None) -> int:
    """The column, from 1, where a field of a line begins; fields are separated by runs of blanks if by nothing else."""
    if separator is not None:
        return sum(len(text) + len(separator) for text in line.split(separator)[:field]) + 1
    starts = (match.start() for match in re.finditer(r"[^ \t]+", line))
    return next(islice(starts, field, None), len(line)) + 1


def check_written(text: Any, what: str, forbidden: str = "") -> str:
    """A text that a format can hold: not empty, without line ends and the forbidden characters."""
    if not isinstance(text, str):
        raise ValueError(f"{what} is {quoted(repr(text))}; only a string can be written")
    found = next((character for character in "\n\r\0" + forbidden if character in text), None)
    if found is not None:
        raise ValueError(f"{what} {quoted(text)} cannot be written in this format: it holds {found!r}")
    if not text or text[0] == "\ufeff" or not _is_encodable(text):
        raise ValueError(f"{what} {quoted(text)} cannot be written: {'it is no text' if text else 'it is empty'}")
    return text


def token_values(token: Any, names: Sequence[str], t: int) -> tuple[Any, ...]:
    """The values of a token that has these columns."""
    values = tuple(token) if isinstance(token, (tuple, list)) else (token,)
    if len(values) != len(names):
        raise ValueError(f"x[{t}] is {quoted(repr(token))}, but the columns are {', '.join(names)}")
    return values


def paired(tokens: Sequence[Any], y: Sequence[Any] | None) -> Iterator[tuple[Any, str | None]]:
    """Tokens with their labels as text, None where there are none."""
    if y is None:
        return ((token, None) for token in tokens)
    if len(y) != len(tokens):
        raise ValueError(f"there are {len(y)} labels for {len(tokens)} tokens")
    return zip(tokens, map(label_text, y), strict=True)


def _is_encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
