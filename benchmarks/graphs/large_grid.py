"""A grid of 1000 × 1000 variables with five labels: seconds and memory until score and bound are within one per cent.

    python benchmarks/graphs/large_grid.py [--size 1000]

The relative gap is (bound − score) / |score|, where an all-zero labelling scores about 0.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np
from markdown import table

from structlearn.data import GridGraph, Potts, TruncatedLinear
from structlearn.inference.graphs import Record, best_labelling

GAP = 0.01
PAIRS = {"Potts(1)": Potts(1.0), "Potts(0.5)": Potts(0.5), "TruncatedLinear(0.5, 1)": TruncatedLinear(0.5, 1.0)}
MOST_SECONDS = 300.0


def close_enough(record: Record) -> bool:
    return record.bound - record.score <= GAP * abs(record.score)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=1000)
    size = parser.parse_args().size
    unaries = np.random.default_rng(0).normal(size=(size, size, 5))
    rows = []
    for name, pairwise in PAIRS.items():
        begin = time.process_time()
        grid = GridGraph(unaries, pairwise)
        found = best_labelling(grid, "dual_ascent", max_seconds=MOST_SECONDS, progress=close_enough)
        gap = (found.bound - found.score) / abs(found.score)
        seconds = f"{time.process_time() - begin:.1f}"
        peak = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f}"
        rows.append([name, seconds, f"{gap:.2%}", f"{found.score:.0f}", peak])
    print(table(("pairs", "CPU s", "gap reached", "score", "peak MB so far"), rows))


if __name__ == "__main__":
    main()
