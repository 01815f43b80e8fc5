"""Hidden Markov SVM against hidden Markov models on synthetic sequences: Iglesias 2013, sections 4.1 and 4.2.

**Data.** Set 1, `make_hmm_sequences`: a random two-state chain with Gaussian features. Set 2, `make_block_sequences`:
blocks of +1 among -1 seen through flipped and noisy copies of the labels, with 0 to 40 % flipped. Both have 200
sequences of 250 tokens with 10 features; the first 100 are for training, the others for testing. The document leaves
open how probable it is to stay in a state (set 1), how many blocks there are, how long they are, and how many features
are noise (set 2). The generators' defaults are used; those of set 2 had been calibrated before, on the share of
positive labels and the printed accuracy of ML-HMM, and were not touched here.

**Methods.** GT-HMM: the true parameters and Viterbi. ML-HMM: counts, with piecewise linear scores. HM-SVM: a chain on
piecewise linear features, margin rescaling, Hamming loss, trained to a relative duality gap of 1 %. Both have 20 knots
a feature, at quantiles of the sequences that are trained on. As in the document, the first and the last label are
forced to be -1; set 1 is also run without that.

**Regularisation.** The document minimises λ/2 ‖w‖² + Σ ξ, so C = n/λ here, with n the sequences trained on.

**Protocol.** λ is chosen by cross-validation with 5 folds of 20 consecutive training sequences, ties going to the
larger λ; then one fit on all 100, and one look at the test part. All is repeated with new data for every seed, and all
numbers are means ± standard deviations over the seeds. This was fixed before any test part was looked at; solver and
gap were chosen by their speed on the training part of another seed. A trial of the whole script with a third seed and a
gap of 30 % served to see that it runs; nothing was changed after it but the limit of Table 4.4.

**Solver.** The document solves Algorithm 3.1 (n-slack, batch) with Mosek. The accuracies here come from the 1-slack
solver, warm-started from the larger λ: the same objective, with a certified gap, and the fastest of ours at small λ. On
one fold of that other seed, with 30 % flipped, a gap of 0.1 % in place of 1 % moved the held-out accuracies by at most
0.7 points, up and down, and took ten times as long.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from rich.console import Console
from rich.progress import track
from sklearn.model_selection import KFold

from structlearn import HiddenMarkov, StructuralSVM, __version__
from structlearn.datasets import make_block_sequences, make_hmm_sequences
from structlearn.estimators.generative import Gaussian, PiecewiseLinearCounts
from structlearn.features import PiecewiseLinear, TokenTransformer
from structlearn.models import Chain
from structlearn.solvers import OneSlack

N_TRAIN, N_FOLDS, TOL, LIMIT = 100, 5, 0.01, 30.0
DISTORTIONS = (0, 10, 20, 30, 40)
LAMBDAS = {"set 1": (500.0, 50.0, 5.0, 0.5, 0.05), "set 2": (500.0, 50.0, 5.0, 0.5, 0.05, 0.005)}
TIMED = {"default": "block_coordinate", "n-slack, batch": "n_slack", "1-slack": "one_slack"}
FLOOR = "all but the forced ends right"

TABLE_41 = (99.648, 99.648, 99.648, 99.648, 99.648)
TABLE_42 = {"GT-HMM": 99.632, "ML-HMM": 99.628, "HM-SVM": 99.632}
TABLE_43 = (
    (87.624, 80.14, 62.764, 60.78, 58.912),
    (95.856, 93.612, 87.38, 78.224, 58.684),
    (95.82, 94.288, 89.88, 84.088, 66.62),
    (96.188, 94.756, 90.408, 85.208, 69.932),
    (96.156, 94.768, 90.548, 85.256, 69.364),
    (96.08, 94.976, 90.216, 85.856, 69.652),
)
TABLE_44 = (106.50, 186.466, 325.17, 486.42, 648.83, 674.23)
TABLE_45 = {"HM-SVM": (97.232, 95.220, 92.396, 85.132, 70.888), "ML-HMM": (93.376, 94.816, 90.232, 80.740, 60.960)}

COLUMNS = ["seed", "data", "distortion", "ends", "part", "fold", "method", "lambda", "accuracy", "seconds", "gap"]

ON_SET_1 = """\
As published, all methods and all λ agree. Here every error is a positive label at one of the ends: the last row gets
all other tokens right, and has the same accuracy in every seed. So the number says only how often a sequence of the
chain that was drawn begins or ends with +1, which is why ours differs from the print and from seed to seed; 99.63 lies
within its spread. The document shows a start and a stop state but does not say that they force -1; that is known from
the author's Shogun code, and these numbers support it."""
ON_VALIDATION = """\
The pattern is the published one: λ = 500 is too much, and the more so the more labels are flipped; from λ = 5 down
little changes. Two things differ. At λ = 500 with up to 20 % flipped, and at λ = 50 with 20 % and more, ours is 4 to
11 points better: the published regularisation acts as if it were several times stronger. The cause is not known; the
settings of the generator that are a guess, and the smoothness terms that Shogun's hidden Markov SVM adds to the norm,
may both have a part in it. And that smaller λ is better holds here only where 40 % are flipped: below that 50 or 5 is
best, and smaller ones lose up to 0.7 points. The published differences from λ = 5 down are of that size too, except at
30 and 40 %."""
ON_TIMES = f"""\
Ours are seconds of processor time on a shared machine, for one fit from nothing on the 80 sequences of the first split
with the first seed, to a relative gap of {100 * TOL:.0f} %. Fits that had used {LIMIT:.0f} seconds were stopped at the
end of their iteration. The last column is the mean over folds and seeds of the fits behind Table 4.3, each
warm-started. The published seconds are those of Mosek on a laptop of 2.0 GHz with no tolerance given, so only their
course can be compared: smaller λ is slower, as published, but here far more steeply. n-slack is the document's
algorithm; it and our default are not made for few features, noisy labels and large C, where 1-slack is the solver to
take."""
ON_TEST = """\
HM-SVM is 0.2 points below the print at 0 and 10 % and 1.3 to 1.5 points below it beyond. ML-HMM is within a point of
it from 10 to 30 % and 2 points above at 40 %; as the generator was calibrated on it, that is no evidence. At 0 % it is
4 points above: the printed ML-HMM is worse there than with 10 % flipped, which nothing here explains. So the published
advantage of HM-SVM without flipped labels is not reproduced; up to 10 % the two are equal. The conclusion that HM-SVM
is the more robust is reproduced: it is ahead by 0.6 points at 20 %, 4 at 30 % and 6 at 40 %, where the print has 2, 4
and 10. There it stays just below 70 %, not above."""
ON_FOLDS = """\
The first seed only; the document's figure, which has no numbers, is also of one data set. HM-SVM is ahead of ML-HMM in
most folds for every λ but 500. Which fold is the hardest is chance; in the document it is the fifth for most."""

