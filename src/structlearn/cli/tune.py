"""`structlearn tune`"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from structlearn.cli import data, terminal
from structlearn.cli.components import KERNELS, LEARNERS, MODELS
from structlearn.cli.options import checked
from structlearn.cli.train import Files, Templates, save
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.cli.trials import Setting, Trial


def _check_names(known: Collection[str]) -> Callable[[str], None]:
    def check(names: str) -> None:
        for name in names.split(","):
            if name.strip() not in known:
                raise ValueError(f"{name.strip()!r} is none of {', '.join(known)}")

    return check


def _check_jobs(jobs: int) -> None:
    if jobs == 0:
        raise ValueError("0 processes do nothing; -1 is one a core")


def _check_groups(groups: str) -> None:
    if groups not in ("documents", "files") and not Path(groups).is_file():
        raise ValueError(f"{groups!r} is neither documents nor files nor a file with a line for each example")


def tune(
    files: Files,
    learner: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Learners to try, those of train, with commas between.",
            callback=checked(_check_names(LEARNERS)),
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Models to try, those of train, with commas between.",
            callback=checked(_check_names(MODELS)),
        ),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help="Kernels to try, those of train, with commas between.",
            callback=checked(_check_names(KERNELS)),
            rich_help_panel="Kernel",
        ),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A,B,…",
            help="Values to try of an option of train; may be repeated. Left out: five values of C around the "
            "default, and for --kernel rbf and laplacian three of gamma around the one that distances propose.",
        ),
    ] = None,
    folds: Annotated[int, typer.Option(min=2, help="Into how many parts the examples are cut.")] = 5,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="documents|files|FILE",
            help="What stays together in one part: the examples of a document, of a file, or those to which the lines "
            "of FILE, one for each example, give the same name.",
            callback=checked(_check_groups),
        ),
    ] = None,
    validation: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Examples to score on; training is then on all others, without parts."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; -1 for one a core.", callback=checked(_check_jobs))
    ] = -1,
    seed: Annotated[
        int, typer.Option(min=0, max=2**32 - 1, help="Of the order in which examples are cut into parts.")
    ] = 0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Train on all examples with the best values, into this file.")
    ] = None,
    format_name: data.FormatName = None,
    columns: data.Columns = None,
    separator: data.Separator = None,
    label: data.Label = None,
    partial: data.Partial = False,
    encoding: data.Encoding = "utf-8",
    templates: Templates = None,
    quiet: data.Quiet = False,
    as_json: data.Json = False,
    options: Any = None,
) -> None:
    """Choose C, or any other option, the learner and the model, by cross-validation or on held-out examples.

    Each part of the examples is predicted by a model that was trained on the others. Values of C are gone through from
    small to large; where a run ends at the same model wherever it starts, it starts where the last one ended. C is what
    train takes for all examples: on a part of them it is scaled, so that an example costs the same. The score is F1 for
    labels such as B-NP and I-NP, by conlleval's rule, for the brackets of trees, and for label sets with --loss f1; the
    share of the true matches for alignments; otherwise accuracy, with --partial that of known labels; weights of
    examples count in training, not in the score. Examples are shuffled: where neighbours are alike, as sentences of one
    document are, scores are better than they will be elsewhere; --groups keeps them together.

    \b
        structlearn tune train.txt
        structlearn tune train.txt --grid C=100,300,1000 --grid min_count=1,2 -o tagger.slm
        structlearn tune train.txt --learner svm,crf --model chain,segments --groups documents
        structlearn tune train.txt --validation held_out.txt
        structlearn tune rows.svmlight --kernel rbf,polynomial
    """
    import numpy as np

    from structlearn.annotation.examples import as_taken, labelled, places, weights
    from structlearn.cli import trials
    from structlearn.cli.pipelines import (
        build,
        check_effects,
        fit,
        in_terms_of_the_data,
        read_templates,
        refusals_in_flags,
    )
    from structlearn.persistence import atomic

    if output is not None:
        atomic.check_writable(output)
    if groups is not None and validation is not None:
        raise ValueError("--groups and --validation exclude each other: with held-out examples there are no parts")
    values = trials.grid_values(grid, learner, model, kernel)
    label = data.implied_label(label, model, format_name, files)
    wanted = data.as_asked(data.layout(format_name, columns, separator, label), options)
    reader, examples = data.read(files, wanted, encoding, partial=partial)
    X, Y = labelled(reader, examples)
    weight = np.ones(len(X)) if (given := weights(examples)) is None else np.asarray(given)
    held_out = [] if validation is None else data.read([validation], format_name, encoding, given=reader)[1]
    X_held_out, Y_held_out = labelled(reader, held_out)
    written = read_templates(templates, reader)
    choices = trials.asked_choices(reader, learner, model, kernel, partial=partial)
    check_effects([*options, *values], reader, choices)
    everything = [*X, *X_held_out], [*Y, *Y_held_out]
    told = {choice: in_terms_of_the_data(reader, choice, *everything, options) for choice in choices}

    def asked(setting: Setting) -> dict[str, Any]:
        users = setting.choice.components(reader.structure)
        used = {name for user in users for name in (*user.options, *user.from_data)}
        return {name: value for name, value in told[setting.choice].items() if name in used} | setting.options

    def make(setting: Setting) -> Any:
        return build(reader, setting.choice, asked(setting), written)

    def refusals(setting: Setting) -> AbstractContextManager[None]:
        return refusals_in_flags(setting.choice, reader.structure, asked(setting))

    gammas = {}
    for choice in choices if not values and "gamma" not in options else ():
        gammas[choice] = trials.gammas(make(trials.Setting(choice, {}, {})), choice, X, written)
    settings = trials.settings(values, choices, float(weight.sum()), gammas)
    for setting in settings:
        make(setting)
    together = None if groups is None else trials.groups_of(groups, reader, examples, encoding)
    parts = _parts(len(X), len(held_out), folds, seed, together)
    tasks = [
        trials.Task(make, refusals, written, path, [*examples, *held_out], weight, fold, *part)
        for fold, part in enumerate(parts)
        for path in trials.paths(settings)
    ]
    show = not (quiet or as_json)
    found = trials.run(tasks, jobs, show=show)
    results = [_result(setting, [trial for trial in found if trial.setting == setting]) for setting in settings]
    best = max(range(len(results)), key=lambda k: results[k]["score"])
    metric = found[0].metric
    if as_json:
        how = {"folds": folds} if validation is None else {"validation": validation}
        found_best = {"best": results[best]["setting"], "score": results[best]["score"], "metric": metric}
        terminal.print_json(found_best | how | {"results": results})
    else:
        if output is None or not quiet:
            _print(results, results[best], metric)
        typer.echo(_in_words(results, results[best]))
    if output is not None:
        estimator = make(settings[best])
        with places(examples), refusals(settings[best]):
            fit(estimator, *as_taken(estimator, examples), written, given, show=show)
        save(estimator, output, reader, files, Y)


def _parts(n: int, n_held_out: int, folds: int, seed: int, groups: list[Any] | None) -> list[tuple[Any, Any]]:
    """The examples to train on and to score on, for each part."""
    import numpy as np
    from sklearn.model_selection import GroupKFold, KFold

    if n_held_out:
        return [(np.arange(n), np.arange(n, n + n_held_out))]
    if groups is None:
        if n < folds:
            raise ValueError(f"{count(n, 'example')} cannot be cut into {folds} parts")
        return list(KFold(folds, shuffle=True, random_state=seed).split(np.arange(n)))
    number = {group: k for k, group in enumerate(dict.fromkeys(groups))}
    if len(number) < folds:
        raise ValueError(f"{count(len(number), 'group')} cannot be put into {folds} parts; --folds says how many")
    cut = GroupKFold(folds, shuffle=True, random_state=seed)
    return list(cut.split(np.arange(n), groups=[number[group] for group in groups]))


def _result(setting: Setting, trials: list[Trial]) -> dict[str, Any]:
    import numpy as np

    scores = [trial.score for trial in sorted(trials, key=lambda trial: trial.fold)]
    error = None if len(scores) == 1 else float(np.std(scores, ddof=1) / np.sqrt(len(scores)))
    return {
        "setting": setting.shown,
        "score": float(np.mean(scores)),
        "standard_error": error,
        "scores": scores,
        "seconds": sum(trial.seconds for trial in trials),
    }


def _print(results: list[dict[str, Any]], best: dict[str, Any], metric: str) -> None:
    from rich.table import Table

    names = list(dict.fromkeys(name for result in results for name in result["setting"]))
    several = len(best["scores"]) > 1
    parts = [f"part {k}" for k in range(1, len(best["scores"]) + 1)] if several else []
    table = Table(
        *names, metric, *(["± standard error"] if several else []), *parts, "seconds", box=None, pad_edge=False
    )
    for column in table.columns:
        column.justify = "right"
    for result in results:
        row = [str(result["setting"].get(name, "–")) for name in names]
        scores = [result["score"], *([result["standard_error"], *result["scores"]] if several else [])]
        numbers = [*(f"{score:.4f}" for score in scores), f"{result['seconds']:.1f}"]
        table.add_row(*row, *numbers, style="bold" if result is best else "")
    terminal.console().print(table)


def _in_words(results: list[dict[str, Any]], best: dict[str, Any]) -> str:
    equal = sum(result["score"] == best["score"] for result in results)
    tie = f", the first of {equal} with that score" if equal > 1 else ""
    return "best: " + ", ".join(f"{name}={value}" for name, value in best["setting"].items()) + tie
