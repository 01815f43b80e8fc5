"""Graph cuts and α-expansion on grids, against PyMaxflow and gco.

    python benchmarks/graphs/cuts.py [--pairs 5]

CPU seconds of one thread, from arrays to labels: the making of the graph is part of it on both sides. Rivals take
turns, each in a process of its own; ratios are medians over the pairs, and memory is the peak above the arrays given.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from markdown import table
from scipy.ndimage import gaussian_filter

from structlearn.data import FactorGraph, GridGraph, Potts, TruncatedLinear
from structlearn.inference.graphs import AlphaBetaSwap, CutSolver, best_labelling, max_marginals

Grid = tuple[Any, Any, Any]
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


def binary_grid(kind: str, size: int) -> Grid:
    """What label 1 costs more than label 0, and what disagreement costs, to the right and down."""
    random = np.random.default_rng(0)
    noise = random.normal(size=(size, size))
    if "noise" in kind:
        strength = 1.0 if "strong" in kind else 0.5
        return noise, np.full((size, size - 1), strength), np.full((size - 1, size), strength)
    shape = gaussian_filter(random.normal(size=(size, size)), size / 32)
    image = shape / shape.std() + noise
    if kind == "image":
        return image, np.ones((size, size - 1)), np.ones((size - 1, size))
    seen = gaussian_filter(image, 1.0)
    squares = [np.diff(seen, axis=axis) ** 2 for axis in (1, 0)]
    right, down = (2.0 * np.exp(-0.5 * square / square.mean()) for square in squares)
    return image, right, down


def our_cut(costs: Any, right: Any, down: Any) -> Any:
    unaries = np.zeros((*costs.shape, 2))
    unaries[:, :, 1] = -costs
    return best_labelling(GridGraph(unaries, Potts(1.0), [right, down]), "graph_cut").labels


def cut_by_pymaxflow(costs: Any, right: Any, down: Any) -> Any:
    import maxflow

    graph = maxflow.Graph[float](costs.size, 2 * costs.size)
    nodes = graph.add_grid_nodes(costs.shape)
    for weights, step in ((right, [[0, 0, 0], [0, 0, 1], [0, 0, 0]]), (down, [[0, 0, 0], [0, 0, 0], [0, 1, 0]])):
        padded = np.zeros(costs.shape)
        padded[: weights.shape[0], : weights.shape[1]] = weights
        graph.add_grid_edges(nodes, padded, structure=np.array(step), symmetric=True)
    graph.add_grid_tedges(nodes, np.maximum(costs, 0.0), np.maximum(-costs, 0.0))
    graph.maxflow()
    return graph.get_grid_segments(nodes)


def cost_of_cut(labels: Any, costs: Any, right: Any, down: Any) -> float:
    labels = labels.astype(bool)
    cut = right[labels[:, 1:] != labels[:, :-1]].sum() + down[labels[1:] != labels[:-1]].sum()
    return float(costs[labels].sum() + cut)


def many_labels(kind: str, seed: int, size: int = 256, n_labels: int = 10) -> tuple[Any, Any]:
    """Costs of labels and of pairs: noise, regions of labels in noise, or a noisy surface of levels."""
    random = np.random.default_rng(seed)
    labels = np.arange(n_labels)
    steps = np.abs(np.subtract.outer(labels, labels)).astype(float)
    if kind == "levels":
        surface = gaussian_filter(random.normal(size=(size, size)), size / 24)
        truth = np.clip((surface / surface.std() + 2.0) / 4.0 * n_labels, 0, n_labels - 1).astype(int)
        seen = truth + 1.5 * random.normal(size=truth.shape)
        return np.minimum((seen[:, :, None] - labels) ** 2 / 4.0, 4.0), np.minimum(0.5 * steps, 1.5)
    costs = random.normal(size=(size, size, n_labels))
    if kind == "regions":
        fields = [gaussian_filter(random.normal(size=(size, size)), size / 32) for _ in labels]
        np.put_along_axis(costs, np.argmax(fields, axis=0)[:, :, None], random.normal(size=(size, size, 1)) - 1.0, 2)
    return costs, np.minimum(steps, 1.0)


def our_expansion(costs: Any, pairs: Any) -> Any:
    pairwise = Potts(1.0) if pairs.max() == 1.0 else TruncatedLinear(pairs[0, 1], pairs.max())
    return best_labelling(GridGraph(-costs, pairwise), "alpha_expansion").labels


def our_swap(costs: Any, pairs: Any) -> Any:
    return best_labelling(GridGraph(-costs, -pairs), AlphaBetaSwap()).labels


def expansion_by_gco(costs: Any, pairs: Any) -> Any:
    return _gco(costs, pairs, "expansion")


def swap_by_gco(costs: Any, pairs: Any) -> Any:
    return _gco(costs, pairs, "swap")


def _gco(costs: Any, pairs: Any, algorithm: str) -> Any:
    import gco

    rows, columns = costs.shape[:2]
    down, right = np.ones((rows - 1, columns)), np.ones((rows, columns - 1))
    return gco.cut_grid_graph(costs, pairs, down, right, n_iter=-1, algorithm=algorithm).reshape(rows, columns)


def cost_of_labels(labels: Any, costs: Any, pairs: Any) -> float:
    single = np.take_along_axis(costs, labels[:, :, None].astype(int), axis=2).sum()
    return float(single + pairs[labels[1:], labels[:-1]].sum() + pairs[labels[:, 1:], labels[:, :-1]].sum())


def measured(solve: Callable[..., Any], cost: Callable[..., float], instance: tuple[Any, ...]) -> dict[str, float]:
    # What is imported or made at the first call is no part of it.
    solve(*_small(instance))
    Path("/proc/self/clear_refs").write_text("5")
    before, begin = _memory_mb("VmRSS"), time.process_time()
    labels = solve(*instance)
    seconds = time.process_time() - begin
    return {"seconds": seconds, "mb": _memory_mb("VmHWM") - before, "cost": cost(labels, *instance)}


def _small(instance: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(instance) == 2:
        return instance[0][:8, :8], instance[1]
    return instance[0][:8, :8], instance[1][:8, :7], instance[2][:7, :8]


def _memory_mb(what: str) -> float:
    """VmRSS, the memory of this process now, or VmHWM, its peak since `clear_refs` was written."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(what)).split()[1]) / 1024


