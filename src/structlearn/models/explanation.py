"""Why an output is chosen: the difference of two scores, part by part and feature by feature."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.data.examples import same_output
from structlearn.models.description import WeightBlock, WeightNames, feature_text
from structlearn.wording import shown

#: Features of a part that are printed, and characters of each of two outputs.
MOST_PRINTED, LONGEST = 5, 80


class Contribution(NamedTuple):
    """What one source adds to the difference of two labels' scores: value × (weight − other_weight)."""

    source: str | int
    value: float
    weight: float
    other_weight: float
    amount: float


@dataclass(frozen=True)
class Explanation:
    """Why one label scores higher than another at a place, the labels around it being as predicted.

    Attributes
    ----------
    label, against : labels
    position : int or None
        Which token; None for one label an example.
    contributions : tuple of Contribution
        The greatest first, whatever their sign.
    """

    label: Any
    against: Any
    position: int | None
    contributions: tuple[Contribution, ...]

    @property
    def difference(self) -> float:
        """F(x, y) − F(x, y'), where y has `label` and y' has `against`: the sum of all contributions."""
        return math.fsum(each.amount for each in self.contributions)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "label": self.label,
            "against": self.against,
            "position": self.position,
            "difference": self.difference,
            "contributions": [each._asdict() for each in self.contributions],
        }

    def __str__(self) -> str:
        place = "" if self.position is None else f" at token {self.position}"
        width = max(8, len(str(self.label)), len(str(self.against)))
        lines = [
            f"{each.amount:+12.4f}  {each.value:8.4g}  {each.weight:+{width}.4f}  {each.other_weight:+{width}.4f}  "
            f"{feature_text(each.source)}"
            for each in self.contributions
        ]
        return "\n".join(
            [
                f"{self.label} against {self.against}{place}: {self.difference:+.4f}",
                f"contribution     value  {self.label!s:>{width}}  {self.against!s:>{width}}  from",
                *lines,
            ]
        )


class Term(NamedTuple):
    """What one feature of a part adds to the difference of two outputs' scores: value × weight."""

    source: str | int
    value: float
    weight: float
    amount: float


class Part(NamedTuple):
    """What a part adds to the difference; `times` is how often the output has it less how often the other one has."""

    name: str
    times: float
    amount: float
    terms: tuple[Term, ...]


@dataclass(frozen=True)
class Comparison:
    """Why one output scores higher than another: all parts that only one of them has, or more often than the other.

    Attributes
    ----------
    output, against : outputs
    parts : tuple of Part
        The greatest amount first, whatever its sign, and likewise the terms of each.
    """

    output: Any
    against: Any
    parts: tuple[Part, ...]

    @property
    def difference(self) -> float:
        """F(x, output) − F(x, against): the sum of the amounts of all terms."""
        return math.fsum(term.amount for part in self.parts for term in part.terms)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        parts = [part._asdict() | {"terms": [term._asdict() for term in part.terms]} for part in self.parts]
        plain = {name: _plain(getattr(self, name)) for name in ("output", "against")}
        return {**plain, "difference": self.difference, "parts": parts}

    def __str__(self) -> str:
        output, against = _told_apart(self.output, self.against)
        lines = [f"{output} against {against}: {self.difference:+.4f}"]
        if not self.parts:
            lines.append("  both have the same parts equally often, so that their scores are equal")
        for part in self.parts:
            lines.append(f"{part.amount:+12.4f}  {_times(part.times)}{part.name}")
            if len(part.terms) == 1 and part.terms[0].source == part.name:
                continue
            lines += [
                f"{term.amount:+16.4f}  {term.value:8.4g} × {term.weight:+.4f}  {feature_text(term.source)}"
                for term in part.terms[:MOST_PRINTED]
            ]
            rest = part.terms[MOST_PRINTED:]
            if rest:
                lines.append(f"{math.fsum(term.amount for term in rest):+16.4f}  from {len(rest)} more")
        return "\n".join(lines)


class PartFeatures(NamedTuple):
    """A part that two outputs do not have equally often, with its features, `times` as often."""

    name: str
    times: float
    indices: IntArray
    values: FloatArray

    @classmethod
    def of_row(cls, name: str, row: Any, times: float = 1.0) -> PartFeatures:
        """Of the features in a sparse row of w's size."""
        row = sp.coo_array(row)
        there = np.flatnonzero(row.data)
        return cls(name, times, row.coords[-1][there].astype(np.int64), row.data[there])


