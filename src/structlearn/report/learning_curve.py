"""How much more data would help: the same estimator trained on growing shares of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from structlearn.drawing.markup import Html, element
from structlearn.evaluation import Evaluation, evaluate
from structlearn.metrics import Interval
from structlearn.report.assets import fill
from structlearn.report.charts import Line, line_chart
from structlearn.report.formatting import percent, percent_range
from structlearn.wording import count

#: The shares of the training data.
SHARES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1)


class Point(NamedTuple):
    """How an estimator that was trained on n examples does on other data."""

    n: int
    error: Interval


def learnt(estimator: Any, training: tuple[Any, Any], X: Any, Y: Any) -> list[Point]:
    """Clones trained on growing parts of the training data, each part within the next, and their errors on X, Y."""
    X_train, Y_train = training
    n = X_train.shape[0] if hasattr(X_train, "shape") else len(X_train)
    if n != len(Y_train):
        raise ValueError(f"learning_curve has {n} inputs but {len(Y_train)} outputs")
    order = np.random.default_rng(0).permutation(n)
    points = []
    for size in sorted({max(1, round(share * n)) for share in SHARES}):
        # In the order of the data, so that the last clone is trained exactly as the estimator was.
        some = np.sort(order[:size])
        trained = clone(estimator).fit(_safe_indexing(X_train, some), _safe_indexing(Y_train, some))
        score = _score(evaluate(trained, X, Y))
        points.append(Point(size, Interval(1 - score.estimate, 1 - score.high, 1 - score.low)))
    return points


def section(points: Sequence[Point], found: Evaluation) -> Html:
    """The chart of errors over sizes, and the same in a table."""
    what = "1 − F1" if found.f1 is not None else "wrong labels" if found.labels else "wrong outputs"
    highest = max(max(point.error.estimate, point.error.high) for point in points)
    chart = line_chart(
        [Line(what, [(point.n, point.error.estimate) for point in points], "first", [point.error for point in points])],
        title="Error over the number of training examples",
        x_title="training examples",
        y_title=what,
        x_range=(points[0].n / 1.15, points[-1].n * 1.15),
        y_range=(0.0, 1.08 * highest or 1.0),
        x_ticks=[point.n for point in points],
        log_x=True,
        written=lambda value: percent(value, 0 if highest > 0.05 else 1),
    )
    rows = [
        element(
            "tr",
            element("th", count(point.n), scope="row"),
            element("td", percent(point.error.estimate)),
            element("td", percent_range(point.error)),
        )
        for point in points
    ]
    return fill("learning_curve", chart=chart, what=what, rows=rows, verdict=_verdict(points))


def _score(found: Evaluation) -> Interval:
    return found.accuracy if found.f1 is None else found.f1


def _verdict(points: Sequence[Point]) -> str:
    if len(points) < 2:
        return ""
    (_, before), (n, after) = points[-2:]
    words = f"The last step, to {count(n, 'example')}, took the error from {percent(before.estimate)} to "
    words += f"{percent(after.estimate)}."
    # The intervals of one test set are not independent: apart they prove a difference, together they prove nothing.
    return words + (
        " That is more than chance explains: more data should help further." if after.high < before.low else ""
    )
