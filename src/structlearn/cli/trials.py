"""Settings of options on parts of the examples: what `structlearn tune` tries, and how well each does."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from itertools import groupby, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from structlearn.cli.choices import Choice, chosen
from structlearn.cli.components import LEARNERS, MODELS
from structlearn.cli.options import asked, check_values, option_value
from structlearn.wording import count

if TYPE_CHECKING:
    from structlearn.io.format import Example, Reader

#: C/S to try, as multiples of the learner's default.
PATH = (0.1, 0.3, 1.0, 3.0, 10.0)
#: γ to try, as multiples of what the median distance proposes.
WIDTHS = (0.25, 1.0, 4.0)


@dataclass(frozen=True, slots=True)
class Setting:
    """A learner, a model and values of options; `shown` is what tells it from the others."""

    choice: Choice
    options: dict[str, Any]
    shown: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Trial:
    """A setting on one part of the examples."""

    setting: Setting
    fold: int
    metric: str
    score: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """Settings that differ in C only, to be trained on some examples and scored on others."""

    build: Callable[[Setting], Any]
    refusals: Callable[[Setting], AbstractContextManager[None]]
    templates: Any
    path: list[Setting]
    examples: Sequence[Example] = field(repr=False)
    weight: Any
    fold: int
    train: Any
    test: Any


def asked_choices(
    reader: Reader, learners: str | None, models: str | None, kernels: str | None, *, partial: bool = False
) -> list[Choice]:
    """What to try: all learners, models and kernels that were named, as far as they go together."""
    names: list[list[str | None]] = [
        [None] if text is None else [name.strip() for name in text.split(",")] for text in (learners, models, kernels)
    ]
    able = []
    refused: list[ValueError] = []
    for wanted in product(*names):
        try:
            able.append(chosen(reader.structure, reader.described, *wanted, partial=partial))
        except ValueError as error:
            refused.append(error)
    for k, given in enumerate(names):
        unused = set(given) - {None} - {(choice.learner, choice.model, choice.kernel)[k] for choice in able}
        if unused:
            raise next(error for error in refused if any(str(name) in str(error) for name in unused))
    return list(dict.fromkeys(able))


def grid_values(
    grid: list[str] | None, learner: str | None, model: str | None, kernel: str | None
) -> dict[str, list[Any]]:
    """The values to try by the names of the options; what is wrong with them needs no file to be said."""
    values: dict[str, list[Any]] = {}
    for text in grid or []:
        name, equals, listed = text.partition("=")
        name = name.strip().removeprefix("--").replace("-", "_")
        try:
            if not equals or not listed:
                raise ValueError(f"{text!r} is no name with values, such as C=0.1,1,10")
            values[name] = [option_value(name, value.strip()) for value in listed.split(",")]
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="'--grid'") from None
        for value in values[name]:
            check_values({name: value}, lambda name: asked(name, learner, model, kernel), f"--grid {name}")
    return values


def gammas(estimator: Any, choice: Choice, X: Any, templates: Any) -> list[float]:
    """Values of γ to try for a kernel that has one: around that which the distances of rows of features propose."""
    from structlearn.cli.pipelines import fit_features
    from structlearn.data.input_rows import input_rows, read_inputs
    from structlearn.kernels import kernel_for
    from structlearn.persistence.model_file import steps_of
    from structlearn.persistence.steps import Steps

    if choice.kernel not in ("rbf", "laplacian"):
        return []
    steps, _ = steps_of(estimator)
    X = fit_features(Steps([step for step in steps if type(step[1]).__name__ != "KernelMap"]), X, templates)
    inputs = read_inputs(X)
    proposed = kernel_for(choice.kernel, X if inputs is None else input_rows(inputs)).get_params()["gamma"]
    return [float(f"{factor * proposed:.3g}") for factor in WIDTHS]


def settings(
    values: dict[str, list[Any]], choices: Sequence[Choice], total: float, gammas: dict[Choice, list[float]]
) -> list[Setting]:
    """All combinations of the values to try, those that differ in C only one after another.

    Where no values are given, they are some of C and those of γ.
    """
    found = [setting for choice in choices for setting in _settings(values, choice, choices, total, gammas)]
    if not values and len(found) == 1:
        raise ValueError(f"--grid is missing: --learner {choices[0].learner} has no C to choose")
    return found


def _settings(
    values: dict[str, list[Any]],
    choice: Choice,
    choices: Sequence[Choice],
    total: float,
    gammas: dict[Choice, list[float]],
) -> Iterator[Setting]:
    components = [user for structure in MODELS[choice.model].files for user in choice.components(structure)]
    known = {name for user in components for name in user.options}
    own = {name: listed for name, listed in values.items() if name in known}
    if gammas.get(choice):
        own["gamma"] = gammas[choice]
    price = LEARNERS[choice.learner].price
    if not values and price is not None:
        own["C"] = [float(f"{factor * price * total:.3g}") for factor in PATH]
    prices = sorted(own.pop("C", [None]), key=lambda C: C or 0.0)
    names = {"learner": choice.learner, "model": choice.model, "kernel": choice.kernel}
    shown = {key: name for key, name in names.items() if len({getattr(other, key) for other in choices}) > 1}
    for combination in product(*own.values()):
        for C in prices:
            given = dict(zip(own, combination, strict=True)) | ({} if C is None else {"C": C})
            yield Setting(choice, given, shown | given)


def paths(every: Sequence[Setting]) -> Iterator[list[Setting]]:
    """Settings that differ in C only, from small to large."""
    for _, path in groupby(every, key=lambda setting: {k: v for k, v in setting.shown.items() if k != "C"}):
        yield list(path)


def groups_of(wanted: str, reader: Reader, examples: Sequence[Example], encoding: str) -> list[Any]:
    """The group of every example: its file, its document, or what a line of a file says."""
    if wanted == "files":
        return [example.file for example in examples]
    if wanted == "documents":
        begins = {file: _documents(file, reader, encoding) for file in dict.fromkeys(e.file for e in examples)}
        # A comment that begins a document may stand among the lines of its first sentence.
        ends = [(example.file, example.line + max(len(example.source) - 1, 0)) for example in examples]
        return [(file, bisect_right(begins[file], line)) for file, line in ends]
    from structlearn.io.text import open_text

    with open_text(wanted, encoding) as lines:
        named = [line.strip() for line in lines if line.strip()]
    if len(named) != len(examples):
        raise ValueError(
            f"{wanted} names {count(len(named), 'group')}, but there are {count(len(examples), 'example')}"
        )
    return named


def _documents(file: str, reader: Reader, encoding: str) -> list[int]:
    """The lines with which the documents of a file begin."""
    from structlearn.io.text import open_text

    if not Path(file).is_file():
        raise ValueError("--groups documents needs a file that can be read twice, not standard input")
    with open_text(file, encoding) as lines:
        found = [lines.number for line in lines if reader.begins_document(line)]
    if not found:
        raise ValueError(f"{file}: no line begins a document in {reader.name} files; name the groups in a file")
    return found


def run(tasks: Sequence[Task], jobs: int, *, show: bool) -> list[Trial]:
    """All trials of all tasks, in parallel."""
    from joblib import Parallel, delayed
    from rich.console import Console
    from rich.progress import track

    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(_follow)(task) for task in tasks)
    bar = track(found, "cross-validation", total=len(tasks), console=Console(stderr=True), disable=not show)
    return [trial for trials in bar for trial in trials]


def _follow(task: Task) -> list[Trial]:
    """Trains on one part of the examples with growing C, and scores on the rest."""
    from structlearn.annotation.examples import as_labels, as_taken, searches
    from structlearn.cli.pipelines import features, fit_features, fit_learner
    from structlearn.evaluation import model_of
    from structlearn.persistence.model_file import steps_of

    begin = time.perf_counter()
    train, test = ([task.examples[i] for i in part] for part in (task.train, task.test))
    estimator = task.build(task.path[0])
    _, last = steps_of(estimator)
    X_train, Y_train = as_taken(estimator, train)
    X_train = fit_features(estimator, X_train, task.templates)
    X_test, Y_test = as_taken(estimator, test)
    X_test = features(estimator, X_test)
    Y_test = Y_test if searches(last) else [example.y for example in test]
    if "warm_start" in last.get_params():
        last.set_params(warm_start=len(task.path) > 1 and _ends_the_same(last))
    weight = task.weight[task.train]
    share = float(weight.sum() / task.weight.sum())
    trials = []
    for setting in task.path:
        if "C" in setting.options:
            last.set_params(C=setting.options["C"] * share)
        with task.refusals(setting):
            fit_learner(last, X_train, Y_train, weight)
        predicted = as_labels(estimator, last.predict(X_test))
        metric, score = _score(model_of(last), X_test, task, Y_test, predicted)
        trials.append(Trial(setting, task.fold, metric, score, time.perf_counter() - begin))
        begin = time.perf_counter()
    return trials


def _ends_the_same(estimator: Any) -> bool:
    """Whether a warm start changes nothing but the time: what is scored must be what `train` would make.

    The minimum is one only where the objective is convex, and where runs go on until they are there, provably.
    """
    from structlearn.estimators.latent import LatentEstimator
    from structlearn.solvers import Solver

    convex = not isinstance(estimator, LatentEstimator)
    solver = estimator._solver()
    certified = getattr(solver, "certifies", True)
    return convex and certified and estimator.max_iter is None and type(solver).resume is not Solver.resume


def _score(model: Any, X: Any, task: Task, Y: list[Any], predicted: Any) -> tuple[str, float]:
    """What settings are compared by: its name and its value."""
    from structlearn.data.labels import is_partial
    from structlearn.data.tokens.tags import are_tags
    from structlearn.metrics import span_scores, token_accuracy

    # By the labels of all examples: a part may have none but O, or none that is known in part.
    outputs = [] if getattr(model, "kind", "") == "outputs" else [example.y for example in task.examples]
    if any(is_partial(label) for y in outputs for label in (y if isinstance(y, list) else [y])):
        return "accuracy of known labels", _accuracy_where_known(Y, predicted)
    measures = model.measures(X, Y, predicted)
    if measures is not None:
        name, score = next(iter(measures.scores().items()))
        return name.replace("_", " "), float(score)
    if not isinstance(Y[0], list):
        return "accuracy", sum(bool(y == p) for y, p in zip(Y, predicted, strict=True)) / len(Y)
    if are_tags({label for y in outputs for label in y}):
        scores = span_scores(Y, predicted)
        return f"f1 of spans by {scores.scheme}", scores.f1
    return "accuracy", token_accuracy(Y, predicted)


def _accuracy_where_known(Y: list[Any], predicted: Any) -> float:
    """The share of labels that may be true, of those of which something is known."""
    from structlearn.data.labels import known_labels

    pairs = (zip(y, p, strict=True) if isinstance(y, list) else [(y, p)] for y, p in zip(Y, predicted, strict=True))
    right = [label in known_labels(entry) for pair in pairs for entry, label in pair if entry is not None]
    if not right:
        raise ValueError("no label is known in one of the parts: nothing can be scored there; try fewer --folds")
    return sum(right) / len(right)