Run = dict[str, Any]
Part = tuple[list[Any], list[Any]]
Lambdas = tuple[float, ...]


class Budget:
    """A callback that ends a fit after LIMIT seconds of processor time."""

    def setup(self, estimator: Any, context: Any) -> None:
        self.begin = time.process_time()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> bool:
        return time.process_time() - self.begin > LIMIT

    def teardown(self, estimator: Any, context: Any) -> None: ...


def ml_hmm(ends: int | None) -> HiddenMarkov:
    return HiddenMarkov(PiecewiseLinearCounts(), smoothing="floor", ends=ends)


def hm_svm(ends: int | None, **options: Any) -> StructuralSVM:
    return StructuralSVM(Chain(ends=ends, boundaries=False), **options)


def judged(
    ends: int | None, lambdas: tuple[float, ...], train: tuple[Any, Any], test: tuple[Any, Any]
) -> Iterator[Run]:
    """ML-HMM, and HM-SVM for every λ, trained on one part and measured on the other."""
    begin = time.process_time()
    accuracy = ml_hmm(ends).fit(*train).score(*test)
    yield {"method": "ML-HMM", "accuracy": 100 * accuracy, "seconds": time.process_time() - begin}
    curves = TokenTransformer(PiecewiseLinear()).fit(train[0])
    X, X_test = curves.transform(train[0]), curves.transform(test[0])
    svm = hm_svm(ends, solver=OneSlack(tol=TOL), warm_start=True)
    for lam in lambdas:
        begin = time.process_time()
        svm.set_params(C=len(X) / lam).fit(X, train[1])
        seconds, accuracy = time.process_time() - begin, svm.score(X_test, test[1])
        gap = svm.duality_gap_
        yield {"method": "HM-SVM", "lambda": lam, "accuracy": 100 * accuracy, "seconds": seconds, "gap": gap}


