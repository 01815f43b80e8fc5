"""What commands print."""

from __future__ import annotations

import json
import math
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console


#: Columns of what no terminal shows: lines stay whole for the program that reads them.
WIDE = 1000


def console() -> Console:
    """Where results go: as wide as the terminal, and not wrapped where there is none."""
    from rich.console import Console

    screen = Console()
    return screen if screen.is_terminal or "COLUMNS" in os.environ else Console(width=WIDE)


def picture_width() -> int:
    """How wide pictures may be: as the terminal, or as one would be."""
    from rich.console import Console

    return Console().width


def print_json(value: Any) -> None:
    typer.echo(json.dumps(_finite(value), ensure_ascii=False))


def facts(estimator: Any) -> dict[str, Any]:
    """What there is to say about a fitted estimator, or a pipeline that ends with one."""
    from structlearn.persistence.model_file import steps_of

    _, last = steps_of(estimator)
    training = getattr(last, "training_", {})
    if not hasattr(last, "model_"):
        labels = last.classes_.tolist()
        named = {"labels": len(labels), "classes": list(map(str, labels))}
        return {"learner": type(last).__name__, **training, **_of_vectors(last), **named}
    model, spec = last.model_, last.spec_
    learnt = {
        "learner": type(last).__name__,
        "structure": model.class_name,
        **training,
        "labels": len(spec.classes) if hasattr(spec, "classes") else None,
        "features": getattr(spec, "n_inputs", None),
        "weights": len(last.w_),
        "nonzero_weights": int((last.w_ != 0.0).sum()),
        "C": getattr(last, "C_", None),
        "objective": getattr(last, "objective_", None),
        "gap": getattr(last, "duality_gap_", None),
        "iterations": last.n_iter_,
        "converged": last.converged_,
        "classes": list(map(str, spec.classes)) if hasattr(spec, "classes") else None,
        **model.facts(spec, last.w_),
    }
    return {name: value for name, value in learnt.items() if value is not None}


def _of_vectors(last: Any) -> dict[str, Any]:
    if not hasattr(last, "outputs_"):
        return {}
    from structlearn.estimators.vector_valued.description import described

    return {"features": last.n_features_in_, **described(last)}


def print_facts(estimator: Any, *, title: str) -> None:
    """The same as a table."""
    from structlearn.estimators.card import gap_in_words
    from structlearn.persistence.model_file import steps_of

    shown = facts(estimator)
    if "gap" in shown:
        shown["gap"] = gap_in_words(steps_of(estimator)[1])
    print_table(shown, title=title)


def print_table(shown: dict[str, Any], *, title: str) -> None:
    """Names and values, one a line."""
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column()
    for name, value in shown.items():
        # Tables within the table are for machines; people see them drawn.
        drawn = isinstance(value, list) and any(isinstance(each, dict) for each in value)
        if not (drawn or (isinstance(value, float) and math.isnan(value))):
            table.add_row(name.replace("_", " "), _written(name, value))
    console().print(table)


def _written(name: str, value: Any) -> str:
    match name, value:
        case "seconds", float():
            return f"{value:.1f}"
        case "options", dict():
            return ", ".join(f"{option}={given!r}" for option, given in value.items()) or "none"
        case "classes" | "files", list():
            shown = ", ".join(map(str, value[:30]))
            return shown + (f", … ({len(value)} in all)" if len(value) > 30 else "")
        case _, bool():
            return "yes" if value else "no"
        case _, int():
            return f"{value:,}"
        case _, float():
            return f"{value:.6g}"
    return str(value)


def _finite(value: Any) -> Any:
    """What JSON can hold: it has no NaN, so null instead, and labels of other types are text."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


@dataclass
class Progress:
    """A line on the terminal that says how many sequences there were, of how many if that is known."""

    doing: str
    shown: bool
    n_in_all: int = 0
    n_sequences: int = 0

    def __post_init__(self) -> None:
        self._begin = time.monotonic()

    def add(self, n: int) -> None:
        self.n_sequences += n
        if self.shown:
            typer.echo(f"\r{self.doing}: {self}", err=True, nl=False)

    def end(self) -> None:
        if self.shown and self.n_sequences:
            typer.echo(err=True)

    def __str__(self) -> str:
        if not self.n_in_all:
            return f"{self.n_sequences:,} sequences"
        left = (time.monotonic() - self._begin) * max(0, self.n_in_all / self.n_sequences - 1.0)
        soon = f", about {left / 60.0:.0f} min left" if left >= 60.0 else " " * 20
        return f"{self.n_sequences:,} of {self.n_in_all:,} sequences{soon}"
