"""What is odd about a file of sentences and their translations, and on which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from structlearn.cli.summaries.oddities import Counts, Inputs, Oddity
from structlearn.io.format import Example


@dataclass
class TranslationSummary(Counts):
    """Counts of a file of translations, whose lengths are words of sentences, and what is odd about it.

    Attributes
    ----------
    aligned : int
        How many pairs of sentences have links.
    links, possible : int
        Links of all of them that are sure, and those that are possible only.
    words : Counter
    """

    aligned: int = 0
    links: int = 0
    possible: int = 0
    words: Counter[str] = field(default_factory=Counter)


def summarise_translations(examples: Iterable[Example]) -> TranslationSummary:
    """Goes once through the pairs of sentences."""
    summary = TranslationSummary()
    seen = Inputs()
    for example in examples:
        source, target = example.x
        summary.add_example(len(source), len(target))
        summary.words.update([*source, *target])
        if example.y is not None:
            summary.aligned += 1
            summary.links += len(example.y)
            summary.possible += len(example.y.possible) - len(example.y)
        summary.note(_odd(example))
        before = seen.with_another_output(example.x, example.y, example)
        if before is not None:
            file, line = before
            where = f"{file}:{line}" if file else f"line {line}"
            summary.note([Oddity.at(example, f"the same sentences as at {where}, with other links")])
    summary.sort()
    return summary


def _odd(example: Example) -> Iterator[Oddity]:
    if not all(example.x):
        yield Oddity.at(example, "a sentence without words")
    elif example.y is not None and not example.y.possible:
        yield Oddity.at(example, "sentences without a single link")
