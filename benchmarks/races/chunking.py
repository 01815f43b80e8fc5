"""Chunks of CoNLL-2000 from 14 window features, against every algorithm of CRFsuite."""

from __future__ import annotations

import json
import time
from itertools import product
from statistics import mean
from typing import Any

import data
from measure import HERE, SCRATCH, Entry, Report, Row, Run, median, race

from races import crfsuite
from structlearn import StructuralSVM
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate

CHOSEN = HERE / "races" / "chosen.json"
PRICES = (0.1, 0.3, 1.0)
TOLERANCES = (0.5, 0.3, 0.2, 0.1, 0.05, 0.02)
#: Training sentences held out in turn: those whose number ends in this digit.
FOLDS = (7, 8, 9)
SMOKE_SENTENCES = 500
#: Held-out F1 that may be given up for a shorter run, in points of 100.
SACRIFICE = 0.05


def ours(
    price: float, tol: float, averaging: bool, limit: int | None = None, from_lists: bool = False, seed: int = 0
) -> Run:
    """Trains on all sentences at C/n = price to a relative gap of tol; the test F1 in percent."""
    X, Y = data.chunking("train", limit)
    columns = data.vocabulary(X)
    train = X if from_lists else data.prepared(X, columns)
    del X
    svm = machine(len(Y), price, tol, averaging, seed)
    begin = time.perf_counter()
    svm.fit(train, Y)
    seconds = time.perf_counter() - begin
    X_test, Y_test = data.chunking("test")
    test = X_test if from_lists else data.prepared(X_test, columns)
    last = svm.history_[-1]
    return {
        "seconds": seconds,
        "f1": 100 * data.chunk_f1(Y_test, svm.predict(test)),
        "gap": svm.duality_gap_,
        "iterations": svm.n_iter_,
        "oracle_seconds": last["oracle_seconds"],
        "dual_seconds": last["dual_seconds"],
    }


def machine(n: int, price: float, tol: float, averaging: bool, seed: int = 0) -> StructuralSVM:
    solver = BlockCoordinate(tol=tol, averaging=averaging, random_state=seed)
    return StructuralSVM(Chain(), C=price * n, solver=solver)


def held_out(fold: int, settings: list[dict[str, Any]]) -> Run:
    """Seconds and F1 of each setting when every tenth training sentence takes the place of the test set."""
    X, Y = data.chunking("train")
    X_test, Y_test = X[fold::10], Y[fold::10]
    del X[fold::10], Y[fold::10]
    columns = data.vocabulary(X)
    train, test = data.prepared(X, columns), data.prepared(X_test, columns)
    runs = []
    for setting in settings:
        svm = machine(len(Y), **setting)
        begin = time.perf_counter()
        svm.fit(train, Y)
        seconds = time.perf_counter() - begin
        runs.append({"seconds": seconds, "f1": 100 * data.chunk_f1(Y_test, svm.predict(test))})
    return {"runs": runs}


def theirs(name: str, limit: int | None = None, options: dict[str, Any] | None = None) -> Run:
    """Trains one algorithm of CRFsuite on the same attribute lists; the test F1 in percent."""
    X, Y = data.chunking("train", limit)
    algorithm, defaults = crfsuite.ALGORITHMS[name]
    path = model_path(name, limit)
    run = crfsuite.train(X, Y, algorithm, defaults | (options or {}), path)
    X_test, Y_test = data.chunking("test")
    tagger = crfsuite.tagger(path)
    return run | {"f1": 100 * data.chunk_f1(Y_test, [tagger.tag(x) for x in X_test])}


def model_path(name: str, limit: int | None = None) -> Any:
    plain = "".join(c if c.isalnum() else "-" for c in name)
    return SCRATCH / f"chunking-{plain}-{limit or 'all'}.crfsuite"


class Curve:
    """A callback: F1 on given sentences after every iteration, and the seconds that training itself has taken."""

    def __init__(self, X: Any, Y: list[list[str]]):
        self.X, self.Y = X, Y

    def setup(self, estimator: Any, context: Any) -> None:
        self.points: list[dict[str, float]] = []
        self._begin = time.perf_counter()
        self._own = 0.0

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(self, estimator: Any, context: Any, *, fitted_estimator: Any = None) -> bool:
        begin = time.perf_counter()
        record = fitted_estimator.history_[-1]
        trained = begin - self._begin - self._own
        f1 = 100 * data.chunk_f1(self.Y, fitted_estimator.predict(self.X))
        self.points.append({"seconds": trained, "gap": record["gap"] / record["primal"], "f1": f1})
        self._own += time.perf_counter() - begin
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        pass


def curve(price: float, tol: float, averaging: bool) -> Run:
    """F1 on the test set against seconds."""
    X, Y = data.chunking("train")
    X_test, Y_test = data.chunking("test")
    columns = data.vocabulary(X)
    watch = Curve(data.prepared(X_test, columns), Y_test)
    svm = machine(len(Y), price, tol, averaging)
    svm.set_callbacks(watch)
    svm.fit(data.prepared(X, columns), Y)
    return {"points": watch.points}


