"""What is odd about a file of documents with coreference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from structlearn.cli.summaries.oddities import MOST_REMEMBERED, Counts, Oddity
from structlearn.data.documents import Document
from structlearn.io.format import Example


@dataclass
class DocumentSummary(Counts):
    """Counts of a file of documents, whose lengths are their numbers of mentions, and what is odd about it.

    Attributes
    ----------
    tokens, mentions, entities : int
    sizes : Counter
        How many entities have so many mentions.
    """

    tokens: int = 0
    mentions: int = 0
    entities: int = 0
    sizes: Counter[int] = field(default_factory=Counter)


def summarise_documents(examples: Iterable[Example]) -> DocumentSummary:
    """Goes once through the examples."""
    summary = DocumentSummary()
    seen: set[tuple[str, int]] = set()
    for example in examples:
        document: Document = example.x
        entities = Counter(example.y)
        summary.add_example(len(document.mentions))
        summary.tokens += sum(map(len, document.sentences))
        summary.mentions += len(document.mentions)
        summary.entities += len(entities)
        summary.sizes.update(entities.values())
        if not document.mentions:
            summary.note([Oddity.at(example, "a document without mentions")])
        elif len(entities) == len(document.mentions) > 1:
            summary.note([Oddity.at(example, "every mention is an entity of its own: nothing to learn")])
        if document.name and (document.name, document.part) in seen:
            summary.note([Oddity.at(example, f"{document.name!r}, part {document.part}, comes a second time")])
        if len(seen) < MOST_REMEMBERED:
            seen.add((document.name, document.part))
        summary.note(_crossing(example))
    return summary


def _crossing(example: Example) -> Iterator[Oddity]:
    document: Document = example.x
    for a, b in pairwise(document.mentions):
        if a.sentence == b.sentence and a.begin < b.begin < a.end < b.end:
            texts = " and ".join(repr(" ".join(document.words(m))) for m in (a, b))
            yield Oddity.at(example, f"the mentions {texts} overlap, neither being within the other")