def validated_and_tested(data: Any, ends: int | None, lambdas: Lambdas) -> Iterator[Run]:
    X, Y = data.X[:N_TRAIN], data.Y[:N_TRAIN]
    runs: list[Run] = []
    for fold, (inner, outer) in enumerate(KFold(N_FOLDS).split(X), start=1):
        train, held_out = (([X[i] for i in part], [Y[i] for i in part]) for part in (inner, outer))
        runs += ({"part": "cv", "fold": fold} | run for run in judged(ends, lambdas, train, held_out))
    yield from runs
    means = pd.DataFrame(runs).query("method == 'HM-SVM'").groupby("lambda", sort=False).accuracy.mean()
    chosen = lambdas[: 1 + int(means.argmax())]
    for run in judged(ends, chosen, (X, Y), (data.X[N_TRAIN:], data.Y[N_TRAIN:])):
        if run["method"] == "ML-HMM" or run["lambda"] == chosen[-1]:
            yield {"part": "test"} | run


def known_truth(data: Any, ends: int | None) -> Iterator[Run]:
    """The model that made the data, and what forced ends alone cost."""
    X, Y = data.X[N_TRAIN:], data.Y[N_TRAIN:]
    emission = Gaussian.from_parameters(data.means, data.variances)
    truth = HiddenMarkov.from_parameters(data.start, data.transition, emission, [-1, 1], ends=ends)
    yield {"part": "test", "method": "GT-HMM", "accuracy": 100 * truth.score(X, Y)}
    if ends is not None:
        right = np.mean([np.mean(np.r_[ends, y[1:-1], ends] == y) for y in Y])
        yield {"part": "test", "method": FLOOR, "accuracy": 100 * right}


def training_times(data: Any) -> Iterator[Run]:
    """Fits from nothing on the training folds of the first cross-validation split."""
    first = N_TRAIN // N_FOLDS
    X, Y = TokenTransformer(PiecewiseLinear()).fit_transform(data.X[first:N_TRAIN]), data.Y[first:N_TRAIN]
    for (name, solver), lam in product(TIMED.items(), LAMBDAS["set 2"]):
        svm = hm_svm(-1, solver=solver, tol=TOL, C=len(X) / lam).set_callbacks(Budget())
        begin = time.process_time()
        svm.fit(X, Y)
        seconds = time.process_time() - begin
        yield {"part": "time", "method": name, "lambda": lam, "seconds": seconds, "gap": svm.duality_gap_}


def runs_of(seed: int, *, timed: bool) -> Iterator[Run]:
    data = make_hmm_sequences(random_state=seed)
    for ends in (-1, None):
        for run in (*validated_and_tested(data, ends, LAMBDAS["set 1"]), *known_truth(data, ends)):
            yield {"data": "set 1", "ends": "forced" if ends else "free"} | run
    for distortion in DISTORTIONS:
        blocks = make_block_sequences(prop_distort=distortion / 100, random_state=seed)
        place = {"data": "set 2", "distortion": distortion, "ends": "forced"}
        if timed and distortion == 0:
            yield from (place | run for run in training_times(blocks))
        yield from (place | run for run in validated_and_tested(blocks, -1, LAMBDAS["set 2"]))


def all_runs(path: Path, seeds: list[int]) -> pd.DataFrame:
    """Runs of seeds that the file already holds are not repeated; training times are taken with the first seed."""
    runs = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)
    missing = [seed for seed in seeds if seed not in set(runs.seed)]
    for seed in track(missing, "network data", console=Console(stderr=True)):
        new = pd.DataFrame([{"seed": seed} | run for run in runs_of(seed, timed=seed == seeds[0])], columns=COLUMNS)
        runs = new if runs.empty else pd.concat([runs, new])
        runs.to_csv(path, index=False, float_format="%.6g")
    return runs[runs.seed.isin(seeds)]


def markdown_table(rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(row) + " |" for row in [rows[0], ["---"] * len(rows[0]), *rows[1:]])


def spread(values: pd.Series, digits: int = 2) -> str:
    return f"{values.mean():.{digits}f} ± {values.std():.{digits}f}"


