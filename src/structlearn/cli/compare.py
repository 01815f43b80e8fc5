"""`structlearn compare`"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from structlearn.cli import data, terminal
from structlearn.cli.evaluate import SpanScheme
from structlearn.cli.jobs import Jobs, with_jobs

if TYPE_CHECKING:
    from structlearn.evaluation import Evaluation


def compare(
    first: data.Model,
    second: Annotated[str, typer.Argument(metavar="OTHER", help="Another one.")],
    file: data.Data = "-",
    format_name: data.FormatName = None,
    encoding: data.Encoding = "utf-8",
    scheme: SpanScheme = "conlleval",
    n_jobs: Jobs = None,
    as_json: data.Json = False,
) -> None:
    """Tell which of two models does better on the labels of a file, and whether that is more than chance.

    Differences are those of the first minus the second, with 95 % intervals and two-sided p-values of a paired
    bootstrap: each resample has the same examples for both. Below is McNemar's test of which outputs are right in
    full. The models may be of different learners and structures, and read different columns of the file.

    \b
        structlearn compare crf.slm svm.slm test.txt
        structlearn compare chain.slm segments.slm test.txt --json
    """
    from structlearn.annotation.examples import as_taken, labelled, places
    from structlearn.evaluation import compare_evaluations, evaluate, loss_of

    if file == "-":
        raise ValueError("compare needs a file that can be read twice, not standard input")
    judged: list[Evaluation] = []
    losses = set()
    for path in (first, second):
        saved = with_jobs(data.read_model(path), n_jobs)
        reader, examples = data.read([file], format_name, encoding, given=saved.reader)
        labelled(reader, examples)
        with places(examples):
            judged.append(evaluate(saved.estimator, *as_taken(saved.estimator, examples), scheme=scheme))
        losses.add(loss_of(saved.estimator))
    found = compare_evaluations(*judged, with_loss=len(losses) == 1)
    if as_json:
        terminal.print_json({"models": [first, second]} | found.to_dict())
    else:
        typer.echo(f"first: {first}, second: {second}")
        terminal.console().print(found)
