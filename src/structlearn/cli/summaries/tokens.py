"""What is odd about a file of examples, and on which line."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, get_args

from structlearn.cli.summaries.oddities import MOST_REMEMBERED, Counts, Inputs, Oddity
from structlearn.data.labels import is_partial
from structlearn.data.queries import MOST_GAIN
from structlearn.data.tokens.tags import TagScheme, are_tags, follows, is_tag
from structlearn.data.trees import unary_cycle
from structlearn.io.format import Example, Structure
from structlearn.wording import several

#: Tokens of a sequence from which on one suspects that blank lines are missing.
LONG = 1000

#: Categories of Unicode: control and format characters, those without a meaning, and spaces other than the usual ones.
INVISIBLE = {"Cc", "Cf", "Co", "Cn", "Cs", "Zs", "Zl", "Zp"}


class Terms(NamedTuple):
    """What an example is called, what it consists of, and what is known of that."""

    example: str = "example"
    part: str = "token"
    label: str = "label"


TOKENS = Terms()
#: Those of structures that have words of their own.
TERMS: dict[Structure, Terms] = {
    "tree": Terms("tree"),
    "dependencies": Terms("sentence"),
    "pair": Terms("pair", "letter"),
    "translation": Terms("pair of sentences", "word"),
    "document": Terms("document", "mention"),
    "row": Terms(part="example"),
    "sequence": Terms("sequence", "letter"),
    "query": Terms("query", "document", "relevance"),
    "set": Terms(part="label"),
    "network": Terms("network", "node"),
    "image": Terms("image", "pixel"),
}


@dataclass
class Summary(Counts):
    """Counts of a file, and what is odd about it.

    Attributes
    ----------
    parts : int
        What examples and parts are is told by the `TERMS` of the structure: of sequences of words, examples and tokens.
    labels : Counter
    scheme : str or None
        That of labels which are tags of spans.
    ambiguous, unknown : int
        Places of which several labels are possible, or all.
    """

    parts: int = 0
    labels: Counter[Any] = field(default_factory=Counter)
    scheme: TagScheme | None = None
    ambiguous: int = 0
    unknown: int = 0


def summarise(examples: Iterable[Example], terms: Terms = TOKENS) -> Summary:
    """Goes once through the examples."""
    summary = Summary()
    first_label: dict[Any, Oddity] = {}
    seen = Inputs()
    broken = {scheme: Counts() for scheme in get_args(TagScheme)}
    for example in examples:
        sequence = isinstance(example.x, list)
        tokens = example.x if sequence else [example.x]
        # A tree is no list of labels.
        labels = (example.y if isinstance(example.y, list) else []) if sequence else [example.y]
        length = len(example.x if isinstance(example.x, str) else tokens)
        summary.add_example(length)
        summary.parts += length
        known = [label for label in labels if not is_partial(label)]
        summary.unknown += sum(label is None for label in labels)
        summary.ambiguous += sum(isinstance(label, frozenset) for label in labels)
        for t, label in enumerate(labels):
            if not is_partial(label) and label not in first_label:
                first_label[label] = Oddity.at(example, "", t)
        if len(first_label) > MOST_REMEMBERED:
            what = f"different {several(terms.label)}; are these labels at all?"
            raise ValueError(f"{example.place}: more than {MOST_REMEMBERED:,} {what}")
        summary.labels.update(known)
        if sequence and len(known) == len(labels) and any(map(is_tag, labels)):
            for scheme, found in broken.items():
                found.note(_odd_tags(example, labels, scheme))
        summary.note(odd_tokens(example, tokens))
        summary.note(_cycles(example))
        if terms.part == "document":
            summary.note(_without_order(example))
            summary.note(_too_relevant(example))
        elif len(tokens) > LONG:
            summary.note([Oddity.at(example, f"a sequence of {len(tokens)} tokens: are blank lines missing?")])
        summary.note(_repeated(example, seen))
    if are_tags(summary.labels) or any(str(label).startswith(("B-", "I-")) for label in summary.labels):
        summary.scheme, found = min(broken.items(), key=lambda item: item[1].odd)
        summary.include(found)
    common = sum(count > 1 for count in summary.labels.values())
    for label, count in summary.labels.items():
        if count == 1 and common > 1:
            summary.note([replace(first_label[label], what=f"the {terms.label} {_shown(label)} occurs only here")])
    if len(summary.labels) == 1 and summary.labels.total() > 1:
        ((only, place),) = first_label.items()
        what = f"every {terms.label} is {_shown(only)}: there is nothing to learn"
        summary.note([replace(place, what=what)])
    summary.sort()
    return summary


def _shown(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else repr(label)


def _without_order(example: Example) -> Iterator[Oddity]:
    """Documents of a query that teach nothing."""
    if example.y is not None and len(example.y) > 1 and len(set(example.y)) == 1:
        yield Oddity.at(example, "all documents are equally relevant: this query teaches nothing")


def _too_relevant(example: Example) -> Iterator[Oddity]:
    """Relevances that training refuses, where gains are 2^y − 1."""
    most = math.log2(MOST_GAIN)
    for j, y in enumerate(example.y or ()):
        if y > most:
            what = f"a relevance of {y:g}: with gain='exponential', train takes at most {most:g}"
            yield Oddity.at(example, what, j)


def _odd_tags(example: Example, labels: list[Any], scheme: TagScheme) -> Iterator[Oddity]:
    """Tags that cannot stand where they do; what is no tag of any scheme is outside of all spans."""
    for t, (before, after) in enumerate(pairwise([None, *labels, None])):
        what = _broken_rule(before, after, scheme)
        if what:
            yield Oddity.at(example, what, min(t, len(labels) - 1))


@lru_cache(4096)
def _broken_rule(before: Any, after: Any, scheme: TagScheme) -> str:
    """Why one label cannot follow another, or nothing; None is beyond the ends."""
    last, next_ = (label if label is not None and _of_scheme(label, scheme) else "O" for label in (before, after))
    if after is not None and is_tag(after) and not _of_scheme(after, scheme):
        return f"{after} is no tag of {scheme}"
    if follows(last, next_, scheme):
        return ""
    place = f"{after} begins the example" if before is None else f"{after} follows {before}"
    if next_[0] in "IE":
        return f"{place}: it continues nothing"
    if scheme == "IOB1":
        return f"{place}: in IOB1, B stands only right after a span of its own type"
    return f"{before} ends the example: its span has no end" if after is None else f"{place}, whose span has no end"


def _of_scheme(label: Any, scheme: TagScheme) -> bool:
    return is_tag(label) and label[0] in ("BIOES" if scheme == "BIOES" else "BIO")


def _cycles(example: Example) -> Iterator[Oddity]:
    """Trees that a grammar cannot derive."""
    cycle = unary_cycle(example.y) if isinstance(example.y, tuple) else None
    if cycle is not None:
        told = "which training refuses; --unary-cycles remove trains without it"
        yield Oddity.at(example, f"the unary cycle {' → '.join(cycle)}, {told}")


def odd_tokens(example: Example, tokens: list[Any]) -> Iterator[Oddity]:
    """Characters that nobody sees."""
    for t, token in enumerate(tokens):
        values = (token,) if isinstance(token, str) else token if isinstance(token, tuple) else ()
        for value in values:
            if value.isascii() and value.isprintable():
                continue
            strange = next((character for character in value if unicodedata.category(character) in INVISIBLE), None)
            if strange is not None:
                name = unicodedata.name(strange, f"U+{ord(strange):04X}")
                yield Oddity.at(example, f"{value!r} holds an invisible character, {name}", t)
                break


def _repeated(example: Example, seen: Inputs) -> Iterator[Oddity]:
    """The same input twice with different labels; the same labels twice are no news in short sequences."""
    if example.y is None or (isinstance(example.x, list) and len(example.x) < 4):
        return
    yield from same_elsewhere(example, seen)


def same_elsewhere(example: Example, seen: Inputs) -> Iterator[Oddity]:
    """The same input with other labels, at another place."""
    before = seen.with_another_output(example.x, example.y, example)
    if before is not None:
        file, line = before
        where = f"line {line}" if file == example.file else f"{file}:{line}"
        yield Oddity.at(example, f"the same input as at {where}, with other labels")
