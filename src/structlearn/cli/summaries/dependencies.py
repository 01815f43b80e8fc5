"""What is odd about a file of dependency trees, and on which line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from structlearn.cli.summaries.oddities import MOST_REMEMBERED, Counts, Inputs, Oddity
from structlearn.cli.summaries.tokens import LONG, odd_tokens, same_elsewhere
from structlearn.data.dependency_trees import is_projective, split_tree
from structlearn.io.format import Example


@dataclass
class DependencySummary(Counts):
    """Counts of a file of dependency trees, and what is odd about it.

    Attributes
    ----------
    parts : int
        Tokens of all sentences together.
    heads : int
        How many of them have a head that is known.
    crossing : int
        Whole trees with arcs that cross.
    labels : Counter
        Of arcs.
    """

    parts: int = 0
    heads: int = 0
    crossing: int = 0
    labels: Counter[Any] = field(default_factory=Counter)


def summarise_dependencies(examples: Iterable[Example]) -> DependencySummary:
    """Goes once through the examples."""
    summary = DependencySummary()
    first: dict[Any, Oddity] = {}
    seen = Inputs()
    for example in examples:
        n = len(example.x)
        summary.add_example(n)
        summary.parts += n
        summary.note(odd_tokens(example, example.x))
        if n > LONG:
            summary.note([Oddity.at(example, f"a sentence of {n} tokens: are blank lines missing?")])
        if example.y is None:
            continue
        heads, labels = split_tree(example.y, "y", partial=True)
        known = [head for head in heads if head is not None]
        summary.heads += len(known)
        summary.crossing += len(known) == n and not is_projective(known)
        for t, label in enumerate(labels or ()):
            if label is not None:
                summary.labels[label] += 1
                first.setdefault(label, Oddity.at(example, f"the label {label!r} occurs only here", t))
        if len(first) > MOST_REMEMBERED:
            raise ValueError(
                f"{example.place}: more than {MOST_REMEMBERED:,} different labels; are these labels at all?"
            )
        if n > 3:
            summary.note(same_elsewhere(example, seen))
    common = sum(count > 1 for count in summary.labels.values())
    if common > 1:
        summary.note(first[label] for label, count in summary.labels.items() if count == 1)
    summary.sort()
    return summary
