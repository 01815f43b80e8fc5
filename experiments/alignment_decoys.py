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
been chosen on its test set; −1 was the best of six on the test sets of the exploratory runs.

**Two sets of runs.** Repeats 0 to 9 are exploratory: the readings above, C = 1 and the gap scores were chosen while
their test errors, next to the published ones, were seen. All of it was then fixed as it stands here, and written down,
before repeats 100 to 109 were run: seeds that nothing had been run on. They are the result, and nothing was changed
after them. Repeat r of n examples has the generator seeds (r, n) for training and (r, n, 1) for test, the same data for
all learners.

**Measure.** The percentage of natives for which a decoy is chosen, in training and on test; mean and standard error of
10 repeats (the published ±13.3 at 20 % of ten single examples is a standard error). The generative model, with the gap
score −0.2 and with −1, is compared with SVM₂ by the differences of their test errors in the same repeat: mean and 95 %
interval of Student's t with 9 degrees of freedom, for every n; 14 intervals, not corrected for their number. Distances
from the published means are in standard errors, ours and theirs together.

**Figure 2.** Constraints ever added: for every n, and for n = 20 and ε from 1 to 0.01. The exponent by which they grow
with n is the least-squares slope of logarithms over all n, one for every repeat, again with mean and t interval.

**What was looked at before.** Before the exploratory run, two to five repeats of n = 1, 4, 10 and 40 were tried with
its seeds: two readings of "applying the alignment string to a substring" (if the homologue keeps the rest of the
native, next to nothing errs), three values of C, and for the generative model four ways to count letters times three
bases of the logarithm, of which none meets the published curve with the gap score −0.2. The exploratory run was
repeated to add comparisons; no setting changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path

import matplotlib
import numpy as np
from report import Run, findings, publish, table
from scipy.stats import t as student
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM
from structlearn.data.biosequences.substitution import log_odds
from structlearn.datasets import make_homologues
from structlearn.metrics import Interval
from structlearn.models import Alignment, Homologues
from structlearn.plots.canvas import BLUE, FADED, pyplot

LETTERS = tuple(range(1, 21))
SIZES = (1, 2, 4, 10, 20, 40, 80)
EPSILONS = (1.0, 0.3, 0.1, 0.03, 0.01)
REPEATS = {"exploratory": range(10), "reported": range(100, 110)}
GAP, STRONGER_GAP = -0.2, -1.0
GAPS = (GAP, 0.0, -0.1, -0.5, STRONGER_GAP, -2.0)
C = 1.0
PUBLISHED_C = 0.01
N_TEST = 200
MODEL = Homologues(Alignment(LETTERS, ends="local"))
#: Columns of Table 4, and of each n the published values.
COLUMNS = ("generative_train", "svm_train", "generative_test_-0.2", "svm_test")
PUBLISHED = {
    1: ("20.0 ± 13.3", "0.0 ± 0.0", "74.3 ± 2.7", "47.0 ± 4.6"),
    2: ("20.0 ± 8.2", "0.0 ± 0.0", "54.5 ± 3.3", "34.3 ± 4.3"),
    4: ("10.0 ± 5.5", "2.0 ± 2.0", "28.0 ± 2.3", "14.4 ± 1.4"),
    10: ("2.0 ± 1.3", "0.0 ± 0.0", "10.2 ± 0.7", "7.1 ± 1.6"),
    20: ("2.5 ± 0.8", "1.0 ± 0.7", "3.4 ± 0.7", "5.2 ± 0.5"),
    40: ("2.0 ± 1.0", "1.0 ± 0.4", "2.3 ± 0.5", "3.0 ± 0.3"),
    80: ("2.8 ± 0.5", "2.0 ± 0.5", "1.9 ± 0.4", "2.8 ± 0.6"),
}
ByN = Mapping[int, list[Run]]


def machine(eps: float, C: float = C) -> StructuralSVM:
    return StructuralSVM(MODEL, rescaling=None, slack="squared", C=C, solver="n_slack", eps=eps)


def error(problem, w) -> float:  # type: ignore[no-untyped-def]
    return 100 * float(problem.losses(problem.predict(w)).mean())


def one(n: int, repeat: int, eps: float = 0.1) -> Run:
    train = make_homologues(n, random_state=np.random.default_rng([repeat, n]))
    test = make_homologues(N_TEST, random_state=np.random.default_rng([repeat, n, 1]))
    begin = time.process_time()
    svm = machine(eps).fit(train.X, train.Y)
    seconds = time.process_time() - begin
    problems = [MODEL.bind(svm.spec_, part.X, part.Y) for part in (train, test)]
    pairs = [(native, candidates[place]) for (native, candidates), (place, _) in zip(train.X, train.Y, strict=True)]
    letters = [z for native, candidates in train.X for z in (native, *candidates)]
    matrix = log_odds(pairs, [matches for _, matches in train.Y], LETTERS, background=letters)
    assert MODEL.alignment is not None
    weights = {gap: MODEL.alignment.weights(svm.spec_, matrix, gap) for gap in GAPS}
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


def standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def column(runs: Iterable[Run], key: str) -> np.ndarray:
    return np.array([run[key] for run in runs], float)


def spread(runs: list[Run], key: str) -> str:
    values = column(runs, key)
    return f"{values.mean():.1f} ± {standard_error(values):.1f}"


def interval(values: np.ndarray) -> Interval:
    """Of the mean, 95 %, by Student's t.

    >>> interval(np.array([-1.0, 0.0, 1.0]))
    Interval(estimate=0.0, low=-2.48..., high=2.48...)
    """
    reach = student.ppf(0.975, len(values) - 1) * standard_error(values)
    return Interval(float(values.mean()), float(values.mean() - reach), float(values.mean() + reach))


def table_4(by_n: ByN) -> str:
    names = [f"{part} {who}" for part in ("train", "test") for who in ("generative", "published", "SVM₂", "published")]
    rows = [
        [n, *(cell for key, other in zip(COLUMNS, PUBLISHED[n], strict=True) for cell in (spread(runs, key), other))]
        for n, runs in by_n.items()
    ]
    return table(["n", *names], *rows)


def other_settings(by_n: ByN) -> str:
    keys = {f"gap {gap:g}": f"generative_test_{gap:g}" for gap in GAPS}
    keys |= {f"SVM₂, C = {C:g}": "svm_test", f"SVM₂, C = {PUBLISHED_C:g}": "published_C_test"}
    return table(["n", *keys], *([n, *(spread(runs, key) for key in keys.values())] for n, runs in by_n.items()))


def who_errs_more(by_n: ByN) -> str:
    """By how much the generative model errs more than the SVM, in the same repeats."""
    rows = [["n", *(f"gap {gap:g}{word}" for gap in (GAP, STRONGER_GAP) for word in ("", ": who errs less"))]]
    for n, runs in by_n.items():
        cells = []
        for gap in (GAP, STRONGER_GAP):
            more = interval(column(runs, f"generative_test_{gap:g}") - column(runs, "svm_test"))
            cells.append(f"{more.estimate:+.1f} [{more.low:+.1f}, {more.high:+.1f}]")
            cells.append("open" if more.low <= 0 <= more.high else "SVM₂" if more.low > 0 else "generative")
        rows.append([str(n), *cells])
    return table(*rows)


def apart(by_n: ByN) -> str:
    """How far means are from the published ones, in standard errors of the difference."""
    keys = {"SVM₂": ("svm_test", 3)}
    keys |= {f"generative, gap {gap:g}": (f"generative_test_{gap:g}", 2) for gap in (GAP, STRONGER_GAP)}
    rows = [["n", *keys]]
    for n, runs in by_n.items():
        cells = []
        for key, place in keys.values():
            values = column(runs, key)
            theirs, their_error = map(float, PUBLISHED[n][place].split("±"))
            cells.append(f"{(values.mean() - theirs) / np.hypot(standard_error(values), their_error):+.1f}")
        rows.append([str(n), *cells])
    return table(*rows)


def exponent(by_n: ByN) -> Interval:
    """Of constraints against n: one slope a repeat."""
    constraints = np.log([column(runs, "constraints") for runs in by_n.values()])
    return interval(np.polyfit(np.log(list(by_n)), constraints, 1)[0])


def growth(by_n: ByN) -> str:
    rows = [["n", "constraints", "a native", "iterations", "seconds"]]
    for n, runs in by_n.items():
        cells = [spread(runs, key) for key in ("constraints", "iterations", "seconds")]
        rows.append([str(n), cells[0], f"{column(runs, 'constraints').mean() / n:.1f}", *cells[1:]])
    found = exponent(by_n)
    words = f"Constraints grow as n^{found.estimate:.3f}, 95 % interval {found.low:.3f} to {found.high:.3f}"
    return f"{table(*rows)}\n\n{words}: {'less than linearly' if found.high < 1 else 'not clearly less than linearly'}."


def precision(by_eps: Mapping[float, list[Run]]) -> str:
    keys = ("constraints", "svm_test", "seconds")
    rows = [[f"{eps:g}", *(spread(runs, key) for key in keys)] for eps, runs in by_eps.items()]
    return table(["ε", "constraints", "test error", "seconds"], *rows)


