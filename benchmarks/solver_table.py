"""All solvers of structural SVMs on eight tasks, to a certified gap of 1 %: writes docs/solver_table.md.

    python benchmarks/solver_table.py [--only noisy] [--repeats 3] [--beside "beside other work"]

Every run is a fresh process with one thread. The default solver goes first; the others may take three times its
processor time. What is timed is the solver on data that are bound already. Truths with latent parts have those that the
model begins with, so that the problem is convex and all solvers minimise the same.
"""

from __future__ import annotations

import argparse
import json
import os
import threading
import time
import warnings
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
from measure import Run, in_fresh_process, median, peak_mb

from structlearn import solvers
from structlearn.datasets import fetch_litbank, fetch_mq2007_agg, fetch_treebank, fetch_yeast_origins
from structlearn.features import MentionPairs
from structlearn.models import Chain, Grammar, LatentForest, Motif, Multiclass, Ranking
from structlearn.waist import LatentProblem, MarginObjective, Problem

PAGE = Path(__file__).resolve().parent.parent / "docs" / "solver_table.md"
GAP = 0.01
#: Runs may take this many times the processor time of the default solver.
CAP = 3.0
SOLVERS: dict[str, type[solvers.GapSolver]] = {
    "auto": solvers.BlockCoordinate,
    "n_slack": solvers.NSlack,
    "one_slack": solvers.OneSlack,
    "exponentiated_gradient": solvers.ExponentiatedGradient,
    "extragradient": solvers.Extragradient,
    "excessive_gap": solvers.ExcessiveGap,
}
TEXT = """# Solvers compared

Seconds of processor time, and peak megabytes, until a relative duality gap of 1 % is certified:
`python benchmarks/solver_table.py`, {when}. Every run is a fresh process with one thread; times are medians of
{repeats} and do not have the reading and binding of the data, memory does. `"auto"` is the default, block-coordinate
ascent with cutting planes where it is slow. The others were stopped after three times its time (">"); "–" is a solver
that refuses the task, since the loss is no sum over parts or there are no sums over outputs. The last column is the
time of `"auto"` over that of the quickest. `"subgradient"` certifies nothing and is left out.

{table}

{verdict}

## Tasks

{tasks}
"""


class Task(NamedTuple):
    """What it is, how it is loaded, and C/n."""

    text: str
    load: Callable[[], Problem]
    price: float


def bound(model: Any, X: Any, Y: Any) -> Problem:
    """The model bound to data, and to the latent parts that it begins with."""
    problem: Problem = model.bind(model.specify(X, Y), X, Y)
    if not isinstance(problem, LatentProblem):
        return problem
    start = problem.start(np.random.default_rng(0))
    completions = start.completions
    if completions is None:
        w = np.zeros(problem.n_features) if start.w is None else start.w
        completions = problem.complete(w, np.arange(problem.n_examples))
    return problem.completed(completions)


def letters() -> Problem:
    X, Y, *_ = data.letters(range(1, 10), [0])
    return bound(Chain(), X, Y)


def chunks() -> Problem:
    X, Y = data.chunking("train")
    return bound(Chain(), data.prepared(X, data.vocabulary(X)), Y)


def trees() -> Problem:
    found = fetch_treebank(20)
    return bound(Grammar(), [[tag for _, tag in x] for x in found.X], found.Y)


def coreference() -> Problem:
    documents = fetch_litbank()
    return bound(LatentForest(), MentionPairs().fit_transform(documents.X), documents.Y)


def rankings() -> Problem:
    queries = fetch_mq2007_agg(1)
    return bound(Ranking("ndcg", k=10), queries.X, queries.Y)


def motifs() -> Problem:
    origins = fetch_yeast_origins()
    return bound(Motif(11), origins.X, origins.Y)


def noisy() -> Problem:
    X, Y = data.noisy_sequences(2000)
    return bound(Chain(), X, Y)


