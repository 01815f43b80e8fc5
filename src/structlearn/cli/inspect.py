"""`structlearn inspect`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from structlearn.cli import data, terminal


def inspect_model(
    model: data.Model,
    top: Annotated[
        int, typer.Option(min=0, metavar="N", help="How many of the strongest weights a label to show.")
    ] = 5,
    as_json: data.Json = False,
) -> None:
    """Show what is in a model file: sizes, labels, how it was trained, the strongest weights, the pattern of a motif.

    Of a model of your own, whose code no file holds, it shows what can be told without; of a folder that
    [bold]prepare[/bold] wrote, its sizes and labels.

    \b
        structlearn inspect tagger.slm
        structlearn inspect tagger.slm --top 20
        structlearn inspect corpus
    """
    from dataclasses import asdict

    from structlearn.cli.prepare import facts_of
    from structlearn.estimators import top_weights
    from structlearn.persistence.model_file import steps_of
    from structlearn.shards import open_shards
    from structlearn.shards.manifest import is_corpus

    if is_corpus(Path(model)):
        held = facts_of(open_shards(model), classes=True)
        terminal.print_json(held) if as_json else terminal.print_table(held, title=model)
        return
    saved = data.read_model(model, to_look_at=True)
    _, last = steps_of(saved.estimator)
    # Models that only count have probabilities in the place of weights.
    weights = top_weights(saved.estimator, top) if top > 0 and hasattr(last, "top_weights") else None
    if as_json:
        shown = terminal.facts(saved.estimator) | {"reader": getattr(saved.reader, "name", None)}
        terminal.print_json(shown | ({} if weights is None else {"top_weights": asdict(weights)}))
        return
    terminal.print_facts(saved.estimator, title=model)
    if weights is not None:
        typer.echo(str(weights))
    if getattr(last, "left_out_", None):
        _print_left_out(last.left_out_, last.lam_)
    if not hasattr(last, "model_"):
        return
    for drawing in last.model_.weight_drawings(last.spec_, last.w_):
        typer.echo(f"\n{drawing}")


def _print_left_out(left_out: list[dict[str, Any]], chosen: float) -> None:
    """The errors among which λ was chosen."""
    from rich.table import Table

    table = Table("λ", "error of what is left out", box=None, pad_edge=False)
    for record in left_out:
        table.add_row(f"{record['lam']:.3g}", f"{record['error']:.6g}", style="bold" if record["lam"] == chosen else "")
    terminal.console().print()
    terminal.console().print(table)
