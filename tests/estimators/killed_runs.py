"""Trains, kills the training at random moments, goes on from the checkpoint, and prints what was lost, one JSON a kill.

    python killed_runs.py KILLS SECONDS_BETWEEN_CHECKPOINTS SEED

Every run is a process of its own, forked from this one so that it need not import anything.
"""

import json
import os
import signal
import sys
import tempfile
import time
import warnings
from itertools import pairwise
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate


class Log:
    """Writes down when each iteration ended."""

    def __init__(self, path):
        self.path = path

    def setup(self, estimator, context):
        self.file = os.open(self.path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC)

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        record = fitted_estimator.history_[-1]
        os.write(self.file, f"{record['iteration']} {time.monotonic()}\n".encode())

    def teardown(self, estimator, context):
        os.close(self.file)

    def read(self):
        if not self.path.exists():
            return []
        lines = [line.split() for line in self.path.read_text().splitlines()]
        return [(int(line[0]), float(line[1])) for line in lines if len(line) == 2]


def data():
    random = np.random.default_rng(0)
    Y = [random.integers(5, size=random.integers(4, 12)).tolist() for _ in range(80)]
    return [np.eye(5)[y] + random.normal(size=(len(y), 5)) for y in Y], Y


def train(X, Y, folder, log, every):
    """Starts a process that trains and leaves its weights in the folder."""
    child = os.fork()
    if child:
        return child
    tagger = StructuralSVM(Chain(), C=1500.0, solver=BlockCoordinate(tol=1e-8, max_iter=20)).set_callbacks(log)
    warnings.simplefilter("ignore", ConvergenceWarning)
    tagger.fit(X, Y, checkpoint=None if every is None else folder / "run.ckpt", checkpoint_every=every or 0.0)
    np.save(folder / "w.npy", tagger.w_)
    os._exit(0)


def finish(child):
    _, status = os.waitpid(child, 0)
    assert status == 0, f"training ended with status {status}"


def killed_once(X, Y, every, delay, expected):
    """What a kill cost; None if the run had come to its end before."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first, second = Log(folder / "first.log"), Log(folder / "second.log")
        began = time.monotonic()
        child = train(X, Y, folder, first, every)
        time.sleep(delay)
        killed = time.monotonic()
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if (folder / "w.npy").exists():
            return None
        before = first.read()
        finish(train(X, Y, folder, second, every))
        after = second.read()
        resumed_from = after[0][0] - 1
        ended = dict(before).get(resumed_from, began)
        moments = [began, *(moment for _, moment in before), killed]
        return {
            "delay": delay,
            "iterations_done": before[-1][0] if before else -1,
            "resumed_from": resumed_from,
            "iterations_lost": (before[-1][0] if before else -1) - resumed_from,
            "seconds_lost": killed - ended,
            "longest_iteration": max(later - earlier for earlier, later in pairwise(moments)),
            "identical": bool(np.array_equal(np.load(folder / "w.npy"), expected)),
            "left": sorted(path.name for path in folder.iterdir() if "ckpt" in path.name),
        }


def main(kills, every, seed):
    X, Y = data()
    random = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        log = Log(Path(name) / "whole.log")
        began = time.monotonic()
        finish(train(X, Y, Path(name), log, None))
        seconds = time.monotonic() - began
        expected = np.load(Path(name) / "w.npy")
        print(json.dumps({"iterations": log.read()[-1][0], "seconds": seconds}), flush=True)
    while kills:
        found = killed_once(X, Y, every, float(random.uniform(0.0, seconds)), expected)
        if found is not None:
            print(json.dumps(found), flush=True)
            kills -= 1


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
