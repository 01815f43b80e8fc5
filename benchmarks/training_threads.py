"""Training with one thread and with two, in turns: wall time, processor time, memory, and whether w is the same.

    python benchmarks/training_threads.py [--tasks chunking letters MNIST CRF …] [--turns 5] [--threads 1 2] [--twins]

Every run is a process of its own. Ratios are medians over turns of wall times in neighbouring runs; a machine with
other work on it gives them no meaning. With --twins there is a run with one thread in every turn that has another one
beside it: work that shares nothing takes half of its time with two threads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from typing import Any

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.models import Chain, DependencyTree, Grammar, Multiclass


def chunking() -> tuple[Any, Any]:
    import data

    X, Y = data.chunking("train")
    return data.prepared(X, data.vocabulary(X)), Y


def chunks(n_jobs: int) -> tuple[Any, Any, Any]:
    X, Y = chunking()
    return StructuralSVM(Chain(), C=0.3 * len(Y), tol=0.03, n_jobs=n_jobs), X, Y


def letters(n_jobs: int) -> tuple[Any, Any, Any]:
    import data

    X, Y, *_ = data.letters(range(1, 10), [0])
    return StructuralSVM(Chain(), C=625.1, tol=0.01, n_jobs=n_jobs), X, Y


def mnist(n_jobs: int) -> tuple[Any, Any, Any]:
    import data

    X, y = data.mnist()
    return StructuralSVM(Multiclass(), C=0.01 * len(y), tol=1e-3, n_jobs=n_jobs), X, y


def parser(n_jobs: int) -> tuple[Any, Any, Any]:
    from structlearn.datasets import fetch_treebank

    trees = fetch_treebank(max_length=15)
    return StructuralSVM(Grammar(), C=0.1 * len(trees.Y), n_jobs=n_jobs), trees.X, trees.Y


def dependencies(n_jobs: int) -> tuple[Any, Any, Any]:
    from structlearn.datasets import fetch_ud_english_trees

    trees = fetch_ud_english_trees("train")
    model = DependencyTree(n_hashed=2**20)
    return StructuralSVM(model, C=0.1 * 2000, n_jobs=n_jobs), trees.X[:2000], trees.Y[:2000]


def likelihood(n_jobs: int) -> tuple[Any, Any, Any]:
    X, Y = chunking()
    return ConditionalRandomField(Chain(boundaries=False), C=len(Y) / 2, tol=0.01, n_jobs=n_jobs), X, Y


def likelihood_of_letters(n_jobs: int) -> tuple[Any, Any, Any]:
    import data

    X, Y, *_ = data.letters(range(1, 10), [0])
    return ConditionalRandomField(Chain(), C=len(Y) / 2, tol=0.01, n_jobs=n_jobs), X, Y


def likelihood_of_phrases(n_jobs: int) -> tuple[Any, Any, Any]:
    from structlearn.datasets import fetch_treebank

    trees = fetch_treebank(max_length=15)
    return ConditionalRandomField(Grammar(), C=0.1 * len(trees.Y), n_jobs=n_jobs), trees.X, trees.Y


TASKS = {
    "chunking": chunks,
    "letters": letters,
    "MNIST": mnist,
    "parser": parser,
    "dependencies": dependencies,
    "CRF": likelihood,
    "CRF-letters": likelihood_of_letters,
    "CRF-parser": likelihood_of_phrases,
}


def train(task: str, n_jobs: int) -> dict[str, Any]:
    learner, X, Y = TASKS[task](n_jobs)
    wall, cpu = time.perf_counter(), time.process_time()
    learner.fit(X, Y)
    last = learner.history_[-1]
    return {
        "seconds": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "gap": learner.duality_gap_,
        "iterations": learner.n_iter_,
        "oracle_seconds": last["oracle_seconds"],
        "dual_seconds": last["dual_seconds"],
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        "w": hashlib.sha256(learner.w_.tobytes()).hexdigest()[:12],
    }


def apart(task: str, n_jobs: int, n_processes: int) -> dict[str, Any]:
    """The same in a process of its own, and in others beside it."""
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, __file__, "--run", task, str(n_jobs)]
    runs = [subprocess.Popen(command, env=os.environ | one, stdout=subprocess.PIPE) for _ in range(n_processes)]
    found: list[dict[str, Any]] = [json.loads(run.communicate()[0]) for run in runs]
    return max(found, key=lambda run: float(run["seconds"]))


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    arguments.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    arguments.add_argument("--turns", type=int, default=5)
    arguments.add_argument("--twins", action="store_true")
    arguments.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    options = arguments.parse_args()
    if options.run:
        print(json.dumps(train(options.run[0], int(options.run[1]))))
        return
    kinds = {f"{k} threads": (k, 1) for k in options.threads} | ({"a twin": (1, 2)} if options.twins else {})
    for task in options.tasks:
        turns = [{kind: apart(task, *kinds[kind]) for kind in kinds} for _ in range(options.turns)]
        for kind in kinds:
            runs = [turn[kind] for turn in turns]
            middle = {name: statistics.median(run[name] for run in runs) for name in runs[0] if name != "w"}
            ratio = statistics.median(turn[kind]["seconds"] / turn[next(iter(kinds))]["seconds"] for turn in turns)
            print(
                f"{task:12} {kind:9}  {middle['seconds']:7.2f} s ({ratio:.2f})  CPU {middle['cpu']:7.2f} s  "
                f"oracle {middle['oracle_seconds']:6.2f}  dual {middle['dual_seconds']:6.2f}  "
                f"gap {middle['gap']:.4f}  iterations {middle['iterations']:.0f}  {middle['mb']:.0f} MB  "
                f"w {' '.join(sorted({run['w'] for run in runs}))}",
                flush=True,
            )


if __name__ == "__main__":
    main()
