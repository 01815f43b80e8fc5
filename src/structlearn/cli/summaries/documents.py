"""What is odd about a file of documents with coreference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from structlearn.cli.summaries.tokens import Oddity
from structlearn.data.documents import Document
from structlearn.io.format import Example


@dataclass
class DocumentSummary:
    """Counts of a file, and what is odd about it.

    Attributes
    ----------
    examples, tokens, mentions, entities : int
    sizes : Counter
        How many entities have so many mentions.
    lengths : (fewest, most)
        Mentions of a document.
    oddities : list of Oddity
        In the order of lines.
    """

    examples: int = 0
    tokens: int = 0
    mentions: int = 0
    entities: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    lengths: tuple[int, int] = (0, 0)
    oddities: list[Oddity] = field(default_factory=list)


def summarise_documents(examples: Iterable[Example]) -> DocumentSummary:
    """Goes once through the examples."""
    summary = DocumentSummary()
    lengths = []
    seen: set[tuple[str, int]] = set()
    for example in examples:
        document: Document = example.x
        entities = Counter(example.y)
        summary.examples += 1
        summary.tokens += sum(map(len, document.sentences))
        summary.mentions += len(document.mentions)
        summary.entities += len(entities)
        summary.sizes.update(entities.values())
        lengths.append(len(document.mentions))
        if not document.mentions:
            summary.oddities.append(Oddity.at(example, "a document without mentions"))
        elif len(entities) == len(document.mentions) > 1:
            summary.oddities.append(Oddity.at(example, "every mention is an entity of its own: nothing to learn"))
        if (document.name, document.part) in seen:
            summary.oddities.append(Oddity.at(example, f"{document.name!r}, part {document.part}, comes a second time"))
        seen.add((document.name, document.part))
        summary.oddities += _crossing(example)
    if lengths:
        summary.lengths = min(lengths), max(lengths)
    return summary


def _crossing(example: Example) -> Iterator[Oddity]:
    document: Document = example.x
    for a, b in pairwise(document.mentions):
        if a.sentence == b.sentence and a.begin < b.begin < a.end < b.end:
            texts = " and ".join(repr(" ".join(document.words(m))) for m in (a, b))
            yield Oddity.at(example, f"the mentions {texts} overlap, neither being within the other")
