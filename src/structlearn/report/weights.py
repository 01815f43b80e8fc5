"""What was learnt: which label likes to follow which, and which features speak for a label."""

from __future__ import annotations

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.drawing.markup import Html, element
from structlearn.estimators.inspection import FeatureWeight
from structlearn.models.description import TransitionScores, feature_text
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
    if not hasattr(subject.estimator, "w_"):
        return None
    scores: TransitionScores | None = subject.model.transition_scores(subject.estimator.spec_, subject.estimator.w_)
    if scores is None:
        return None
    chosen = sorted(subject.most_frequent(MOST_LABELS), key=list(scores.labels).index)
    codes = [list(scores.labels).index(label) for label in chosen]
    matrix = scores.moves[np.ix_(codes, codes)]
    rows = columns = [str(label) for label in chosen]
    if scores.start is not None and scores.stop is not None:
        # Nothing goes from start to stop.
        matrix = np.block([[np.append(scores.start[codes], np.inf)], [matrix, scores.stop[codes, None]]])
        rows, columns = [START, *rows], [*columns, STOP]
    drawn = np.abs(matrix[np.isfinite(matrix)])
    most = float(drawn.max(initial=0.0)) or 1.0
    cells = [
        [_transition(rows[j], columns[k], value, most) for k, value in enumerate(row)]
        for j, row in enumerate(matrix.tolist())
    ]
    notes = []
    if len(chosen) < len(scores.labels):
        notes.append(f"Of {count(len(scores.labels))} labels the {len(chosen)} most frequent are drawn.")
    if np.isnan(matrix).any():
        notes.append("A cross marks what the model forbids.")
    title = "Scores of one label after another"
    return fill(
        "transitions",
        chart=heat_map(rows, columns, cells, title=title, row_title="label", column_title="label after it"),
        note=element("p", " ".join(notes), class_="note") if notes else None,
    )


def features(subject: Subject) -> Html | None:
    estimator, picture = subject.estimator, subject.picture
    if not hasattr(estimator, "w_"):
        return None
    if picture is not None:
        drawn = _pictures(subject, picture)
        if drawn is not None:
            return drawn
    top = estimator.top_weights(STRONGEST, feature_names=subject.feature_names).features
    if not any(top.values()):
        return None
    frequent = subject.most_frequent(len(top))
    # What is no label has a title, and comes after the labels.
    titles = [label for label in frequent if label in top] + [title for title in top if title not in frequent]
    shown = titles[:MOST_PANELS]
    most = max((abs(weight) for title in shown for _, weight in top[title]), default=1.0)
    panels = [_panel(str(title), top[title], most) for title in shown]
    return fill("features", panels=panels, note=_left_out(len(shown), len(titles)))


def _pictures(subject: Subject, picture: tuple[int, int]) -> Html | None:
    """The weights of each label as a picture, where there is one for every pixel."""
    spec, w = subject.estimator.spec_, subject.estimator.w_
    block = next((block for block in subject.model.named_weights(spec, w) if block.kind == "features"), None)
    if block is None or picture[0] * picture[1] != spec.n_inputs:
        return None
    emissions, labels = block.whole()[: spec.n_inputs], list(block.axes[1])
    most = float(np.quantile(np.abs(emissions), 0.995))
    shown = [label for label in labels if label in subject.most_frequent(MOST_PANELS)]
    panels = [_weight_picture(str(label), emissions[:, labels.index(label)].reshape(picture), most) for label in shown]
    return fill("feature_pictures", panels=panels, note=_left_out(len(shown), len(labels)))


def _left_out(shown: int, n: int) -> Html | None:
    if shown == n:
        return None
    return element("p", f"Of {count(n)} labels the {shown} most frequent are shown.", class_="note")


def _transition(before: str, after: str, value: float, most: float) -> Cell:
    if np.isinf(value):
        return Cell(style="none")
    if np.isnan(value):
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
            element("span", feature_text(feature), class_="feature", title=feature_text(feature)),
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


def _sign(weight: float) -> str:
    return "above" if weight > 0 else "below"
