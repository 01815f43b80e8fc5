"""What only learners of vectors have: their facts, errors of what is left out over λ, and what labels share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from structlearn.drawing.markup import Html, element
from structlearn.estimators.vector_valued.base import VectorPredictor
from structlearn.estimators.vector_valued.description import described
from structlearn.report.assets import fill
from structlearn.report.charts import Line, line_chart
from structlearn.report.formatting import number, signed
from structlearn.report.heat_map import MOST_LABELS, Cell, heat_map
from structlearn.report.subject import Subject
from structlearn.wording import count

_STYLES = ("first", "second", "third")
_METHODS = {
    "cholesky": "one linear system, by Cholesky's factor",
    "eigen": "linear systems for all λ, by one decomposition into eigenvectors",
    "alternation": "linear systems in turns with the best A",
    "conjugate_gradients": "one linear system, by conjugate gradients",
    "nystroem": "linear systems in the span of a basis of training rows",
}


def facts(estimator: VectorPredictor) -> Iterator[tuple[str, Any]]:
    """What the table of facts says in the place of weights."""
    told = described(estimator)
    edges = f", pairs of neighbours count {number(told['edges'])}" if "edges" in told else ""
    yield "outputs", f"{told['outputs']}, {count(told['coordinates'], 'coordinate')}{edges}"
    yield "learner", type(estimator).__name__
    yield "kernel k", element("code", told["kernel"])
    yield "A of kA", told["operator"]
    yield "kernels at", count(told["basis"], "training row")
    if "lam" in told:
        choice = ", chosen by the errors of what is left out" if "left_out" in told else ""
        yield "λ", number(told["lam"]) + choice
    if "method" in told:
        yield "solved as", _METHODS[told["method"]]


def solution(estimator: VectorPredictor) -> str:
    """What is proved about a solution in closed form."""
    if estimator.method_ in ("alternation", "conjugate_gradients"):
        return f"It was found to the accuracy asked for in {count(estimator.n_iter_, 'step')}."
    return "There was nothing to converge: the function is the exact solution of a linear system."


def left_out(subject: Subject) -> Html | None:
    """The curve of errors over λ, a line a kernel."""
    estimator = subject.estimator
    records = getattr(estimator, "left_out_", [])
    lams = sorted({record["lam"] for record in records})
    if len(lams) < 2:
        return None
    kernels = list(dict.fromkeys(record["kernel"] for record in records))[: len(_STYLES)]
    lines = [
        Line(f"kernel {k + 1}", [(r["lam"], r["error"]) for r in records if r["kernel"] == kernel], _STYLES[k])
        for k, kernel in enumerate(kernels)
    ]
    best = min(records, key=lambda record: record["error"])
    # The largest λ gives the zero function; what is much worse than that is not worth the room.
    highest = max(record["error"] for record in records)
    high = min(highest, 2.0 * max(record["error"] for record in records if record["lam"] == lams[-1]))
    chart = line_chart(
        lines,
        title="Error of what is left out over λ",
        x_title="λ",
        y_title="mean squared distance",
        x_range=(lams[0], lams[-1]),
        y_range=(0.0, 1.05 * high),
        log_x=True,
    )
    told = [f"The least error, {number(best['error'])}, has λ = {number(best['lam'])}."]
    told += [f"Kernel {k + 1} is {kernel}." for k, kernel in enumerate(kernels) if len(kernels) > 1]
    told += ["Larger errors are above the frame."] if highest > high else []
    return fill("left_out", chart=chart, chosen=" ".join(told))


def shared(subject: Subject) -> Html | None:
    """A, where it couples the coordinates of labels."""
    estimator = subject.estimator
    if not isinstance(estimator, VectorPredictor) or isinstance(A := estimator.kernel_.terms[0].A, str):
        return None
    labels, A = estimator.classes_.tolist(), np.asarray(A, np.float64)
    if len(A) < len(labels):
        return None
    # Coordinates of pairs of neighbours come after those of labels.
    scale = np.sqrt(np.maximum(np.diag(A)[: len(labels)], 1e-300))
    strongest = np.argsort(-scale, kind="stable")[:MOST_LABELS]
    chosen = np.sort(strongest)
    names = [str(labels[k]) for k in chosen]
    matrix = (A[: len(labels), : len(labels)] / np.outer(scale, scale))[np.ix_(chosen, chosen)]
    cells = [[_cell(names[j], names[k], value) for k, value in enumerate(row)] for j, row in enumerate(matrix.tolist())]
    note = None
    if len(chosen) < len(labels):
        note = element(
            "p", f"Of {count(len(labels))} labels the {len(chosen)} with most weight are drawn.", class_="note"
        )
    title = "How much labels are learnt together"
    chart = heat_map(names, names, cells, title=title, row_title="label", column_title="label")
    return fill("shared", chart=chart, note=note)


def _cell(first: str, second: str, value: float) -> Cell:
    text = signed(value, 1) if abs(value) >= 0.05 else ""
    return Cell(text, "above" if value > 0 else "below", min(abs(value), 1.0), f"{first}, {second}: {signed(value, 3)}")
