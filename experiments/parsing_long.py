"""Parsing sentences of at most 40 words: a PCFG, the zero-one loss, and missed plus spurious brackets

**Data.** All 3,629 sentences of at most 40 tokens of the free tenth of the Penn Treebank; every fifth of a shuffled
list (seed 0) is for testing, all others for training. Tags are the input; brackets, scores and sentences without a tree
as for [shorter sentences](parsing.md).

**Settings.** A grammar that more sentences have a tree in (parts remember one child, phrases their parent); zero-one
with squared slacks, and missed plus spurious brackets, a loss that adds up over rules, with linear slacks and margin
rescaling; C/n = 1, block-coordinate ascent until the relative gap is 0.001 or until the given seconds of processor time
are over, whichever comes first. The gap is certified: the objective of all sentences at one w, less the dual. Its
constraints are those that it keeps, where the paper's Algorithm 1 counts those ever added.

**Tests.** As for shorter sentences: a bootstrap of the difference of F1 and McNemar's test on right sentences.

The split, C/n and the grammar are those of an earlier run with 600 sentences for training, 6 passes and 300 of the
present test sentences, which had test F1 70.6 for the PCFG, 63.8 for zero-one, 70.7 for missed plus spurious brackets
and 69.4 for 1 − F1 (margin). A first run on all sentences was stopped by a limit of time before it had any scores but
the PCFG's.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from parsing import HEAD, Counts, bound, compared, constraints, fitted, take, work
from report import Run, findings, publish, table

from structlearn import RelativeFrequencies, StructuralSVM
from structlearn.callbacks import Callback
from structlearn.datasets import fetch_treebank
from structlearn.metrics import f1
from structlearn.models import Grammar

GRAMMAR = {"horizontal": 1, "vertical": 2}
PAIRS = [("zero-one", "PCFG"), ("missed + spurious", "PCFG"), ("missed + spurious", "zero-one")]


class Deadline(Callback):
    """Ends a fit after so many seconds of processor time."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def setup(self, estimator, context):
        self.begin = time.process_time()

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        return time.process_time() - self.begin > self.seconds


def results(seconds: float, runs: list[Run]) -> dict[str, Counts]:
    data = fetch_treebank(40)
    X = [[tag for _, tag in x] for x in data.X]
    order = np.random.default_rng(0).permutation(len(X))
    test, train = order[::5], np.delete(order, np.arange(0, len(order), 5))
    n, given = len(train), (take(X, train), take(data.Y, train))
    machines = {
        "PCFG": RelativeFrequencies(Grammar(**GRAMMAR)),
        "zero-one": StructuralSVM(Grammar(loss="zero_one", **GRAMMAR), rescaling=None, slack="squared", C=n, tol=1e-3),
        "missed + spurious": StructuralSVM(Grammar(**GRAMMAR), C=n, tol=1e-3),
    }
    found = {}
    for method, machine in machines.items():
        run: Run = {"longest": 40, "method": method, "C": float(n), "fold": 0, "n": n}
        if method == "PCFG":
            run |= fitted(machine, *given)
        else:
            run |= fitted(machine.set_callbacks(Deadline(seconds)), *given)
            largest = float(machine.model_.bind(machine.spec_, *given).max_losses().max())
            run |= {"gap": machine.duality_gap_, "objective": machine.objective_}
            run |= {"theorem_18": bound(machine, *given, largest)}
        counts = found[method] = Counts()
        for part, which in (("train", train), ("test", test)):
            counts.add(part, take(data.Y, which), machine.predict(take(X, which)))
        brackets, right = counts.of("test")
        runs.append(run | {"test_f1": float(f1(brackets.sum(axis=0))), "test_accuracy": float(right.mean())})
        print(runs[-1], flush=True)
    return found


#: Written after the run whose tables it describes.
FINDINGS = """\
- Training for missed plus spurious brackets reaches a certified gap of 0.5 % in 261 seconds of processor time, ten
  passes over 2,903 sentences, and parses better than the PCFG: test F1 78.9 against 77.3, with an interval above 0.
  Whole sentences are right a little less often (15.0 % against 16.5 %), which McNemar's test leaves open.
- Zero-one training is far from both, 66.1: nearly no long sentence can be had right as a whole, and its violations say
  nothing about how wrong a tree is. Its gap was 8 % when the time was over; what more time would bring is not known.
- All but 0.2 % of the time is the oracle, some 22 seconds a pass. With every rule remembering one child and its parent
  only, every test sentence has a tree.
- Constraints kept are 2.1 and 4.3 times 2n; Theorem 18 would allow 3e12 and more.
- The machine was shared; seconds are of processor time.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for parsing_long.md and parsing_long.json")
    parser.add_argument("--seconds", type=float, default=240.0, help="of processor time for a fit")
    options = parser.parse_args()
    begin = time.perf_counter()
    runs: list[Run] = []
    found = results(options.seconds, runs)
    rows = [[*HEAD, "gap", "no tree"]]
    for run, (method, counts) in zip(runs, found.items(), strict=True):
        gap = f"{100 * run['gap']:.2f} %" if "gap" in run else ""
        rows.append([method, *counts.cells("train"), *counts.cells("test"), *work(method, [run]), gap, counts.flat])
    differences = [[f"{a} − {b}", *compared(found[a].of("test"), found[b].of("test"))] for a, b in PAIRS]
    sections = {
        "What it shows": findings(FINDINGS, "16 November 2026"),
        "Scores": table(*rows) + f"\n\nSentences: {runs[0]['n']} for training.",
        "Differences on test": table(["", "F1 difference", "", "McNemar on right sentences"], *differences),
        "Constraints": "The theorem's bound is for ε = 0.01.\n\n" + constraints(runs),
    }
    publish(options.output, "parsing_long", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
