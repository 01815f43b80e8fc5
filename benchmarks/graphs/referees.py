"""Exact engines on medium random graphs beside HiGHS, OR-tools and toulbar2: the same optimum, and CPU seconds.

    python benchmarks/graphs/referees.py [--seconds 20]

Scores are multiples of 10^-4, so that programs which count in whole numbers have the same optimum. Each run is a
process of its own, which is ended where a program does not keep to its limit.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing import TimeoutError as Late
from multiprocessing import get_context
from typing import Any

import numpy as np
from markdown import table
from uai_map import DIGITS, answer, toulbar2

from structlearn.data import FactorGraph, GridGraph
from structlearn.inference.graphs import best_labelling

REPEATS = 3
#: Of the limit: when a program that does not keep to it is ended.
PATIENCE = 3


def graphs() -> dict[str, FactorGraph]:
    random = np.random.default_rng(0)

    def scores(*shape: int) -> np.ndarray:
        return random.normal(size=shape).round(DIGITS)

    def sparse(n: int, n_labels: int, density: float) -> FactorGraph:
        edges = [(i, j) for i in range(n) for j in range(i) if random.random() < density]
        return FactorGraph.pairwise(scores(n, n_labels), edges, scores(len(edges), n_labels, n_labels))

    named = {"grid 8 × 8, 3 labels, one random table": GridGraph(scores(8, 8, 3), scores(3, 3)).factor_graph}
    for n, n_labels, density in ((30, 3, 0.2), (14, 4, 0.35), (10, 3, 1.0), (14, 4, 1.0)):
        graph = sparse(n, n_labels, density)
        named[f"{n} variables, {n_labels} labels, {graph.n_factors} pairs"] = graph
    return named


def ours(engine: str, graph: FactorGraph, seconds: int) -> dict[str, Any]:
    found = best_labelling(graph, engine, max_seconds=seconds)
    return answer(graph, found.labels, found.bound, found.exact, found.seconds)


def or_tools(graph: FactorGraph, seconds: int) -> dict[str, Any]:
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    terms = []
    labels = [[model.new_bool_var("") for _ in range(n)] for n in graph.n_labels.tolist()]
    for i, own in enumerate(labels):
        model.add_exactly_one(own)
        terms += [(variable, score) for variable, score in zip(own, graph.unary(i), strict=True)]
    for f in range(graph.n_factors):
        first, second = (labels[i] for i in graph.scope(f))
        joint = [[model.new_bool_var("") for _ in second] for _ in first]
        for variable, row in zip(first, joint, strict=True):
            model.add(sum(row) == variable)
        for variable, column in zip(second, zip(*joint, strict=True), strict=True):
            model.add(sum(column) == variable)
        terms += [(joint[a][b], score) for (a, b), score in np.ndenumerate(graph.table(f))]
    model.maximize(sum(round(float(score) * 10**DIGITS) * variable for variable, score in terms))
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    chosen = [0] * graph.n_variables
    if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        chosen = [int(np.argmax([solver.value(variable) for variable in own])) for own in labels]
    bound = solver.best_objective_bound / 10**DIGITS
    return answer(graph, np.array(chosen, np.int32), bound, status == cp_model.OPTIMAL, solver.wall_time)


Solver = Callable[[FactorGraph, int], dict[str, Any]]
SOLVERS: dict[str, Solver] = {
    "branch_and_bound": partial(ours, "branch_and_bound"),
    "junction_tree": partial(ours, "junction_tree"),
    "integer_program (HiGHS)": partial(ours, "integer_program"),
    "OR-tools CP-SAT": or_tools,
    "toulbar2": toulbar2,
}


def timed(solve: Solver, graph: FactorGraph, seconds: int) -> dict[str, Any]:
    """In CPU seconds, without those of imports."""
    solve(FactorGraph.pairwise([[0.0, 1.0], [1.0, 0.0]], [(0, 1)], [[0.0, 1.0], [1.0, 0.0]]), seconds)
    begin = time.process_time()
    try:
        return solve(graph, seconds) | {"seconds": time.process_time() - begin}
    except ValueError as error:
        return {"proven": False, "refused": str(error).split(";")[0]}


def runs(solve: Solver, graph: FactorGraph, seconds: int) -> list[dict[str, Any]]:
    """Several of a program that proves its labels, one of another, and none of one that does not end."""
    found: list[dict[str, Any]] = []
    while len(found) < REPEATS and all(run["proven"] for run in found):
        with get_context("spawn").Pool(1) as process:
            try:
                found.append(process.apply_async(timed, (solve, graph, seconds)).get(PATIENCE * seconds))
            except Late:
                break
    return found


def cell(found: list[dict[str, Any]], seconds: int) -> str:
    if not found:
        return f"no end after {PATIENCE * seconds} s"
    if all(run["proven"] for run in found):
        return f"{statistics.median(run['seconds'] for run in found):.3f}"
    if "refused" in found[-1]:
        return str(found[-1]["refused"])
    return f"not proven in {seconds} s: {found[-1]['score']:.4f}, bound {found[-1]['bound']:.4f}"


def line(name: str, graph: FactorGraph, seconds: int) -> list[str]:
    found = {solver: runs(solve, graph, seconds) for solver, solve in SOLVERS.items()}
    proven = [run["score"] for all_runs in found.values() for run in all_runs if run["proven"]]
    best = f"{max(proven):.4f}" if proven else "not proven"
    apart = f"{max(proven) - min(proven):.0e}" if proven else ""
    return [name, best, apart, *(cell(all_runs, seconds) for all_runs in found.values())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=20, help="for each run")
    seconds = parser.parse_args().seconds
    rows = []
    for name, graph in graphs().items():
        rows.append(line(name, graph, seconds))
        print(rows[-1], file=sys.stderr, flush=True)
    print(table(["graph", "best score", "largest difference", *SOLVERS], rows))


if __name__ == "__main__":
    main()
