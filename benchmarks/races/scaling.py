"""The library by itself: how time and memory grow with the data, and what a second thread brings."""

from __future__ import annotations

import time

import data
import numpy as np
from measure import Entry, Report, Run, median, race, seconds

from structlearn import StructuralSVM
from structlearn.data import Sequences
from structlearn.models import Chain


def one_pass(n: int, length: int, n_labels: int, n_features: int = 1000, active: int = 10) -> Run:
    """Seconds of one oracle pass over random sequences with `active` features a token."""
    rng = np.random.default_rng(0)
    rows = rng.integers(n_features, size=(n * length, active)).tolist()
    X = Sequences(data.indicators(rows, n_features), np.full(n, length))
    Y = rng.integers(n_labels, size=(n, length)).tolist()
    chain = Chain(classes=list(range(n_labels)))
    problem = chain.bind(chain.specify(X, Y), X, Y)
    w = rng.standard_normal(problem.n_features)
    examples = np.arange(n)
    return {"seconds": seconds(lambda: problem.loss_augmented(w, examples), 5)}


def conll(part: float, price: float, tol: float) -> Run:
    """Seconds to a relative gap on a part of CoNLL-2000, and an oracle pass over it."""
    X, Y = data.chunking("train")
    n = int(part * len(X))
    X, Y = X[:n], Y[:n]
    arrays = data.prepared(X, data.vocabulary(X))
    svm = StructuralSVM(Chain(), C=price * n, tol=tol)
    begin = time.perf_counter()
    svm.fit(arrays, Y)
    spent = time.perf_counter() - begin
    problem = svm.model_.bind(svm.spec_, arrays, Y)
    return {
        "n": n,
        "seconds": spent,
        "pass_seconds": seconds(lambda: problem.loss_augmented(svm.w_, np.arange(n)), 5),
    }


def threads(limit: int | None = None) -> Run:
    """An oracle pass over CoNLL-2000 with one and with two threads, in turns; and whether w depends on them."""
    X, Y = data.chunking("train", limit)
    arrays = data.prepared(X, data.vocabulary(X))
    chain = Chain()
    problem = chain.bind(chain.specify(arrays, Y), arrays, Y)
    w = np.random.default_rng(0).standard_normal(problem.n_features)
    examples = np.arange(problem.n_examples)
    times: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(7):
        for n_threads, spent in times.items():
            problem.n_threads = n_threads
            spent.append(seconds(lambda: problem.loss_augmented(w, examples)))
    weights = [StructuralSVM(Chain(), C=100, tol=0.1, n_jobs=k).fit(X[:500], Y[:500]).w_ for k in (1, 2)]
    return {
        "one": float(np.median(times[1])),
        "two": float(np.median(times[2])),
        "identical": bool(np.array_equal(*weights)),
    }


def run(smoke: bool) -> Report:
    report = Report()
    if smoke:
        run = race([Entry("threads", "races.scaling:threads", {"limit": 500}, 1)])["threads"][0]
        if not run["identical"]:
            report.failures.append("two threads give another w than one")
        return report
    base = {"n": 500, "length": 20, "n_labels": 20}
    axes = {"n": (500, 1000, 2000, 4000), "length": (20, 40, 80, 160), "n_labels": (10, 20, 40, 80, 160, 320)}
    for axis, values in axes.items():
        runs = race(Entry(f"{v}", "races.scaling:one_pass", base | {axis: v}, 1) for v in values)
        spent = [median(runs[f"{v}"]) for v in values]
        # The last three: few labels cost less than the features do.
        growth = np.polyfit(np.log(values[-3:]), np.log(spent[-3:]), 1)[0]
        name = {"n": "sequences", "length": "length", "n_labels": "labels"}[axis]
        report.series[f"pass against {name}"] = [list(values), spent]
        report.facts.append((f"oracle pass against {name}, {values[-3]} to {values[-1]}: exponent", f"{growth:.2f}"))
    parts = (0.125, 0.25, 0.5, 1.0)
    runs = race(
        Entry(f"{part:g}", "races.scaling:conll", {"part": part, "price": 0.1, "tol": 0.1}, 1) for part in parts
    )
    lines = [runs[f"{part:g}"][0] for part in parts]
    report.series["CoNLL-2000"] = {k: [line[k] for line in lines] for k in ("n", "seconds", "pass_seconds", "peak_mb")}
    both = race([Entry("threads", "races.scaling:threads", {}, 1)])["threads"][0]
    identical = "identical" if both["identical"] else "DIFFERENT"
    report.facts.append(
        (
            "oracle pass over CoNLL-2000: one thread, two threads",
            f"{both['one']:.3f} s, {both['two']:.3f} s ({both['one'] / both['two']:.2f} times as fast; w {identical})",
        )
    )
    if not both["identical"]:
        report.failures.append("two threads give another w than one")
    return report
