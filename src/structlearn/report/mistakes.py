"""The mistakes themselves: the input, what is true, and what the model said."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from structlearn.drawing.markup import Html, element, markup
from structlearn.report.assets import fill
from structlearn.report.formatting import number
from structlearn.report.pictures import dense_rows, grey_picture
from structlearn.report.subject import Subject
from structlearn.wording import count

#: Mistakes in the page; of these, so many are kept for label pairs that the most expensive ones leave out.
MOST_MISTAKES, FOR_RARE_PAIRS = 200, 60
#: In a sequence longer than this, right labels further from a wrong one than that are left out.
LONG, AROUND = 60, 8
#: Letters of an input, and of one token, that are shown.
LONGEST_TEXT, LONGEST_TOKEN = 600, 40
#: Types of labels with a colour of their own.
COLOURS = 7


class Scale(NamedTuple):
    """How a row becomes a picture: its form, and the values that are white and black."""

    shape: tuple[int, int]
    least: float
    most: float


def section(subject: Subject) -> Html:
    found = subject.evaluation
    wrong = np.flatnonzero(~found.right)
    if not len(wrong):
        return fill("no_mistakes", n=count(found.n_examples))
    chosen = _chosen(subject, wrong)
    colours = _colours(subject)
    scale = _scale(subject, chosen)
    cards = [_card(subject, int(i), colours, scale) for i in chosen]
    labels = Counter(label for i in chosen for pair in _pairs(subject, int(i)) for label in map(str, pair))
    return fill(
        "mistakes",
        summary=_summary(subject, len(wrong), len(chosen)),
        form="small" if found.kind == "examples" and (scale is not None or not _text(subject.input(chosen[0]))) else "",
        options=[element("option", label, value=label) for label in sorted(labels)],
        margin=_margin_words(subject),
        legend=[element("li", element("i", class_=style), name) for name, style in colours.items()],
        mistakes=cards,
    )


def _summary(subject: Subject, n_wrong: int, n_shown: int) -> str:
    whole = count(subject.evaluation.n_examples, subject.evaluation.example)
    words = f"{count(n_wrong)} of {whole} {'has' if n_wrong == 1 else 'have'} a mistake"
    if n_shown < n_wrong:
        words += f"; {count(n_shown)} are here, the most expensive ones and some of every kind"
    return words + "."


def _chosen(subject: Subject, wrong: Any) -> list[int]:
    """The most expensive mistakes, by loss and then by margin, and some for every pair of labels not among them."""
    found = subject.evaluation
    margins = np.nan_to_num(found.margins[wrong], nan=0.0)
    ranked: list[int] = wrong[np.lexsort((-margins, -found.losses[wrong]))].tolist()
    if len(ranked) <= MOST_MISTAKES or not found.labels:
        return ranked[:MOST_MISTAKES]
    chosen = ranked[: MOST_MISTAKES - FOR_RARE_PAIRS]
    seen = {pair for i in chosen for pair in _pairs(subject, i)}
    rest = []
    for i in ranked[len(chosen) :]:
        pairs = set(_pairs(subject, i))
        if not pairs <= seen and len(chosen) < MOST_MISTAKES:
            seen |= pairs
            chosen.append(i)
        else:
            rest.append(i)
    chosen += rest[: MOST_MISTAKES - len(chosen)]
    return sorted(chosen, key={i: k for k, i in enumerate(ranked)}.__getitem__)


def _pairs(subject: Subject, i: int) -> list[tuple[Any, Any]]:
    """(true, predicted) of the wrong labels of an example."""
    found = subject.evaluation
    if not found.labels:
        return []
    return [(y, p) for y, p in zip(found.truths[i], found.guesses[i], strict=True) if y != p]


def _card(subject: Subject, i: int, colours: Mapping[str, str], scale: Scale | None) -> Html:
    found = subject.evaluation
    loss, margin = float(found.losses[i]), float(found.margins[i])
    pairs = _pairs(subject, i)
    length = len(found.truths[i]) if subject.sequential else 1
    facts = [f"{found.example} {i + 1}"]
    if subject.sequential:
        facts.append(f"{len(pairs)} of {count(length, 'label')} wrong")
    x = subject.input(i)
    body = _sequence(subject, i, x, colours, scale) if subject.sequential else _example(subject, i, x, colours, scale)
    unreachable = "the truth is no output of the model" if found.kind == "outputs" else "the true label is new"
    numbers = [f"loss {number(loss)}", unreachable if math.isnan(margin) else f"margin {margin:.2f}"]
    return element(
        "li",
        element("p", element("span", " · ".join(facts)), element("span", " · ".join(numbers)), class_="head"),
        body,
        class_="mistake",
        data_loss=f"{loss:.6g}",
        data_margin="" if math.isnan(margin) else f"{margin:.6g}",
        data_length=length,
        # Labels may hold anything; two control characters keep them apart.
        data_pairs="\x1e".join(f"{y}\x1f{p}" for y, p in dict.fromkeys(pairs)),
    )


def _sequence(subject: Subject, i: int, x: Any, colours: Mapping[str, str], scale: Scale | None) -> Html:
    drawing = subject.drawing(i)
    if drawing is not None:
        return markup(drawing.html)
    found = subject.evaluation
    truths, guesses = found.truths[i], found.guesses[i]
    rows = dense_rows(x) if scale is not None else None
    wrong = np.flatnonzero([y != p for y, p in zip(truths, guesses, strict=True)])
    parts: list[Html] = []
    skipped = 0
    for t, (y, p) in enumerate(zip(truths, guesses, strict=True)):
        if len(truths) > LONG and len(wrong) and np.abs(wrong - t).min() > AROUND:
            skipped += 1
            continue
        if skipped:
            parts.append(_gap(skipped))
            skipped = 0
        word, hint = _word(x, t)
        image = (
            grey_picture(rows[t].reshape(scale.shape), scale.least, scale.most, "")
            if rows is not None and scale
            else None
        )
        shown = image if image is not None else element("span", word, class_="word", title=hint)
        parts.append(_token(shown, y, p, colours))
    if skipped:
        parts.append(_gap(skipped))
    return element("div", parts, class_="tokens")


def _token(shown: Html, y: Any, p: Any, colours: Mapping[str, str]) -> Html:
    if y == p:
        return element("span", shown, element("span", y, class_=f"label {_colour(y, colours)}"), class_="token")
    return element(
        "span",
        shown,
        element("span", y, class_=f"label true {_colour(y, colours)}"),
        element("span", p, class_=f"label given {_colour(p, colours)}"),
        class_="token wrong",
    )


def _gap(n: int) -> Html:
    return element("span", f"… {count(n)} right …", class_="gap")


def _example(subject: Subject, i: int, x: Any, colours: Mapping[str, str], scale: Scale | None) -> Html:
    y, p = subject.evaluation.truths[i], subject.evaluation.guesses[i]
    drawing = subject.drawing(i)
    if drawing is not None:
        told = element("p", _text(x), class_="note") if isinstance(x, Mapping) else None
        return element("div", markup(drawing.html), told)
    if subject.evaluation.kind == "outputs":
        values = [textwrap.shorten(repr(value), LONGEST_TEXT, placeholder=" …") for value in (x, y, p)]
        terms = zip(("input", "true", "predicted"), values, strict=True)
        return element("dl", [(element("dt", term), element("dd", value)) for term, value in terms], class_="outputs")
    rows = dense_rows(x) if scale is not None else None
    if rows is not None and scale is not None:
        shown = grey_picture(rows[0].reshape(scale.shape), scale.least, scale.most, "")
    else:
        shown = element("span", _text(x), class_="text")
    return element("div", _token(shown, y[0], p[0], colours), class_="tokens single")


def _word(x: Any, t: int) -> tuple[str, str | None]:
    """What a token is called, and all that is known of it."""
    try:
        token = x[t]
    except (TypeError, KeyError, IndexError):
        return "", None
    if isinstance(token, str):
        return textwrap.shorten(token, LONGEST_TOKEN, placeholder="…") if len(token) > LONGEST_TOKEN else token, None
    if isinstance(token, Mapping):
        pairs = [f"{name}={value}" for name, value in token.items()]
        text = next((str(token[name]) for name in ("word", "w", "token", "text", "form") if name in token), None)
        return (pairs[0] if text is None and pairs else text or "")[:LONGEST_TOKEN], ", ".join(pairs)[:LONGEST_TEXT]
    if isinstance(token, (list, tuple)) and token and isinstance(token[0], str):
        return token[0][:LONGEST_TOKEN], " ".join(map(str, token))[:LONGEST_TEXT]
    return "", None


def _text(x: Any) -> str:
    if isinstance(x, str):
        return textwrap.shorten(x, LONGEST_TEXT, placeholder=" …")
    if isinstance(x, Mapping) or hasattr(x, "items"):
        return textwrap.shorten(
            ", ".join(f"{name} {value}" for name, value in x.items()), LONGEST_TEXT, placeholder=" …"
        )
    return ""


def _colours(subject: Subject) -> dict[str, str]:
    """The colours of the most frequent types of spans; other labels have none."""
    if subject.evaluation.f1 is None:
        return {}
    types = Counter(_type(label) for y in subject.evaluation.truths for label in y if label != "O")
    return {name: f"hue-{k + 1}" for k, (name, _) in enumerate(types.most_common(COLOURS))}


def _colour(label: Any, colours: Mapping[str, str]) -> str:
    return colours.get(_type(label), "plain") if colours else "plain"


def _type(label: Any) -> str:
    return str(label).partition("-")[2] or str(label)


def _scale(subject: Subject, chosen: list[int]) -> Scale | None:
    if subject.picture is None:
        return None
    values = np.concatenate([rows for i in chosen if (rows := dense_rows(subject.input(i))) is not None])
    return Scale(subject.picture, float(values.min()), float(values.max()))


def _margin_words(subject: Subject) -> str:
    if type(subject.estimator).__name__ == "ConditionalRandomField":
        return "The margin is the logarithm of how many times more probable the model finds its answer than the truth."
    return (
        "The margin is by how much the model scores its own answer above the truth: a large one is a confident mistake."
    )
