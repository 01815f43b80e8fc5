"""How many answers are right, how sure that is, and which labels are taken for which."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.drawing.markup import Html, element
from structlearn.metrics import Interval
from structlearn.metrics.resampled import ClassScore
from structlearn.report.assets import fill
from structlearn.report.charts import interval_mark
from structlearn.report.formatting import percent, percent_range
from structlearn.report.heat_map import MOST_LABELS, Cell, heat_map, shortened
from structlearn.report.subject import Subject
from structlearn.wording import count, several

#: Confusions that are listed beside the heat map.
MOST_CONFUSIONS = 12


def headline(subject: Subject) -> Html:
    """The few numbers at the top."""
    found = subject.evaluation
    cards = []
    if found.f1 is not None:
        spans = "segments" if found.kind == "segments" else "spans"
        rule = "" if found.scheme is None else f"; tags are read by the rule {found.scheme}"
        cards.append(
            _card(
                "F1 of " + spans,
                found.f1,
                f"the harmonic mean of how many found {spans} are right and how many are found{rule}",
            )
        )
    for name, interval in list(found.scores.items())[:1]:
        cards.append(_figure(_name(name), f"{interval.estimate:.3f}", _range(interval, 3), ""))
    accuracy = {"examples": "right labels", "outputs": "right outputs"}.get(found.kind, "right labels")
    cards.append(_card(accuracy, found.accuracy, _baseline(found.truths) if found.labels else ""))
    if found.sequence_accuracy is not None:
        cards.append(_card(f"{several(found.example)} all right", found.sequence_accuracy, "without a single mistake"))
    of = f"{'an' if found.example[0] in 'aeiou' else 'a'} {found.example}"
    loss = found.loss
    ends = "" if math.isnan(loss.low) else f"{loss.low:.3g} to {loss.high:.3g}"
    cards.append(_figure(f"mean loss of {of}", f"{loss.estimate:.3g}", ends, subject.model.loss_in_words()))
    return element("div", cards, class_="cards")


def section(subject: Subject) -> Html | None:
    found = subject.evaluation
    tables = []
    if found.scores:
        tables.append(_own_scores(found.scores))
    if found.spans and found.precision is not None and found.recall is not None:
        tables.append(
            fill(
                "span_scores",
                precision=percent(found.precision.estimate),
                precision_range=percent_range(found.precision),
                recall=percent(found.recall.estimate),
                recall_range=percent_range(found.recall),
                rule="" if found.scheme is None else f" Tags are read as spans by the rule {found.scheme}.",
                table=_table("type", found.spans),
            )
        )
    if found.labels:
        shown = not tables and len(found.labels) <= MOST_LABELS
        tables.append(
            fill(
                "label_scores",
                open=Html(" open") if shown else None,
                n_labels=count(len(found.labels), "label"),
                things=several(found.place) if subject.sequential else "examples",
                table=_table("label", found.labels),
            )
        )
    unseen = int(np.isnan(found.margins).sum())
    note = None
    if unseen:
        what = count(unseen, found.example)
        why = "training saw no such labels" if found.labels else "the truth is none of the outputs it can have"
        note = element("p", f"The model cannot get {what} right: {why}.", class_="note")
    return fill("scores", tables=tables, note=note) if tables or note else None


def confusions(subject: Subject) -> Html | None:
    found = subject.evaluation.confusion
    if found is None or not found.mistakes():
        return None
    mistakes = found.mistakes()
    wrong = found.counts - np.diag(np.diag(found.counts))
    shown = np.sort(np.argsort(-(wrong.sum(axis=0) + wrong.sum(axis=1)), kind="stable")[:MOST_LABELS])
    most = float(wrong.max())
    names = [str(found.labels[k]) for k in shown]
    place = subject.evaluation.place
    cells = [[_confusion(found.labels, found.counts, int(j), int(k), most, place) for k in shown] for j in shown]
    note = None
    if len(shown) < len(found.labels):
        inside = int(wrong[np.ix_(shown, shown)].sum())
        note = (
            f"Of {count(len(found.labels))} labels those {len(shown)} are drawn that have a part in most mistakes: "
            f"{percent(inside / wrong.sum())} of all."
        )
    title = "How often each label was taken for each other"
    return fill(
        "confusions",
        chart=heat_map(names, names, cells, title=title, row_title="true", column_title="predicted"),
        note=element("p", note, class_="note") if note else None,
        list=[_ranked(true, given, n, mistakes[0][2]) for true, given, n in mistakes[:MOST_CONFUSIONS]],
        total=count(int(wrong.sum()), "wrong label"),
    )


def _card(title: str, interval: Interval, words: str) -> Html:
    return _figure(title, percent(interval.estimate), percent_range(interval), words)


def _figure(title: str, value: str, interval: str, words: str) -> Html:
    return element(
        "div",
        element("h3", title),
        element("p", value, class_="value"),
        element("p", interval, class_="range", title="95 % confidence interval") if interval else None,
        element("p", words, class_="words") if words else None,
        class_="card",
    )


def _baseline(truths: Sequence[list[Any]]) -> str:
    counts = Counter(label for y in truths for label in y)
    label, n = counts.most_common(1)[0]
    return f"always saying “{shortened(str(label), 24)}” would reach {percent(n / counts.total())}"


def _table(title: str, scores: Mapping[Any, ClassScore]) -> Html:
    """A table that the script can sort: numbers have their full value beside what is written."""
    kinds = {title: "text", "F1": "number", "95 % interval": None}
    kinds |= dict.fromkeys(("precision", "recall", "true", "predicted"), "number")
    head = [
        element("th", name, scope="col", data_sort=kind, class_=None if kind else "mark")
        for name, kind in kinds.items()
    ]
    rows = []
    for name, score in scores.items():
        shares = (score.precision if score.predicted else math.nan, score.recall if score.support else math.nan)
        rows.append(
            element(
                "tr",
                element("th", name, scope="row"),
                _share(score.f1.estimate),
                element("td", interval_mark(score.f1), class_="mark", title=percent_range(score.f1) or None),
                [_share(value) for value in shares],
                [element("td", count(n), data_value=n) for n in (score.support, score.predicted)],
            )
        )
    return element("table", element("thead", element("tr", head)), element("tbody", rows), class_="sortable")


def _own_scores(scores: Mapping[str, Interval]) -> Html:
    """What the model measures itself, as plain numbers, since not all of it need be shares."""
    head = [element("th", name, scope="col") for name in ("score", "", "95 % interval")]
    rows = [
        element(
            "tr",
            element("th", _name(name), scope="row"),
            element("td", f"{interval.estimate:.4f}"),
            element("td", _range(interval, 4)),
        )
        for name, interval in scores.items()
    ]
    table = element("table", element("thead", element("tr", head)), element("tbody", rows))
    return element("div", table, class_="wide")


def _name(score: str) -> str:
    return score.replace("_", " ").replace("f1", "F1").replace("iou", "IoU")


def _range(interval: Interval, digits: int) -> str:
    return "" if math.isnan(interval.low) else f"{interval.low:.{digits}f} to {interval.high:.{digits}f}"


def _share(value: float) -> Html:
    return element("td", percent(value), data_value="" if math.isnan(value) else f"{value:.6f}")


def _confusion(labels: tuple[Any, ...], counts: Any, j: int, k: int, most: float, place: str) -> Cell:
    n = int(counts[j, k])
    true, given = str(labels[j]), str(labels[k])
    if j == k:
        whole = int(counts[j].sum())
        share = percent(n / whole) if whole else "–"
        return Cell(_short(n), "right", tip=f"{count(n)} of {count(whole, place)} with {true} are right ({share})")
    if not n:
        return Cell()
    tip = f"{true} was taken for {given} {count(n, 'time')}"
    strength = 0.12 + 0.88 * math.sqrt(n / most)
    return Cell(_short(n), "wrong", strength, tip, {"true": true, "predicted": given, "count": n})


def _ranked(true: Any, given: Any, n: int, most: int) -> Html:
    return element(
        "li",
        element(
            "button",
            element("span", element("b", true), " taken for ", element("b", given), class_="what"),
            element("span", count(n), class_="count"),
            element("span", class_="amount", style=f"width:{100 * n / most:.1f}%"),
            type="button",
            data_true=true,
            data_predicted=given,
            data_count=n,
        ),
    )


def _short(n: int) -> str:
    """
    >>> _short(999), _short(12345), _short(2_000_000)
    ('999', '12k', '2M')
    """
    if n < 1000:
        return str(n)
    return (
        f"{n / 1000:.2g}k".replace(".0k", "k")
        if n < 99_500
        else f"{n / 1000:.0f}k"
        if n < 1_000_000
        else f"{n / 1e6:.2g}M"
    )
