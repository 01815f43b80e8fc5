"""`structlearn inspect`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data, terminal

if TYPE_CHECKING:
    from structlearn.data.arrays import FloatArray
    from structlearn.models.motif.motif import Motif


def inspect_model(
    model: data.Model,
    top: Annotated[int, typer.Option(metavar="N", help="How many of the strongest weights a label to show.")] = 5,
    as_json: data.Json = False,
) -> None:
    """Show what is in a model file: sizes, labels, how it was trained, the strongest weights, the pattern of a motif.

    Of a model of your own, whose code no file holds, it shows what can be told without.

    \b
        structlearn inspect tagger.slm
        structlearn inspect tagger.slm --top 20
    """
    from dataclasses import asdict

    from structlearn.estimators import top_weights
    from structlearn.models.motif.motif import Motif
    from structlearn.persistence.model_file import steps_of

    saved = data.read_model(model, to_look_at=True)
    _, last = steps_of(saved.estimator)
    weights = None
    if top > 0 and hasattr(last, "top_weights"):
        weights = top_weights(saved.estimator, top)
    patterns = _patterns(last.model_, last.w_) if isinstance(getattr(last, "model_", None), Motif) else []
    if as_json:
        shown = terminal.facts(saved.estimator) | {"reader": getattr(saved.reader, "name", None)}
        shown |= {"patterns": patterns} if patterns else {}
        terminal.print_json(shown | ({} if weights is None else {"top_weights": asdict(weights)}))
        return
    terminal.print_facts(saved.estimator, title=model)
    if weights is not None:
        typer.echo(str(weights))
    for pattern in patterns:
        _print_pattern(**pattern)


def _patterns(model: Motif, w: FloatArray) -> list[dict[str, Any]]:
    """What a motif looks like, for each of its widths."""
    words = [model.best_word(w, width) for width in model.widths]
    return [word._asdict() | {"changes": word.changes.tolist()} for word in words]


def _print_pattern(letters: str, score: float, changes: list[list[float]]) -> None:
    from rich.table import Table

    from structlearn.data.dna import BASES

    table = Table("place", "letter", *BASES, box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for place, (letter, row) in enumerate(zip(letters, changes, strict=True), 1):
        shown = ("·" if base == letter else f"{change:.3f}" for base, change in zip(BASES, row, strict=True))
        table.add_row(str(place), letter, *shown)
    typer.echo(f"\npattern {letters}: the letters of the best site, score {score:.3f}; other letters change it by")
    terminal.console().print(table)
