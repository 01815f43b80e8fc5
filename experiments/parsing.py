"""Does a loss of 1 − F1 parse better than zero-one, or than a PCFG? Tsochantaridis et al. 2005, section 5.4, Table 5.

**Data.** The paper trained on 4,098 sentences of at most 10 words of the Penn Treebank and tested on 163. Of the
treebank only a tenth is freely available: 393 sentences of at most 10 tokens and 922 of at most 15, from which traces
and function tags are removed (see `fetch_treebank`); [longer ones](parsing_long.md) have a page of their own.
Part-of-speech tags are the input, as in the paper; the grammar has all rules of the training sentences and no others.
Sentences that it does not derive get a tree without brackets and count as wrong.

**What counts.** Brackets are all nodes but the tags, punctuation is kept; precision, recall and F1 are of the counts
summed over sentences, accuracy is the share of sentences with all brackets right. The paper does not say what it
counts.

**Folds.** Sentence i of a shuffled list (seed 0) is in fold i mod 5. Each fold is parsed by what was trained on the
others; the counts of all folds are put together.

**Settings.** ½‖w‖² + (C/2n) Σ ξ² for the zero-one loss and for 1 − F1 in both rescalings, n-slack cutting planes until
no constraint is violated by more than ε = 0.01, at most 200 passes. All of C = 0.1, 1, 10, 100 are reported at most 10
and at most 15 words; the paper reports 1 and finds the others comparable. The likelihood-trained grammar has C/n = 1, a
ridge penalty and L-BFGS to a relative gap of 0.001.

**Tests.** McNemar's on the sentences that are right (the paper has it "on the F1 scores", without saying how), and a
bootstrap over sentences of the difference of F1 (2,000 resamples, seed 0), at C = 1 and at C = 100.

This was fixed after looking at the times, and at the scores of one fold of the shortest sentences with another split.
One thing was changed after a first run, stopped in the second fold of 15 words: C = 100 was added at most 15 words and
to the tests, because at C = 1 the zero-one machine of 737 sentences stops at w = 0. That is right by the rule, if of
little use: with C/n = 0.0014 the objective at 0 is within 0.25 % of its minimum, no constraint is violated by more than
ε beyond the slacks, and of all w that were priced the best is kept, where the paper's algorithm keeps the last. C = 0.1
and 10 at most 15 words were added later, all else of these folds having been seen. Nothing else was chosen by scores.
"""

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from report import Run, findings, percent, publish, table, verdict
from sklearn.exceptions import ConvergenceWarning

from structlearn import ConditionalRandomField, RelativeFrequencies, StructuralSVM
from structlearn.datasets import fetch_treebank
from structlearn.metrics import bootstrap_counts, bracket_counts, correct_trees, f1, mcnemar
from structlearn.models import Grammar
from structlearn.theory import constraints_added

FOLDS = 5
PRICES = (0.1, 1.0, 10.0, 100.0)
PUBLISHED = {
    "PCFG": ("61.4", "92.4", "88.5", "90.4", "55.2", "86.8", "85.2", "86.0", "0", "N/A", "N/A", "N/A"),
    "zero-one": ("66.3", "92.8", "91.2", "92.0", "58.9", "85.3", "87.2", "86.2", "1.2 h", "81.6", "17", "7494"),
    "slack F1": ("62.2", "93.9", "90.4", "92.1", "58.9", "88.9", "88.1", "88.5", "3.4 h", "10.5", "12", "8043"),
    "margin F1": ("63.5", "93.9", "90.8", "92.3", "58.3", "88.7", "88.1", "88.4", "3.5 h", "18.0", "16", "7117"),
}
MARGINS = {"zero-one": ("zero_one", None), "slack F1": ("f1", "slack"), "margin F1": ("f1", "margin")}


class Counts:
    """Brackets (correct, predicted, true) and right trees of all sentences of one method, training and test apart."""

    def __init__(self):
        self.brackets = {"train": [], "test": []}
        self.right = {"train": [], "test": []}
        self.flat = 0

    def add(self, part, Y, predicted):
        self.brackets[part].append(bracket_counts(Y, predicted))
        self.right[part].append(correct_trees(Y, predicted))
        self.flat += sum(tree[0] == "ROOT" for tree in predicted) if part == "test" else 0

    def of(self, part):
        return np.concatenate(self.brackets[part]), np.concatenate(self.right[part])

    def cells(self, part):
        counts, right = self.of(part)
        correct, predicted, true = counts.sum(axis=0)
        values = (right.mean(), correct / max(predicted, 1), correct / true, float(f1(counts.sum(axis=0))))
        return [f"{100 * value:.1f}" for value in values]


