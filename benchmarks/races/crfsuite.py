"""The rival CRFsuite, through python-crfsuite."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pycrfsuite

#: Every algorithm. Those with an objective run until they have converged by CRFsuite's rules, the others 50 passes.
ALGORITHMS: dict[str, tuple[str, dict[str, Any]]] = {
    "L-BFGS, c2 = 1": ("lbfgs", {"c2": 1.0}),
    "L-BFGS, c2 = 1, all states and transitions": (
        "lbfgs",
        {"c2": 1.0, "feature.possible_states": True, "feature.possible_transitions": True},
    ),
    "passive-aggressive": ("pa", {"max_iterations": 50}),
    "averaged perceptron": ("ap", {"max_iterations": 50}),
    "AROW": ("arow", {"max_iterations": 50}),
    "stochastic gradient descent": ("l2sgd", {"c2": 1.0}),
}


def train(
    X: Iterable[Any], Y: Sequence[Sequence[str]], algorithm: str, options: dict[str, Any], path: Path
) -> dict[str, Any]:
    """Trains and saves a model; seconds of training alone, and with the reading of the attribute lists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=options, verbose=False)
    for x, y in zip(X, Y, strict=True):
        trainer.append(x, y)
    read = time.perf_counter()
    trainer.train(str(path))
    end = time.perf_counter()
    log = trainer.logparser.iterations
    run = {"seconds": end - read, "from_lists": end - begin, "iterations": len(log)}
    # The last value of the objective, where the algorithm has one.
    return run | ({"loss": log[-1]["loss"]} if "loss" in log[-1] else {})


def tagger(path: Path) -> Any:
    opened = pycrfsuite.Tagger()
    opened.open(str(path))
    return opened
