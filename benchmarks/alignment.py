"""Cell updates a second of pairwise alignment, against Biopython's `PairwiseAligner` on the same pairs.

    python benchmarks/alignment.py [--pairs 300] [--length 200]

One thread, processor time, BLOSUM62, random proteins; medians of five turns that alternate. Ours scores every pair of
places by itself (a learnt model's features may differ from place to place), and always finds the alignment; theirs is
asked for the first alignment, and, to see the bare recursion, for the score alone. Without Biopython (`pip install
biopython`) only ours is timed, and said to be.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn.models import Alignment
from structlearn.models.alignment_features import AlignmentSpec
from structlearn.models.substitution import AMINO_ACIDS, BLOSUM62

try:
    from Bio import Align
except ImportError:
    Align = None

TURNS = 5
GAPS = {"linear": (0.0, -4.0), "affine": (-10.0, -1.0)}


def pairs(n: int, length: int) -> list[tuple[str, str]]:
    random = np.random.default_rng(0)
    letters = list(AMINO_ACIDS[:20])
    return [tuple("".join(random.choice(letters, length)) for _ in (0, 1)) for _ in range(n)]  # type: ignore[misc]


def ours(X: list[tuple[str, str]], gaps: Any, ends: Any) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """The decoder on bound data, and log Z with the probabilities of all matches."""
    first, gap = GAPS[gaps]
    model = Alignment(AMINO_ACIDS, gaps=gaps, ends=ends)
    spec = AlignmentSpec(tuple(AMINO_ACIDS))
    problem, w = model.bind(spec, X), model.weights(spec, BLOSUM62, gap, first)
    every = np.arange(len(X))
    return lambda: problem.best(w, every)[1], lambda: problem.log_partitions(0.2 * w)


def theirs(X: list[tuple[str, str]], gaps: str, ends: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    first, gap = GAPS[gaps]
    matrix = Align.substitution_matrices.load("BLOSUM62")
    aligner = Align.PairwiseAligner(
        mode=ends, substitution_matrix=matrix, open_gap_score=first + gap, extend_gap_score=gap
    )
    return lambda: [aligner.align(*x)[0].score for x in X], lambda: [aligner.score(*x) for x in X]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--length", type=int, default=200)
    options = parser.parse_args()
    X = pairs(options.pairs, options.length)
    cells = options.pairs * options.length**2
    print(f"{options.pairs} pairs of {options.length} letters; million cells a second, one thread")
    if Align is None:
        print("Biopython is not installed: only ours is timed")
    for gaps in GAPS:
        for ends in ("global", "local"):
            best, sums = ours(X, gaps, ends)
            runs = {"ours": best, "ours, sums": sums}
            if Align is not None:
                align, score = theirs(X, gaps, ends)
                runs |= {"Biopython, alignment": align, "Biopython, score only": score}
                np.testing.assert_allclose(best(), score())
            seconds: dict[str, list[float]] = {name: [] for name in runs}
            for _ in range(TURNS):
                for name, run in runs.items():
                    begin = time.process_time()
                    run()
                    seconds[name].append(time.process_time() - begin)
            rates = {name: cells / statistics.median(values) / 1e6 for name, values in seconds.items()}
            words = ", ".join(f"{name} {rate:.0f}" for name, rate in rates.items())
            if Align is not None:
                words += "; " + ", ".join(
                    f"{rates['ours'] / rate:.2f}× {name}" for name, rate in rates.items() if name.startswith("Bio")
                )
            print(f"{gaps} gaps, {ends}: {words}", flush=True)


if __name__ == "__main__":
    main()