def estimator(method: str, price: float, n: int):
    if method == "PCFG":
        return RelativeFrequencies(Grammar())
    if method == "likelihood":
        return ConditionalRandomField(Grammar(), C=price * n, solver="lbfgs")
    loss, rescaling = MARGINS[method]
    return StructuralSVM(
        Grammar(loss=loss), C=price, rescaling=rescaling, slack="squared", solver="n_slack", eps=0.01, max_iter=200
    )


def fitted(machine, X, Y) -> Run:
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, Y)
    seconds = time.process_time() - begin
    last = machine.history_[-1] if machine.history_ else {}
    return {
        "seconds": seconds,
        "dual_share": last.get("dual_seconds", 0.0) / max(last.get("seconds", 1.0), 1e-9),
        "iterations": machine.n_iter_,
        "constraints": last.get("planes", 0),
        "converged": bool(machine.converged_),
    }


def bound(machine, X, Y, largest: float = 1.0, eps: float = 0.01) -> float:
    """Theorem 18."""
    return constraints_added(
        C=machine.C_,
        eps=eps,
        n_examples=len(Y),
        radius=float(machine.model_.bind(machine.spec_, X, Y).radii().max()),
        largest_loss=largest,
        rescaling=machine.rescaling,
        slack=machine.slack,
    )


def folds(n: int, seed: int = 0):
    order = np.random.default_rng(seed).permutation(n)
    for fold in range(FOLDS):
        test = np.arange(n) % FOLDS == fold
        yield fold, order[~test], order[test]


def cross_validate(longest: int, settings: list[tuple[str, float]], runs: list[Run]) -> dict[tuple[str, float], Counts]:
    data = fetch_treebank(longest)
    X = [[tag for _, tag in x] for x in data.X]
    results = {setting: Counts() for setting in settings}
    for fold, train, test in folds(len(X)):
        for method, price in settings:
            machine = estimator(method, price, len(train))
            run: Run = {"longest": longest, "method": method, "C": price, "fold": fold, "n": len(train)}
            run |= fitted(machine, take(X, train), take(data.Y, train))
            for part, which in (("train", train), ("test", test)):
                results[method, price].add(part, take(data.Y, which), machine.predict(take(X, which)))
            if method in MARGINS:
                run["theorem_18"] = bound(machine, take(X, train), take(data.Y, train))
            counts, right = results[method, price].brackets["test"][-1], results[method, price].right["test"][-1]
            runs.append(run | {"test_f1": float(f1(counts.sum(axis=0))), "test_accuracy": float(right.mean())})
            print(runs[-1], flush=True)
    return results


def take(items, which):
    return [items[k] for k in which]


#: Written after the run whose tables it describes.
FINDINGS = """\
- The paper's finding holds at 15 words and C = 100: training for 1 − F1 beats the PCFG (+1.0 slack, +1.4 margin) and
  the zero-one machine (+3.5, +4.0), with intervals above 0. At 10 words there are too few sentences to tell: of all
  comparisons only margin F1 against zero-one at C = 1 has an interval above 0 (+1.2), and at C = 100 that is gone. At
  15 words and C = 1 all margins lose to the PCFG.
- McNemar's test on whole sentences, which is not what 1 − F1 asks for, finds nothing at 10 words. At 15 words and C =
  100 it finds margin F1 ahead of zero-one (p = 0.035), one of five comparisons there, which is weak.
- Scores are some 10 points below the published ones, with a tenth of the sentences: 39 of 393 have no tree under the
  rules of the other folds.
- C is not indifferent here. 0.1 is too small at 10 words, and at 15 words scores rise up to C = 100 for 1 − F1 (71, 74,
  76 to 77, 77 to 78) and up to 10 for zero-one, whose training ends at w = 0 for C = 0.1 and 1 (see the protocol).
- A fit takes 0.2 to 0.7 seconds at 10 words, where the paper had hours for thirteen times the sentences, and nearly all
  of it is the oracle. The exact 1 − F1 oracle makes training one to four times as long as the zero-one loss does.
- Constraints are 0.9 to 1.9 times 2n at 10 words and 1.5 to 3.2 times at 15; the paper had 0.9 to 1.0 times 2n.
  Theorem 18 allows thousands to millions of times more. Sentences of [at most 40 words](parsing_long.md) keep 2.1 to
  4.3 times 2n.
- The machine was shared; seconds are of processor time.
"""
HEAD = [
    "",
    "train acc.",
    "prec.",
    "rec.",
    "F1",
    "test acc.",
    "prec.",
    "rec.",
    "F1",
    "CPU",
    "% dual",
    "iterations",
    "constraints",
]


