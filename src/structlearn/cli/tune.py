"""`structlearn tune`"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from typing import Annotated, Any

import typer

from structlearn.cli import data, terminal
from structlearn.cli.options import option_value
from structlearn.cli.train import Files, Learner, Templates, save
from structlearn.wording import count

#: C/S to try, as multiples of the learner's default.
PATH = (0.1, 0.3, 1.0, 3.0, 10.0)


def tune(
    files: Files,
    learner: Learner = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B,…",
            help="Values to try of an option of train; may be repeated. Left out: five values of C around the default.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the examples are cut.")] = 5,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Processes; -1 for one a core.")] = -1,
    seed: Annotated[int, typer.Option(help="Of the order in which examples are cut into parts.")] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Train on all examples with the best values, into this file.")
    ] = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    encoding: data.Encoding = "utf-8",
    templates: Templates = None,
    quiet: data.Quiet = False,
    as_json: data.Json = False,
    options: Any = None,
) -> None:
    """Choose C, or any other option, by cross-validation.

    Each part of the examples is predicted by a model that was trained on the others. Values of C are gone through from
    small to large; where a run ends at the same model wherever it starts, it starts where the last one ended. C is what
    train takes for all examples: on a part of them it is scaled, so that an example costs the same. The score is F1 for
    labels such as B-NP and I-NP, by conlleval's rule, and for the brackets of trees, the share of the true matches for
    alignments, otherwise accuracy; weights of examples count in training, not in the score. Examples are shuffled:
    where neighbours are alike, as sentences of one document are, scores are better than they will be elsewhere.

    \b
        structlearn tune train.txt
        structlearn tune train.txt --grid C=100,300,1000 --grid min_count=1,2 -o tagger.slm
    """
    from sklearn.model_selection import KFold

    from structlearn.cli.pipelines import build, chosen_learner, fit, in_terms_of_the_data, read_templates
    from structlearn.persistence import atomic

    if output is not None:
        atomic.check_writable(output)
    reader, examples = data.read(files, data.layout(format_name, columns, separator, label), encoding)
    X, Y = data.labelled(reader, examples)
    options = in_terms_of_the_data(reader, X, options)
    if len(X) < folds:
        raise ValueError(f"{count(len(X), 'example')} cannot be cut into {folds} parts")
    chosen = read_templates(templates, reader)

    def make(setting: dict[str, Any]) -> Any:
        return build(reader, learner, options | setting, chosen)

    weight = data.weights(examples)
    settings = _settings(grid, chosen_learner(reader, learner), len(X) if weight is None else sum(weight))
    for setting in settings:
        make(setting)
    parts = list(KFold(folds, shuffle=True, random_state=seed).split(X))
    tasks = [(make, chosen, path, (X, Y, weight), *part) for part in parts for path in _paths(settings)]
    trials = _run(tasks, jobs, show=not (quiet or as_json))
    results = [_result(setting, [trial for trial in trials if trial.setting == setting]) for setting in settings]
    best = max(results, key=lambda result: result["score"])
    metric = trials[0].metric
    if as_json:
        chosen_by = {"score": best["score"], "metric": metric, "folds": folds}
        terminal.print_json({"best": best["setting"], **chosen_by, "results": results})
    elif output is None or not quiet:
        _print(results, best, metric)
    if output is not None:
        estimator = build(reader, learner, options | best["setting"], chosen, verbose=int(not (quiet or as_json)))
        fit(estimator, X, Y, chosen, weight)
        save(estimator, output, reader, files)


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting on one part of the examples."""

    setting: dict[str, Any]
    metric: str
    score: float
    seconds: float


def _settings(grid: list[str] | None, learner: str, total: float) -> list[dict[str, Any]]:
    """All combinations of the values to try, those that differ in C only one after another."""
    values: dict[str, list[Any]] = {}
    for text in grid or []:
        name, equals, listed = text.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        if not equals or not listed:
            raise ValueError(f"--grid is {text!r}; expected a name and values, such as C=0.1,1,10")
        values[name] = [option_value(name, value.strip()) for value in listed.split(",")]
    if not values and learner != "perceptron":
        default = {"svm": 0.1, "crf": 1.0, "latent": 0.1}[learner]
        values["C"] = [float(f"{factor * default * total:.3g}") for factor in PATH]
    if not values:
        raise ValueError("--grid is missing: a perceptron has no C to choose")
    prices = sorted(values.pop("C", [None]), key=lambda C: C or 0.0)
    return [
        dict(zip(values, combination, strict=True)) | ({} if C is None else {"C": C})
        for combination in product(*values.values())
        for C in prices
    ]


