"""Spans (chunks, entities) that are written as one tag a token.

A tag is a prefix and a type, `B-NP`, or only a prefix, `B`, whose type is then called `_`; `O` is outside of all spans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, get_args

from structlearn.wording import shown

#: How tags are read: the first is the default of all scores.
Scheme = Literal["conlleval", "BIO", "IOB1", "BIOES"]
#: How tags are written, each a set of sequences of tags.
TagScheme = Literal["BIO", "IOB1", "BIOES"]
Span = tuple[str, int, int]


class _Rules(NamedTuple):
    prefixes: str
    begin: str  # prefixes that begin a span whenever they do not continue one
    end: str  # prefixes with which a span may end


_RULES: dict[str, _Rules] = {
    "BIO": _Rules("BIO", begin="B", end="BI"),
    "IOB1": _Rules("BIO", begin="I", end="BI"),
    "BIOES": _Rules("BIOES", begin="BS", end="ES"),
    "conlleval": _Rules("BIOES", begin="BIES", end="BIES"),
}


def spans(labels: Sequence[Any], scheme: Scheme = "conlleval", where: str = "labels") -> list[Span]:
    """(type, begin, end) of every span, in order; `labels[begin:end]` are its tags.

    Within a span the type stays the same, and I or E follows B or I. The schemes differ in what begins and ends one;
    a tag that belongs to no span is passed over:

    - `"conlleval"`, lenient, the reading of the official CoNLL scorer: every tag but O belongs to a span, and one that
      cannot continue the span before it begins another. For tags of BIO, IOB1 and BIOES alike.
    - `"BIO"` (IOB2), strict: B begins a span, I continues it.
    - `"IOB1"`, strict: I begins and continues a span; B begins one only right after another tag of its type.
    - `"BIOES"` (IOBES), strict: S is a span, and so is B, any number of I, E. Without its E a span does not count.

    All four read malformed tags as seqeval 1.2.2 does, the first one as its default mode.

    Parameters
    ----------
    labels : sequence of str
        The tags of one sequence.
    scheme : {"conlleval", "BIO", "IOB1", "BIOES"}
    where : str
        What the sequence is called in messages.

    Examples
    --------
    >>> tags = ["B-NP", "I-NP", "O", "I-VP"]
    >>> spans(tags)
    [('NP', 0, 2), ('VP', 3, 4)]
    >>> spans(tags, "BIO")
    [('NP', 0, 2)]
    """
    if scheme not in _RULES:
        raise ValueError(f"scheme is {scheme!r}; expected one of {', '.join(map(repr, get_args(Scheme)))}")
    if isinstance(labels, str):
        raise ValueError(f"{where} is {labels!r}; expected a sequence of tags")
    rules = _RULES[scheme]
    found: list[Span] = []
    begin = -1
    last, last_kind = "O", ""
    for t, label in enumerate([*labels, "O"]):
        prefix, kind = _split(label, rules, scheme, where, t)
        if begin >= 0 and not (last in "BI" and prefix in "IE" and kind == last_kind):
            # seqeval does not see the end of a B in IOB1 that has a misplaced B of another type behind it
            unseen = scheme == "IOB1" and last == prefix == "B" and kind != last_kind
            if last in rules.end and not unseen:
                found.append((last_kind, begin, t))
            begin = -1
        if begin < 0 and (prefix in rules.begin or (prefix == "B" and kind == last_kind)):
            begin = t
        last, last_kind = prefix, kind
    return found


def follows(before: Any, after: Any, scheme: TagScheme) -> bool:
    """Whether one tag may stand right before another in a scheme; None is what is beyond the ends.

    >>> follows("O", "I-NP", "BIO"), follows("O", "I-NP", "IOB1"), follows("O", "B-NP", "IOB1")
    (False, True, False)
    """
    rules = _RULES[scheme]
    last, last_kind = ("O", "") if before is None else _split(before, rules, scheme, "before", 0)
    prefix, kind = ("O", "") if after is None else _split(after, rules, scheme, "after", 0)
    continues = last in "BI" and kind == last_kind
    if scheme == "IOB1":
        return prefix != "B" or continues
    if scheme == "BIO":
        return prefix != "I" or continues
    return continues if prefix in "IE" else last not in "BI"


def scheme_of(sequences: Iterable[Sequence[Any]]) -> TagScheme:
    """The scheme whose rules sequences of tags break least often; of equals, the first of BIO, IOB1 and BIOES.

    >>> scheme_of([["B-NP", "E-NP", "O", "S-NP"]]), scheme_of([["I-NP", "I-NP", "B-NP"]])
    ('BIOES', 'IOB1')
    """
    pairs = Counter(pair for labels in sequences for pair in pairwise([None, *labels, None]))
    broken = dict.fromkeys(get_args(TagScheme), 0)
    for scheme, rules in ((scheme, _RULES[scheme]) for scheme in broken):
        for pair, count in pairs.items():
            known = all(label is None or label[0] in rules.prefixes for label in pair)
            broken[scheme] += 0 if known and follows(*pair, scheme) else count
    return min(broken, key=broken.__getitem__)


def is_tag(label: Any) -> bool:
    """Whether a label is a tag of a span or O: B-NP, I-NP, E-NP, S-NP, or the bare letter."""
    return label == "O" or (isinstance(label, str) and label[:1] in tuple("BIES") and label[1:2] in ("", "-"))


def tag_type(tag: str) -> str:
    """The type of the spans that a tag is of, O for O.

    >>> tag_type("B-NP"), tag_type("I"), tag_type("O")
    ('NP', '_', 'O')
    """
    return "O" if tag == "O" else tag[2:] or "_"


def are_tags(labels: Iterable[Any]) -> bool:
    """Whether labels are tags of spans, all of them, and not only O nor single letters without a B.

    >>> are_tags(["B-NP", "I-NP", "O"]), are_tags(["I-NP", "O"]), are_tags(["NOUN", "VERB"]), are_tags(["I", "O"])
    (True, True, False, False)
    """
    tags = list(labels)
    return all(map(is_tag, tags)) and any(label[:1] == "B" or label[:2] == "I-" for label in tags)


def _split(label: Any, rules: _Rules, scheme: Scheme, where: str, t: int) -> tuple[str, str]:
    if label == "O":
        return "O", ""
    if isinstance(label, str):
        prefix, _, kind = label.partition("-")
        if len(prefix) == 1 and prefix in rules.prefixes and prefix != "O":
            return prefix, kind or "_"
    raise ValueError(
        f"{where}[{t}] is {shown(label)}, which is no tag of {scheme}: its prefixes are {', '.join(rules.prefixes)}"
    )
