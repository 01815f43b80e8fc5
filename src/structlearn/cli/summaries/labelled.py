"""What is odd about a file of networks, of images or of label sets, and where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from structlearn.cli.summaries.oddities import Counts, Inputs, Oddity
from structlearn.cli.summaries.tokens import Terms, same_elsewhere
from structlearn.data.labels import is_partial
from structlearn.io.format import Example


@dataclass
class LabelledSummary(Counts):
    """Counts of a file, and what is odd about it; `lengths` are those of networks, images or sets.

    Attributes
    ----------
    parts : int
        Nodes, pixels, or labels of all sets together.
    labels : Counter
    edges : int
        Of networks.
    ambiguous, unknown : int
        Nodes of which several labels are possible, or all.
    """

    parts: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    edges: int = 0
    ambiguous: int = 0
    unknown: int = 0


def summarise_labelled(examples: Iterable[Example], terms: Terms) -> LabelledSummary:
    """Goes once through the examples."""
    summary = LabelledSummary()
    first: dict[Any, Oddity] = {}
    seen = Inputs()
    for example in examples:
        n, labels = _parts(example)
        summary.add_example(n)
        summary.parts += n
        summary.edges += len(getattr(example.x, "edges", ()))
        known = [label for label in labels if not is_partial(label)]
        summary.unknown += sum(label is None for label in labels)
        summary.ambiguous += len(labels) - len(known) - sum(label is None for label in labels)
        for label in dict.fromkeys(known):
            first.setdefault(label, Oddity.at(example, ""))
        summary.labels.update(known)
        summary.note(_odd(example, n))
        if isinstance(example.y, set):
            summary.note(same_elsewhere(example, seen))
    common = sum(count > 1 for count in summary.labels.values())
    for label, count in summary.labels.items():
        if count == 1 and common > 1:
            summary.note([replace(first[label], what=f"the label {label!r} occurs only here")])
    if len(summary.labels) == 1 and terms.part != "label" and summary.labels.total() > 1:
        ((only, place),) = first.items()
        summary.note([replace(place, what=f"every label is {only!r}: there is nothing to learn")])
    summary.sort()
    return summary


def _parts(example: Example) -> tuple[int, list[Any]]:
    """How many nodes, pixels or labels there are, and the labels."""
    if isinstance(example.y, set):
        return len(example.y), sorted(example.y, key=str)
    if isinstance(example.x, np.ndarray):
        n = example.x.shape[0] * example.x.shape[1]
        return n, [] if example.y is None else example.y.ravel().tolist()
    if isinstance(example.x, dict):
        return 0, []
    return len(example.x.names), list(example.y or [])


def _odd(example: Example, n: int) -> Iterator[Oddity]:
    if hasattr(example.x, "edges") and n > 1 and not len(example.x.edges):
        yield Oddity.at(example, f"a network of {n} nodes without an edge")
