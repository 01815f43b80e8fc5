"""What is odd about a file of pairs of sequences, and on which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from structlearn.cli.summaries.tokens import Oddity
from structlearn.io.format import Example


@dataclass
class PairSummary:
    """Counts of a file of pairs, and what is odd about it.

    Attributes
    ----------
    examples, aligned : int
        Pairs, and how many of them have an alignment.
    matches, equal : int
        Matches of all alignments, and how many of them are of equal letters.
    letters : Counter
    lengths : (shortest, longest)
        Of sequences, in letters.
    oddities : list of Oddity
        In the order of files and lines.
    """

    examples: int = 0
    aligned: int = 0
    matches: int = 0
    equal: int = 0
    letters: Counter[str] = field(default_factory=Counter)
    lengths: tuple[int, int] = (0, 0)
    oddities: list[Oddity] = field(default_factory=list)


def summarise_pairs(examples: Iterable[Example]) -> PairSummary:
    """Goes once through the pairs."""
    summary = PairSummary()
    first: dict[str, Example] = {}
    seen: dict[tuple[str, str], Example] = {}
    lengths: list[int] = []
    for example in examples:
        s, t = example.x
        summary.examples += 1
        summary.aligned += example.y is not None
        summary.matches += len(example.y or ())
        summary.equal += sum(s[i] == t[j] for i, j in example.y or ())
        lengths += [len(s), len(t)]
        counts = Counter(s) + Counter(t)
        summary.letters += counts
        for letter in counts:
            first.setdefault(letter, example)
        summary.oddities += _odd(example, summary, seen.setdefault((s, t), example))
    summary.lengths = min(lengths), max(lengths)
    for letter, count in summary.letters.items():
        if count == 1:
            summary.oddities.append(Oddity.at(first[letter], f"the letter {letter} occurs only here"))
    summary.oddities.sort(key=lambda oddity: (oddity.file, oddity.line))
    return summary


def _odd(example: Example, before: PairSummary, same: Example) -> Iterator[Oddity]:
    if example.y == ():
        yield Oddity.at(example, "an alignment without a single match")
    if example.y is None and before.aligned:
        yield Oddity.at(example, "sequences that are not aligned, unlike those before")
    if same is not example and same.y != example.y:
        yield Oddity.at(example, f"the same sequences as at {same.place}, aligned in another way")
