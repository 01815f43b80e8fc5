"""What is odd about a file of pairs of sequences, and on which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from structlearn.cli.summaries.oddities import Counts, Inputs, Oddity
from structlearn.io.format import Example


@dataclass
class PairSummary(Counts):
    """Counts of a file of pairs, which are its examples, and what is odd about it.

    Attributes
    ----------
    aligned : int
        How many pairs have an alignment.
    matches, equal : int
        Matches of all alignments, and how many of them are of equal letters.
    letters : Counter
    """

    aligned: int = 0
    matches: int = 0
    equal: int = 0
    letters: Counter[str] = field(default_factory=Counter)


def summarise_pairs(examples: Iterable[Example]) -> PairSummary:
    """Goes once through the pairs."""
    summary = PairSummary()
    first: dict[str, Oddity] = {}
    seen = Inputs()
    for example in examples:
        s, t = example.x
        summary.add_example(len(s), len(t))
        summary.aligned += example.y is not None
        summary.matches += len(example.y or ())
        summary.equal += sum(s[i] == t[j] for i, j in example.y or ())
        counts = Counter(s) + Counter(t)
        summary.letters += counts
        for letter in counts:
            first.setdefault(letter, Oddity.at(example, f"the letter {letter} occurs only here"))
        summary.note(_odd(example, summary))
        before = seen.with_another_output(example.x, example.y, example)
        if before is not None:
            file, line = before
            where = f"{file}:{line}" if file else f"line {line}"
            summary.note([Oddity.at(example, f"the same sequences as at {where}, aligned in another way")])
    summary.note(first[letter] for letter, count in summary.letters.items() if count == 1)
    summary.sort()
    return summary


def _odd(example: Example, before: PairSummary) -> Iterator[Oddity]:
    if example.y == ():
        yield Oddity.at(example, "an alignment without a single match")
    if example.y is None and before.aligned:
        yield Oddity.at(example, "sequences that are not aligned, unlike those before")
