"""`structlearn report`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data
from structlearn.cli.jobs import Jobs, with_jobs

if TYPE_CHECKING:
    from structlearn.io.format import Example, Reader


def report(
    model: data.Model,
    file: data.Data = "-",
    output: Annotated[Path, typer.Option("--output", "-o", help="The page that is written.")] = Path("report.html"),
    title: Annotated[str | None, typer.Option(help="Its heading.")] = None,
    learning_curve: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The training file: the model is trained again on growing parts of it, which takes time.",
        ),
    ] = None,
    format_name: data.FormatName = None,
    encoding: data.Encoding = "utf-8",
    n_jobs: Jobs = None,
    quiet: data.Quiet = False,
) -> None:
    """Write a page for people: what was learnt, how well it predicts, and where it is wrong.

    One HTML file that needs no network, for a screen of any size and for paper.

    \b
        structlearn report tagger.slm test.txt -o report.html
        structlearn report tagger.slm test.txt -o report.html --learning-curve train.txt
    """
    from structlearn.annotation.examples import places
    from structlearn.persistence import atomic
    from structlearn.persistence.model_file import steps_of
    from structlearn.report import write_report

    atomic.check_writable(output)
    saved = with_jobs(data.read_model(model), n_jobs)
    _, last = steps_of(saved.estimator)
    if not (hasattr(last, "model_") or hasattr(last, "outputs_")):
        raise ValueError(f"{model} holds a {type(last).__name__}, which has no weights to report on; evaluate takes it")
    reader, examples = data.read([file], format_name, encoding, given=saved.reader)
    X, Y = _read(saved.estimator, reader, examples)
    curve = None
    if learning_curve is not None:
        curve = _read(saved.estimator, *data.read([learning_curve], format_name, encoding, given=saved.reader))
    with places(examples):
        write_report(output, saved.estimator, X, Y, title=title, data_name=file, learning_curve=curve)
    if not quiet:
        typer.echo(output)


def _read(estimator: Any, reader: Reader, examples: list[Example]) -> tuple[list[Any], list[Any]]:
    from structlearn.annotation.examples import as_taken, labelled

    labelled(reader, examples)
    return as_taken(estimator, examples)
