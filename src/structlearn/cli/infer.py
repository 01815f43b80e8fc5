"""`structlearn infer`"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from structlearn.cli import data
from structlearn.cli.terminal import print_json

if TYPE_CHECKING:
    from structlearn.data.factor_graphs import FactorGraph


def infer(
    model: Annotated[str, typer.Argument(metavar="MODEL", help="A factor graph in the UAI format.")],
    evidence: Annotated[
        str | None, typer.Option(metavar="FILE", help="The labels that are known, in the UAI format.")
    ] = None,
    task: Annotated[
        Literal["map", "marginals", "log-z"],
        typer.Option(help="The best labels, the probabilities of all labels, or log Z."),
    ] = "map",
    engine: Annotated[
        str, typer.Option(metavar="NAME", help='How; "auto" looks at the graph and says what it chose.')
    ] = "auto",
    seconds: Annotated[
        float | None, typer.Option(metavar="S", min=0.0, help="Stop after so many, with the best so far.")
    ] = None,
    encoding: data.Encoding = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, with bounds and what was proven.")] = False,
) -> None:
    """Inference on a factor graph: the best labels, marginals or log Z.

    Prints the answer as the UAI competitions want it, log Z to the base of ten, or with --json all there is to know:
    `score`, the natural logarithm of the product of the factors at the labels, and `bound`, which no labels exceed; or
    `log_z`, a natural logarithm, and `marginals`. What is not finite is null. Ctrl-C ends an engine that goes on and
    on, and the best so far is printed.

    \b
        structlearn infer model.uai --evidence model.uai.evid
        structlearn infer model.uai --task marginals --engine tree_reweighted --json
        structlearn infer model.uai --task log-z --seconds 10
    """
    from structlearn.inference.graphs.registry import MAP_ENGINES, SUM_ENGINES
    from structlearn.io.uai import read_uai

    names = ["auto", *(MAP_ENGINES if task == "map" else SUM_ENGINES)]
    if engine not in names:
        raise typer.BadParameter(f"{engine!r} is none for {task}; it may be {', '.join(names)}", param_hint="--engine")
    graph = read_uai(model, evidence, encoding)
    answer = _map if task == "map" else _sums
    found, text = answer(graph, task, engine, seconds)
    if as_json:
        print_json(found)
    else:
        typer.echo(text, nl=False)
        typer.echo(_remark(found), err=True)


def _map(graph: FactorGraph, task: str, engine: str, seconds: float | None) -> tuple[dict[str, Any], str]:
    from structlearn.inference.graphs import best_labelling
    from structlearn.io.uai import format_map

    found = best_labelling(graph, engine, max_seconds=seconds, progress=_progress())
    return {
        "score": found.score,
        "bound": found.bound,
        "exact": found.exact,
        "labels": found.labels.tolist(),
        "engine": found.engine,
        "stopped": found.stopped,
        "seconds": found.seconds,
    }, format_map(found.labels)


def _sums(graph: FactorGraph, task: str, engine: str, seconds: float | None) -> tuple[dict[str, Any], str]:
    from structlearn.inference.graphs import labelling_marginals
    from structlearn.io.uai import format_log_z, format_marginals

    found = labelling_marginals(graph, engine, max_seconds=seconds)
    marginals = {"marginals": [node.tolist() for node in found.nodes]} if task == "marginals" else {}
    return {
        "log_z": found.log_z,
        "lower": found.lower,
        "upper": found.upper,
        "exact": found.exact,
        **marginals,
        "engine": found.engine,
        "stopped": found.stopped,
        "seconds": found.seconds,
    }, format_marginals(found.nodes) if task == "marginals" else format_log_z(found.log_z)


def _remark(found: dict[str, Any]) -> str:
    """One line on how much the answer is worth, beside it."""
    if "score" in found:
        worth = "best" if found["exact"] else f"at most {found['bound']:.6g}"
        reached = f"score {found['score']:.6g} ({worth})"
    else:
        worth = "exact" if found["exact"] else f"between {found['lower']:.6g} and {found['upper']:.6g}"
        reached = f"log Z {found['log_z']:.6g} ({worth})"
    return f"{found['engine']}: {reached}, {found['stopped']}, {found['seconds']:.2f} s"


def _progress() -> Callable[[Any], None] | None:
    """A line on the terminal that is written again and again; nothing where nobody looks."""
    if not sys.stderr.isatty():
        return None

    def show(record: Any) -> None:
        sys.stderr.write(f"\r{record.seconds:.0f} s  score {record.score:.6g}  bound {record.bound:.6g}\033[K")
        sys.stderr.flush()

    return show
