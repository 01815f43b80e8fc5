"""How exact inference grows: the junction tree against tree-width, forests of a million variables, and pgmpy.

    python benchmarks/graphs/junction_trees.py

CPU seconds of one thread; each line is a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
from markdown import table

from structlearn.data import FactorGraph, GridGraph, Potts
from structlearn.inference import best_labelling, labelling_marginals
from structlearn.inference.graphs import JunctionTree

WIDTHS = (4, 8, 12, 14, 16, 18, 20)
#: Rows of the grids whose columns are the width: enough for the tables to outweigh everything else.
ROWS = 30


def grid_of_width(width: int) -> dict[str, Any]:
    """A grid of binary labels with as many columns."""
    random = np.random.default_rng(0)
    grid = GridGraph(random.normal(size=(ROWS, width, 2)), Potts(0.5))
    begin = time.process_time()
    best = best_labelling(grid, JunctionTree(max_memory="8GB"))
    between = time.process_time()
    labelling_marginals(grid, JunctionTree(max_memory="8GB"))
    return {
        "width": best.details["width"],
        "predicted_mb": best.details["nbytes"] / 1e6,
        "best": between - begin,
        "sums": time.process_time() - between,
    }


def forest(n: int) -> dict[str, Any]:
    """A random tree of variables of three labels."""
    random = np.random.default_rng(0)
    parents = (random.random(n - 1) * np.arange(1, n)).astype(int)
    edges = np.stack([parents, np.arange(1, n)], axis=1)
    graph = FactorGraph.pairwise(random.normal(size=(n, 3)), edges, random.normal(size=(3, 3)))
    begin = time.process_time()
    best_labelling(graph)
    between = time.process_time()
    labelling_marginals(graph)
    return {"best": between - begin, "sums": time.process_time() - between}


def against_pgmpy(n: int) -> dict[str, Any]:
    """All node marginals of a grid of n columns and rows, by both; the largest difference."""
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import BeliefPropagation
    from pgmpy.models import DiscreteMarkovNetwork

    random = np.random.default_rng(0)
    graph = GridGraph(random.normal(size=(n, n, 2)), Potts(0.5)).factor_graph
    network = DiscreteMarkovNetwork()
    network.add_nodes_from(range(graph.n_variables))
    network.add_edges_from(graph.scopes.reshape(-1, 2).tolist())
    unaries = [DiscreteFactor([i], [2], np.exp(graph.unary(i))) for i in range(graph.n_variables)]
    pairs = [
        DiscreteFactor(graph.scope(f).tolist(), [2, 2], np.exp(graph.table(f)).ravel()) for f in range(graph.n_factors)
    ]
    network.add_factors(*unaries, *pairs)
    begin = time.process_time()
    found = labelling_marginals(graph, "junction_tree")
    ours = time.process_time() - begin
    begin = time.process_time()
    inference = BeliefPropagation(network)
    inference.calibrate()
    theirs = [inference.query([i], show_progress=False).values for i in range(graph.n_variables)]
    seconds = time.process_time() - begin
    difference = max(np.abs(theirs[i] - found.nodes[i]).max() for i in range(graph.n_variables))
    return {"ours": ours, "theirs": seconds, "difference": float(difference)}


TASKS = {"grid": grid_of_width, "forest": forest, "pgmpy": against_pgmpy}


def run(task: str, size: int) -> dict[str, Any]:
    """In a process of its own."""
    command = [sys.executable, __file__, "--task", task, "--size", str(size)]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def page() -> str:
    grids = [run("grid", width) for width in WIDTHS]
    head = ("width", "best labels, CPU s", "sums, CPU s", "tables said beforehand, MB", "peak, MB")
    cells = [
        (
            row["width"],
            f"{row['best']:.4f}",
            f"{row['sums']:.4f}",
            f"{row['predicted_mb']:.1f}",
            f"{row['peak_mb']:.0f}",
        )
        for row in grids
    ]
    parts = [table(head, cells), *(_growth(grids, task) for task in ("best", "sums"))]
    forests = [(n, run("forest", n)) for n in (10**4, 10**5, 10**6)]
    head = ("variables of a random tree, three labels", "best labels, CPU s", "sums, CPU s", "peak, MB")
    cells = [(f"{n:,}", f"{row['best']:.3f}", f"{row['sums']:.3f}", f"{row['peak_mb']:.0f}") for n, row in forests]
    parts.append(table(head, cells))
    others = [(n, run("pgmpy", n)) for n in (4, 6, 8)]
    head = ("all marginals of a binary grid", "ours, CPU s", "pgmpy, CPU s", "largest difference")
    cells = [
        (f"{n} × {n}", f"{row['ours']:.4f}", f"{row['theirs']:.2f}", f"{row['difference']:.0e}") for n, row in others
    ]
    return "\n\n".join([*parts, table(head, cells)])


def _growth(grids: list[dict[str, Any]], task: str) -> str:
    large = [row for row in grids if row["width"] >= 12]
    slope = np.polyfit([row["width"] for row in large], np.log([row[task] for row in large]), 1)[0]
    return f"From width 12 on, the time of {task} grows by a factor of {np.exp(slope):.2f} for each more."


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=TASKS)
    parser.add_argument("--size", type=int)
    options = parser.parse_args()
    if options.task:
        row = TASKS[options.task](options.size)
        print(json.dumps(row | {"peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000}))
    else:
        print(page())
