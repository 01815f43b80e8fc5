"""What was learnt: which label likes to follow which, and which features speak for a label."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.drawing.markup import Html, element
from structlearn.estimators.inspection import FeatureWeight
from structlearn.models.chain.chain import Chain
from structlearn.models.chain.transitions import transition_mask
from structlearn.report.assets import fill
from structlearn.report.formatting import number, signed
from structlearn.report.heat_map import MOST_LABELS, Cell, heat_map
from structlearn.report.pictures import signed_picture
from structlearn.report.subject import Subject
from structlearn.wording import count

#: Features above and below zero that are shown of a label, and how many labels have them shown.
STRONGEST, MOST_PANELS = 8, 60
START, STOP = "start", "stop"


def transitions(subject: Subject) -> Html | None:
    weights = subject.weights
    if weights is None or weights.transitions is None:
        return None
    classes = list(subject.estimator.spec_.classes)
    labels = sorted(subject.most_frequent(MOST_LABELS), key=classes.index)
    codes = [classes.index(label) for label in labels]
    ends = weights.start is not None and weights.stop is not None
    matrix = weights.transitions[np.ix_(codes, codes)]
    possible = _possible(subject.model, classes)
    allowed = possible[0][np.ix_(codes, codes)]
    if weights.start is not None and weights.stop is not None:
        matrix = np.block([[np.append(weights.start[codes], np.nan)], [matrix, weights.stop[codes, None]]])
        allowed = np.block([[np.append(possible[1][codes], True)], [allowed, possible[2][codes, None]]])
    names = [str(label) for label in labels]
    rows, columns = ([START, *names], [*names, STOP]) if ends else (names, names)
    most = float(np.nanmax(np.abs(matrix))) or 1.0
    cells = [
        [_transition(rows[j], columns[k], value, allowed[j, k], most) for k, value in enumerate(row)]
        for j, row in enumerate(matrix.tolist())
    ]
    notes = []
    if len(labels) < len(classes):
        notes.append(f"Of {count(len(classes))} labels the {len(labels)} most frequent are drawn.")
    if weights.triplets is not None:
        notes.append("The model also has weights for three labels in a row, which are not drawn.")
    if not allowed.all():
        notes.append("A cross marks what the model forbids.")
    title = "Weights of one label after another"
    return fill(
        "transitions",
        chart=heat_map(rows, columns, cells, title=title, row_title="label", column_title="label after it"),
        note=element("p", " ".join(notes), class_="note") if notes else None,
    )


def features(subject: Subject) -> Html | None:
    weights = subject.weights
    if weights is None:
        return None
    labels = subject.most_frequent(MOST_PANELS)
    spec = subject.estimator.spec_
    note = None
    if len(labels) < len(spec.classes):
        note = f"Of {count(len(spec.classes))} labels the {len(labels)} most frequent are shown."
    picture = subject.picture
    if picture is not None and picture[0] * picture[1] == spec.n_inputs:
        emissions = weights.emissions[: spec.n_inputs]
        most = float(np.quantile(np.abs(emissions), 0.995))
        panels = [
            _weight_picture(str(label), emissions[:, spec.classes.index(label)].reshape(picture), most)
            for label in sorted(labels, key=spec.classes.index)
        ]
        return fill("feature_pictures", panels=panels, note=element("p", note, class_="note") if note else None)
    top = subject.estimator.top_weights(STRONGEST, feature_names=subject.feature_names).features
    most = max((abs(weight) for label in labels for _, weight in top[label]), default=1.0)
    panels = [_panel(str(label), top[label], most) for label in labels]
    return fill("features", panels=panels, note=element("p", note, class_="note") if note else None)


def _transition(before: str, after: str, value: float, allowed: bool, most: float) -> Cell:
    if np.isnan(value):
        return Cell(style="none")
    if not allowed:
        return Cell("×", "forbidden", tip=f"{after} may not follow {before}")
    words = f"{before} → {after}: {signed(value, 3)}"
    # One digit after the point is all that fits.
    text = signed(value, 1 if abs(value) < 99.5 else 0)
    strength = abs(value) / most
    # Small numbers would only distract from the colours.
    return Cell(
        text if abs(value) >= 0.05 and strength >= 0.08 else "", "above" if value > 0 else "below", strength, words
    )


def _panel(label: str, weights: tuple[FeatureWeight, ...], most: float) -> Html:
    rows = [
        element(
            "li",
            element("span", _feature(feature), class_="feature", title=_feature(feature)),
            element(
                "span",
                element("span", class_=f"fill {_sign(weight)}", style=f"width:{100 * abs(weight) / most:.1f}%"),
                class_="track",
            ),
            element("span", signed(weight, 2), class_="weight"),
            class_=_sign(weight),
        )
        for feature, weight in weights
    ]
    empty = element("p", "no feature has a weight", class_="note") if not rows else None
    return element("article", element("h3", label), element("ul", rows), empty, class_="panel", data_label=label)


def _weight_picture(label: str, values: FloatArray, most: float) -> Html:
    strongest = number(float(np.abs(values).max()))
    image = signed_picture(values, most, f"weights of {label}, the strongest {strongest}")
    return element("figure", image, element("figcaption", label))


def _possible(model: Any, classes: list[Any]) -> tuple[Any, Any, Any]:
    if isinstance(model, Chain) and model.allowed_transitions is not None:
        mask = transition_mask(model.allowed_transitions, classes)
        return mask.moves, mask.start, mask.stop
    n = len(classes)
    return np.ones((n, n), bool), np.ones(n, bool), np.ones(n, bool)


def _feature(feature: str | int) -> str:
    return f"column {feature}" if isinstance(feature, int) else feature


def _sign(weight: float) -> str:
    return "above" if weight > 0 else "below"