TASKS: dict[str, Task] = {
    "letters, C/n = 0.01": Task("OCR letters, folds 1-9, 6,251 words", letters, 0.01),
    "letters, C/n = 0.1": Task("the same", letters, 0.1),
    "letters, C/n = 1": Task("the same", letters, 1.0),
    "CoNLL-2000": Task("chunking, 8,936 sentences, C/n = 0.1", chunks, 0.1),
    "MNIST": Task("60,000 digits, C/n = 0.01", lambda: bound(Multiclass(), *data.mnist()), 0.01),
    "treebank": Task("sentences of at most 20 words, a grammar of their rules, C/n = 0.1", trees, 0.1),
    "LitBank": Task("coreference, 100 documents, spanning forests, C/n = 1", coreference, 1.0),
    "MQ2007": Task("rankings by NDCG of the first ten, C/n = 1", rankings, 1.0),
    "yeast motifs": Task("origins of replication, words of 11 bases, C/n = 1", motifs, 1.0),
    "noisy": Task(
        "2,000 chains, 20 features, three labels in ten at random (`data.noisy_sequences`), C/n = 10", noisy, 10.0
    ),
}


def measured(task: str, solver: str, cap: float | None) -> Run:
    """One run; `gap` is the last that was certified, and `seconds` None where the cap was met first."""
    warnings.simplefilter("ignore")
    problem = TASKS[task].load()
    objective = MarginObjective(np.ones(problem.n_examples), TASKS[task].price * problem.n_examples)
    chosen = SOLVERS[solver](tol=GAP, max_iter=10**6)
    try:
        chosen.check(problem, objective)
    except ValueError as refusal:
        return {"refused": str(refusal)}
    found: Run = {"seconds": None, "gap": None}

    def observe(state: solvers.State) -> bool:
        if state.record["certified"]:
            found["gap"] = state.relative_gap  # type: ignore[attr-defined]
        return False

    if cap is not None:
        # An iteration may take longer than the cap: nobody waits for it.
        threading.Thread(target=_stop_at, args=(cap, found), daemon=True).start()
    begin = time.process_time()
    solution = chosen.run(problem, objective, observe=observe)
    assert solution.converged
    return found | {"seconds": time.process_time() - begin, "iterations": solution.state.iteration}


def _stop_at(cap: float, found: Run) -> None:
    begin = time.process_time()
    while time.process_time() - begin < cap:
        time.sleep(0.02)
    print(json.dumps(found | {"peak_mb": peak_mb()}), flush=True)
    os._exit(0)


def compared(task: str, repeats: int) -> dict[str, Run]:
    """The medians of all solvers, the default first."""
    found: dict[str, Run] = {}
    for solver in SOLVERS:
        cap = CAP * found["auto"]["seconds"] if found else None
        runs: list[Run] = []
        while len(runs) < repeats:
            runs.append(in_fresh_process("solver_table:measured", task=task, solver=solver, cap=cap))
            if runs[-1].get("seconds") is None:
                break
        last = runs[-1]
        over = last.get("seconds") is None
        found[solver] = last if over else last | {"seconds": median(runs), "peak_mb": median(runs, "peak_mb")}
        print(f"{task}, {solver}: {found[solver]}", flush=True)
    return found


def cell(run: Run, cap: float) -> str:
    if "refused" in run:
        return "–"
    taken = f"> {cap:.3g}" if run["seconds"] is None else f"{run['seconds']:.3g}"
    return f"{taken} s, {run['peak_mb']:.0f} MB"


def ratio(runs: dict[str, Run]) -> float:
    """The time of the default over that of the quickest."""
    return float(runs["auto"]["seconds"] / min(run["seconds"] for run in runs.values() if run.get("seconds")))


def page(found: dict[str, dict[str, Run]], repeats: int, beside: str) -> str:
    lines = [["task", *(f"`{solver}`" for solver in SOLVERS), "auto / best"], ["---"] * (len(SOLVERS) + 2)]
    for task, runs in found.items():
        cells = (cell(run, CAP * runs["auto"]["seconds"]) for run in runs.values())
        lines.append([task, *cells, f"{ratio(runs):.2f}"])
    worst = max(found, key=lambda task: ratio(found[task]))
    return TEXT.format(
        when=f"{date.today():%d %B %Y}" + (f", {beside}" if beside else ""),
        repeats="one run" if repeats == 1 else f"{repeats} runs",
        table="\n".join(f"| {' | '.join(line)} |" for line in lines),
        verdict=f"The default takes at most {ratio(found[worst]):.2f} times as long as the quickest ({worst}).",
        tasks="\n".join(f"- {task}: {TASKS[task].text}" for task in found),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=list(TASKS), help="print these tasks, write no page")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--beside", default="", help="what else the machine did, for the page")
    options = parser.parse_args()
    found = {task: compared(task, options.repeats) for task in options.only or TASKS}
    text = page(found, options.repeats, options.beside)
    if options.only:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
