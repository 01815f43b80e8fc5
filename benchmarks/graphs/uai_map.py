"""Best labels of the UAI-2014 MAP instances: branch and bound beside toulbar2, at 10 and at 60 seconds.

    python benchmarks/graphs/uai_map.py [--only Grids] [--seconds 10 60]

Each solver works on the same graph, without its known and forbidden labels, in a process of its own, with its default
options; one function scores all labels. toulbar2 counts in multiples of 10^-4. The stored answers of the competition
are not all optimal. Seconds are those of the wall clock, of one thread, after reading.
"""

from __future__ import annotations

import argparse
import sys
import time
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
    parser.add_argument("--seconds", type=int, nargs="+", default=[10, 60])
    options = parser.parse_args()
    rows = []
    for model in fetch_uai2014("MAP"):
        if model.name.startswith(options.only):
            raced = race(ReducedGraph.of(model.graph).graph, sorted(options.seconds))
            rows.append({"name": model.name, "stored": model.graph.score(model.labels)} | raced)
            print(rows[-1], file=sys.stderr, flush=True)
    print(page(rows, sorted(options.seconds)))


def race(graph: FactorGraph, limits: list[int]) -> dict[str, Any]:
    """All solvers, with more time where they prove nothing in less."""
    row: dict[str, Any] = {}
    for solver, solve in SOLVERS.items():
        found: dict[str, Any] = {"proven": False}
        for seconds in limits:
            if not found["proven"]:
                with get_context("spawn").Pool(1) as process:
                    found = process.apply(solve, (replace(graph), seconds))
            row[f"{solver} {seconds}"] = found
    return row


def ours(graph: FactorGraph, seconds: int) -> dict[str, Any]:
    found = best_labelling(graph, BranchAndBound(), max_seconds=seconds)
    return _answer(graph, found.labels, found.bound, found.exact, found.seconds)


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
    return _answer(graph, np.array(labels, np.int32), bound, proven, time.perf_counter() - begin)


def _answer(graph: FactorGraph, labels: Any, bound: float, proven: bool, seconds: float) -> dict[str, Any]:
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


def page(rows: list[dict[str, Any]], limits: list[int]) -> str:
    head = ["instance"]
    for seconds in limits:
        for solver in SOLVERS:
            head += [f"{solver}, {seconds} s", "bound"]
    parts = [table([*head, "stored"], ([row["name"], *_cells(row, limits)] for row in rows))]
    return "\n\n".join([*parts, *(_summary(rows, seconds, limits[-1]) for seconds in limits)])


def _cells(row: dict[str, Any], limits: list[int]) -> list[str]:
    cells = []
    for seconds in limits:
        for solver in SOLVERS:
            found = row[f"{solver} {seconds}"]
            proof = f"proven, {found['seconds']:.2f} s" if found["proven"] else f"{found['bound']:.4f}"
            cells += [f"{found['score']:.4f}", proof]
    return [*cells, f"{row['stored']:.4f}"]


def _summary(rows: list[dict[str, Any]], seconds: int, most: int) -> str:
    theirs = [row for row in rows if row[f"toulbar2 {seconds}"]["proven"]]
    also = sum(row[f"ours {most}"]["proven"] for row in theirs)
    neither = [row for row in rows if not row[f"ours {seconds}"]["proven"] and not row[f"toulbar2 {seconds}"]["proven"]]
    first = sum(row[f"ours {seconds}"]["proven"] for row in rows)
    better = {
        key: sum(
            sign * row[f"ours {seconds}"][key] > sign * row[f"toulbar2 {seconds}"][key] + 10.0**-DIGITS
            for row in neither
        )
        for key, sign in (("score", 1), ("bound", -1))
    }
    return (
        f"At {seconds} s toulbar2 proves {len(theirs)} of {len(rows)}, of which ours proves {also} in {most} s; ours "
        f"proves {first} in {seconds} s. Of the {len(neither)} that neither proves, our labels are better "
        f"on {better['score']}, our bound on {better['bound']}."
    )


if __name__ == "__main__":
    main()
