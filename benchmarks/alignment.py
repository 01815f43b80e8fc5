"""Cell updates a second of pairwise alignment, against Biopython's `PairwiseAligner` and parasail on the same pairs.

    python benchmarks/alignment.py [--pairs 300] [--length 200]

Not part of ``race.py``; it takes about a minute. BLOSUM62, random proteins; medians of five turns that alternate. One
thread and processor time, but for the last lines: the same batch with one and with two threads, by the clock on the
wall. Ours scores every pair of places by itself in double precision (a learnt model's features may differ from place to
place), and always finds the alignment. Rivals are asked for the first alignment, and, to see the bare recursion, for
the score alone. parasail has integers of 16 bits, sixteen in a register where ours has four numbers, and is there to
show what that brings. All must find the same scores. A rival that is not installed (`pip install biopython parasail`)
is left out, and said to be.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structlearn.data.biosequences.substitution import AMINO_ACIDS, BLOSUM62
from structlearn.models import Alignment
from structlearn.models.alignment.features import AlignmentSpec

try:
    from Bio import Align
except ImportError:
    Align = None
try:
    import parasail
except ImportError:
    parasail = None

TURNS = 5
OURS = ("structlearn", "structlearn, sums")
GAPS = {"linear": (0.0, -4.0), "affine": (-10.0, -1.0)}
Work = Callable[[], Any]


def pairs(n: int, length: int) -> list[tuple[str, str]]:
    random = np.random.default_rng(0)
    letters = list(AMINO_ACIDS[:20])
    return [tuple("".join(random.choice(letters, length)) for _ in (0, 1)) for _ in range(n)]  # type: ignore[misc]


def ours(X: list[tuple[str, str]], gaps: Any, ends: Any, n_threads: int = 1) -> tuple[Work, Work]:
    """The decoder on bound data, and −log P of some alignments with the gradient, as in training."""
    first, gap = GAPS[gaps]
    model = Alignment(AMINO_ACIDS, gaps=gaps, ends=ends)
    spec = AlignmentSpec(tuple(AMINO_ACIDS))
    Y = [[(k, k) for k in range(min(map(len, x)))] for x in X]
    problem, w = model.bind(spec, X, Y), model.weights(spec, BLOSUM62, gap, first)
    problem.n_threads = n_threads
    every, ones, gradient = np.arange(len(X)), np.ones(len(X)), np.zeros(len(w))
    return lambda: problem.best_scored(w, every)[1], lambda: problem.log_losses(0.2 * w, ones, gradient)


def biopython(X: list[tuple[str, str]], gaps: str, ends: str) -> tuple[Work, Work]:
    first, gap = GAPS[gaps]
    matrix = Align.substitution_matrices.load("BLOSUM62")
    aligner = Align.PairwiseAligner(
        mode=ends, substitution_matrix=matrix, open_gap_score=first + gap, extend_gap_score=gap
    )
    return lambda: [aligner.align(*x)[0].score for x in X], lambda: [aligner.score(*x) for x in X]


def small_integers(X: list[tuple[str, str]], gaps: str, ends: str) -> tuple[Work, Work]:
    """parasail's functions with 16 bits; its striped local ones miss the best score of some pairs with linear gaps."""
    first, gap = (-int(value) for value in GAPS[gaps])
    trace, score = {
        "global": (parasail.nw_trace_scan_16, parasail.nw_scan_16),
        "local": (parasail.sw_trace_scan_16, parasail.sw_scan_16),
    }[ends]

    def align(s: str, t: str) -> int:
        found = trace(s, t, first + gap, gap, parasail.blosum62)
        assert found.cigar
        return int(found.score)

    return (
        lambda: [align(*x) for x in X],
        lambda: [score(*x, first + gap, gap, parasail.blosum62).score for x in X],
    )


def medians(runs: dict[str, Work], clock: Callable[[], float]) -> dict[str, float]:
    """Seconds of each, taking turns."""
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(TURNS):
        for name, run in runs.items():
            begin = clock()
            run()
            seconds[name].append(clock() - begin)
    return {name: statistics.median(values) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--length", type=int, default=200)
    options = parser.parse_args()
    X = pairs(options.pairs, options.length)
    cells = options.pairs * options.length**2
    rivals = {"Biopython": (Align, biopython), "parasail": (parasail, small_integers)}
    for name, (module, _) in rivals.items():
        if module is None:
            print(f"{name} is not installed, and left out")
    print(f"{options.pairs} pairs of {options.length} letters; million cells a second, one thread")
    for gaps in GAPS:
        for ends in ("global", "local"):
            best, sums = ours(X, gaps, ends)
            runs = dict(zip(OURS, (best, sums), strict=True))
            for name, (module, make) in rivals.items():
                if module is not None:
                    align, score = make(X, gaps, ends)
                    runs |= {f"{name}, alignment": align, f"{name}, score only": score}
                    np.testing.assert_allclose(best(), align())
                    np.testing.assert_allclose(best(), score())
            print(f"{gaps} gaps, {ends}")
            taken = medians(runs, time.process_time)
            for name, seconds in taken.items():
                ratio = (
                    "" if name.startswith("structlearn") else f"; ours {seconds / taken['structlearn']:.2f} times that"
                )
                print(f"    {name}: {cells / seconds / 1e6:.0f}{ratio}", flush=True)
    for what, place in (("alignments", 0), ("sums", 1)):
        one, two = medians(
            {str(n): ours(X * 4, "affine", "global", n)[place] for n in (1, 2)}, time.perf_counter
        ).values()
        print(f"affine gaps, global, {what}, two threads: {one / two:.2f} times as fast as one", flush=True)


if __name__ == "__main__":
    main()
