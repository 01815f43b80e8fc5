"""Documents: the sentences with their mentions in brackets, and which entity each is of."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

from rich.text import Text

from structlearn.data.clusterings import to_labels
from structlearn.data.documents import Document
from structlearn.drawing.base import Drawing
from structlearn.drawing.markup import Html, element
from structlearn.wording import count

#: Sentences with mistakes that are shown.
MOST_SENTENCES = 20


class Mark(NamedTuple):
    """What is wrong about a mention: its sign, its colour in a terminal, its class in a report."""

    sign: str
    colour: str
    style: str


#: Linked to a mention of another entity, and not linked to any before it though there is one.
WRONG, MISSED = Mark("✗", "bold red", "given"), Mark("?", "bold yellow", "true")

#: Text, and what is wrong about the mention that ends there.
Pieces = list[tuple[str, Mark | None]]


def draw_document(document: Document, labels: Any, truth: Any = None) -> Drawing:
    """The sentences of a document with its mentions, numbered by entity; beside a truth, those with mistakes only.

    A mention is marked ✗ where the one before it in its cluster is of another entity, and ? where there is none before
    it, though its entity was mentioned.

    Parameters
    ----------
    document : Document
    labels, truth : clusterings of its mentions

    Examples
    --------
    >>> from structlearn.data import Mention
    >>> text = (("Ann", "saw", "her", "dog", "."), ("She", "laughed", "."))
    >>> document = Document(text, (Mention(0, 0, 1), Mention(0, 2, 4), Mention(0, 2, 3), Mention(1, 0, 1)))
    >>> print(draw_document(document, [0, 1, 0, 0]))
    [Ann]1 saw [[her]1 dog]2 .
    [She]1 laughed .
    >>> print(draw_document(document, [0, 1, 2, 1], [0, 1, 0, 0]))
    1 wrong link, 1 missed, of 4 mentions
    [Ann]1 saw [[her]3? dog]2 .
    [She]2✗ laughed .
    """
    n = len(document.mentions)
    found = to_labels(labels, n, "labels").tolist()
    marks: list[Mark | None] = [None] * n
    if truth is not None:
        marks = _compared(found, to_labels(truth, n, "truth").tolist())
    lines = _sentences(document, found, marks)
    title = ""
    if any(marks):
        wrong, missed = marks.count(WRONG), marks.count(MISSED)
        title = f"{count(wrong, 'wrong link')}, {missed} missed, of {count(n, 'mention')}"
        lines = [pieces for pieces in lines if any(mark for _, mark in pieces)]
        if len(lines) > MOST_SENTENCES:
            more = len(lines) - MOST_SENTENCES
            lines = [*lines[:MOST_SENTENCES], [(f"and {count(more, 'sentence')} more", None)]]
    texts = [*([Text(title, "dim")] if title else []), *map(_text, lines)]
    caption = element("figcaption", title) if title else None
    shown = [(_html(pieces), "\n") for pieces in lines]
    figure = element("figure", caption, element("pre", shown, class_="alignment"))
    return Drawing(Text("\n").join(texts), element("div", figure, class_="drawing"))


def _compared(found: list[int], true: list[int]) -> list[Mark | None]:
    marks: list[Mark | None] = []
    last: dict[int, int] = {}
    for j, (label, entity) in enumerate(zip(found, true, strict=True)):
        before = last.get(label)
        if before is None:
            marks.append(MISSED if entity in true[:j] else None)
        else:
            marks.append(WRONG if true[before] != entity else None)
        last[label] = j
    return marks


def _sentences(document: Document, labels: list[int], marks: list[Mark | None]) -> list[Pieces]:
    """The sentences in pieces, each of which ends with a word or a mention."""
    opened: defaultdict[tuple[int, int], int] = defaultdict(int)
    closed: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for k, (s, begin, end) in enumerate(document.mentions):
        opened[s, begin] += 1
        closed[s, end - 1].insert(0, k)
    lines = []
    for s, sentence in enumerate(document.sentences):
        pieces: Pieces = []
        for t, word in enumerate(sentence):
            text = (" " if t else "") + "[" * opened[s, t] + word
            for k in closed[s, t]:
                pieces.append((f"{text}]{labels[k] + 1}", marks[k]))
                text = ""
            if text:
                pieces.append((text, None))
        lines.append(pieces)
    return lines


def _text(pieces: Pieces) -> Text:
    line = Text()
    for text, mark in pieces:
        line.append(text + (mark.sign if mark else ""), mark.colour if mark else None)
    return line


def _html(pieces: Pieces) -> list[Html | str]:
    return [element("span", text + mark.sign, class_=mark.style) if mark else text for text, mark in pieces]
