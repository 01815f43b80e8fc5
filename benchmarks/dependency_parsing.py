"""How fast dependency trees are found: by decoders alone on given scores, with features, and from tokens to trees.

``python benchmarks/dependency_parsing.py`` needs UD English EWT, see `structlearn.datasets.fetch_ud_english_trees`.
Weights are drawn at random, since time does not depend on them; seconds are those of one thread's processor time, the
median of some turns that take all kinds in rotation. Peak memory is that of the process.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn import StructuralSVM
from structlearn.datasets import fetch_ud_english_trees
from structlearn.inference import best_dependency_tree
from structlearn.models import DependencyTree

COLUMNS = ("form", "upos")
MODELS: dict[str, dict[str, Any]] = {
    "first order, counted": {},
    "first order, hashed to 2^20": {"n_hashed": 2**20},
    "second order, hashed to 2^20": {"order": 2, "n_hashed": 2**20},
    "all trees, hashed to 2^20": {"projective": False, "n_hashed": 2**20},
}


def fitted(options: dict[str, Any], X: Any, Y: Any) -> StructuralSVM:
    """An estimator that predicts with random weights."""
    model = DependencyTree(columns=COLUMNS, **options)
    made = StructuralSVM(model, max_iter=1, tol=0.99).fit(X[:50], Y[:50])
    made.spec_ = model.specify(X, Y)
    made.w_ = np.random.default_rng(0).normal(size=model.n_weights(made.spec_))
    return made


def seconds(work: Callable[[], Any]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def engine_alone(X: Any, projective: bool) -> Callable[[], Any]:
    random = np.random.default_rng(0)
    tables = [random.normal(size=(len(x) + 1, len(x) + 1)) for x in X]
    return lambda: [best_dependency_tree(scores, projective=projective) for scores in tables]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    train, test = (fetch_ud_english_trees(part, columns=COLUMNS) for part in ("train", "test"))
    n_tokens = sum(map(len, test.X))
    kinds: dict[str, Callable[[], Any]] = {
        "engine alone, projective, without labels": engine_alone(test.X, True),
        "engine alone, all trees, without labels": engine_alone(test.X, False),
    }
    every = np.arange(len(test.X))
    for name, given in MODELS.items():
        made = fitted(given, train.X, train.Y)
        problem = made.model.bind(made.spec_, test.X)
        kinds[f"{name}: features and trees"] = lambda p=problem, w=made.w_: p.best_scored(w, every)
        kinds[f"{name}: from tokens to trees"] = lambda m=made: m.predict(test.X)
    found: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(options.turns):
        for name, work in kinds.items():
            found[name].append(seconds(work))
    print(f"{n_tokens:,} tokens in {len(test.X):,} sentences; tokens a second")
    for name, times in found.items():
        middle, least, most = (n_tokens / seconds for seconds in (statistics.median(times), max(times), min(times)))
        print(f"{name:55} {middle:10,.0f}   ({least:,.0f} to {most:,.0f})")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
