"""Training graphs by relaxed, exact, greedy and message-passing engines, and by schedules: for docs/labelled_graphs.md.

    python benchmarks/inexact_training.py [--limit 30] [--only stripes]

Three sets of graphs that are too wide for junction trees, all by `Graph` and to a gap of 1 %: images of stripes with
noise 1 (3 labels), snakes with pairs by direction (11 labels), and random graphs of degree 4 (4 labels). Every line is
a process of its own with one thread, ended after so many processor seconds. The objective is the exact one, measured
after training by "auto" with its upper bounds, so that it is never too low; wrong labels are those of test graphs,
labelled by "auto" whoever learnt the weights. Seconds are of processor time, those of the oracle its share of them.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from typing import Any

import numpy as np
from measure import Run, in_fresh_process, peak_mb, table

from structlearn import StructuralSVM
from structlearn.callbacks import Callback
from structlearn.data import FactorGraph, Network
from structlearn.datasets import fetch_snakes, make_stripes
from structlearn.inference import best_labelling
from structlearn.models import Graph
from structlearn.models.graph.searched_problem import SearchedGraphProblem
from structlearn.waist import Problem, Scaling

#: What to call it, its engines, and what is switched off.
LINES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("exact, every plane the best", ("auto",), "early"),
    ("exact, begun anew each time", ("auto",), "warm"),
    ("exact", ("auto",), ""),
    ("exact, by branch and bound", ("branch_and_bound",), ""),
    ("exact, then branch and bound", ("auto", "branch_and_bound"), ""),
    ("ICM, then exact", ("icm", "auto"), ""),
    ("expansion, then exact", ("alpha_expansion", "auto"), ""),
    ("relaxed", ("linear_program",), ""),
    ("dual ascent, then relaxed", ("dual_ascent", "linear_program"), ""),
    ("expansion", ("alpha_expansion",), ""),
    ("ICM", ("icm",), ""),
    ("max-product", ("max_product",), ""),
)


class Limit(Callback):
    """Ends training after so many seconds of processor time."""

    def __init__(self, seconds: float):
        self.end = time.process_time() + seconds

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        return time.process_time() > self.end


class Forgetful(dict[int, Any]):
    """Answers that nothing can go on from."""

    def get(self, key: int, default: Any = None) -> Any:
        return default


def image(pixels: np.ndarray, directions: bool) -> Network:
    rows, columns, channels = pixels.shape
    number = np.arange(rows * columns).reshape(rows, columns)
    right = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    edges = np.concatenate([right, down])
    features = np.eye(2)[np.repeat([0, 1], [len(right), len(down)])] if directions else None
    return Network(pixels.reshape(-1, channels), edges, features)


def patches(x: np.ndarray) -> np.ndarray:
    """The colours of the 3 × 3 neighbourhood."""
    wide = np.pad(x, ((1, 1), (1, 1), (0, 0)))
    near = [wide[i : i + x.shape[0], j : j + x.shape[1]] for i in range(3) for j in range(3)]
    return np.concatenate(near, axis=2)


def random_graphs(n: int) -> tuple[list[Network], list[list[int]]]:
    """Sixty nodes and twice as many edges, with one table of pairs for all, seen through noise."""
    random, n_nodes, n_labels = np.random.default_rng(0), 60, 4
    scores, X, Y = random.normal(size=(n_labels, n_labels)), [], []
    for _ in range(n):
        pairs = np.array([(i, j) for i in range(n_nodes) for j in range(i)])
        edges = pairs[np.sort(random.choice(len(pairs), 2 * n_nodes, replace=False))]
        nodes = random.normal(size=(n_nodes, n_labels))
        Y.append(best_labelling(FactorGraph.pairwise(nodes, edges, scores), "dual_ascent").labels.tolist())
        X.append(Network(nodes + 0.7 * random.normal(size=nodes.shape), edges))
    return X, Y


def data(name: str) -> tuple[int, float, Any, Any, Any, Any]:
    """Labels, price of an example, and graphs and labels for training and test."""
    if name == "stripes":
        stripes, n = make_stripes(70, noise=1.0, random_state=0), 20
        X, Y = [image(x, False) for x in stripes.X], [y.ravel().tolist() for y in stripes.Y]
        return 3, 0.1, X[:n], Y[:n], X[n:], Y[n:]
    if name == "random":
        X, Y = random_graphs(80)
        return 4, 0.3, X[:30], Y[:30], X[30:], Y[30:]
    parts = [fetch_snakes("train"), fetch_snakes("test")]
    (X, Y), (x, y) = (
        ([image(patches(x), True) for x in part.X[:n]], [y.ravel().tolist() for y in part.Y[:n]])
        for part, n in zip(parts, (20, 50), strict=True)
    )
    return 11, 1.0, X, Y, x, y


def measured(name: str, engines: list[str], without: str, limit: float) -> Run:
    warnings.simplefilter("ignore")
    n_labels, price, X, Y, x, y = data(name)
    if without == "early":
        SearchedGraphProblem.planes_above = Problem.planes_above  # type: ignore[method-assign]
    problems = SearchedGraphProblem.__init__

    def forgetful(self: Any, **options: Any) -> None:
        problems(self, **options)
        self._answers = Forgetful()

    if without:
        SearchedGraphProblem.__init__ = forgetful  # type: ignore[method-assign]
    labels = tuple(range(n_labels))
    machine = StructuralSVM(Graph(labels, engine=tuple(engines)), C=price * len(X), tol=0.01, max_iter=200)
    machine.set_params(fit_intercept=True, random_state=0).set_callbacks(Limit(limit))
    begin = time.process_time()
    machine.fit(X, Y)
    seconds, megabytes, last = time.process_time() - begin, peak_mb(), machine.history_[-1]
    judge = Graph(labels)
    bounds = judge.bind(machine.spec_, X, Y).oracle(machine.w_, np.arange(len(X)), Scaling("margin", "linear")).bounds
    found = judge.bind(machine.spec_, x).predict(machine.w_)
    said: Run = {"seconds": seconds, "peak_mb": megabytes, "iterations": machine.n_iter_, "gap": machine.duality_gap_}
    said |= {"oracle": seconds * last["oracle_seconds"] / last["seconds"], "dual": last["dual"]}
    said["objective"] = float(0.5 * machine.w_ @ machine.w_ + price * np.maximum(bounds, 0.0).sum())
    said["wrong"] = float(np.mean(np.concatenate([np.asarray(labels) for labels in found]) != np.concatenate(y)))
    return said


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=float, default=30.0, help="processor seconds for a line")
    parser.add_argument("--only", help="one of the sets")
    options = parser.parse_args()
    rows = []
    for name in [options.only] if options.only else ["stripes", "random", "snakes"]:
        for said, engines, without in LINES:
            arguments = {"name": name, "engines": engines, "without": without, "limit": options.limit}
            run = in_fresh_process("inexact_training:measured", **arguments)
            gap = f"{run['gap']:.1%}" if np.isfinite(run["gap"]) else "none"
            row = [name, said, f"{run['objective']:.1f}", f"{run['dual']:.1f}", gap, f"{run['wrong']:.1%}"]
            row += [f"{run['seconds']:.1f}", f"{run['oracle']:.1f}", str(run["iterations"]), f"{run['peak_mb']:.0f}"]
            rows.append(row)
            print(row, file=sys.stderr, flush=True)
    head = ["graphs", "planes", "exact objective", "dual", "gap", "wrong labels", "s", "oracle, s", "iterations", "MB"]
    print(table(head, rows))


if __name__ == "__main__":
    main()
