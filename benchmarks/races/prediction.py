"""Tokens a second: chunks of CoNLL-2000's test set from prepared data, and from attribute lists."""

from __future__ import annotations

import warnings
from typing import Any

import data
import pycrfsuite
from measure import Entry, Report, Row, Run, in_fresh_process, median, race, seconds

from races import chunking, crfsuite
from structlearn import StructuralSVM
from structlearn.models import Chain

RIVAL = "L-BFGS, c2 = 1"
#: Speed hardly depends on how long the models were trained, but it does on the number of their features.
PASSES = 5


def ours(setting: dict[str, Any], limit: int | None, repeats: int) -> Run:
    X, Y = data.chunking("train", limit)
    X_test, _ = data.chunking("test")
    svm = chunking.machine(len(Y), **setting).fit(X, Y)
    columns = {name: k for k, name in enumerate(svm.spec_.vocabulary)}
    arrays = data.prepared(X_test, columns)
    # The same weights in an estimator that takes arrays.
    on_arrays = StructuralSVM(Chain(), max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        on_arrays.fit(data.prepared(X, columns), Y)
    on_arrays.w_ = svm.w_
    same = on_arrays.predict(arrays) == svm.predict(X_test)
    return {
        "same": bool(same),
        "tokens": sum(len(x) for x in X_test),
        "seconds": seconds(lambda: on_arrays.predict(arrays), repeats),
        "from_lists": seconds(lambda: svm.predict(X_test), repeats),
    }


def theirs(limit: int | None, repeats: int) -> Run:
    X_test, _ = data.chunking("test")
    tagger = crfsuite.tagger(chunking.model_path(RIVAL, limit))
    items = [pycrfsuite.ItemSequence(x) for x in X_test]
    return {
        "tokens": sum(len(x) for x in X_test),
        "seconds": seconds(lambda: [tagger.tag(x) for x in items], repeats),
        "from_lists": seconds(lambda: [tagger.tag(x) for x in X_test], repeats),
    }


def run(smoke: bool) -> Report:
    limit = chunking.SMOKE_SENTENCES if smoke else None
    if not chunking.model_path(RIVAL, limit).exists():
        in_fresh_process("races.chunking:theirs", name=RIVAL, limit=limit)
    turns = 3
    runs = race(
        [
            Entry(
                "ours",
                "races.prediction:ours",
                {"setting": chunking.chosen(), "limit": limit, "repeats": PASSES},
                turns,
            ),
            Entry("theirs", "races.prediction:theirs", {"limit": limit, "repeats": PASSES}, turns),
        ]
    )
    rows = []
    for what, task, bar in (
        ("seconds", "prediction, prepared data", 1 / 8),
        ("from_lists", "prediction, from attribute lists", 1 / 2),
    ):
        mine, other = median(runs["ours"], what), median(runs["theirs"], what)
        tokens = runs["ours"][0]["tokens"]
        rates = f"{tokens / mine / 1000:.0f} / {tokens / other / 1000:.0f} thousand tokens a second"
        rows.append(Row(task, task, "CRFsuite tagging", mine, other, bar, reached=rates))
    differ = [] if all(run["same"] for run in runs["ours"]) else ["prediction: lists and arrays are tagged differently"]
    return Report(rows, failures=differ)
