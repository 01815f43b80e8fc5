"""`structlearn inspect`"""

from __future__ import annotations

from typing import Annotated

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

    Of a model of your own, whose code no file holds, it shows what can be told without.

    \b
        structlearn inspect tagger.slm
        structlearn inspect tagger.slm --top 20
    """
    from dataclasses import asdict

    from structlearn.estimators import top_weights
    from structlearn.persistence.model_file import steps_of

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
    for drawing in last.model_.weight_drawings(last.spec_, last.w_):
        typer.echo(f"\n{drawing}")