def grid_cut(solver: str, kind: str, size: int, turn: int) -> dict[str, float]:
    return measured(globals()[solver], cost_of_cut, binary_grid(kind, size))


def labels_of_grid(solver: str, kind: str, turn: int) -> dict[str, float]:
    return measured(globals()[solver], cost_of_labels, many_labels(kind, turn))


def reuse(size: int, share: float) -> dict[str, float]:
    """The best labels again after some unaries have changed: with the flow of before, and from scratch."""
    random = np.random.default_rng(0)
    grid = GridGraph(random.normal(size=(size, size, 2)), Potts(0.5)).factor_graph
    solver = CutSolver(grid)
    solver.best()
    unaries, times = grid.unaries.reshape(-1, 2).copy(), []
    for _ in range(11):
        changed = random.random(len(unaries)) < share
        unaries[changed] += random.normal(size=(changed.sum(), 2))
        begin = time.process_time()
        _, again = solver.best(unaries)
        between = time.process_time()
        fresh = FactorGraph(*(unaries.ravel() if name == "unaries" else getattr(grid, name) for name in _FIELDS))
        score = CutSolver(fresh).best()[1]
        times.append((between - begin, time.process_time() - between))
        assert abs(again - score) <= 1e-9 * abs(score), (again, score)
    return {"reused": statistics.median(t[0] for t in times), "fresh": statistics.median(t[1] for t in times)}


_FIELDS = (
    "constants",
    "variable_offsets",
    "n_labels",
    "unaries",
    "scope_offsets",
    "scopes",
    "kinds",
    "value_offsets",
    "values",
)


def marginals(size: int) -> dict[str, float]:
    random = np.random.default_rng(0)
    grid = GridGraph(random.normal(size=(size, size, 2)), Potts(0.5)).factor_graph
    begin = time.process_time()
    CutSolver(grid).best()
    between = time.process_time()
    max_marginals(grid)
    return {"cut": between - begin, "marginals": time.process_time() - between}


def in_process(function: str, **arguments: Any) -> dict[str, float]:
    command = [sys.executable, __file__, "--call", function, json.dumps(arguments)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def race(task: str, ours: str, theirs: str, pairs: int, **arguments: Any) -> list[str]:
    runs: dict[str, list[dict[str, float]]] = {ours: [], theirs: []}
    for turn in range(pairs):
        for solver in (ours, theirs):
            runs[solver].append(in_process(task, solver=solver, turn=turn, **arguments))
            print(solver, arguments, runs[solver][-1], file=sys.stderr, flush=True)
    middle = statistics.median
    ratio = middle(a["seconds"] / b["seconds"] for a, b in zip(runs[ours], runs[theirs], strict=True))
    excess = max(a["cost"] - b["cost"] for a, b in zip(runs[ours], runs[theirs], strict=True))
    return [
        *(f"{middle(run['seconds'] for run in runs[solver]):.2f}" for solver in (ours, theirs)),
        f"{ratio:.2f}",
        *(f"{middle(run['mb'] for run in runs[solver]):.0f}" for solver in (ours, theirs)),
        f"{middle(run['cost'] for run in runs[ours]):.2f}",
        f"{excess:+.2g}",
    ]


def main(pairs: int) -> None:
    head = ["s", "rival's s", "ratio", "MB", "rival's MB", "cost", "more than the rival's, at most"]
    cuts = [
        [kind, f"{size}²", *race("grid_cut", "our_cut", "cut_by_pymaxflow", pairs, kind=kind, size=size)]
        for size in (512, 2048)
        for kind in ("noise", "strong noise", "image", "contrast")
    ]
    print("Least cuts of grids, against PyMaxflow:\n\n" + table(["grid", "size", *head], cuts) + "\n")
    moves = [
        [algorithm, kind, *race("labels_of_grid", f"our_{algorithm}", f"{algorithm}_by_gco", pairs, kind=kind)]
        for algorithm in ("expansion", "swap")
        for kind in ("regions", "levels", "noise")
    ]
    print("Ten labels on 256², against gco:\n\n" + table(["moves", "grid", *head], moves) + "\n")
    again = [
        [f"{share:.2%}", *(f"{t:.4f}" for t in in_process("reuse", size=256, share=share).values())]
        for share in (1e-4, 1e-2, 1.0)
    ]
    print("A cut of 256² after changes:\n\n" + table(["changed", "reused s", "fresh s"], again) + "\n")
    one = in_process("marginals", size=128)
    print(f"Max-marginals of 128²: {one['marginals']:.2f} s, one cut {one['cut']:.3f} s")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--call", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.call:
        print(json.dumps(globals()[options.call[0]](**json.loads(options.call[1]))))
    else:
        main(options.pairs)
