"""All commands, and the options that several of them have."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated

import typer

from structlearn.cli.check import check
from structlearn.cli.compare import compare
from structlearn.cli.convert import convert
from structlearn.cli.demo import demo
from structlearn.cli.evaluate import evaluate
from structlearn.cli.explain import explain
from structlearn.cli.help import FittingHelp
from structlearn.cli.infer import infer
from structlearn.cli.inspect import inspect_model
from structlearn.cli.options import shared_options
from structlearn.cli.predict import predict
from structlearn.cli.prepare import prepare
from structlearn.cli.report import report
from structlearn.cli.train import train
from structlearn.cli.tune import tune

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"structlearn {version('structlearn')}")
        raise typer.Exit


def _help(command: Callable[..., None]) -> str:
    """A docstring with every paragraph on one line, for terminals of any width; examples stay as they are."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    return "\n\n".join(text if text.startswith("\b") else text.replace("\n", " ") for text in paragraphs)


def structlearn(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Learn to label sequences and other structures from files, and use what was learnt.

    The shortest path, with one token a line, its label in the last column and a blank line between sentences:

    \b
        structlearn train train.txt -o tagger.slm
        structlearn evaluate tagger.slm test.txt
        structlearn predict tagger.slm new.txt
        structlearn report tagger.slm test.txt -o report.html

    [bold]structlearn demo[/bold] does all of that on sentences of its own. Files may be compressed (gz, bz2, xz); "-"
    is standard input. Exit status: 0 for success, 1 for a failure that the message names, 2 for a wrong option, 130
    after Ctrl-C.
    """


app.callback(help=_help(structlearn))(structlearn)
for command in (
    *(train, predict, evaluate, compare, report, inspect_model, explain, tune, check, convert, prepare, infer, demo),
):
    learns = command in (train, tune)
    app.command(command.__name__.removesuffix("_model"), cls=FittingHelp if learns else None, help=_help(command))(
        shared_options(command) if learns else command
    )
