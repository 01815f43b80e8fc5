"""Dual ascent on a grid of a million variables with five labels: CPU seconds and memory to a gap of 1 %.

    python benchmarks/graphs/large_grid.py [--size 1000]

Noisy squares of one label each; neighbours score 1 if they agree, as Potts factors and as tables. The hard one has
noise alone, and random scores of either sign. Each line is a process of its own.
"""

from __future__ import annotations

import argparse
import time
from multiprocessing import get_context
from typing import Any

import numpy as np
from markdown import table

from structlearn.data import FactorGraph, GridGraph, Potts
from structlearn.inference.graphs import DualAscent

GAPS = (0.1, 0.01, 0.001)
N_LABELS = 5


def squares(size: int) -> np.ndarray[Any, Any]:
    random = np.random.default_rng(0)
    edge = max(1, size // 50)
    truth = np.kron(random.integers(0, N_LABELS, (50, 50)), np.ones((edge, edge), int))[:size, :size]
    return random.normal(size=(*truth.shape, N_LABELS)) + np.eye(N_LABELS)[truth]


def potts(size: int) -> FactorGraph:
    return GridGraph(squares(size), Potts(1.0)).factor_graph


def tables(size: int) -> FactorGraph:
    return GridGraph(squares(size), np.eye(N_LABELS)).factor_graph


def hard(size: int) -> FactorGraph:
    random = np.random.default_rng(0)
    edges = GridGraph(np.zeros((size, size, 1)), Potts(1.0)).factor_graph.scopes.reshape(-1, 2)
    scores = random.normal(size=len(edges))
    return FactorGraph.pairwise(random.normal(size=(size * size, N_LABELS)), edges, Potts(scores))


def solved(kind: str, size: int) -> dict[str, Any]:
    graph = KINDS[kind](size)
    begin = time.process_time()
    search = DualAscent(tighten=False).search(graph)
    row: dict[str, Any] = {"graph_mb": graph.nbytes / 1e6}
    more = True
    while more and len(row) <= len(GAPS):
        more = search.step()
        gap = (search.bound - search.score) / abs(search.score)
        for bar in GAPS:
            if gap <= bar:
                row.setdefault(bar, time.process_time() - begin)
    with open("/proc/self/status") as status:
        peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    return row | {"gap": gap, "seconds": time.process_time() - begin, "peak_mb": peak / 1000}


KINDS = {"Potts": potts, "tables": tables, "hard": hard}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size
    rows = []
    for kind in KINDS:
        with get_context("spawn").Pool(1) as process:
            row = process.apply(solved, (kind, size))
        times = [f"{row[gap]:.2f}" if gap in row else "" for gap in GAPS]
        rows.append([kind, *times, f"{row['gap']:.1e}", f"{row['graph_mb']:.0f}", f"{row['peak_mb']:.0f}"])
    head = [f"{size} × {size}", *(f"CPU s to {gap:.1%}" for gap in GAPS), "last gap", "graph, MB", "peak, MB"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
