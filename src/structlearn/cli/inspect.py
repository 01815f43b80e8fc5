"""`structlearn inspect`"""

from __future__ import annotations

from typing import Annotated

import typer

from structlearn.cli import data, terminal


def inspect_model(
    model: data.Model,
    top: Annotated[int, typer.Option(metavar="N", help="How many of the strongest weights a label to show.")] = 5,
    as_json: data.Json = False,
) -> None:
    """Show what is in a model file: sizes, labels, how it was trained, the strongest weights.

    \b
        structlearn inspect tagger.slm
        structlearn inspect tagger.slm --top 20
    """
    from contextlib import suppress
    from dataclasses import asdict

    from structlearn.inspection import feature_names
    from structlearn.io.model_file import read, steps_of

    saved = read(model)
    _, last = steps_of(saved.estimator)
    weights = None
    if top > 0:
        # Weights of other structures have no names.
        with suppress(TypeError):
            weights = last.top_weights(top, feature_names=feature_names(saved.estimator))
    if as_json:
        shown = terminal.facts(saved.estimator) | {"reader": getattr(saved.reader, "name", None)}
        terminal.print_json(shown | ({} if weights is None else {"top_weights": asdict(weights)}))
        return
    terminal.print_facts(saved.estimator, title=model)
    if weights is not None:
        typer.echo(str(weights))