def choose() -> dict[str, Any]:
    """The setting, by held-out training sentences: of those nearly as good as the best, the quickest."""
    grid = product(PRICES, TOLERANCES, (False, True))
    settings = [{"price": price, "tol": tol, "averaging": averaging} for price, tol, averaging in grid]
    found = race(Entry(f"{fold}", "races.chunking:held_out", {"fold": fold, "settings": settings}, 1) for fold in FOLDS)
    folds = [found[f"{fold}"][0]["runs"] for fold in FOLDS]
    tried = [
        setting | {key: mean(runs[k][key] for runs in folds) for key in ("f1", "seconds")}
        for k, setting in enumerate(settings)
    ]
    best = max(each["f1"] for each in tried)
    quickest = min((each for each in tried if each["f1"] >= best - SACRIFICE), key=lambda each: each["seconds"])
    setting = {key: quickest[key] for key in settings[0]}
    CHOSEN.write_text(json.dumps({"setting": setting, "tried": tried}, indent=1) + "\n")
    return quickest


def run(smoke: bool) -> Report:
    return _smoke(chosen()) if smoke else _full(chosen())


def chosen() -> dict[str, Any]:
    """The setting that `choose` found."""
    return dict(json.loads(CHOSEN.read_text())["setting"])


def _smoke(setting: dict[str, Any]) -> Report:
    limit, name = SMOKE_SENTENCES, "L-BFGS, c2 = 1"
    runs = race(
        [
            Entry("ours", "races.chunking:ours", setting | {"limit": limit}),
            Entry("theirs", "races.chunking:theirs", {"name": name, "limit": limit}, 1),
        ]
    )
    ours_f1, theirs_f1 = median(runs["ours"], "f1"), median(runs["theirs"], "f1")
    row = Row(
        "chunking",
        f"chunking, {limit} sentences",
        name,
        median(runs["ours"]),
        median(runs["theirs"]),
        reached=f"F1 {ours_f1:.2f} / {theirs_f1:.2f}",
    )
    behind = [f"chunking: F1 {ours_f1:.2f}, CRFsuite {theirs_f1:.2f}"] if ours_f1 < theirs_f1 - 0.5 else []
    return Report([row], failures=behind)


def _full(setting: dict[str, Any]) -> Report:
    entries = [
        Entry("ours", "races.chunking:ours", setting, seeded=True),
        Entry("ours, lists", "races.chunking:ours", setting | {"from_lists": True}, seeded=True),
        *(
            Entry(name, "races.chunking:theirs", {"name": name}, 3 if name == "passive-aggressive" else 1)
            for name in crfsuite.ALGORITHMS
        ),
        Entry("curve", "races.chunking:curve", setting, 1),
    ]
    runs = race(entries)
    prepared, lists = median(runs["ours"]), median(runs["ours, lists"])
    lbfgs = [name for name in crfsuite.ALGORITHMS if name.startswith("L-BFGS")]
    best = max(lbfgs, key=lambda name: median(runs[name], "f1"))
    rows = []
    for name in crfsuite.ALGORITHMS:
        their_f1 = median(runs[name], "f1")
        read = median(runs[name], "from_lists")
        for key, task, run, ours, theirs in (
            ("chunking", "chunking", "ours", prepared, median(runs[name])),
            ("chunking lists", "chunking, from attribute lists", "ours, lists", lists, read),
        ):
            f1 = median(runs[run], "f1")
            bar, good = None, True
            if name == best:
                bar, good = 1 / 20, f1 >= their_f1 - 0.1
            elif name == "passive-aggressive":
                bar, good = 1 / 6, f1 > their_f1
            rows.append(Row(f"{key} {name}", task, name, ours, theirs, bar, good, f"F1 {f1:.2f} / {their_f1:.2f}"))
    last = runs["ours"][-1]
    parts = f"{last['iterations']}, {last['oracle_seconds']:.1f}, {last['dual_seconds']:.1f}"
    facts = [
        (
            "CoNLL-2000: C/n, relative gap and averaging, chosen on held-out training sentences",
            "{price:g}, {tol:g}, {averaging}".format(**setting),
        ),
        ("…iterations, seconds in the oracle and in the dual", parts),
        ("…test F1 with seeds 0, 1, 2, prepared arrays", ", ".join(f"{run['f1']:.2f}" for run in runs["ours"])),
        ("…test F1 with seeds 0, 1, 2, attribute lists", ", ".join(f"{run['f1']:.2f}" for run in runs["ours, lists"])),
        ("…peak memory of the whole process, prepared arrays", f"{median(runs['ours'], 'peak_mb'):.0f} MB"),
        ("…peak memory of the whole process, attribute lists", f"{median(runs['ours, lists'], 'peak_mb'):.0f} MB"),
        (f"…the same of CRFsuite, {best}", f"{median(runs[best], 'peak_mb'):.0f} MB"),
    ]
    points = {name: [median(runs[name]), median(runs[name], "f1")] for name in crfsuite.ALGORITHMS}
    return Report(rows, facts, {"chunking": {"ours": runs["curve"][0]["points"], "theirs": points}})