def accuracies(runs: pd.DataFrame, data: str, part: str, *keys: str) -> pd.Series:
    """By the given keys and seed; means over the folds where there are any."""
    chosen = runs[(runs.data == data) & (runs.part == part)].fillna({"lambda": 0.0})
    return chosen.groupby([*keys, "seed"]).accuracy.mean()


def table_41(runs: pd.DataFrame) -> str:
    ours = accuracies(runs, "set 1", "cv", "method", "ends", "lambda").loc["HM-SVM"]
    rows = [["λ", "published", "ours", "ours, ends free"]]
    for lam, theirs in zip(LAMBDAS["set 1"], TABLE_41, strict=True):
        rows.append([f"{lam:g}", f"{theirs:.3f}", *(spread(ours[ends, lam], 3) for ends in ("forced", "free"))])
    return markdown_table(rows)


def table_42(runs: pd.DataFrame) -> str:
    ours = accuracies(runs, "set 1", "test", "ends", "method")
    rows = [["", "published", "ours", "ours, ends free"]]
    for method, theirs in TABLE_42.items():
        rows.append([method, f"{theirs:.3f}", *(spread(ours[ends, method], 3) for ends in ("forced", "free"))])
    return markdown_table([*rows, [FLOOR, "", spread(ours["forced", FLOOR], 3), ""]])


def table_43(runs: pd.DataFrame) -> str:
    ours = accuracies(runs, "set 2", "cv", "method", "lambda", "distortion")
    rows = [["λ", "", *(f"{distortion} %" for distortion in DISTORTIONS)]]
    for lam, theirs in zip(LAMBDAS["set 2"], TABLE_43, strict=True):
        rows.append([f"{lam:g}", "published", *(f"{value:.2f}" for value in theirs)])
        rows.append(["", "ours", *(spread(ours["HM-SVM", lam, distortion]) for distortion in DISTORTIONS)])
    return markdown_table([*rows, ["ML-HMM", "ours", *(spread(ours["ML-HMM", 0.0, d]) for d in DISTORTIONS)]])


def table_44(runs: pd.DataFrame) -> str:
    times = runs[runs.part == "time"].set_index(["method", "lambda"])
    path = (
        runs[(runs.part == "cv") & (runs.distortion == 0) & (runs.method == "HM-SVM")].groupby("lambda").seconds.mean()
    )
    rows = [["λ", "published", *TIMED, "1-slack from the larger λ"]]
    for lam, theirs in zip(LAMBDAS["set 2"], TABLE_44, strict=True):
        cells = []
        for seconds, gap in (times.loc[(name, lam), ["seconds", "gap"]] for name in TIMED):
            unfinished = f"> {seconds:.0f}" + (f", gap {100 * gap:.0f} % then" if np.isfinite(gap) else "")
            cells.append(f"{seconds:.2f}" if gap <= TOL else unfinished)
        rows.append([f"{lam:g}", f"{theirs:.2f}", *cells, f"{path[lam]:.2f}"])
    return markdown_table(rows)


def table_45(runs: pd.DataFrame) -> str:
    ours = accuracies(runs, "set 2", "test", "method", "distortion")
    theirs = {method: np.array(values) for method, values in TABLE_45.items()}
    rows = [["", "", *(f"{distortion} %" for distortion in DISTORTIONS)]]
    for method, values in theirs.items():
        rows.append([method, "published", *(f"{value:.2f}" for value in values)])
        rows.append(["", "ours", *(spread(ours[method, distortion]) for distortion in DISTORTIONS)])
    rows.append(["difference", "published", *(f"{value:.2f}" for value in theirs["HM-SVM"] - theirs["ML-HMM"])])
    rows.append(["", "ours", *(spread(ours["HM-SVM", d] - ours["ML-HMM", d]) for d in DISTORTIONS)])
    chosen = runs[(runs.data == "set 2") & (runs.part == "test") & (runs.method == "HM-SVM")].groupby("distortion")
    by_seed = chosen["lambda"].agg(lambda values: ", ".join(f"{value:g}" for value in values))
    rows.append(["λ chosen, by seed", "ours", *by_seed[list(DISTORTIONS)]])
    return markdown_table(rows)


