"""Multiclass SVMs, dense and sparse, against liblinear's Crammer-Singer solver on the same objective."""

from __future__ import annotations

import time
import warnings
from typing import Any

import data
import numpy as np
import numpy.typing as npt
from measure import Entry, Report, Row, Run, median, race
from sklearn.datasets import load_digits
from sklearn.svm import LinearSVC

from structlearn import StructuralSVM
from structlearn.models import Multiclass

#: How far the objectives may lie apart.
AGREEMENT = 1e-3


def load(name: str) -> tuple[data.Matrix, npt.NDArray[np.int64]]:
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16.0, y
    return data.mnist() if name == "MNIST" else data.part_of_speech()


def ours(name: str, C: float, tol: float) -> Run:
    """C in liblinear's convention."""
    X, y = load(name)
    svm = StructuralSVM(Multiclass(), C=C * len(y), tol=tol)
    begin = time.perf_counter()
    svm.fit(X, y)
    seconds = time.perf_counter() - begin
    W = svm.w_.reshape(X.shape[1], -1)
    history = [{key: record[key] for key in ("seconds", "primal", "dual")} for record in svm.history_]
    return {"seconds": seconds, "primal": primal(W, X, y, C), "gap": svm.duality_gap_, "history": history}


def theirs(name: str, C: float, tol: float) -> Run:
    X, y = load(name)
    svm = LinearSVC(multi_class="crammer_singer", fit_intercept=False, C=C, tol=tol, max_iter=100_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        svm.fit(X, y)
        seconds = time.perf_counter() - begin
    return {"seconds": seconds, "primal": primal(svm.coef_.T, X, y, C)}


def primal(W: npt.NDArray[np.float64], X: Any, y: npt.NDArray[np.int64], C: float) -> float:
    """½‖W‖² + C Σ_i max_k ([k ≠ y_i] + ⟨w_k − w_{y_i}, x_i⟩)."""
    slacks = 0.0
    for begin in range(0, len(y), 10_000):
        truth = y[begin : begin + 10_000]
        scores = np.asarray(X[begin : begin + 10_000] @ W)
        own = scores[np.arange(len(truth)), truth]
        scores += np.arange(scores.shape[1]) != truth[:, None]
        slacks += float((scores.max(axis=1) - own).sum())
    return 0.5 * float((W**2).sum()) + C * slacks


def run(smoke: bool) -> Report:
    report = Report()
    # The gap asked of ours is the agreement asked of the objectives, so that it certifies it.
    tasks = (
        [("digits", 0.1, 1e-4, None, 3)]
        if smoke
        else [("MNIST", 0.01, 1e-4, 0.75, 3), ("part of speech", 0.1, 1e-3, 1 / 3, 1)]
    )
    for name, C, tol, bar, repeats in tasks:
        runs = race(
            [
                Entry("ours", "races.multiclass:ours", {"name": name, "C": C, "tol": AGREEMENT}, repeats),
                Entry("theirs", "races.multiclass:theirs", {"name": name, "C": C, "tol": tol}, repeats),
            ]
        )
        mine, other = median(runs["ours"], "primal"), median(runs["theirs"], "primal")
        apart = mine / other - 1.0
        good = apart <= AGREEMENT
        report.rows.append(
            Row(
                name,
                name,
                f"LinearSVC, Crammer-Singer, tol {tol:g}",
                median(runs["ours"]),
                median(runs["theirs"]),
                bar,
                good,
                f"objective {mine:.5g} / {other:.5g} ({apart:+.3%})",
            )
        )
        # Below theirs by more than the gap would mean that one of the two computes something else.
        if abs(apart) > AGREEMENT and smoke:
            report.failures.append(f"{name}: objectives {mine:.5f} and {other:.5f} differ by {apart:+.3%}")
        report.series[name] = {
            "ours": runs["ours"][-1]["history"],
            "theirs": [median(runs["theirs"]), other],
        }
    return report
