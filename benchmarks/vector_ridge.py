"""Vector-valued ridge regression: two decompositions against the system written out, and how far they go.

    python benchmarks/vector_ridge.py [--small]

Inputs are random points of ten features, the kernel is `RBF` with a random A of full rank, and all solve for the same
λ. Every line is a process of its own with one thread; times are processor time of `fit`, memory is the peak of the
process with the data. `--small` leaves out the lines of 10,000 and 20,000 rows.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
from measure import Run, in_fresh_process, peak_mb, table

from structlearn import VectorValuedRidge
from structlearn.kernels import RBF, Decomposable

LAM = 1e-3
#: n and d of lines that both solve.
BOTH = ((50, 10), (100, 10), (200, 10), (400, 10))
#: n, d, whether A couples outputs, and whether all λ are compared.
LARGE = ((2_000, 200, True, True), (5_000, 200, True, True), (10_000, 200, True, True), (20_000, 200, False, False))


def data(n: int, d: int) -> tuple[Any, Any, Any]:
    random = np.random.default_rng(0)
    X, factor = random.normal(size=(n, 10)), random.normal(size=(d, d)) / np.sqrt(d)
    return X, np.sin(X @ random.normal(size=(10, d))), factor @ factor.T


def written_out(n: int, d: int) -> Run:
    """The nd × nd system, as Theorem 4 has it."""
    X, Y, A = data(n, d)
    begin = time.process_time()
    system = np.kron(RBF(0.05)(X), A)
    system.flat[:: n * d + 1] += n * LAM
    C = np.linalg.solve(system, Y.ravel()).reshape(n, d)
    return {"seconds": time.process_time() - begin, "peak_mb": peak_mb(), "objective": LAM * float(np.vdot(C, Y))}


def solved(n: int, d: int, coupled: bool = True, path: bool = False) -> Run:
    X, Y, A = data(n, d)
    ridge = VectorValuedRidge(None, Decomposable(RBF(0.05), A if coupled else "identity"), lam=None if path else LAM)
    # What a first fit imports is not its work.
    VectorValuedRidge(None, Decomposable(RBF(0.05), A), lam=LAM).fit(X[:5], Y[:5])
    begin = time.process_time()
    ridge.fit(X, Y)
    found: Run = {"seconds": time.process_time() - begin, "peak_mb": peak_mb(), "method": ridge.method_}
    return found | {"objective": ridge.objective_, "lams": max(len(ridge.left_out_), 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    rows = []
    for n, d in BOTH:
        ours, theirs = (in_fresh_process(f"vector_ridge:{way}", n=n, d=d) for way in ("solved", "written_out"))
        apart = abs(ours["objective"] / theirs["objective"] - 1.0)
        times = [f"{ours['seconds']:.4f}", f"{theirs['seconds']:.4f}", f"{ours['seconds'] / theirs['seconds']:.3f}"]
        rows.append([f"{n:,}", str(d), *times, f"{ours['peak_mb']:.0f}", f"{theirs['peak_mb']:.0f}", f"{apart:.0e}"])
        print(rows[-1], file=sys.stderr, flush=True)
    print(table(["n", "d", "ours, s", "written out, s", "ratio", "ours, MB", "MB", "objectives apart"], rows))
    rows = []
    for n, d, coupled, path in LARGE:
        if small and n >= 10_000:
            continue
        run = in_fresh_process("vector_ridge:solved", n=n, d=d, coupled=coupled, path=path)
        cells = [f"{n:,}", str(d), "random" if coupled else "identity", str(run["lams"]), run["method"]]
        rows.append([*cells, f"{run['seconds']:.1f}", f"{run['peak_mb']:,.0f}"])
        print(rows[-1], file=sys.stderr, flush=True)
    print(table(["n", "d", "A", "λ compared", "method", "s", "MB"], rows))


if __name__ == "__main__":
    main()
