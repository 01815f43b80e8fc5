"""Binary SVMs with kernels beside scikit-learn's SVC and scikit-learn-intelex: writes docs/kernel_benchmarks.md.

    python benchmarks/kernel_svm.py [--tasks "Adult" "IJCNN1"] [--turns 3] [--intelex PYTHON] [--limit 900]
        [--beside "beside other work, load 4 to 9 on two cores"]

Every fit is a process of its own with one thread, which takes turns with the others; processor time of `fit`, the peak
of memory, and the accuracy on test data. `--intelex` is the interpreter of an environment with scikit-learn-intelex.
Objectives come from the dual coefficients by one function. A fit is stopped after `--limit` seconds of processor time.
Runs are kept in build/bench/kernel_svm.json, so that the page can be completed later, or written again with --turns 0;
remove the file to begin anew.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from measure import ONE_THREAD, SCRATCH, Run, exponent, median, peak_mb, table

PAGE = Path(__file__).resolve().parent.parent / "docs" / "kernel_benchmarks.md"
RUNS = SCRATCH / "kernel_svm.json"
#: Megabytes for rows of the kernel matrix, for all.
CACHE = 1000
#: The basis of `KernelMap`, and that for a million rows.
COMPONENTS, OF_A_MILLION = 800, 200
#: Data, γ and the price of a slack.
TASKS: dict[str, tuple[str, float, float]] = {
    "Adult": ("adult", 0.05, 1.0),
    "Adult, C/n = 100": ("adult", 0.05, 100.0),
    "IJCNN1": ("ijcnn1", 1.0, 1.0),
    "Covertype": ("covertype", 1 / 1.7, 1.0),
    "MNIST 0": ("mnist_0", 0.02, 1.0),
    "MNIST 0 to 4": ("mnist_01234", 0.02, 1.0),
    "Checkerboard 10,000": ("board_10000", 20.0, 1.0),
    "Checkerboard 30,000": ("board_30000", 20.0, 1.0),
    "Checkerboard 100,000": ("board_100000", 20.0, 1.0),
    "Checkerboard 1,000,000": ("board_1000000", 20.0, 1.0),
}
#: What only the map is tried on, and what takes so long that one turn must do.
FOR_THE_MAP, ONE_TURN = ("Checkerboard 1,000,000",), ("MNIST 0", "MNIST 0 to 4", "Checkerboard 1,000,000")
EXACT, MAP, DENSE, SPARSE, INTELEX = "BinarySVM", "KernelMap", "SVC", "SVC, sparse", "intelex"
LEARNERS = (EXACT, MAP, DENSE, SPARSE, INTELEX)
#: Accuracy must be this share of the exact one.
NEAR = 0.995
TEXT = """# Benchmarks of kernels

`{command}`, {when}, {beside}.
Every fit is a process of its own with one thread, and the learners take turns: medians of processor seconds of `fit`,
the peak of memory, and the accuracy on test data. The kernel is `RBF`; γ and C/n are given, and the same for all, and
so are 1,000 MB for rows of the kernel matrix. {turns}

- Adult: the first 22,697 rows of a9a to learn from, the others to test on, γ = 1/20. IJCNN1: 49,990 and 91,701 rows,
  γ = 1. Covertype: class 2 against the rest, 16,000 rows of 20,000 to learn from, columns scaled to [0, 1], γ = 1/1.7.
  MNIST: 60,000 and 10,000 images with pixels in [0, 1], the digit 0, or the digits 0 to 4, against the rest, γ = 0.02.
  Checkerboard: `make_checkerboard`, γ = 1/0.05, and 20,000 other points to test on. C/n is 1 unless given.
- `BinarySVM` to a certified gap of 0.1 %. `SVC` of scikit-learn and intelex, its twin in scikit-learn-intelex, to their
  tolerance of 0.001. Objectives ½‖f‖² + (C/n) Σ ξ_i are computed from dual coefficients by one function.
- `KernelMap` is `make_pipeline(KernelMap(RBF(gamma), {components}), RegularizedRisk(SquaredHinge(), L2(), C=C,
  tol=0.01))`: {components} rows drawn at random as the basis, and Newton's method. That way and the size of the basis
  were chosen in trials on Adult, IJCNN1 and the checkerboard of 100,000 points whose accuracy on test data was seen:
  on IJCNN1 bases of 200 and 400 rows were not near.

## The exact dual

{exact}

{exact_words}

## Time to the accuracy of the exact SVM

