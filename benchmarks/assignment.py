"""Assignment against scipy's `linear_sum_assignment` and lap's `lapjv`, on the same square matrices of costs.

    python benchmarks/assignment.py [--turns 5]

Not part of ``race.py``; it takes about a minute. Costs are uniform, or whole numbers: few of them (0 to 99), as many as
there are rows, or a million. One thread, processor time; medians of turns that alternate. Ours also returns the
potentials. All must find the same sum. lap is left out where it is not installed (`pip install lap`), and said to be.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from structlearn.inference import best_assignment

try:
    import lap
except ImportError:
    lap = None

SIZES = (100, 500, 1000, 2000)
#: How many matrices there are of each size.
MATRICES = {100: 40, 500: 5, 1000: 3, 2000: 2}


def costs(n: int, kind: str, random: np.random.Generator) -> Any:
    if kind == "uniform":
        return random.uniform(size=(n, n))
    values = {"0 to 99": 100, "0 to n − 1": n, "0 to 999,999": 10**6}[kind]
    return random.integers(0, values, (n, n)).astype(float)


def seconds(solve: Callable[[Any], Any], matrices: list[Any]) -> float:
    begin = time.process_time()
    for matrix in matrices:
        solve(matrix)
    return (time.process_time() - begin) / len(matrices)


def compare(n: int, kind: str, turns: int) -> None:
    random = np.random.default_rng(0)
    C = [costs(n, kind, random) for _ in range(MATRICES[n])]
    scores = [-one for one in C]
    runs: dict[str, tuple[Callable[[Any], Any], list[Any]]] = {
        "ours": (best_assignment, scores),
        "scipy": (linear_sum_assignment, C),
    }
    sums = [-best_assignment(scores[0]).score, C[0][linear_sum_assignment(C[0])].sum()]
    if lap is not None:
        runs["lap"] = lap.lapjv, C
        sums.append(lap.lapjv(C[0])[0])
    np.testing.assert_allclose(sums, sums[0])
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            taken[name].append(seconds(*run))
    medians = {name: 1000 * statistics.median(values) for name, values in taken.items()}
    best = min(value for name, value in medians.items() if name != "ours")
    numbers = "".join(f"{value:10.2f}" for value in medians.values())
    print(f"{n:6} {kind:>14}{numbers}{medians['ours'] / best:10.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    if lap is None:
        print("lap is not installed, and left out")
    names = ["ours", "scipy", *(["lap"] if lap is not None else [])]
    print("milliseconds, and the ratio of ours to the best of the others")
    print(f"{'n':>6} {'costs':>14}" + "".join(f"{name:>10}" for name in [*names, "ratio"]))
    for n in SIZES:
        for kind in ("uniform", "0 to 99", "0 to n − 1", "0 to 999,999"):
            compare(n, kind, options.turns)


if __name__ == "__main__":
    main()
