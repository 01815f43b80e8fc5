"""Do latent forests find who is who better than correlation clustering? Yu 2011, section 5.4.2, Table 5.2.

**Data.** The thesis has MUC-6, 60 documents, which is not to be had. Here it is LitBank: parts of 100 English novels,
29,103 mentions, singletons included, mentions given. The first 50 documents by their number at Project Gutenberg are
for training, the last 50 for testing, as the thesis takes the first and the last 30. All pairs of mentions of a
document are candidates; nothing is sub-sampled. Features are those of `MentionPairs`, from words alone.

**Methods.** `LatentForest` with r = 1 (the plain loss), r = 0.01 (the thesis' modified loss), and r chosen from 1,
0.1, 0.01; `CorrelationClustering` with the greedy decoder for the SVM-cluster baseline. Its linear program is for at
most 100 mentions and no document here is that small, so it is left out. Learning begins with chains in the order of
the text.

**Settings.** C by 3-fold cross-validation on the training documents, document i in fold i mod 3: C/n from 0.1, 0.3,
1, 3 for forests and 1e-9, 1e-8, 1e-7, 1e-6 for correlation clustering, whose features are sums over thousands of
pairs. That with the least MITRE loss over all held-out documents is taken, of equals the smallest C and the largest r.
Forests: concave-convex procedure to a stationarity of 0.01, at most 3,000 iterations; correlation clustering: block-
coordinate ascent, at most 50 passes. Because MITRE's measure favours large clusters, a forest whose r and C are
chosen by the CoNLL F1 is reported beside them.

**What counts.** MITRE loss 1 − F1 of MUC, over all documents; pair loss, the mean of the documents' parts of wrong
pairs; MUC, B³, CEAF and the CoNLL mean, as the reference scorer has them. Intervals are of 2,000 resamples of
documents (seed 0).

**Tests.** The modified loss against the plain one, and against correlation clustering: the bootstrap interval of the
difference of the MITRE loss, a paired t-test of the documents' MITRE losses, and a Z-test of two proportions, c of (p
+ t)/2 links being right, with c correct, p predicted and t true ones. The thesis says "Z-test" and no more.

**Oracle calls.** Documents decoded by `ConcaveConvex` with and without `carry_over`, all else the same, on all
training documents at the chosen C of r = 1 and r = 0.01, to a stationarity of 0.01, at most 3,000 iterations.

**Size.** The first training documents put together to one of 3,000 mentions, with all pairs and with a window of 100:
seconds and peak memory in a process of its own.

What was looked at before: scores and times on the training documents only (35 of them for training, 15 for testing),
by which the grids were placed. The features were written once, without looking at scores. A first run with 5 folds, r
= 0.3 and 0.03 as well, C/n = 0.03 and 1e-5, 100 passes and a stationarity of 0.001 in the comparison of oracle calls
was stopped after two settings (r = 1 with C/n = 0.03 and 0.1), because the machine was busy and it would have taken
too long; no test document had been looked at.

**The second run.** All of this had been run once before (its page and numbers are in the history, commit 418ae98). It
is repeated because the solver was changed: truths are completed anew sooner. Two things are done otherwise, both
against what the first run had shown to be unfair to r = 1, whose C was chosen at the end of the grid and whose run did
not converge: C/n = 3 joined the grid of all forests, and iterations went from 500 to 3,000.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from report import Run, findings, percent, publish, table, verdict
from sklearn.exceptions import ConvergenceWarning

from structlearn import LatentStructuralSVM, StructuralSVM
from structlearn.data import Document, Mention
from structlearn.datasets import fetch_litbank
from structlearn.features import MentionPairs
from structlearn.metrics import (
    bootstrap_counts,
    coreference_counts,
    coreference_scores,
    pair_losses,
    paired_t_test,
    two_proportion_z_test,
)
from structlearn.models import CorrelationClustering, LatentForest
from structlearn.models.clustering.latent_forest import LatentForestProblem
from structlearn.solvers import ConcaveConvex
from structlearn.waist import Scaling

TRAINING, FOLDS = 50, 3
PENALTIES = (1.0, 0.1, 0.01)
FOREST_PRICES = (0.1, 0.3, 1.0, 3.0)
CORRELATION_PRICES = (1e-9, 1e-8, 1e-7, 1e-6)
CORRELATION = "correlation"
PUBLISHED = [
    ["SVM-cluster, MUC-6, published", "41.3", "2.89"],
    ["forest, r = 1, MUC-6, published", "44.1", "2.66"],
    ["forest, r = 0.01, MUC-6, published", "35.6", "4.11"],
]
#: A setting: r, or the word for correlation clustering, and C/n.
Setting = tuple[float | str, float]


def estimator(setting: Setting, n: int):
    r, price = setting
    if r == CORRELATION:
        return StructuralSVM(CorrelationClustering(), C=price * n, tol=1e-3, max_iter=50, random_state=0)
    return LatentStructuralSVM(LatentForest(r=float(r)), C=price * n, tol=0.01, max_iter=3000, random_state=0)


def fitted(setting: Setting, X, Y):
    machine = estimator(setting, len(X))
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, Y)
    seconds = time.process_time() - begin
    facts = {"method": str(setting[0]), "C/n": setting[1], "seconds": seconds, "iterations": machine.n_iter_}
    facts |= {"objective": machine.objective_, "stationarity": getattr(machine, "stationarity_", np.nan)}
    return machine, facts | {"completions": machine.history_[-1].get("completion", 0)}


def judged(Y, predicted) -> Run:
    found = coreference_scores(Y, predicted)
    measures = {name: getattr(found, name).f1 for name in ("muc", "b_cubed", "ceaf_m", "ceaf_e")}
    sides = {"muc_precision": found.muc.precision, "muc_recall": found.muc.recall}
    return measures | sides | {"conll": found.conll, "pair_loss": float(pair_losses(Y, predicted).mean())}


def cross_validate(X, Y, settings: list[Setting], runs: list[Run]) -> dict[Setting, Run]:
    results = {}
    for setting in settings:
        predicted = [None] * len(X)
        for fold in range(FOLDS):
            held_out = np.arange(len(X)) % FOLDS == fold
            machine, facts = fitted(setting, take(X, ~held_out), take(Y, ~held_out))
            for i, labels in zip(np.flatnonzero(held_out), machine.predict(take(X, held_out)), strict=True):
                predicted[i] = labels
            part = judged(take(Y, held_out), take(predicted, held_out))
            runs.append({"part": "cross-validation", "fold": fold} | facts | part)
        results[setting] = judged(Y, predicted)
        runs.append({"part": "cross-validation", "fold": "all", "method": str(setting[0]), "C/n": setting[1]})
        runs[-1] |= results[setting]
        print(runs[-1], flush=True)
    return results


def take(items, which):
    return [items[k] for k in np.flatnonzero(which)]


def best(results: dict[Setting, Run], measure: str = "muc", among=None) -> Setting:
    """The setting with the greatest measure, of equals that with the smallest C and the largest r."""
    chosen = [setting for setting in results if among is None or setting[0] in among]
    return max(chosen, key=lambda s: (results[s][measure], -s[1], s[0]))


def muc_f1(sums):
    return 2.0 * sums[..., 0] / np.maximum(sums[..., 1] + sums[..., 3], 1.0)


def comparison(counts, new: str, old: str) -> list[str]:
    a, b = counts[new], counts[old]
    both = np.hstack([a, b])
    difference = bootstrap_counts(both, lambda s: muc_f1(s[:, 16:]) - muc_f1(s[:, :16]), random_state=0)
    t_test = paired_t_test(1.0 - muc_f1(a), 1.0 - muc_f1(b))
    (right_a, n_a), (right_b, n_b) = ((s[0], round((s[1] + s[3]) / 2)) for s in (a.sum(axis=0), b.sum(axis=0)))
    z_test = two_proportion_z_test(n_a - int(right_a), n_a, n_b - int(right_b), n_b)
    cells = [percent(difference, "+"), verdict(difference, more_is_better=False), f"{t_test.p_value:.2g}"]
    return [f"{new} − {old}", *cells, f"{z_test.p_value:.2g}"]


class CountedForest(LatentForest):
    """A `LatentForest` whose problem counts the documents that it decodes in training."""

    def bind(self, spec, X, Y=None, *, allow_unknown=False):
        plain = super().bind(spec, X, Y, allow_unknown=allow_unknown)
        plain.__class__ = _Counting
        return plain


class _Counting(LatentForestProblem):
    decoded = 0
    completed_documents = 0

    def most_violating(self, w, examples, scaling):
        _Counting.decoded += len(examples)
        return super().most_violating(w, examples, scaling)

    def complete(self, w, examples):
        _Counting.completed_documents += len(examples)
        return super().complete(w, examples)


def oracle_calls(X, Y, settings: list[Setting], runs: list[Run]) -> str:
    rows = [["r", "tol", "carry_over", "documents decoded", "completed", "completions", "iterations", "objective", "s"]]
    for r, price in settings:
        for tol in (0.01,):
            decoded = {}
            for carry_over in (True, False):
                _Counting.decoded = _Counting.completed_documents = 0
                solver = ConcaveConvex(tol=tol, carry_over=carry_over, max_iter=3000, random_state=0)
                machine = LatentStructuralSVM(CountedForest(r=float(r)), C=price * len(X), solver=solver)
                begin = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    machine.fit(X, Y)
                run: Run = {
                    "part": "oracle calls",
                    "method": str(r),
                    "C/n": price,
                    "tol": tol,
                    "carry_over": carry_over,
                }
                run |= {"decoded": _Counting.decoded, "completed": _Counting.completed_documents}
                run |= {"seconds": time.process_time() - begin, "iterations": machine.n_iter_}
                run |= {"objective": machine.objective_, "stationarity": machine.stationarity_}
                run |= {"completions": machine.history_[-1]["completion"]}
                runs.append(run)
                print(run, flush=True)
                decoded[carry_over] = run["decoded"]
                cells = [r, tol, carry_over, run["decoded"], run["completed"], run["completions"], run["iterations"]]
                note = "" if machine.stationarity_ <= tol else " (not converged)"
                rows.append([*cells, f"{run['objective']:.2f}{note}", f"{run['seconds']:.0f}"])
            rows.append([r, tol, "ratio", f"{decoded[False] / decoded[True]:.2f}", "", "", "", "", ""])
    return table(*rows)


def joined(documents: list[Document], labels, n_mentions: int) -> tuple[Document, list[str]]:
    """One document of several, with so many mentions."""
    sentences: list[tuple[str, ...]] = []
    mentions: list[Mention] = []
    together: list[str] = []
    for k, (document, y) in enumerate(zip(documents, labels, strict=True)):
        mentions += [m._replace(sentence=m.sentence + len(sentences)) for m in document.mentions]
        together += [f"{k} {label}" for label in y]
        sentences += document.sentences
    return Document(tuple(sentences), tuple(mentions[:n_mentions])), together[:n_mentions]


def own_peak() -> float:
    """Megabytes at most; of a process that another one started, getrusage would begin with those of its parent."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def size(window: int | None) -> Run:
    data = fetch_litbank()
    document, y = joined(data.X[:TRAINING], data.Y[:TRAINING], 3000)
    base = own_peak()
    times = {}

    def timed(name, work):
        begin = time.process_time()
        result = work()
        times[name] = time.process_time() - begin
        return result

    (x,) = timed("features", lambda: MentionPairs(window).transform([document]))
    model = LatentForest()
    spec = model.specify([x], [y])
    problem = timed("bind", lambda: model.bind(spec, [x], [y]))
    w, one = np.random.default_rng(0).normal(size=problem.n_features), np.array([0])
    timed("predict", lambda: problem.best(w, one))
    timed("oracle", lambda: problem.oracle(w, one, Scaling("margin", "linear")))
    timed("complete", lambda: problem.complete(w, one))
    machine = LatentStructuralSVM(model, C=0.1, tol=0.01, max_iter=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        timed("fit of 50 iterations", lambda: machine.fit([x], [y]))
    peak = own_peak()
    counts = {"pairs": len(x.kinds), "kinds": x.features.shape[0]}
    return {"part": "size", "window": window, **counts, **times, "before_mb": base, "peak_mb": peak}


def sizes(runs: list[Run]) -> str:
    for window in (None, 100):
        command = [sys.executable, __file__, "--size", str(window or 0)]
        runs.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        print(runs[-1], flush=True)
    names = [name for name in runs[-1] if name not in ("part", "window")]
    rows = [["", "all pairs", "window of 100"]]
    rows += [
        [name, *(f"{run[name]:,.3g}" if run[name] < 1000 else f"{run[name]:,.0f}" for run in runs[-2:])]
        for name in names
    ]
    return "Seconds, and megabytes before the features were made and at the peak.\n\n" + table(*rows)


#: Written after the run whose tables it describes.
FINDINGS = """\
- The modified loss does what the thesis says. The plain one is cautious (precision 91.1, recall 80.4 by MUC); r =
  0.01 raises recall to 90.7 and lowers the MITRE loss from 14.6 to 11.7, a difference of -2.8 [-3.9, -1.9], p = 2.5e-6
  over documents. Its price is paid in pairs, here as there: a pair loss of 32.1 instead of 13.3, where the thesis has
  4.11 instead of 2.66. Cross-validation also picks r = 0.01.
- Other than in the thesis, the plain forest has less MITRE loss than correlation clustering (14.6 against 17.1, which
  no test was planned for) and more pair loss (13.3 against 9.2).
- Who wins depends on the measure. By the CoNLL mean the modified loss is the worst (72.8), the plain one the best
  (75.07, r = 0.1 75.05); correlation clustering has the best CEAF.
- The Z-test takes links to be independent, which they are not: its p-values are too small. Those of the t-test are
  over documents.
- C/n = 3, the end of the grid, is chosen for every r, but the last step gains 0.2 points of MITRE loss at most. All
  forests of this run converged.
- Training takes 46 to 108 seconds of processor time for forests at that C and 11 for correlation clustering, on 50
  documents and 14,523 mentions, within 0.52 GB for everything.
- Carrying constraints over from one completion to the next saves 40 % of the documents decoded for r = 1, and 24 % at
  least for r = 0.01, where the run that began afresh each time had not ended after 3,000 iterations. That is less
  than for motifs and rankings: there are few completions, each moves the truths of long documents a long way, and most
  of the time goes into the last convex problems.
- A document of 3,000 mentions with all its 4.5 million pairs is predicted in 7 milliseconds once its features are
  there; making and binding them takes 6 seconds and 0.67 GB, or 0.35 seconds and 0.1 GB with a window of 100.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, help="folder for coreference.md and coreference.json")
    parser.add_argument(
        "--size", type=int, help="measure a large document with this window, 0 for all pairs, and no more"
    )
    options = parser.parse_args()
    if options.size is not None:
        print(json.dumps(size(options.size or None)))
        return
    begin = time.perf_counter()
    runs: list[Run] = []
    data = fetch_litbank()
    clock = time.process_time()
    X, Y = MentionPairs().transform(data.X), data.Y
    runs.append({"part": "features", "seconds": time.process_time() - clock})
    train, test = slice(TRAINING), slice(TRAINING, None)
    settings: list[Setting] = [(r, price) for r in PENALTIES for price in FOREST_PRICES]
    settings += [(CORRELATION, price) for price in CORRELATION_PRICES]
    results = cross_validate(X[train], Y[train], settings, runs)
    chosen = {
        "correlation clustering": best(results, among=(CORRELATION,)),
        "forest, r = 1": best(results, among=(1.0,)),
        "forest, r = 0.01": best(results, among=(0.01,)),
        "forest, r by cross-validation": best(results, among=PENALTIES),
        "forest, r and C by CoNLL F1": best(results, "conll", among=PENALTIES),
    }
    counts, rows, work = {}, [], [["", "r", "C/n", "s", "iterations", "completions", "stationarity", "peak MB so far"]]
    for name, setting in chosen.items():
        machine, facts = fitted(setting, X[train], Y[train])
        predicted = machine.predict(X[test])
        found = judged(Y[test], predicted)
        runs.append({"part": "test", "name": name} | facts | found)
        print(runs[-1], flush=True)
        counts[name] = coreference_counts(Y[test], predicted)
        loss = bootstrap_counts(counts[name], lambda sums: 1.0 - muc_f1(sums), random_state=0)
        measures = ("muc_precision", "muc_recall", "muc", "b_cubed", "ceaf_m", "ceaf_e", "conll")
        rows.append([name, percent(loss), *(f"{100 * found[key]:.2f}" for key in ("pair_loss", *measures))])
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        numbers = [f"{facts['seconds']:.1f}", facts["iterations"], facts["completions"]]
        work.append([name, setting[0], f"{setting[1]:g}", *numbers, f"{facts['stationarity']:.3g}", peak])
    head = ["", "MITRE loss", "pair loss", "MUC P", "MUC R", "MUC F1", "B³", "CEAF-m", "CEAF-e", "CoNLL"]
    pairs = [(new, old) for new in list(chosen)[2:4] for old in list(chosen)[:2]]
    tests = [["", "difference of MITRE loss", "", "p, paired t-test", "p, Z-test"]]
    tests += [comparison(counts, new, old) for new, old in pairs]
    grid = [["r", "C/n", "MITRE loss", "pair loss", "CoNLL F1"]]
    grid += [
        [r, f"{price:g}", *(f"{100 * v:.2f}" for v in (1.0 - found["muc"], found["pair_loss"], found["conll"]))]
        for (r, price), found in results.items()
    ]
    sections = {
        "What it shows": findings(FINDINGS, "16 November 2026"),
        "Test documents": table(head, *(row + [""] * (len(head) - len(row)) for row in PUBLISHED), *rows),
        "Differences": table(*tests),
        "Training on 50 documents": table(*work),
        "Cross-validation": "Over the held-out documents of all folds.\n\n" + table(*grid),
        "Oracle calls": oracle_calls(X[train], Y[train], [chosen["forest, r = 1"], chosen["forest, r = 0.01"]], runs),
        "A document of 3,000 mentions": sizes(runs),
    }
    publish(options.output, "coreference", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
