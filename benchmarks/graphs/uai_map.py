"""Best labels of the UAI-2014 MAP instances: branch and bound beside toulbar2, with 10 seconds each.

    python benchmarks/graphs/uai_map.py [--only Grids] [--seconds 10] [--more 60]

What toulbar2 alone proves, ours tries once more with 60 seconds.

Each solver works on the same graph, without its known and forbidden labels, in a process of its own, with its default
options; one function scores all labels. toulbar2 counts in multiples of 10^-4. The stored answers of the competition
are not all optimal. Seconds are those of the wall clock, of one thread, after reading.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import numpy as np
from markdown import table

from structlearn.data import FactorGraph
from structlearn.data.factor_graphs.reduction import ReducedGraph
from structlearn.datasets import fetch_uai2014
from structlearn.inference.graphs import BranchAndBound, best_labelling

DIGITS = 4
#: What toulbar2 is given for a forbidden label.
FORBIDDEN = 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="instances whose names begin so")
    parser.add_argument("--seconds", type=int, default=10, help="for either solver")
    parser.add_argument("--more", type=int, default=60, help="for ours, on what toulbar2 alone proves")
    options = parser.parse_args()
    rows = []
    for model in fetch_uai2014("MAP"):
        if model.name.startswith(options.only):
            raced = race(ReducedGraph.of(model.graph), options.seconds, options.more)
            rows.append({"name": model.name, "stored": model.graph.score(model.labels)} | raced)
            print(rows[-1], file=sys.stderr, flush=True)
    print(page(rows, options.seconds, options.more))


def race(reduced: ReducedGraph, seconds: int, more: int) -> dict[str, Any]:
    """Both solvers, and ours with more time where toulbar2 alone has a proof."""
    row = {solver: _alone(solve, reduced, seconds) for solver, solve in SOLVERS.items()}
    if row["toulbar2"]["proven"] and not row["ours"]["proven"]:
        row["longer"] = _alone(ours, reduced, more)
    return row


def _alone(solve: Callable[[FactorGraph, int], dict[str, Any]], reduced: ReducedGraph, seconds: int) -> dict[str, Any]:
    """Scores are those of the whole graph."""
    with get_context("spawn").Pool(1) as process:
        found = process.apply(solve, (replace(reduced.graph), seconds))
    offset = float(reduced.constants.sum())
    return found | {"score": found["score"] + offset, "bound": found["bound"] + offset}


def ours(graph: FactorGraph, seconds: int) -> dict[str, Any]:
    found = best_labelling(graph, BranchAndBound(), max_seconds=seconds)
    return answer(graph, found.labels, found.bound, found.exact, found.seconds)


def toulbar2(graph: FactorGraph, seconds: int) -> dict[str, Any]:
    import pytoulbar2

    begin = time.perf_counter()
    model = pytoulbar2.CFN(resolution=DIGITS)
    for i, n in enumerate(graph.n_labels.tolist()):
        model.AddVariable(f"x{i}", range(n))
    constant = float(graph.constants.sum())
    tables = [([i], graph.unary(i)) for i in range(graph.n_variables)]
    tables += [(graph.scope(f).tolist(), graph.table(f)) for f in range(graph.n_factors)]
    for scope, scores in tables:
        constant += scores.max()
        model.AddFunction(scope, np.minimum(scores.max() - scores, FORBIDDEN).ravel().tolist())
    found = model.Solve(timeLimit=seconds)
    solutions = model.GetSolutions()
    labels = found[0] if found else solutions[-1][1] if solutions else [0] * graph.n_variables
    bound = constant - model.GetDDualBound()
    proven = found is not None and constant - found[1] >= bound - 10.0**-DIGITS
    return answer(graph, np.array(labels, np.int32), bound, proven, time.perf_counter() - begin)


def answer(graph: FactorGraph, labels: Any, bound: float, proven: bool, seconds: float) -> dict[str, Any]:
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return {
        "score": graph.score(labels),
        "bound": float(bound),
        "proven": bool(proven),
        "seconds": seconds,
        "peak_mb": peak / 1000,
    }


SOLVERS = {"ours": ours, "toulbar2": toulbar2}


def page(rows: list[dict[str, Any]], seconds: int, more: int) -> str:
    head = ["instance", *(title for solver in SOLVERS for title in (f"{solver}, {seconds} s", "bound"))]
    lines = ([row["name"], *_cells(row), f"{row['stored']:.4f}"] for row in rows)
    return f"{table([*head, f'ours, {more} s', 'stored'], lines)}\n\n{summary(rows, seconds, more)}"


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [cell for solver in SOLVERS for cell in (f"{row[solver]['score']:.4f}", _proof(row[solver]))]
    return [*cells, _proof(row["longer"]) if "longer" in row else ""]


def _proof(found: dict[str, Any]) -> str:
    return f"proven, {found['seconds']:.2f} s" if found["proven"] else f"{found['bound']:.4f}"


def summary(rows: list[dict[str, Any]], seconds: int, more: int) -> str:
    proven = sum(row["ours"]["proven"] for row in rows)
    theirs = [row for row in rows if row["toulbar2"]["proven"]]
    also = sum(row["ours"]["proven"] for row in theirs)
    later = also + sum(row["longer"]["proven"] for row in theirs if "longer" in row)
    neither = [row for row in rows if not row["ours"]["proven"] and not row["toulbar2"]["proven"]]
    better = {
        key: sum(sign * row["ours"][key] > sign * row["toulbar2"][key] + 10.0**-DIGITS for row in neither)
        for key, sign in (("score", 1), ("bound", -1))
    }
    return (
        f"In {seconds} s toulbar2 proves {len(theirs)} of {len(rows)}, ours {proven}. "
        f"Of those that toulbar2 proves, ours proves {also} in {seconds} s and {later} in {more} s. "
        f"Of the {len(neither)} that neither proves, our labels are better on {better['score']}, "
        f"our bound on {better['bound']}."
    )


if __name__ == "__main__":
    main()