def _paths(settings: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    for _, path in groupby(settings, key=lambda setting: {name: v for name, v in setting.items() if name != "C"}):
        yield list(path)


def _run(tasks: list[Any], jobs: int, *, show: bool) -> list[Trial]:
    from joblib import Parallel, delayed
    from rich.console import Console
    from rich.progress import track

    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_follow)(*task) for task in tasks)
    bar = track(found, "cross-validation", total=len(tasks), console=Console(stderr=True), disable=not show)
    return [trial for trials in bar for trial in trials]


def _follow(
    make: Callable[[dict[str, Any]], Any],
    templates: Any,
    path: list[dict[str, Any]],
    examples: tuple[list[Any], list[Any], list[float] | None],
    train: Any,
    test: Any,
) -> list[Trial]:
    """Trains on one part of the examples with growing C, and scores on the rest."""
    import numpy as np

    from structlearn.cli.pipelines import features, fit_features
    from structlearn.persistence.model_file import steps_of

    begin = time.perf_counter()
    X, Y, given = examples
    weight = np.ones(len(X)) if given is None else np.asarray(given)
    share = float(weight[train].sum() / weight.sum())
    estimator = make(path[0])
    _, last = steps_of(estimator)
    Y_train, Y_test = [Y[i] for i in train], [Y[i] for i in test]
    X_train = fit_features(estimator, [X[i] for i in train], templates)
    X_test = features(estimator, [X[i] for i in test])
    last.set_params(warm_start=len(path) > 1 and _ends_the_same(last))
    trials = []
    for setting in path:
        if "C" in setting:
            last.set_params(C=setting["C"] * share)
        predicted = last.fit(X_train, Y_train, weight[train]).predict(X_test)
        trials.append(Trial(setting, *_score(last.model_, X_test, Y_test, predicted), time.perf_counter() - begin))
        begin = time.perf_counter()
    return trials


def _ends_the_same(estimator: Any) -> bool:
    """Whether a warm start changes nothing but the time: what is scored must be what `train` would make.

    The minimum is one only where the objective is convex, and where runs go on until they are there.
    """
    from structlearn.estimators import LatentStructuralSVM
    from structlearn.solvers import Solver

    convex = not isinstance(estimator, LatentStructuralSVM)
    return convex and estimator.max_iter is None and type(estimator._solver()).resume is not Solver.resume


def _score(model: Any, X: Any, Y: list[Any], predicted: Any) -> tuple[str, float]:
    """What settings are compared by: its name and its value."""
    from structlearn.data.tags import are_tags
    from structlearn.metrics import span_scores, token_accuracy

    measures = model.measures(X, Y, predicted)
    if measures is not None:
        name, score = next(iter(measures.scores().items()))
        return name.replace("_", " "), float(score)
    if not isinstance(Y[0], list):
        return "accuracy", sum(bool(y == p) for y, p in zip(Y, predicted, strict=True)) / len(Y)
    if are_tags({label for y in Y for label in y}):
        scores = span_scores(Y, predicted)
        return f"f1 of spans by {scores.scheme}", scores.f1
    return "accuracy", token_accuracy(Y, predicted)


def _result(setting: dict[str, Any], trials: list[Trial]) -> dict[str, Any]:
    import numpy as np

    scores = [trial.score for trial in trials]
    return {
        "setting": setting,
        "score": float(np.mean(scores)),
        "standard_error": float(np.std(scores, ddof=1) / np.sqrt(len(scores))),
        "seconds": sum(trial.seconds for trial in trials),
    }


def _print(results: list[dict[str, Any]], best: dict[str, Any], metric: str) -> None:
    from rich.table import Table

    table = Table(*results[0]["setting"], metric, "± standard error", "seconds", box=None, pad_edge=False)
    for column in table.columns:
        column.justify = "right"
    for result in results:
        row = [str(value) for value in result["setting"].values()]
        numbers = [f"{result['score']:.4f}", f"{result['standard_error']:.4f}", f"{result['seconds']:.1f}"]
        table.add_row(*row, *numbers, style="bold" if result is best else "")
    terminal.console().print(table)
    equal = sum(result["score"] == best["score"] for result in results)
    tie = f", the first of {equal} with that score" if equal > 1 else ""
    typer.echo("best: " + ", ".join(f"{name}={value}" for name, value in best["setting"].items()) + tie)