def work(method: str, runs: list[Run]) -> list[str]:
    """Means of seconds, share of the dual, iterations and constraints."""
    keys = ("seconds", "dual_share", "iterations", "constraints")
    seconds, share, iterations, constraints = (float(np.mean([run[key] for run in runs])) for key in keys)
    if method == "PCFG":
        return [f"{seconds:.1f} s", "", "", ""]
    cells = [f"{seconds:.1f} s", f"{100 * share:.0f}", f"{iterations:.0f}"]
    return [*cells, "" if method == "likelihood" else f"{constraints:.0f}"]


def results_table(results: dict[tuple[str, float], Counts], runs: list[Run], longest: int, published: bool) -> str:
    rows = [[*HEAD, "no tree"]]
    if published:
        rows += [[f"{name}, C = 1, published", *cells, ""] for name, cells in PUBLISHED.items()]
    for (method, price), counts in results.items():
        own = [run for run in runs if (run["longest"], run["method"], run["C"]) == (longest, method, price)]
        name = method if method == "PCFG" else f"{method}, C{'/n' * (method == 'likelihood')} = {price:g}"
        rows.append([name, *counts.cells("train"), *counts.cells("test"), *work(method, own), counts.flat])
    return table(*rows)


def compared(new: tuple[np.ndarray, np.ndarray], old: tuple[np.ndarray, np.ndarray]) -> list[str]:
    difference = bootstrap_counts(np.hstack([new[0], old[0]]), lambda s: f1(s[:, :3]) - f1(s[:, 3:]), random_state=0)
    return [percent(difference, "+"), verdict(difference), str(mcnemar(new[1], old[1]))]


def comparisons(results: dict[tuple[str, float], Counts]) -> str:
    rows = [["C", "", "F1 difference", "", "McNemar on right sentences"]]
    pairs = [("zero-one", "PCFG")] + [
        (f"{kind} F1", old) for old in ("PCFG", "zero-one") for kind in ("slack", "margin")
    ]
    for price in (1.0, 100.0):
        for new, old in pairs:
            others = results[old, 1.0 if old == "PCFG" else price]
            rows.append([f"{price:g}", f"{new} − {old}", *compared(results[new, price].of("test"), others.of("test"))])
    return table(*rows)


def constraints(runs: list[Run]) -> str:
    rows = [["longest", "method", "C", "n", "constraints", "constraints / 2n", "Theorem 18"]]
    for run in runs:
        if run["fold"] == 0 and "theorem_18" in run:
            share = f"{run['constraints'] / (2 * run['n']):.2f}"
            cells = [run["longest"], run["method"], f"{run['C']:g}", run["n"], run["constraints"], share]
            rows.append([*cells, f"{run['theorem_18']:.2g}"])
    return table(*rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for parsing.md and parsing.json")
    options = parser.parse_args()
    begin = time.perf_counter()
    runs: list[Run] = []
    settings = [("PCFG", 1.0), *((method, price) for method in MARGINS for price in PRICES), ("likelihood", 1.0)]
    short = cross_validate(10, settings, runs)
    medium = cross_validate(15, settings, runs)
    sections = {
        "What it shows": findings(FINDINGS, "16 November 2026"),
        "At most 10 words": results_table(short, runs, 10, published=True),
        "Differences, at most 10 words": comparisons(short),
        "At most 15 words": results_table(medium, runs, 15, published=False),
        "Differences, at most 15 words": comparisons(medium),
        "Constraints": "Of the first fold. The theorem's bound is for ε = 0.01.\n\n" + constraints(runs),
    }
    publish(options.output, "parsing", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