The exact accuracy is that of `SVC`, or of `BinarySVM` where `SVC` was stopped; near is at least 99.5 % of it.

{near}

{near_words}

## Growth

Checkerboards; p says that it grows like n^p, fitted to the last three sizes.

{growth}

{million}
"""


def digits(part: str) -> tuple[Any, Any]:
    folder = Path(os.environ["STRUCTLEARN_DATA"]) / "mnist"
    with (
        gzip.open(folder / f"{part}-images-idx3-ubyte.gz") as images,
        gzip.open(folder / f"{part}-labels-idx1-ubyte.gz") as labels,
    ):
        pixels = np.frombuffer(images.read(), np.uint8, offset=16).reshape(-1, 784)
        return pixels / 255.0, np.frombuffer(labels.read(), np.uint8, offset=8)


def data(name: str) -> tuple[Any, Any, Any, Any]:
    """Rows and labels to learn from and to test on."""
    from structlearn.datasets import fetch_adult, fetch_covertype, fetch_ijcnn1, make_checkerboard

    kind, _, which = name.partition("_")
    if kind == "adult":
        rows = fetch_adult()
        return rows.X[:22_697].toarray(), rows.Y[:22_697], rows.X[22_697:].toarray(), rows.Y[22_697:]
    if kind == "ijcnn1":
        train, test = fetch_ijcnn1(), fetch_ijcnn1("test")
        return train.X.toarray(), train.Y, test.X.toarray(), test.Y
    if kind == "covertype":
        forest, order = fetch_covertype(), np.random.default_rng(0).permutation(20_000)
        X, y = forest.X[order], np.where(np.asarray(forest.Y)[order] == 2, 1, -1)
        X = (X - X[:16_000].min(axis=0)) / np.maximum(np.ptp(X[:16_000], axis=0), 1.0)
        return X[:16_000], y[:16_000], X[16_000:], y[16_000:]
    if kind == "mnist":
        (X, labels), (X_test, labels_test) = digits("train"), digits("t10k")
        positive = [int(digit) for digit in which]
        return X, np.where(np.isin(labels, positive), 1, -1), X_test, np.where(np.isin(labels_test, positive), 1, -1)
    train, test = make_checkerboard(int(which), random_state=0), make_checkerboard(20_000, random_state=1)
    return train.X, train.Y, test.X, test.Y


def written(name: str) -> Path:
    """A file of the data that environments without this library can read."""
    path = SCRATCH / f"kernel_svm_{name}.npz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **dict(zip(("X", "y", "X_test", "y_test"), data(name), strict=True)))
    return path


def learner(name: str, gamma: float, price: float, n: int) -> Any:
    if name == EXACT:
        from structlearn import BinarySVM
        from structlearn.kernels import RBF

        return BinarySVM(RBF(gamma), C=price * n, max_memory=f"{CACHE}MB")
    if name == MAP:
        from sklearn.pipeline import make_pipeline

        from structlearn.estimators.regularized_risk import L2, RegularizedRisk, SquaredHinge
        from structlearn.features import KernelMap
        from structlearn.kernels import RBF

        features = KernelMap(RBF(gamma), COMPONENTS if n < 1_000_000 else OF_A_MILLION, random_state=0)
        return make_pipeline(features, RegularizedRisk(SquaredHinge(), L2(), C=price * n, tol=0.01))
    if name == INTELEX:
        from sklearnex.svm import SVC
    else:
        from sklearn.svm import SVC
    return SVC(C=price, gamma=gamma, cache_size=CACHE)


def run(name: str, path: str, gamma: float, price: float) -> None:
    """One fit, in a process that prints what it took and leaves the dual coefficients in a file."""
    import scipy.sparse as sp
    import sklearn.svm  # noqa: F401  # what a first fit would import counts for nobody

    with np.load(path) as arrays:
        X, y, X_test, y_test = (arrays[key] for key in ("X", "y", "X_test", "y_test"))
    if name == SPARSE:
        X, X_test = sp.csr_matrix(X), sp.csr_matrix(X_test)
    svm = learner(name, gamma, price, len(y))
    begin = time.process_time()
    svm.fit(X, y)
    found = {"seconds": time.process_time() - begin, "peak_mb": peak_mb()}
    print(json.dumps(found | {"accuracy": float(np.mean(svm.predict(X_test) == y_test))}))
    if name != MAP:
        beta, coefficients = np.zeros(len(y)), svm.dual_coef_
        beta[svm.support_] = np.ravel(coefficients.toarray() if sp.issparse(coefficients) else coefficients)
        np.savez(f"{path}.{name}.npz", beta=beta, bias=np.asarray(svm.intercept_).reshape(-1)[0])


def objective(path: Path, name: str, gamma: float, price: float) -> float:
    """½‖f‖² + (C/n) Σ max(0, 1 − y f), from dual coefficients and bias."""
    from structlearn.kernels import RBF

    with np.load(path) as arrays, np.load(f"{path}.{name}.npz") as found:
        X, y, beta, bias = arrays["X"], arrays["y"], found["beta"], float(found["bias"])
    used = np.flatnonzero(beta)
    scores = RBF(gamma).sums(X, X[used], beta[used])
    return float(0.5 * beta @ scores + price * np.maximum(0.0, 1.0 - y * (scores + bias)).sum())


def timed(python: str, name: str, task: str, limit: int) -> Run:
    """One fit; one that was stopped has no accuracy."""
    source, gamma, price = TASKS[task]
    path = written(source)
    done = subprocess.run(
        [python, __file__, "--one", name, str(path), str(gamma), str(price)],
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    if not done.stdout and done.returncode < 0:
        return {"seconds": float(limit), "stopped": True}
    if done.returncode:
        raise RuntimeError(f"{name} on {task} failed:\n{done.stderr}")
    found: Run = json.loads(done.stdout.splitlines()[-1])
    return found if name == MAP else found | {"objective": objective(path, name, gamma, price)}


def names(task: str, pythons: dict[str, str]) -> list[str]:
    """The learners that are tried on a task; sparse rows once where they are sparse."""
    if task in FOR_THE_MAP:
        return [MAP]
    return [name for name in pythons if name != SPARSE or task == "Adult"]


def complete(runs: dict[str, dict[str, list[Run]]], task: str, turns: int, pythons: dict[str, str], limit: int) -> None:
    """Runs what is missing, in turns, and keeps each as soon as it is there."""
    found = runs.setdefault(task, {})
    for turn in range(min(turns, 1) if task in ONE_TURN else turns):
        for name in names(task, pythons):
            done = found.setdefault(name, [])
            if len(done) > turn or (done and done[0].get("stopped")):
                continue
            done.append(timed(pythons[name], name, task, limit))
            print(f"{task}, {name}, turn {turn}: {done[-1]}", flush=True)
            RUNS.write_text(json.dumps(runs, indent=1), encoding="utf-8")


def seconds(runs: Sequence[Run]) -> str:
    return ("> " if runs[0].get("stopped") else "") + f"{median(runs):.3g}"


def exact_part(runs: dict[str, dict[str, list[Run]]]) -> tuple[str, str]:
    rows, worst = [], 0.0
    for task, found in runs.items():
        duals = {name: each for name, each in found.items() if name != MAP}
        reached = {name: each[0]["objective"] for name, each in duals.items() if not each[0].get("stopped")}
        for name, each in duals.items():
            ours = median(duals[EXACT]) / median(each)
            stopped = name not in reached
            above = "" if stopped else f"{reached[name] / min(reached.values()) - 1.0:.3%}"
            memory = "" if stopped else f"{median(each, 'peak_mb'):.0f}"
            ratio = "" if name == EXACT else ("< " if stopped else "") + f"{ours:.2f}"
            rows.append([task if name == EXACT else "", f"`{name}`", seconds(each), memory, above, ratio])
            worst = worst if name == EXACT else max(worst, ours)
    header = ["task", "learner", "seconds", "MB", "objective above the best", "time of `BinarySVM` / this"]
    return table(header, rows), f"The largest of these ratios is {worst:.2f}."


def near_part(runs: dict[str, dict[str, list[Run]]]) -> tuple[str, str]:
    rows, ratios, far = [], {MAP: [0.0], EXACT: [0.0]}, []
    for task, found in runs.items():
        rivals = [each for name, each in found.items() if name in (DENSE, SPARSE, INTELEX)]
        if not rivals:
            continue
        exact = next(found[name][0] for name in (DENSE, EXACT) if "accuracy" in found.get(name, [{}])[0])["accuracy"]
        reached, fastest = found[MAP][0]["accuracy"], min(rivals, key=median)
        taken = {name: median(found[name]) / median(fastest) for name in (MAP, EXACT)}
        near = reached >= NEAR * exact
        far += [task] * (not near)
        for name in (MAP, EXACT) if near else (EXACT,):
            ratios[name].append(taken[name])
        line = [task, seconds(found[MAP]), f"{reached:.2%}", f"{exact:.2%}", seconds(found[EXACT]), seconds(fastest)]
        rows.append([*line, f"{taken[MAP]:.2f}" if near else "not near", f"{taken[EXACT]:.2f}"])
    header = ["task", "`KernelMap`, s", "accuracy", "exact accuracy", "`BinarySVM`, s"]
    header += ["faster of `SVC` and intelex, s", "`KernelMap` / that", "`BinarySVM` / that"]
    where = f"on all but {', '.join(far)}" if far else "on all"
    words = (
        f"`KernelMap` is near {where}, and takes there at most {max(ratios[MAP]):.2f} of the time of the faster of the "
        f"two;\n`BinarySVM`, which has the exact accuracy, at most {max(ratios[EXACT]):.2f}."
    )
    return table(header, rows), words


def growth_part(runs: dict[str, dict[str, list[Run]]]) -> tuple[str, str]:
    boards = [task for task in runs if task.startswith("Checkerboard") and task not in FOR_THE_MAP]
    sizes = [int(TASKS[task][0].split("_")[1]) for task in boards]
    rows = []
    for name in (EXACT, MAP, DENSE, INTELEX):
        if any(name not in runs[task] for task in boards):
            continue
        for what, form in (("seconds", "{:.3g}"), ("peak_mb", "{:.0f}")):
            taken = [median(runs[task][name], what) for task in boards]
            grown = exponent(sizes, taken) if len(sizes) > 1 else ""
            shown = f"`{name}`, {'s' if what == 'seconds' else 'MB'}"
            rows.append([shown, *map(form.format, taken), grown if what == "seconds" else ""])
    text = table(["n", *(f"{size:,}" for size in sizes), "p"], rows)
    (large,) = FOR_THE_MAP
    if large not in runs:
        return text, ""
    found = runs[large][MAP][0]
    return text, (
        f"A million points in memory, by `KernelMap` with a basis of {OF_A_MILLION}: {found['seconds'] / 60:.1f} "
        f"minutes ({found['seconds']:.0f} s) of processor\ntime, a peak of {found['peak_mb']:,.0f} MB with the data, "
        f"and {found['accuracy']:.2%} of the test points right."
    )


def whole_turns(found: dict[str, list[Run]]) -> dict[str, list[Run]]:
    """Without the runs of a turn that was not finished; what was stopped is not run again."""
    turns = min(len(each) for each in found.values() if not each[0].get("stopped"))
    return {name: each[:turns] for name, each in found.items()}


def turns_said(runs: dict[str, dict[str, list[Run]]]) -> str:
    """How often each task was run, and which were not."""
    by_turns: dict[int, list[str]] = {}
    for task, found in runs.items():
        by_turns.setdefault(min(map(len, found.values())), []).append(task)
    said = [f"{turns} of {'; '.join(tasks)}" for turns, tasks in sorted(by_turns.items(), reverse=True)]
    missing = [task for task in TASKS if task not in runs]
    return f"Runs of each: {', '.join(said)}." + (f" Not run: {', '.join(missing)}." if missing else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--learners", nargs="+", choices=LEARNERS, default=list(LEARNERS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--limit", type=int, default=900)
    parser.add_argument("--intelex")
    parser.add_argument("--beside", default="on a quiet machine", help="what else the machine did, for the page")
    options = parser.parse_args()
    pythons = {name: sys.executable for name in options.learners if name != INTELEX}
    if options.intelex and INTELEX in options.learners:
        pythons[INTELEX] = options.intelex
    runs: dict[str, dict[str, list[Run]]] = json.loads(RUNS.read_text("utf-8")) if RUNS.exists() else {}
    for task in options.tasks:
        complete(runs, task, options.turns, pythons, options.limit)
    ordered = {task: whole_turns(runs[task]) for task in TASKS if runs.get(task)}
    duals = {task: found for task, found in ordered.items() if EXACT in found}
    exact, near, growth = exact_part(duals), near_part(duals), growth_part(ordered)
    text = TEXT.format(
        command=f"python benchmarks/kernel_svm.py --limit {options.limit} --intelex PYTHON",
        when=f"{date.today():%d %B %Y}",
        beside=options.beside,
        components=COMPONENTS,
        turns=turns_said(ordered),
        exact=exact[0],
        exact_words=exact[1],
        near=near[0],
        near_words=near[1],
        growth=growth[0],
        million=growth[1],
    )
    PAGE.write_text(text.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        run(sys.argv[2], sys.argv[3], float(sys.argv[4]), float(sys.argv[5]))
    else:
        main()