def draw(by_n: ByN, by_eps: Mapping[float, list[Run]], path: Path) -> None:
    """Figure 2: means and 95 % intervals of the constraints, on logarithmic axes."""
    matplotlib.rcParams["svg.hashsalt"] = path.stem
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
    for ax, runs in ((left, by_n), (right, {eps: found for eps, found in by_eps.items() if eps < 1})):
        means = [interval(column(found, "constraints")) for found in runs.values()]
        reach = [each.high - each.estimate for each in means]
        ax.errorbar(list(runs), [each.estimate for each in means], reach, color=BLUE, marker="o", ms=4, capsize=3)
        ax.set(xscale="log", yscale="log", ylabel="constraints")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_xticks(list(runs), [f"{x:g}" for x in runs])
        ax.minorticks_off()
    first = column(by_n[1], "constraints").mean()
    left.plot(SIZES, [first * n for n in SIZES], color=FADED, ls="--", lw=1)
    left.annotate("linear", (20, first * 20), (-6, 4), textcoords="offset points", color=FADED, ha="right")
    left.set(xlabel="training examples n, ε = 0.1")
    right.set(xlabel="precision ε, n = 20", ylim=(80, 600))
    for ax, ticks in ((left, (20, 50, 100, 200, 500, 1000, 2000)), (right, (100, 200, 300, 400, 500))):
        ax.set_yticks(ticks, list(map(str, ticks)))
        ax.minorticks_off()
    right.invert_xaxis()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


#: Written after the run whose tables it describes.
FINDINGS = """\
- On fresh seeds the SVM's curve is the published one: six of seven test errors are within one standard error of it. At
  n = 40 ours is higher, 4.8 against 3.0 (3.3 standard errors). The scale of the paper's C is unknown, and so are some
  readings of its generator; either may make that difference.
- The SVM learns from fewer examples: up to n = 4 it errs less than the generative model with either gap score, by 12 to
  20 points. From n = 20 on it depends on the gap score. With −1 the generative model errs less, by 1.9 to 3.2 points,
  as in the paper (by 0.7 to 1.8); n = 10 is open. With −0.2, the score that the paper names, the SVM errs less for
  every n.
- The generative curve is the published one with −1, but for n = 1 (62.5 against 74.3) and n = 10 (6.6 against 10.2),
  and not with −0.2, from n = 4 on. A gap score means something only relative to the log-odds: how letters are counted,
  with which pseudo-counts, and the base of the logarithm, of which the paper says "Laplace estimates" only. With one
  pair of sequences for training, 400 odds are nearly all pseudo-counts, which is where n = 1 differs most.
- Constraints grow as n^0.70 (0.68 to 0.73), and as ε goes down to 0.01, roughly with log 1/ε: the paper's Figure 2. ε
  = 0.1 is enough: a smaller one costs constraints and changes the test error by 0.2 points; 0.3 costs 9 on average,
  nearly all of it in few of the repeats (±8.1).
- The exploratory runs had said the same. Seconds are of processor time, on a machine that others used.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    options = parser.parse_args()
    begin = time.perf_counter()
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs: list[Run] = []
    found: dict[str, dict[int, list[Run]]] = {}
    for name, repeats in REPEATS.items():
        found[name] = {n: [one(n, repeat) for repeat in repeats] for n in SIZES}
        runs += [run for each in found[name].values() for run in each]
        print(name, {n: spread(each, "svm_test") for n, each in found[name].items()}, flush=True)
    by_n, before = found["reported"], found["exploratory"]
    by_eps = {eps: [one(20, k, eps) for k in REPEATS["reported"]] if eps != 0.1 else by_n[20] for eps in EPSILONS}
    runs += [run for eps, each in by_eps.items() if eps != 0.1 for run in each]
    options.output.mkdir(parents=True, exist_ok=True)
    draw(by_n, by_eps, options.output / "alignment_decoys.svg")
    sections = {
        "What it shows": findings(FINDINGS, "16 November 2026"),
        "Table 4: error rates in percent, mean ± standard error": table_4(by_n),
        "By how much the generative model errs more than SVM₂ on test": who_errs_more(by_n),
        "Against the published test errors, in standard errors": apart(by_n),
        "Test errors with other gap scores and the published C": other_settings(by_n),
        "Figure 2: constraints": "![Constraints by examples and by precision](alignment_decoys.svg)\n\n"
        + growth(by_n)
        + "\n\n"
        + precision(by_eps),
        "Exploratory runs: Table 4": table_4(before),
        "Exploratory runs: other gap scores and the published C": other_settings(before),
        "Exploratory runs: against the published test errors, in standard errors": apart(before),
        "Exploratory runs: constraints": growth(before),
    }
    publish(options.output, "alignment_decoys", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
