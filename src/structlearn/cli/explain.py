"""`structlearn explain`"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from structlearn.cli import data, terminal
from structlearn.cli.options import checked
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.io.format import Example


class Question(NamedTuple):
    """What `structlearn.explain` is asked, and what that compares with in words."""

    label: Any
    against: Any
    words: str


def _check_against(text: str) -> None:
    if text not in ("truth", "second") and not (text.isascii() and text.isdigit() and int(text) > 1):
        raise ValueError(f"{text!r} is neither truth nor second nor a whole number from 2 on")


def explain(
    model: data.Model,
    file: data.Data = "-",
    example: Annotated[int, typer.Option(min=0, metavar="N", help="Which example of the file, counted from 0.")] = 0,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="OTHER",
            help="What the prediction is compared with: truth, second (best), or the K-th best output, K from 2 on. "
            "Left out: truth if the file has it and the prediction is wrong, otherwise second.",
            callback=checked(_check_against),
        ),
    ] = None,
    token: Annotated[
        int | None,
        typer.Option(metavar="T", help="Of a tagger: explain the label of this token alone, counted from 0."),
    ] = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    as_json: data.Json = False,
) -> None:
    """Say why an example is predicted as it is: which parts of the output, by which features, and by how much.

    A score is a sum over the parts of an output, such as the label of a token, one label after another, a rule of a
    grammar or two letters that are aligned. Shown are those parts that the prediction and what it is compared with do
    not have in common; they add up to the difference of the two scores. Structures that can be drawn are.

    \b
        structlearn explain tagger.slm test.txt --example 17
        structlearn explain tagger.slm test.txt --example 17 --token 4
        structlearn explain parser.slm test.mrg --example 3 --against second
        structlearn explain tagger.slm test.txt --example 17 --json
    """
    from structlearn.annotation.examples import places
    from structlearn.estimators import explain as explained
    from structlearn.estimators.abilities import lacks
    from structlearn.persistence.model_file import steps_of

    saved = data.read_model(model)
    last = steps_of(saved.estimator)[1]
    if not hasattr(last, "model_"):
        raise ValueError(f"{model} holds a {type(last).__name__}, whose scores are no sums of weights to be listed")
    reason = lacks(last, "explain")
    if reason is not None:
        raise ValueError(reason)
    wanted = data.layout(format_name, columns, separator, label, saved.reader)
    _, examples = data.stream(file, wanted, encoding, given=saved.reader)
    chosen = _chosen(examples, example, file)
    with places([chosen]):
        asked = _question(saved.estimator, last, chosen, against, token)
        try:
            why = explained(saved.estimator, chosen.x, token, asked.label, asked.against)
        except ValueError as error:
            # There x is the one input; here it is an example of a file.
            raise ValueError(re.sub("^x ", f"{chosen.place} ", str(error))) from error
    if as_json:
        where = {"example": example, "place": chosen.place, "compared_with": asked.words}
        terminal.print_json(where | why.to_dict())
        return
    typer.echo(f"{chosen.place}, example {example}, compared with {asked.words}")
    if token is None:
        _draw(saved.estimator, last, chosen)
    typer.echo(str(why))


def _chosen(examples: Any, number: int, file: str) -> Example:
    """The example with this number; refused if there is none."""
    before = 0
    for before, found in enumerate(islice(examples, number + 1), 1):
        if before == number + 1:
            chosen: Example = found
            return chosen
    raise ValueError(f"--example is {number}, but {file} has {count(before, 'example')}, counted from 0")


def _question(estimator: Any, last: Any, example: Example, against: str | None, token: int | None) -> Question:
    """What the prediction is compared with, as it was asked for or as it is most of use."""
    from structlearn.annotation.examples import as_taken

    if token is not None and (last.model_.kind != "sequences" or not isinstance(example.x, list)):
        raise ValueError(f"--token is for the labels of tokens, which a {last.model_.class_name} does not give")
    if token is not None and not -len(example.x) <= token < len(example.x):
        tokens = count(len(example.x), "token")
        raise ValueError(f"--token is {token}, but {example.place} has {tokens}, counted from 0")
    if against == "truth" and example.y is None:
        raise ValueError(f"{example.place}: the example has no label, so that there is no truth to compare with")
    if against not in (None, "truth", "second"):
        return _k_best(estimator, last, example, int(against), token)
    if against == "second" or example.y is None:
        return Question(None, None, "the second best")
    X = _transformed(estimator, [example.x])
    truth = as_taken(estimator, [example])[1][0]
    problem = last._bind(X, [truth])
    outputs = problem.predict(last.w_)
    predicted = problem.present(outputs)[0]
    wrong = bool(problem.losses(outputs)[0] > 0)
    if token is not None:
        wrong = predicted[token] != example.y[token]
        if wrong:
            return Question(None, example.y[token], "the truth")
    elif wrong:
        if hasattr(problem, "reachable") and not problem.reachable()[0]:
            if against == "truth":
                raise ValueError(f"{example.place}: the model has no output that is the truth; try --against second")
            return Question(None, None, "the second best, since the model has no output that is the truth")
        label, other = last.model_.mistake(predicted, truth)
        return Question(label, other, "the truth")
    if against == "truth":
        raise ValueError(f"{example.place}: the prediction is right; --against second compares it with the next best")
    return Question(None, None, "the second best, since the prediction is right")


def _k_best(estimator: Any, last: Any, example: Example, k: int, token: int | None) -> Question:
    from structlearn.estimators.abilities import lacks

    if token is not None:
        raise ValueError("--against K is for whole outputs; with --token leave it out, or take truth or second")
    reason = lacks(last, "k_best")
    if reason is not None:
        raise ValueError(f"--against {k}: {reason}")
    best = last.k_best(_transformed(estimator, [example.x]), k)[0]
    if len(best) < k:
        raise ValueError(f"--against is {k}, but {example.place} has {count(len(best), 'possible output')} only")
    return Question(None, best[-1][0], f"output {k} in the order of scores")


def _draw(estimator: Any, last: Any, example: Example) -> None:
    """The prediction, as `predict --draw` shows it, where it can be drawn."""
    from structlearn.annotation.examples import as_taken

    X = _transformed(estimator, [example.x])
    latent = last.predict_latent(X)[0] if hasattr(last, "predict_latent") else None
    width = terminal.picture_width()
    truth = None if example.y is None else as_taken(estimator, [example])[1][0]
    drawing = last.model_.latent_drawing(example.x, last.predict(X)[0], latent, truth, width=width)
    if drawing is not None:
        terminal.console().print(drawing, end="\n\n", soft_wrap=True)


def _transformed(estimator: Any, X: Any) -> Any:
    from structlearn.persistence.model_file import steps_of

    for _, step in steps_of(estimator)[0][:-1]:
        X = step.transform(X)
    return X
