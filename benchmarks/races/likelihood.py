"""Conditional random fields: seconds to the objective at which CRFsuite's L-BFGS ends, on the same features."""

from __future__ import annotations

import time
from typing import Any

import data
import numpy as np
from measure import SCRATCH, Entry, Report, Row, Run, median, race

from races import crfsuite
from structlearn import ConditionalRandomField
from structlearn.models import Chain

#: CRFsuite's c2, its default; C/n = 1/(2 c2).
C2 = 1.0
#: How much, relatively, an objective may lie above CRFsuite's.
SLACK = 1e-4
SMOKE_SENTENCES = 500

ALL = {"feature.possible_states": True, "feature.possible_transitions": True}


def attributes(task: str, limit: int | None) -> tuple[list[Any], list[list[str]]]:
    """A data set as CRFsuite takes it."""
    if task == "chunking":
        return data.chunking("train", limit)
    X, Y, *_ = data.letters(range(1, 10), [0])
    names = np.array([f"{k}" for k in range(128)])
    return [[names[row > 0].tolist() for row in x] for x in X[:limit]], [[str(label) for label in y] for y in Y[:limit]]


class Target:
    """A callback: ends a run at a given objective."""

    def __init__(self, objective: float):
        self.objective = objective

    def setup(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        history = getattr(fitted_estimator, "history_", None)
        return bool(history and history[-1]["primal"] <= self.objective)

    def teardown(self, estimator: Any, context: Any) -> None:
        pass


def ours(task: str, observed: bool, solver: str, target: float, limit: int | None = None) -> Run:
    """Trains until the objective, in CRFsuite's units, is not above the target."""
    X, Y = attributes(task, limit)
    train = data.prepared(X, data.vocabulary(X))
    del X
    model = Chain(boundaries=False, observed_only=observed)
    crf = ConditionalRandomField(model, C=len(Y) / (2 * C2), solver=solver, tol=1e-7, max_iter=5000)
    crf.set_callbacks(Target(target / (2 * C2)))
    begin = time.perf_counter()
    crf.fit(train, Y)
    seconds = time.perf_counter() - begin
    last = crf.history_[-1]
    return {
        "seconds": seconds,
        "objective": 2 * C2 * crf.objective_,
        "bound": 2 * C2 * last["dual"],
        "iterations": crf.n_iter_,
    }


def theirs(task: str, observed: bool, limit: int | None = None) -> Run:
    X, Y = attributes(task, limit)
    options = {"c2": C2, "max_iterations": 100_000} | ({} if observed else ALL)
    return crfsuite.train(X, Y, "lbfgs", options, SCRATCH / f"likelihood-{task}-{observed}.crfsuite")


def run(smoke: bool) -> Report:
    report = Report()
    limit = SMOKE_SENTENCES if smoke else None
    for task in ("chunking",) if smoke else ("letters", "chunking"):
        for observed in (False,) if smoke else (False, True):
            setting = {"task": task, "observed": observed, "limit": limit}
            _compare(report, setting, smoke)
    return report


def _compare(report: Report, setting: dict[str, Any], smoke: bool) -> None:
    rival = race([Entry("theirs", "races.likelihood:theirs", setting, 1)])["theirs"]
    loss = median(rival, "loss")
    goal = setting | {"target": loss * (1 + SLACK)}
    solvers = ("dual_coordinate",) if smoke else ("dual_coordinate", "lbfgs")
    runs = race(
        Entry(solver, "races.likelihood:ours", goal | {"solver": solver}, 3 if solver == solvers[0] else 1)
        for solver in solvers
    )
    features = "observed pairs" if setting["observed"] else "all pairs"
    name = f"{setting['task']}, {features}"
    for solver in solvers:
        reached = median(runs[solver], "objective")
        report.rows.append(
            Row(
                f"likelihood {name}" + ("" if solver == solvers[0] else f" {solver}"),
                f"CRF, {name}, {solver}",
                "L-BFGS, c2 = 1",
                median(runs[solver]),
                median(rival),
                1 / 3 if solver == solvers[0] else None,
                reached <= loss * (1 + SLACK),
                f"objective {reached:.2f} / {loss:.2f}, bound {median(runs[solver], 'bound'):.2f}",
            )
        )
        if reached > loss * (1 + SLACK):
            report.failures.append(f"{name}, {solver}: objective {reached:.6g}, CRFsuite {loss:.6g}")
