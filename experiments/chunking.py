"""CoNLL-2000 chunking with features of our own: span F1 on the published test set.

Protocol, fixed before the test set is touched: the features, the learner and C are chosen on training sentences alone.
Two tenths of them (those whose number ends in 7 or 8) are held out in turn; the setting with the best mean F1 of the
two is trained on all 8,936 sentences, with seeds 0, 1 and 2, and scored on the 2,012 test sentences as conlleval does.
Every setting that was tried is in the table.

    python experiments/chunking.py --output docs/experiments
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

import structlearn
from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.datasets import fetch_conll2000
from structlearn.features import TextFeatures
from structlearn.metrics import bootstrap_counts, f1, span_counts, span_scores
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate

COMMAND = "python experiments/chunking.py --output docs/experiments"
HELD_OUT = (7, 8)
SEEDS = (0, 1, 2)

CRFPP = ["word[-2..2]", "pairs of word[-1..1]", "pos[-2..2]", "pairs of pos[-2..2]", "triples of pos[-2..2]"]
RICH = [
    *CRFPP,
    *(f"word[{d}]|pos[0]" for d in (-2, -1, 0, 1, 2)),
    *(f"pos[{d}]|word[0]" for d in (-2, -1, 1, 2)),
    "word.lower[0]",
    "word.prefix2..4[0]",
    "word.suffix2..4[0]",
    "word.suffix3[-1]|word.suffix3[0]",
    "word.suffix3[0]|word.suffix3[1]",
    "word.shape[0]",
    "word.short_shape[-1..1]",
    "word.is_number[0]",
    "bias",
]
FEATURES = {"the 19 templates of CRF++": CRFPP, "ours": RICH}
LEARNERS = {
    "CRF": (0.3, 1.0),
    "SVM": (0.03, 0.1, 0.3),
}


def learner(name: str, price: float, n: int, seed: int = 0) -> Any:
    model = Chain(allowed_transitions="BIO")
    if name == "CRF":
        return ConditionalRandomField(model, C=price * n, tol=3e-3, random_state=seed)
    return StructuralSVM(model, C=price * n, solver=BlockCoordinate(tol=0.03, averaging=True, random_state=seed))


def chosen_from(sentences: Any, tried: list[dict[str, Any]]) -> dict[str, Any]:
    """Runs every setting on both held-out parts; the best."""
    for features, templates in FEATURES.items():
        parts = []
        for digit in HELD_OUT:
            held = np.arange(len(sentences.X)) % 10 == digit
            X, Y, X_held, Y_held = (
                [part[i] for i in np.flatnonzero(which)]
                for which in (~held, held)
                for part in (sentences.X, sentences.Y)
            )
            text = TextFeatures(templates, columns=("word", "pos"))
            parts.append((text.fit_transform(X), Y, text.transform(X_held), Y_held))
        for name, prices in LEARNERS.items():
            for price in prices:
                begin = time.perf_counter()
                scores = []
                for X, Y, X_held, Y_held in parts:
                    fitted = learner(name, price, len(Y)).fit(X, Y)
                    scores.append(100 * span_scores(Y_held, fitted.predict(X_held), "conlleval").micro.f1)
                seconds = (time.perf_counter() - begin) / len(parts)
                tried.append(
                    {"features": features, "learner": name, "C/n": price, "f1": scores, "seconds": round(seconds, 1)}
                )
                print(tried[-1], flush=True)
    return max(tried, key=lambda setting: np.mean(setting["f1"]))


SEEN_BEFORE = """\
Before this protocol, while `TextFeatures` was written, the test set had been scored twice with structural SVMs: 93.81
with the templates of CRF++ and 93.96 with the defaults of `TextFeatures`. The templates called ours were not among them
and were not changed after any score; a first grid without C/n = 0.03 for the SVM and with 3 for the CRF was stopped
half way, before the test set, because the SVM's best was at its end and the CRF's largest C was slow.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, help="folder for chunking.md and chunking.json")
    folder = parser.parse_args().output
    begin = time.perf_counter()
    train = fetch_conll2000("train")
    tried: list[dict[str, Any]] = []
    best = chosen_from(train, tried)
    print("chosen:", best, flush=True)
    text = TextFeatures(FEATURES[best["features"]], columns=("word", "pos"))
    X = text.fit_transform(train.X)
    test = fetch_conll2000("test")
    X_test = text.transform(test.X)
    runs = []
    for seed in SEEDS:
        start = time.perf_counter()
        fitted = learner(best["learner"], best["C/n"], len(train.Y), seed).fit(X, train.Y)
        seconds = time.perf_counter() - start
        predicted = fitted.predict(X_test)
        counts = span_counts(test.Y, predicted, "conlleval")
        interval = bootstrap_counts(counts, f1, random_state=0)
        runs.append(
            {
                "seed": seed,
                "f1": 100 * f1(counts.sum(axis=0)),
                "low": 100 * interval.low,
                "high": 100 * interval.high,
                "gap": fitted.duality_gap_,
                "seconds": round(seconds, 1),
            }
        )
        print(runs[-1], flush=True)
    if folder is not None:
        page = write(best, tried, runs, X.tokens.shape[1], time.perf_counter() - begin)
        (folder / "chunking.md").write_text(page)
        (folder / "chunking.json").write_text(
            json.dumps({"chosen": best, "tried": tried, "test": runs}, indent=1) + "\n"
        )


def write(best: dict[str, Any], tried: list[dict[str, Any]], runs: list[dict[str, Any]], n: int, seconds: float) -> str:
    description = (__doc__ or "").split("\n\n")[1].replace("\n", " ")
    lines = ["# Chunking with richer features", "", description, "", "## Held-out training sentences", ""]
    lines += [
        "| features | learner | C/n | F1, part 7 | F1, part 8 | mean | seconds a fit |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in tried:
        mark = " (chosen)" if setting is best else ""
        lines.append(
            f"| {setting['features']} | {setting['learner']} | {setting['C/n']:g} | {setting['f1'][0]:.2f} | "
            f"{setting['f1'][1]:.2f} | {np.mean(setting['f1']):.2f}{mark} | {setting['seconds']:.0f} |"
        )
    lines += ["", "## Test set", "", f"{n:,} features of a token, transitions restricted to valid BIO.", ""]
    lines += [
        "| seed | F1 | 95 % interval (bootstrap over sentences) | relative gap | seconds |",
        "|---|---|---|---|---|",
    ]
    for run in runs:
        lines.append(
            f"| {run['seed']} | {run['f1']:.2f} | {run['low']:.2f} to {run['high']:.2f} | {run['gap']:.1e} | "
            f"{run['seconds']:.0f} |"
        )
    lines += [
        "",
        SEEN_BEFORE.rstrip(),
        "",
        f"Made by `{COMMAND}` in {seconds:.0f} s, on a machine shared with other work, with structlearn ",
    ]
    lines[-1] += f"{structlearn.__version__}."
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
