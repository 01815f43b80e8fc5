"""What training is said to take of memory, and what it takes: the table of docs/decisions/memory.md.

    python benchmarks/memory.py [--only TASK]

Each task trains in a process of its own. The estimate is the one that is announced before training; measured is the
peak of the process above what it had when the data were bound, without the modules that a first fit imports. Linux
only. Not part of ``race.py``; it takes about five minutes.
"""

from __future__ import annotations

import argparse
import gc
import os
import warnings
from pathlib import Path
from typing import Any

import data
import large_tagset
import numpy as np
from measure import SCRATCH, Run, in_fresh_process, peak_mb

from structlearn import ConditionalRandomField, StructuralSVM, StructuredPerceptron
from structlearn.datasets import fetch_conll2000, fetch_treebank
from structlearn.estimators.memory import expected_bytes
from structlearn.features import TextFeatures
from structlearn.models import Chain, Grammar, HypergraphModel, Multiclass

MB = 1e6
Task = tuple[Any, Any, Any]


class Pieces(HypergraphModel):
    """Sequences of numbers in runs of at most six."""

    def steps(self, x: Any) -> Any:
        for end in range(1, len(x) + 1):
            for begin in range(max(0, end - 6), end):
                yield end, [begin] if begin else [], [(begin, end)]

    def features(self, x: Any, part: Any) -> Any:
        begin, end = part
        return [float(np.ptp(x[begin:end])), float(end - begin == 1), 1.0]

    def parts(self, x: Any, y: Any) -> Any:
        return y

    def output(self, x: Any, parts: Any) -> Any:
        return sorted(parts)


def conll(limit: int | None = None) -> tuple[Any, list[Any]]:
    read = fetch_conll2000("train")
    return TextFeatures(columns=("word", "pos")).fit_transform(list(read.X)[:limit]), list(read.Y)[:limit]


def many_labels() -> Task:
    path = SCRATCH / "large-tagset-0.1-0.txt"
    SCRATCH.mkdir(parents=True, exist_ok=True)
    large_tagset.make(path, 0.1, 0)
    words, Y, _, _ = large_tagset.split(path)
    return StructuralSVM(Chain(), tol=0.05), TextFeatures().fit_transform(words), Y


def treebank() -> Task:
    read = fetch_treebank()
    short = [i for i, x in enumerate(read.X) if len(x) <= 20]
    return StructuralSVM(Grammar(), max_iter=6), [read.X[i] for i in short], [read.Y[i] for i in short]


def listed() -> Task:
    random = np.random.default_rng(0)
    X = [random.integers(4, size=int(length)).astype(float) for length in random.integers(20, 60, size=2000)]
    Y = [[(t, min(t + 3, len(x))) for t in range(0, len(x), 3)] for x in X]
    return StructuralSVM(Pieces(), C=20), X, Y


def task(name: str) -> Task:
    match name:
        case "CoNLL-2000, SVM":
            return StructuralSVM(Chain(), tol=0.01), *conll()
        case "the same, half the memory":
            return StructuralSVM(Chain(), tol=0.01, max_memory="150MB"), *conll()
        case "CoNLL-2000, field":
            return ConditionalRandomField(Chain(), tol=0.01), *conll()
        case "2,000 sentences of it, L-BFGS":
            return ConditionalRandomField(Chain(), solver="lbfgs", max_iter=15), *conll(2000)
        case "2,000 sentences of it, perceptron":
            return StructuredPerceptron(Chain(), max_iter=3), *conll(2000)
        case "2,000 sentences of it, 1-slack":
            return StructuralSVM(Chain(), solver="one_slack", tol=0.05), *conll(2000)
        case "403 tags, SVM":
            return many_labels()
        case "MNIST, SVM":
            return StructuralSVM(Multiclass(), tol=0.01), *data.mnist()
        case "treebank of ≤ 20 words, SVM":
            return treebank()
    return listed()


TASKS = (
    "CoNLL-2000, SVM",
    "the same, half the memory",
    "CoNLL-2000, field",
    "2,000 sentences of it, L-BFGS",
    "2,000 sentences of it, perceptron",
    "2,000 sentences of it, 1-slack",
    "403 tags, SVM",
    "MNIST, SVM",
    "treebank of ≤ 20 words, SVM",
    "hypergraphs of 2,000 inputs, SVM",
)


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measured(name: str) -> Run:
    warnings.simplefilter("ignore")
    ConditionalRandomField(Chain()).fit([[[1.0, 0.0], [0.0, 1.0]]] * 4, [["a", "b"], ["b", "a"]] * 2)
    estimator, X, Y = task(name)
    found: Run = {}
    prepare = estimator._prepare

    def prepared(*arguments: Any) -> Any:
        gc.collect()
        before = resident_mb()
        training = prepare(*arguments)
        gc.collect()
        found["listed"] = training.problem.structure_bytes / MB
        found["bound"] = (resident_mb() - before) * 2**20 / MB
        found["weights"] = training.problem.n_features
        found["estimate"] = expected_bytes(training) / MB
        found["resident"] = resident_mb()
        Path("/proc/self/clear_refs").write_text("5")
        return training

    estimator._prepare = prepared
    estimator.fit(X, Y)
    found["measured"] = (peak_mb() - found["resident"]) * 2**20 / MB
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=TASKS)
    only = parser.parse_args().only
    print("| task | weights at the start | estimate, MB | measured, MB | ratio | listed | bound |")
    print("|---|---|---|---|---|---|---|")
    for name in TASKS if only is None else (only,):
        run = in_fresh_process("memory:measured", name=name)
        ratio = run["estimate"] / max(run["measured"], 0.1)
        numbers = (run["estimate"], run["measured"])
        said = " | ".join(f"{number:.0f}" for number in numbers)
        print(
            f"| {name} | {run['weights']:,} | {said} | {ratio:.2f} | {run['listed']:.0f} | {run['bound']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
