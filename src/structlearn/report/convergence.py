"""How training went: objective and bound, the gap between them, and where the time was spent."""

from __future__ import annotations

import math
from typing import Any

from structlearn.drawing.markup import Html, element
from structlearn.report.assets import fill
from structlearn.report.charts import Line, line_chart
from structlearn.report.formatting import duration, number, percent
from structlearn.report.subject import Subject
from structlearn.waist.likelihood import LIKELIHOODS
from structlearn.wording import count

#: The objective at the start is far above the rest; the frame ends at this multiple of its last value.
HIGHEST = 1.6

LOWERED = (
    "Training lowers one number, the objective, which large weights and mistakes on the training examples both raise."
)
ONE_VALLEY = " It has one lowest value."
MANY_VALLEYS = " It has many valleys, of which training found the floor of one."
CORRECTED = "Training goes through the examples again and again, and corrects the weights after every mistake."


def section(subject: Subject) -> Html | None:
    history: list[dict[str, Any]] = list(getattr(subject.estimator, "history_", None) or [])
    charts = [_objective(history), _gap(history, subject.estimator), _losses(history), _mistakes(history)]
    shown = [element("figure", chart, element("figcaption", words)) for chart, words in charts if chart is not None]
    if not shown:
        return None
    convex = LIKELIHOODS[getattr(subject.estimator, "likelihood_", "exact")].is_convex
    lowered = LOWERED + (ONE_VALLEY if convex and not hasattr(subject.estimator, "stationarity_") else MANY_VALLEYS)
    return fill(
        "convergence", idea=lowered if charts[0][0] is not None else CORRECTED, charts=shown, time=_time(history)
    )


def _objective(history: list[dict[str, Any]]) -> tuple[Html | None, str]:
    above, below = _points(history, "primal"), _points(history, "dual")
    if len(above) < 2:
        return None, ""
    last = above[-1][1]
    low = min((value for _, value in below), default=0.0)
    lines = [Line("objective", above, "first")]
    words = "What training minimises."
    if len(below) > 1 and any(value != 0 for _, value in below):
        lines.append(Line("proved lower bound", below, "second"))
        words = "What training minimises, and a bound below which no weights can get; the best value lies between them."
    high = min(max(value for _, value in above), HIGHEST * last) if last > 0 else max(value for _, value in above)
    chart = line_chart(
        lines,
        title="Objective over time",
        x_title="seconds",
        y_title="objective",
        x_range=(0.0, _seconds(history)),
        y_range=(min(low, 0.0) if low < 0 else 0.0, high if high > low else low + 1.0),
    )
    if any(value > high for _, value in above):
        words += " It begins above the frame."
    return chart, words


def _gap(history: list[dict[str, Any]], estimator: Any) -> tuple[Html | None, str]:
    points = [
        (record["seconds"], record["gap"] / record["primal"])
        for record in history
        if _finite(record, "gap") and _finite(record, "primal") and record["primal"] > 0 and record["gap"] > 0
    ]
    if len(points) < 2:
        return None, ""
    tolerance = _tolerance(estimator)
    least = min(value for _, value in points)
    chart = line_chart(
        [Line("gap", points, "third")],
        title="Relative duality gap over time",
        x_title="seconds",
        y_title="gap, relative to the objective",
        x_range=(0.0, _seconds(history)),
        y_range=(min(least, tolerance if tolerance > 0 else least) / 1.5, max(1.0, points[0][1])),
        log_y=True,
        written=lambda value: f"{number(100 * value)} %",
        limit=(tolerance, f"training may stop at {number(100 * tolerance)} %") if tolerance > 0 else None,
    )
    return chart, "How far the objective can still be from the best possible, where it was proved."


def _tolerance(estimator: Any) -> float:
    """The relative gap at which training stops; below 0 where it looks at something else."""
    tol: float | None = getattr(estimator, "tol", None)
    if tol is None:
        tol = getattr(estimator._solver(), "tolerance", -1.0) if getattr(estimator, "eps", None) is None else -1.0
    return float(tol)


def _losses(history: list[dict[str, Any]]) -> tuple[Html | None, str]:
    known = [("training", "train_loss", "first"), ("held out", "validation_loss", "second")]
    lines = [Line(name, points, style) for name, key, style in known if len(points := _points(history, key)) > 1]
    if not lines:
        return None, ""
    values = [value for line in lines for _, value in line.points]
    chart = line_chart(
        lines,
        title="Loss over time",
        x_title="seconds",
        y_title="mean loss of an example",
        x_range=(0.0, _seconds(history)),
        y_range=(0.0, max(values) or 1.0),
    )
    return chart, "Mistakes on " + " and ".join(f"{line.name} examples" for line in lines) + " during training."


def _mistakes(history: list[dict[str, Any]]) -> tuple[Html | None, str]:
    points = [(record["iteration"], float(record["mistakes"])) for record in history[1:] if "mistakes" in record]
    if len(points) < 2:
        return None, ""
    chart = line_chart(
        [Line("mistakes", points, "first")],
        title="Mistakes in each pass over the data",
        x_title="passes",
        y_title="examples with a mistake",
        x_range=(0.0, points[-1][0]),
        y_range=(0.0, max(value for _, value in points) or 1.0),
        whole=True,
        written=count,
    )
    return chart, "How many training examples were still wrong when their turn came."


def _time(history: list[dict[str, Any]]) -> Html | None:
    """One bar for the whole time, cut into what it was spent on."""
    last = history[-1]
    whole = float(last.get("seconds", math.nan))
    oracle, dual = (float(last.get(key, 0.0) or 0.0) for key in ("oracle_seconds", "dual_seconds"))
    if not whole > 0 or oracle + dual == 0:
        return None
    parts = [
        ("first", "finding the worst mistakes", oracle),
        ("second", "adjusting the weights", dual),
        ("third", "the rest", max(whole - oracle - dual, 0.0)),
    ]
    parts = [(style, name, seconds) for style, name, seconds in parts if seconds > 0]
    return element(
        "div",
        element("h3", "Where the time went"),
        element(
            "div",
            [
                element(
                    "span", class_=style, style=f"flex-grow:{seconds / whole:.4f}", title=f"{name}: {duration(seconds)}"
                )
                for style, name, seconds in parts
            ],
            class_="bar",
            aria_hidden="true",
        ),
        element(
            "ul",
            [
                element(
                    "li",
                    element("i", class_=style),
                    f"{name} ",
                    element("b", duration(seconds)),
                    f" {percent(seconds / whole, 0)}",
                )
                for style, name, seconds in parts
            ],
        ),
        class_="time",
    )


def _points(history: list[dict[str, Any]], key: str) -> list[tuple[float, float]]:
    return [(float(record["seconds"]), float(record[key])) for record in history if _finite(record, key)]


def _finite(record: dict[str, Any], key: str) -> bool:
    return isinstance(record.get(key), (int, float)) and math.isfinite(record[key])


def _seconds(history: list[dict[str, Any]]) -> float:
    return float(history[-1].get("seconds", 0.0)) or 1.0