def draw_grid(runs: pd.DataFrame, path: Path) -> None:
    ours = accuracies(runs, "set 2", "cv", "method", "lambda", "distortion").loc["HM-SVM"].groupby(level=[0, 1]).mean()
    grids = {"published": np.array(TABLE_43), "ours": ours.unstack().loc[list(LAMBDAS["set 2"])].to_numpy()}
    exponents, levels = np.log10(LAMBDAS["set 2"]), np.arange(55, 101, 5)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
    for ax, (title, grid) in zip(axes, grids.items(), strict=True):
        filled = ax.contourf(DISTORTIONS, exponents, grid, levels=levels, cmap="viridis")
        ax.contour(filled, colors="white", linewidths=0.6)
        ax.set(title=title, xlabel="labels flipped in every feature, %", xticks=DISTORTIONS)
    axes[0].set_ylabel("log₁₀ λ")
    figure.colorbar(filled, ax=axes, label="cross-validation accuracy, %")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def draw_folds(runs: pd.DataFrame, path: Path) -> None:
    seed = runs.seed.min()
    errors = runs[(runs.seed == seed) & (runs.distortion == 30) & (runs.part == "cv")].fillna({"lambda": 0.0})
    bars = [("ML-HMM", 0.0, "tab:orange"), *(("HM-SVM", lam, None) for lam in LAMBDAS["set 2"])]
    shades = plt.get_cmap("Blues")(np.linspace(0.3, 1.0, len(LAMBDAS["set 2"])))
    figure, ax = plt.subplots(figsize=(9, 3.8), layout="constrained")
    for k, (method, lam, colour) in enumerate(bars):
        own = errors[(errors.method == method) & (errors["lambda"] == lam)]
        label = method if method == "ML-HMM" else f"HM-SVM, λ = {lam:g}"
        ax.bar(own.fold + (k - 3) * 0.12, 100 - own.accuracy, 0.11, color=colour or [shades[k - 1]], label=label)
    ax.set(xlabel="fold", ylabel="error, %", title=f"30 % of the labels flipped, seed {seed}")
    ax.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(path, dpi=120)
    plt.close(figure)


def report(runs: pd.DataFrame) -> str:
    title, _, protocol = (__doc__ or "").partition("\n\n")
    svm = runs[(runs.method == "HM-SVM") & (runs.part != "time")]
    seeds = ", ".join(map(str, runs.seed.unique()))
    parts = [
        f"# {title.rstrip('.')}",
        "Accuracies in %, by tokens; ours are means ± standard deviations over the seeds.",
    ]
    parts += ["## Table 4.1: set 1, cross-validation of HM-SVM", table_41(runs)]
    parts += ["## Table 4.2: set 1, test", table_42(runs), ON_SET_1]
    parts += ["## Table 4.3 and Figure 4.3: set 2, cross-validation of HM-SVM", table_43(runs)]
    parts += ["![Cross-validation accuracy by distortion and λ](network_data_grid.png)", ON_VALIDATION]
    parts += ["## Table 4.4: set 2, seconds of training, no label flipped", table_44(runs), ON_TIMES]
    parts += ["## Table 4.5: set 2, test", table_45(runs), ON_TEST]
    parts += ["## Figure 4.4: set 2, error in every fold", "![Error in every fold](network_data_folds.png)", ON_FOLDS]
    parts += ["## Protocol", protocol.strip(), "## The run"]
    parts += [
        f"- command: `python experiments/network_data.py {' '.join(sys.argv[1:])}`\n"
        f"- seeds: {seeds}\n"
        f"- seconds of processor time, one thread, on a shared machine: {runs.seconds.sum():.0f} for all fits, "
        f"{runs[runs.part == 'time'].seconds.sum():.0f} of them for Table 4.4\n"
        f"- largest relative duality gap behind an accuracy: {100 * svm.gap.max():.2f} %, {len(svm)} fits of HM-SVM\n"
        f"- versions: structlearn {__version__}, numpy {np.__version__}"
    ]
    parts += ["All runs are in `network_data.csv`; the command repeats only those that are not in it."]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder for the page, its figures and all runs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    options = parser.parse_args()
    folder: Path = options.output
    folder.mkdir(parents=True, exist_ok=True)
    runs = all_runs(folder / "network_data.csv", options.seeds)
    draw_grid(runs, folder / "network_data_grid.png")
    draw_folds(runs, folder / "network_data_folds.png")
    (folder / "network_data.md").write_text(report(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
