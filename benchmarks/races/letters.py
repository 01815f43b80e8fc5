"""OCR letters: seconds to a certified gap, against CRFsuite's L-BFGS run to convergence."""

from __future__ import annotations

import time
from collections.abc import Sequence

import data
import numpy as np
from measure import SCRATCH, Entry, Report, Row, Run, median, race

from races import crfsuite
from structlearn import StructuralSVM
from structlearn.models import Chain

ALL_BUT_0 = list(range(1, 10))


def ours(C: float, tol: float, train_folds: Sequence[int], test_folds: Sequence[int]) -> Run:
    X, Y, X_test, Y_test = data.letters(train_folds, test_folds)
    svm = StructuralSVM(Chain(), C=C, tol=tol)
    begin = time.perf_counter()
    svm.fit(X, Y)
    seconds = time.perf_counter() - begin
    keys = ("seconds", "primal", "dual", "oracle_seconds", "dual_seconds")
    return {
        "seconds": seconds,
        "gap": svm.duality_gap_,
        "converged": bool(svm.converged_),
        "error": 100 * data.token_error(Y_test, svm.predict(X_test)),
        "history": [{key: record[key] for key in keys} for record in svm.history_],
    }


def theirs(c2: float, train_folds: Sequence[int], test_folds: Sequence[int]) -> Run:
    """L-BFGS on the names of the black pixels; its stopping rule is CRFsuite's own."""
    X, Y, X_test, Y_test = data.letters(train_folds, test_folds)
    names = np.array([f"{k}" for k in range(128)])

    def attributes(x: data.Matrix) -> list[list[str]]:
        return [names[row > 0].tolist() for row in x]

    path = SCRATCH / "letters.crfsuite"
    run = crfsuite.train([attributes(x) for x in X], [y.tolist() for y in Y], "lbfgs", {"c2": c2}, path)
    tagger = crfsuite.tagger(path)
    return run | {"error": 100 * data.token_error(Y_test, [tagger.tag(attributes(x)) for x in X_test])}


def run(smoke: bool) -> Report:
    # C/n = 0.1 in the SVM is c2 = n/(2C) = 5 in CRFsuite.
    folds = {"train_folds": [0], "test_folds": [1]} if smoke else {"train_folds": ALL_BUT_0, "test_folds": [0]}
    C = 62.6 if smoke else 625.1
    runs = race(
        [
            Entry("ours", "races.letters:ours", folds | {"C": C, "tol": 0.01}),
            Entry("theirs", "races.letters:theirs", folds | {"c2": 5.0}, 3 if smoke else 1),
            *([] if smoke else [Entry("default", "races.letters:theirs", folds | {"c2": 1.0}, 1)]),
        ]
    )
    errors = median(runs["ours"], "error"), median(runs["theirs"], "error")
    row = Row(
        "letters",
        "OCR letters, fold 0, gap 1 %" if smoke else "OCR letters, folds 1-9, gap 1 %",
        "L-BFGS to convergence, c2 = 5",
        median(runs["ours"]),
        median(runs["theirs"]),
        1 / 8,
        all(run["converged"] for run in runs["ours"]),
        "letter error {:.1f} % / {:.1f} %".format(*errors),
    )
    report = Report([row], series={"letters": runs["ours"][-1]["history"]})
    if not smoke:
        reached = f"letter error {errors[0]:.1f} % / {median(runs['default'], 'error'):.1f} %"
        times = median(runs["ours"]), median(runs["default"])
        rival = "L-BFGS to convergence, c2 = 1"
        report.rows.append(Row("letters c2 = 1", "OCR letters, folds 1-9, gap 1 %", rival, *times, reached=reached))
        fold0 = {"train_folds": [0], "test_folds": ALL_BUT_0, "tol": 1e-4}
        exact = race(Entry(f"{price}", "races.letters:ours", fold0 | {"C": price}, 1) for price in (62.6, 626.0))
        for price, done in exact.items():
            report.facts.append(
                (f"OCR letters, fold 0, C = {price}: seconds to relative gap 1e-4", f"{median(done):.2f}")
            )
    return report
