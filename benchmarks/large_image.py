"""Images of 500 × 500 pixels in training and prediction: seconds and memory, for docs/labelled_graphs.md.

    python benchmarks/large_image.py

An image has three channels and blobs of two or five labels, seen through noise stronger than their colours differ.
Every line is a process of its own with one thread: training on two such images to a gap of 3 % or for the iterations
that it has, and prediction of a third. Times are processor time; memory is what the peak adds to the process with the
data.
"""

from __future__ import annotations

import argparse
import cProfile
import ctypes
import gc
import pstats
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from measure import Run, in_fresh_process, peak_mb, table
from scipy.ndimage import gaussian_filter

from structlearn import StructuralSVM
from structlearn.datasets import make_stripes
from structlearn.models import Grid

SIDE = 500
#: Labels, engine, most iterations, and the seconds that the engine may take for an image.
LINES: tuple[tuple[int, str, int, float | None], ...] = (
    (2, "auto", 60, None),
    (5, "alpha_expansion", 30, None),
    (5, "auto", 80, 1.0),
)


def image(n_labels: int, seed: int, side: int = SIDE) -> tuple[np.ndarray, np.ndarray]:
    """Colours (side, side, 3) and labels (side, side): each label is where its own smooth field is highest."""
    random = np.random.default_rng(seed)
    fields = [gaussian_filter(random.normal(size=(side, side)), side / 25.0) for _ in range(n_labels)]
    labels = np.argmax(fields, axis=0)
    colours = np.random.default_rng(0).normal(size=(n_labels, 3))
    return colours[labels] + random.normal(size=(side, side, 3)), labels


def estimator(n_labels: int, engine: str, max_iter: int, max_seconds: float | None) -> StructuralSVM:
    model = Grid(tuple(range(n_labels)), pairwise="potts", engine=engine, max_seconds=max_seconds)
    # The loss adds up over 250,000 pixels.
    price = 1.0 / SIDE**2
    options: dict[str, Any] = {"tol": 0.03, "max_iter": max_iter, "fit_intercept": True, "random_state": 0}
    return StructuralSVM(model, C=1000.0 * price, nonnegative="pairs", **options)


def resident_mb() -> float:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) / 1024


def timed(work: Any) -> tuple[Any, float, float]:
    """What comes of it, its seconds, and the megabytes that its peak adds."""
    gc.collect()
    # What was freed must not hide what is taken.
    ctypes.CDLL(None).malloc_trim(0)
    before = resident_mb()
    Path("/proc/self/clear_refs").write_text("5")
    begin = time.process_time()
    found = work()
    return found, time.process_time() - begin, peak_mb() - before


def measured(n_labels: int, engine: str, max_iter: int, max_seconds: float | None, profile: bool = False) -> Run:
    warnings.simplefilter("ignore")
    small = make_stripes(2, n_rows=6, n_columns=6, random_state=0)
    StructuralSVM(Grid(pairwise="potts"), nonnegative="pairs").fit(list(small.X), list(small.Y))
    (X, Y), (x, y) = zip(*(image(n_labels, seed) for seed in (1, 2)), strict=True), image(n_labels, 3)
    machine = estimator(n_labels, engine, max_iter, max_seconds)
    profiler = cProfile.Profile()
    if profile:
        profiler.enable()
    _, seconds, megabytes = timed(lambda: machine.fit(list(X), list(Y)))
    profiler.disable()
    if profile:
        pstats.Stats(profiler, stream=sys.stderr).sort_stats("tottime").print_stats(12)
    predicted, predicting, more = timed(lambda: machine.predict([x]))
    alone = StructuralSVM(Grid(pairwise=None), C=machine.C_, max_iter=60, fit_intercept=True).fit(list(X), list(Y))
    found: Run = {"seconds": seconds, "megabytes": megabytes, "iterations": machine.n_iter_}
    found |= {"gap": machine.duality_gap_, "predicting": predicting, "predicting_mb": more}
    found |= {"right": float((predicted[0] == y).mean()), "right_alone": float((alone.predict([x])[0] == y).mean())}
    return found | {"oracle": machine.history_[-1]["oracle_seconds"] / machine.history_[-1]["seconds"]}


def line(n_labels: int, engine: str, max_seconds: float | None, run: Run) -> list[str]:
    name = engine if max_seconds is None else f"{engine}, {max_seconds:g} s an image"
    gap = f"{run['gap']:.1%}" if np.isfinite(run["gap"]) else "none"
    cells = [str(n_labels), name, f"{run['seconds']:.1f}", f"{run['oracle']:.0%}", str(run["iterations"]), gap]
    cells += [f"{run['megabytes']:.0f}", f"{run['predicting']:.2f}", f"{run['predicting_mb']:.0f}"]
    return [*cells, f"{run['right']:.1%}", f"{run['right_alone']:.1%}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", type=int, help="the number of a line to profile instead, from 0")
    which = parser.parse_args().profile
    if which is not None:
        print(measured(*LINES[which], profile=True))
        return
    header = ["labels", "engine", "training, s", "oracle", "iterations", "gap", "MB", "prediction, s", "MB"]
    rows = []
    for n_labels, engine, max_iter, seconds in LINES:
        arguments = {"n_labels": n_labels, "engine": engine, "max_iter": max_iter, "max_seconds": seconds}
        rows.append(line(n_labels, engine, seconds, in_fresh_process("large_image:measured", **arguments)))
        print(rows[-1], file=sys.stderr, flush=True)
    print(table([*header, "pixels right", "without pairs"], rows))


if __name__ == "__main__":
    main()
