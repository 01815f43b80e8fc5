"""Exact engines on medium random graphs beside HiGHS, OR-tools and toulbar2: the same optimum, and CPU seconds.

    python benchmarks/graphs/referees.py

Scores are multiples of 10^-4, so that programs which count in whole numbers have the same optimum.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
from markdown import table

from structlearn.data import FactorGraph, GridGraph
from structlearn.inference.graphs import best_labelling

DIGITS = 4
REPEATS = 3
#: A program that proves nothing within these is left out of the comparison.
MOST_SECONDS = 20


def graphs() -> dict[str, FactorGraph]:
    random = np.random.default_rng(0)

    def scores(*shape: int) -> np.ndarray:
        return random.normal(size=shape).round(DIGITS)

    def sparse(n: int, n_labels: int, density: float) -> FactorGraph:
        edges = [(i, j) for i in range(n) for j in range(i) if random.random() < density]
        return FactorGraph.pairwise(scores(n, n_labels), edges, scores(len(edges), n_labels, n_labels))

    return {
        "grid 8 × 8, 3 labels, one random table": GridGraph(scores(8, 8, 3), scores(3, 3)).factor_graph,
        "30 variables, 3 labels, 87 pairs": sparse(30, 3, 0.2),
        "20 variables, 5 labels, 66 pairs": sparse(20, 5, 0.35),
        "14 variables, 4 labels, all pairs": sparse(14, 4, 1.0),
    }


def ours(engine: str) -> Callable[[FactorGraph], float]:
    def solve(graph: FactorGraph) -> float:
        found = best_labelling(graph, engine, max_seconds=MOST_SECONDS)
        return found.score if found.exact else np.nan

    return solve


def or_tools(graph: FactorGraph) -> float:
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
    solver.parameters.max_time_in_seconds = MOST_SECONDS
    proven = solver.solve(model) == cp_model.OPTIMAL
    return float(solver.objective_value) / 10**DIGITS if proven else np.nan


def toulbar2(graph: FactorGraph) -> float:
    import pytoulbar2

    problem = pytoulbar2.CFN(ubinit=1e6, resolution=DIGITS)
    for i, n in enumerate(graph.n_labels.tolist()):
        problem.AddVariable(f"x{i}", range(n))
        problem.AddFunction([i], (-graph.unary(i)).tolist())
    for f in range(graph.n_factors):
        problem.AddFunction(graph.scope(f).tolist(), (-graph.table(f)).ravel().tolist())
    found = problem.Solve(showSolutions=0, timeLimit=MOST_SECONDS)
    return -float(found[1]) if found is not None else np.nan


SOLVERS = {
    "branch_and_bound": ours("branch_and_bound"),
    "junction_tree": ours("junction_tree"),
    "integer_program (HiGHS)": ours("integer_program"),
    "OR-tools CP-SAT": or_tools,
    "toulbar2": toulbar2,
}


def main() -> None:
    rows = []
    for name, graph in graphs().items():
        seconds: dict[str, list[float]] = {solver: [] for solver in SOLVERS}
        best: dict[str, float] = {}
        for _ in range(REPEATS):
            for solver, solve in SOLVERS.items():
                begin = time.process_time()
                best[solver] = solve(graph)
                seconds[solver].append(time.process_time() - begin)
        apart = np.nanmax(list(best.values())) - np.nanmin(list(best.values()))
        rows.append([name, f"{best['branch_and_bound']:.4f}", f"{apart:.0e}"])
        for solver, times in seconds.items():
            unproven = " (not proven)" if np.isnan(best[solver]) else ""
            rows[-1].append(f"{statistics.median(times):.3f}{unproven}")
    print(table(["graph", "best score", "largest difference", *SOLVERS], rows))


if __name__ == "__main__":
    main()