def compare(
    model: Any, spec: Any, w: FloatArray, x: Any, output: Any, against: Any, feature_names: Sequence[str] | None
) -> Comparison:
    """F(x, output) − F(x, against) by parts; None is the predicted output, and against it the best of the others."""
    blocks = model.named_weights(spec, w, feature_names)
    # In whose words a message about X[0], Y[0], Y[1] speaks of them.
    words = {"X[0]": "x", "X[1]": "x", "Y[0]": "the prediction" if output is None else "label", "Y[1]": "against"}
    if output is None or against is None:
        problem = model.bind(spec, [x])
        best = problem.present(problem.predict(w))[0]
        if output is None:
            output = best
        if against is None:
            against = model.alternative(problem, w, best) if same_output(output, best) else best
    if same_output(output, against):
        raise ValueError(f"label and against are both {shown(against)}; give two different outputs")
    try:
        found = model.bind(spec, [x, x], [output, against]).differing_parts(w)
    except ValueError as error:
        told = re.sub(r"\b[XY]\[[01]\]", lambda place: words[place[0]], str(error))
        if told == str(error):
            raise
        raise ValueError(told) from error
    return comparison(output, against, found, w, blocks)


def comparison(
    output: Any, against: Any, found: Sequence[PartFeatures], w: FloatArray, blocks: Sequence[WeightBlock]
) -> Comparison:
    """What parts that differ add up to, by the names of weights; parts without features add nothing."""
    names = WeightNames(blocks)
    parts = [_part(each, w, names) for each in found if len(each.indices)]
    parts.sort(key=lambda part: -abs(part.amount))
    return Comparison(output, against, tuple(parts))


def _part(found: PartFeatures, w: FloatArray, names: WeightNames) -> Part:
    terms = [
        Term(names[k], value, float(w[k]), value * float(w[k]))
        for k, value in zip(found.indices.tolist(), found.values.tolist(), strict=True)
    ]
    terms.sort(key=lambda term: -abs(term.amount))
    return Part(found.name, found.times, math.fsum(term.amount for term in terms), tuple(terms))


def _times(times: float) -> str:
    """
    >>> _times(1.0), _times(-1.0), _times(2.0), _times(-0.5)
    ('', 'not ', '2 × ', '-0.5 × ')
    """
    return {1.0: "", -1.0: "not "}.get(times, f"{times:g} × ")


def _told_apart(left: Any, right: Any) -> tuple[str, str]:
    """Two outputs in a line; where they are long, what lies between their common ends, and of trees what differs.

    >>> _told_apart([*"ab"], [*"bb"])
    ("['a', 'b']", "['b', 'b']")
    >>> _told_apart([*30 * "ab"], [*29 * "ab" + "cb"])
    ("[…, 'a', …]", "[…, 'c', …]")
    >>> noun = ("NP", ("DT", "the"), ("NN", "dog"), *20 * [("PP", ("IN", "by"), ("NN", "dusk"))])
    >>> _told_apart(("S", noun, ("VP", ("VB", "barks"))), ("S", noun, ("NN", "barks")))
    ('(S (NP …) (VP (VB barks)))', '(S (NP …) (NN barks))')
    """
    both = (left, right)
    if all(isinstance(each, np.ndarray) and each.ndim > 1 for each in both) and left.shape == right.shape:
        n = int(np.count_nonzero(left != right))
        return f"{' × '.join(map(str, left.shape))} labels", f"{n} of them otherwise"
    trees = all(isinstance(each, tuple) and each and isinstance(each[0], str) for each in both)
    texts = [_outline(each, set()) if trees else repr(each) for each in both]
    if max(map(len, texts)) <= LONGEST:
        return texts[0], texts[1]
    if trees:
        texts = [_outline(each, set(_subtrees(other))) for each, other in (both, both[::-1])]
    elif all(isinstance(each, (list, tuple)) for each in both):
        least = min(map(len, both))
        begin = next((k for k in range(least) if left[k] != right[k]), least)
        end = next((k for k in range(least - begin) if left[-1 - k] != right[-1 - k]), least - begin)
        first, last = ["…"] * (begin > 0), ["…"] * (end > 0)
        inner = [", ".join([*first, *map(shown, each[begin : len(each) - end]), *last]) for each in both]
        texts = [f"[{text}]" if isinstance(each, list) else f"({text})" for each, text in zip(both, inner, strict=True)]
    return _shortened(texts[0]), _shortened(texts[1])


def _outline(tree: Any, known: set[Any]) -> str:
    """A tree in brackets, without what is below the phrases that are known."""
    if not isinstance(tree, tuple):
        return str(tree)
    if tree in known and isinstance(tree[1], tuple):
        return f"({tree[0]} …)"
    return f"({tree[0]} {' '.join(_outline(child, known) for child in tree[1:])})"


def _subtrees(tree: Any) -> Iterator[Any]:
    """A tree and all below it."""
    yield tree
    for child in tree[1:] if isinstance(tree, tuple) else ():
        yield from _subtrees(child)


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _plain(output: Any) -> Any:
    return output.tolist() if isinstance(output, (np.ndarray, np.generic)) else output
