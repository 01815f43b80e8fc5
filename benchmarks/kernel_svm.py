"""Binary SVMs with kernels against scikit-learn's SVC, and against scikit-learn-intelex where that is installed.

    python benchmarks/kernel_svm.py [--tasks "Adult 1" "checkerboard 10,000"] [--turns 3] [--intelex PYTHON]

Every run is a process of its own with one thread, which takes turns with the others; processor time of `fit`, and the
peak of memory. `--intelex` is the interpreter of an environment with scikit-learn-intelex. All objectives come from the
dual coefficients by one function, and must be within 0.1 % of the best.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1")
#: Megabytes for rows of the kernel matrix.
CACHE = 1000
#: Data, γ and the price of a slack.
TASKS: dict[str, tuple[str, float, float]] = {
    "Adult 1": ("adult", 0.05, 1.0),
    "Adult 100": ("adult", 0.05, 100.0),
    "IJCNN1": ("ijcnn1", 1.0, 1.0),
    "checkerboard 10,000": ("board_10000", 20.0, 1.0),
    "checkerboard 100,000": ("board_100000", 20.0, 1.0),
}
LEARNERS = ("ours", "SVC sparse", "SVC dense", "intelex")


def write_data(name: str, folder: Path) -> Path:
    """Rows and labels in a file that environments without this library can read."""
    from structlearn.datasets import fetch_adult, fetch_ijcnn1, make_checkerboard

    path = folder / f"{name}.npz"
    if not path.exists():
        if name.startswith("board"):
            data = make_checkerboard(int(name.split("_")[1]), random_state=0)
        else:
            data = fetch_adult() if name == "adult" else fetch_ijcnn1()
        n = 22_697 if name == "adult" else len(data.Y)
        X: Any = data.X[:n]
        np.savez(path, X=X if isinstance(X, np.ndarray) else X.toarray(), y=data.Y[:n])
    return path


def learner(name: str, gamma: float, price: float, n: int) -> Any:
    if name == "ours":
        from structlearn import BinarySVM
        from structlearn.kernels import RBF

        return BinarySVM(RBF(gamma), C=price * n, max_memory=f"{CACHE}MB")
    if name == "intelex":
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    return SVC(C=price, gamma=gamma, cache_size=CACHE)


def run(name: str, path: str, gamma: float, price: float) -> None:
    """One fit, in a process that prints what it took and leaves the dual coefficients in a file."""
    import scipy.sparse as sp

    with np.load(path) as data:
        X, y = data["X"], data["y"]
    if name == "SVC sparse" or (name == "ours" and (X != 0).mean() < 0.2):
        X = sp.csr_array(X) if name == "ours" else sp.csr_matrix(X)
    svm = learner(name, gamma, price, len(y))
    begin = time.process_time()
    svm.fit(X, y)
    seconds = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    beta = np.zeros(len(y))
    coefficients = svm.dual_coef_
    beta[svm.support_] = np.ravel(coefficients.toarray() if sp.issparse(coefficients) else coefficients)
    np.savez(f"{path}.{name}.npz", beta=beta, bias=np.asarray(svm.intercept_).reshape(-1)[0])
    print(json.dumps({"seconds": seconds, "peak": peak}))


def objective(path: str, name: str, gamma: float, price: float) -> float:
    """½‖f‖² + price Σ max(0, 1 − y f), from dual coefficients and bias."""
    from structlearn.kernels import RBF

    with np.load(path) as data, np.load(f"{path}.{name}.npz") as found:
        X, y, beta, bias = data["X"], data["y"], found["beta"], float(found["bias"])
    used = np.flatnonzero(beta)
    scores = np.concatenate([part @ beta[used] for _, part in RBF(gamma).blocks(X, X[used], max_memory=2**23)])
    return float(0.5 * beta @ scores + price * np.maximum(0.0, 1.0 - y * (scores + bias)).sum())


def timed(python: str, name: str, path: Path, gamma: float, price: float) -> dict[str, Any]:
    command = [python, __file__, "--one", name, str(path), str(gamma), str(price)]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(task: str, turns: int, pythons: dict[str, str], folder: Path) -> None:
    data, gamma, price = TASKS[task]
    path = write_data(data, folder)
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in pythons}
    for _ in range(turns):
        for name, python in pythons.items():
            runs[name].append(timed(python, name, path, gamma, price))
    middle: Callable[[str, str], float] = lambda name, what: statistics.median(each[what] for each in runs[name])  # noqa: E731
    objectives = {name: objective(str(path), name, gamma, price) for name in runs}
    best = min(objectives.values())
    for name in runs:
        ratio = middle("ours", "seconds") / middle(name, "seconds")
        above = objectives[name] / best - 1.0
        print(
            f"{task:20} {name:11}{middle(name, 'seconds'):9.1f} s {middle(name, 'peak') / 1e6:7.0f} MB "
            f"objective {objectives[name]:.6g} ({above:.2%} above the best){'' if above <= 1e-3 else '  TOO HIGH'}"
            f"   ours / this {ratio:.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--intelex")
    options = parser.parse_args()
    pythons = {name: sys.executable for name in options.learners if name != "intelex"}
    if options.intelex and "intelex" in options.learners:
        pythons["intelex"] = options.intelex
    else:
        print("scikit-learn-intelex is left out")
    with tempfile.TemporaryDirectory() as folder:
        for task in options.tasks:
            compare(task, options.turns, pythons, Path(folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
