"""What stands for the likelihood on grids that are small enough for the exact one: errors, log-loss and seconds.

    python benchmarks/graphs/likelihoods.py [--size 8] [--train 40] [--seeds 5]

Labels of grids are drawn from a Potts model whose neighbours agree more or less strongly, and are seen through noise.
Every likelihood learns the weights of nodes and a table of pairs. Wrong labels are those of the most probable labelling
and of the most probable label at each place, both by junction trees, so that nothing but the weights differs; the
log-loss is the exact one of the test grids, a node. Seconds are CPU seconds of training.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from markdown import table

from structlearn import ConditionalRandomField
from structlearn.data import FactorGraph, Network, Potts
from structlearn.inference import sample_labellings
from structlearn.models import Graph

#: What is maximised, and by which solver.
LEARNERS = (
    ("exact", "lbfgs"),
    ("pseudo", "lbfgs"),
    ("piecewise", "lbfgs"),
    ("tree_reweighted", "lbfgs"),
    ("belief_propagation", "lbfgs"),
    ("exact", "contrastive_divergence"),
)
N_LABELS = 3
NOISE = 1.0


def grid_edges(size: int) -> Any:
    numbers = np.arange(size * size).reshape(size, size)
    right = np.stack([numbers[:, :-1].ravel(), numbers[:, 1:].ravel()], 1)
    down = np.stack([numbers[:-1].ravel(), numbers[1:].ravel()], 1)
    return np.concatenate([right, down])


def grids(size: int, n: int, coupling: float, random: np.random.Generator) -> tuple[list[Network], list[list[int]]]:
    edges = grid_edges(size)
    graph = FactorGraph.pairwise(np.zeros((size * size, N_LABELS)), edges, Potts(coupling))
    drawn = sample_labellings(graph, n, random_state=random)
    X, Y = [], []
    for labels in drawn:
        nodes = np.eye(N_LABELS)[labels] + NOISE * random.normal(size=(size * size, N_LABELS))
        X.append(Network(nodes, edges))
        Y.append(labels.tolist())
    return X, Y


def wrong(predicted: Any, Y: list[list[int]]) -> float:
    return float((np.concatenate(predicted) != np.concatenate(Y)).mean())


def measured(likelihood: str, solver: str, train: Any, test: Any) -> tuple[float, float, float, float]:
    options: dict[str, Any] = {"tol": 1e-4} if solver == "lbfgs" else {"random_state": 0}
    begin = time.process_time()
    crf = ConditionalRandomField(Graph(likelihood=likelihood), solver=solver, **options).fit(*train)
    seconds = time.process_time() - begin
    X, Y = test
    log_loss = -float(crf.predict_log_proba(X, Y).sum()) / sum(map(len, Y))
    return wrong(crf.predict(X), Y), wrong(crf.predict(X, posterior=True), Y), log_loss, seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=8)
    parser.add_argument("--train", type=int, default=40, help="grids to learn from; as many again are for the test")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    rows = []
    for coupling in (0.3, 0.7, 1.1):
        for likelihood, solver in LEARNERS:
            found = []
            for seed in range(options.seeds):
                random = np.random.default_rng(seed)
                train, test = (grids(options.size, options.train, coupling, random) for _ in range(2))
                found.append(measured(likelihood, solver, train, test))
            errors, posterior, log_loss, seconds = np.mean(found, axis=0)
            rows.append(
                [
                    f"{coupling}",
                    likelihood,
                    solver,
                    f"{100 * errors:.2f}",
                    f"{100 * posterior:.2f}",
                    f"{log_loss:.4f}",
                    f"{seconds:.2f}",
                ]
            )
    header = ["coupling", "likelihood", "solver", "wrong labels, %", "posterior, %", "exact log-loss", "seconds"]
    print(table(header, rows))


if __name__ == "__main__":
    main()
