"""CoNLL-U, the format of Universal Dependencies: ten columns a word, comments, blank lines between sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, ClassVar, Literal, Self

from structlearn.io.conllu_trees import EMPTY, WordError, columns_of, tree_of, without
from structlearn.io.format import (
    Example,
    Format,
    Structure,
    check_written,
    column_of,
    known_in_part,
    paired,
    paragraphs,
    token_values,
)
from structlearn.io.text import Lines, quoted

NAMES = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
LABELS = ("upos", "xpos", "deprel", "feats", "tree")
#: The columns that say what is predicted, where that is not one alone.
OF_TREES = ("head", "deprel", "deps")
#: The number of a word, the numbers of the words in a contraction such as "3-4", or of one that is not there, "5.1".
IDENTIFIER = re.compile(r"[1-9][0-9]{0,8}|[0-9]{1,9}[-.][1-9][0-9]{0,8}")


@dataclass(frozen=True)
class ConllU(Format):
    """Sentences of syntactic words, of which one column is the label, or two are a dependency tree.

    Words are numbered from 1. Contractions and words that the text leaves out are passed over; they stay where they
    are when predictions are written, which replace the column of the label. A sentence of which all labels are "_" has
    none; among features, "_" is a label like others.

    A tree is a list with (head, deprel) for each word, or with heads alone where all of DEPREL is "_"; 0 is the root.
    Predicted trees replace HEAD and DEPREL and nothing else: what DEPS, the enhanced graph, says of a word is not
    brought up to date.

    Parameters
    ----------
    label : {"upos", "xpos", "deprel", "feats", "tree"}
    columns : tuple of str, optional
        What a token consists of: "form", "lemma", or others of the ten columns. By default the form, and where trees
        are the output, form and upos.
    partial : bool
        Whether labels are known in part: ``?`` or ``_`` where nothing is known, ``A|B`` for one of several. Of trees,
        heads and labels may each be unknown, as in ``(3, None)``, ``(None, "obj")`` and None.
    subtypes : bool
        Whether labels of arcs keep what stands behind a colon; without, nsubj:pass is nsubj.
    single_root : bool
        Whether a tree with two roots is refused; Universal Dependencies have one.
    tolerant : bool
        Whether a sentence whose labels or tree are wrong is taken for one without, as where predictions replace them.

    Examples
    --------
    >>> rows = ["1 Go go VERB VB _ 0 root _ _", "2 ! ! PUNCT . _ 1 punct _ _"]
    >>> text = "# text = Go!\\n" + "\\n".join(rows).replace(" ", "\\t")
    >>> (example,) = ConllU().read(Lines([text.encode()], "go.conllu"))
    >>> example.x, example.y
    (['Go', '!'], ['VERB', 'PUNCT'])
    >>> (example,) = ConllU("tree").read(Lines([text.encode()], "go.conllu"))
    >>> example.x, example.y
    ([('Go', 'VERB'), ('!', 'PUNCT')], [(0, 'root'), (1, 'punct')])
    """

    name: ClassVar[str] = "conllu"

    label: Literal["upos", "xpos", "deprel", "feats", "tree"] = "upos"
    columns: tuple[str, ...] | None = None
    partial: bool = False
    subtypes: bool = True
    single_root: bool = True
    tolerant: bool = False

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise ValueError(f"label is {self.label!r}; it may be {', '.join(LABELS)}")
        if self.columns is None:
            object.__setattr__(self, "columns", ("form", "upos") if self.label == "tree" else ("form",))
        taken = OF_TREES if self.label == "tree" else (self.label,)
        possible = [name for name in NAMES if name not in ("id", *taken)]
        if isinstance(self.columns, str) or not self.columns or len(set(self.columns)) < len(self.columns):
            raise ValueError(f"columns is {self.columns!r}; expected a tuple of different names")
        for name in self.columns:
            if name not in possible:
                odd = "" if name in NAMES else ", which CoNLL-U does not have"
                raise ValueError(f"columns holds {name!r}{odd}; beside the label there are {', '.join(possible)}")

    @property
    def structure(self) -> Structure:
        return "dependencies" if self.label == "tree" else "words"

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns or ()

    @property
    def described(self) -> str:
        return f"{self.name} (--label {self.label})"

    def before_predictions(self) -> Self:
        return replace(self, tolerant=True)

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        words = [line.split("\t") for line in head if line and not line.startswith("#")]
        fits = all(len(row) == len(NAMES) and IDENTIFIER.fullmatch(row[0]) for row in words)
        return cls() if words and fits else None

    def parse(self, lines: Lines) -> Iterator[Example]:
        take = itemgetter(*map(NAMES.index, self.inputs))
        for number, paragraph in paragraphs(lines):
            rows = list(self._rows(lines, number, paragraph))
            words = [row for row in rows if row is not None]
            if not words:
                continue
            places = tuple(k for k, row in enumerate(rows) if row is not None)
            try:
                y = self._output(words)
            except WordError as error:
                if not self.tolerant:
                    k = places[error.word]
                    column = column_of(paragraph[k], NAMES.index(error.column), "\t")
                    raise lines.error(str(error), column, number + k) from None
                y = None
            yield Example(list(map(take, words)), y, number, tuple(paragraph), file=lines.name, rows=places)

    def _output(self, words: list[list[str]]) -> list[Any] | None:
        if self.label == "tree":
            heads, labels = (self._column(words, name) for name in ("head", "deprel"))
            return tree_of(heads, labels, partial=self.partial, single_root=self.single_root)
        y = self._column(words, self.label)
        if self.label == "feats" or EMPTY not in y or self.partial:
            return y
        if any(label != EMPTY for label in y):
            raise without(y.index(EMPTY), self.label)
        return None

    def _column(self, words: list[list[str]], name: str) -> list[str]:
        place = NAMES.index(name)
        values = [row[place] for row in words]
        # A colon at the beginning has no type before it.
        return values if self.subtypes or name != "deprel" else [text.partition(":")[0] or text for text in values]

    def known(self, label: Any) -> Any:
        return label if self.label == "tree" else known_in_part(label)

    @property
    def only_whole(self) -> str:
        return "among features, '_' and '|' are part of labels" if self.label == "feats" else ""

    def write(self, x: Any, y: Any) -> str:
        text = ""
        outputs = [{}] * len(x) if y is None else self._written(x, y, self.single_root)
        if y is None and self.label == "feats":
            raise ValueError("no labels cannot be written: among features, '_' is a label")
        for t, (token, output) in enumerate(zip(x, outputs, strict=True)):
            row = (
                dict.fromkeys(NAMES, EMPTY)
                | dict(zip(self.inputs, token_values(token, self.inputs, t), strict=True))
                | {"id": str(t + 1), **output}
            )
            text += "\t".join(check_written(value, f"x[{t}]", "\t") for value in row.values()) + "\n"
        if not text:
            raise ValueError("a sentence without words cannot be written")
        return text + "\n"

    def annotate(self, example: Example, y: Any) -> str:
        # Who asks a model for trees of several roots shall get them.
        outputs = iter(self._written(example.x, y, single_root=False))
        text = ""
        for line in example.source:
            row = line.split("\t")
            if not line.startswith("#") and row[0].isdecimal():
                for name, value in next(outputs).items():
                    row[NAMES.index(name)] = value
            text += "\t".join(row) + "\n"
        return text

    def _written(self, x: Any, y: Any, single_root: bool) -> list[dict[str, str]]:
        """What an output puts into the columns of every word."""
        if self.label == "tree":
            return columns_of(y, len(x), partial=self.partial, single_root=single_root)
        return [{self.label: self._checked(label)} for _, label in paired(x, y)]

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

    def _checked(self, label: str | None) -> str:
        if label == EMPTY and self.label != "feats":
            raise ValueError(f"the label '_' cannot be written: it stands for no {self.label}")
        return check_written(label, "label", "\t")
