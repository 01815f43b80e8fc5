"""Two checkouts of the library: processor time to three certified gaps on letters and CoNLL-2000, in turns.

    python benchmarks/gaps.py BEFORE AFTER [--pairs 7] [--only "letters, fold 0"]

Both are folders with ``src/structlearn`` and the compiled module in it. Every measurement is a fresh process with one
thread; those of a pair follow each other, and pairs take turns in who goes first. What is timed is `fit` on arrays.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import Any

import data
from measure import Run, in_fresh_process, peak_mb

from structlearn import StructuralSVM
from structlearn.models import Chain

GAPS = (0.02, 0.002, 0.0002)
#: C of each task.
TASKS = {"letters, fold 0": 62.6, "letters, folds 1-9": 625.1, "CoNLL-2000": 2680.8}


def load(task: str) -> tuple[Any, Any]:
    if task == "CoNLL-2000":
        X, Y = data.chunking("train")
        return data.prepared(X, data.vocabulary(X)), Y
    X, Y, *_ = data.letters([0] if task == "letters, fold 0" else range(1, 10), [])
    return X, Y


def measured(task: str) -> Run:
    """Seconds to each gap, and the peak of memory of all."""
    X, Y = load(task)
    found: Run = {}
    for gap in GAPS:
        svm = StructuralSVM(Chain(), C=TASKS[task], tol=gap)
        begin = time.process_time()
        svm.fit(X, Y)
        found[str(gap)] = time.process_time() - begin
        assert svm.duality_gap_ <= gap
    return found | {"peak_mb": peak_mb()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--only", action="append", choices=list(TASKS))
    options = parser.parse_args()
    checkouts = [options.before, options.after]
    for task in options.only or TASKS:
        runs: dict[Path, list[Run]] = {checkout: [] for checkout in checkouts}
        for pair in range(options.pairs):
            for checkout in checkouts if pair % 2 == 0 else checkouts[::-1]:
                library = str(checkout.resolve() / "src")
                runs[checkout].append(in_fresh_process("gaps:measured", library, task=task))
        for what in (*map(str, GAPS), "peak_mb"):
            before, after = ([run[what] for run in runs[checkout]] for checkout in checkouts)
            ratios = sorted(b / a for a, b in zip(before, after, strict=True))
            print(
                f"{task}, {what}: {statistics.median(before):.3f} → {statistics.median(after):.3f}, ratio "
                f"{statistics.median(ratios):.3f} ({ratios[0]:.3f} to {ratios[-1]:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
