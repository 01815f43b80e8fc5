"""Learning to align proteins: the substitution models of Yu (2011, chapter 4), and BLOSUM62

**HOMSTRAD.** The first two proteins of every family of which both have at most 300 residues, 749 pairs; the truth is
the structural alignment by MUSTANG. Five folds by family: families in the order of a random permutation (seed 0), those
at places that leave the rest f when divided by 5 are the test of fold f; of the others, in that order, the first 350
are for training and the next 120 to choose settings, to keep the run short; the rest is not used. Residues only: there
Simple, Tensor and their sum with Anova2 are all the plain substitution matrix, and Anova2 by itself vanishes, as there
is no second annotation. Window adds triplets of residue groups. Profile has the columns of the family's alignment by
Clustal Omega, which saw sequences only, without the row of the partner; 59 % of the families are pairs, whose profiles
say no more than the residue.

**TM-align.** The 198 of 2,000 pairs with both TM-scores of at least 0.5, of any length, as a second test for what was
trained and chosen on HOMSTRAD, in each fold.

**BAliBASE 3.** Pairs of proteins with known helices and strands, at most 300 residues each, at most 10 of a family
(seed 0), of 38 families. Five folds by family in the same way: of the families not in the test the first seven are to
choose settings, all others for training. Structures of both proteins are the annotated ones, not predicted as for Yu's
targets. No accessibility: Anova2 has one pair of annotations on either side and is the same as Tensor; Simple, the sum
(Simple + Tensor) and Window differ. Yu's gap model and length normalisation.

**Learners.** Structural SVMs with affine gaps, global ends and margin rescaling, trained on the Q loss and on the Q4
loss (reading "figure"), to a relative duality gap of 0.02 or 60 iterations. Baseline: BLOSUM62 with first gap letters
from −6 to −12, others −0.5, −1 or −2, and global, semiglobal or local ends.

**Settings.** C/n, and all of BLOSUM62's, in every fold by the measure that is reported (Q or Q4) on the families held
out for that, which are nearly the same in all folds; training is not repeated with them.

**Measure.** The mean Q and Q4 score of families, in percent: mean and standard error of five folds, as Yu has them.
Folds share most of their training families, so that this standard error is too small if anything. Differences from the
baseline are of the families of all folds together, with 95 % percentile bootstrap intervals over families (seed 0,
2,000 resamples, paired); for TM-align, of each pair's mean over the folds.

Grids and models were fixed before a test part was looked at, after trials on some of HOMSTRAD's families: BLOSUM62 with
all ends, of which local ones were the worst; the plain matrix with C/n from 0.001 to 10, both losses and gap models.
Some choices lie at an end of their grid, so that both sides might gain from wider ones. Then one split by family was
run and reported, with the 279 families at the end of the permutation as test of HOMSTRAD and 12 as test of BAliBASE. It
also had semiglobal ends for the learners, which were chosen once out of six times, and a CRF with C/n = 1 (test Q 78.46
by the best alignment and 80.26 by the largest expected number of true matches, Q4 91.20 and 91.62, beside 79.67 and
92.65 of BLOSUM62); to save time the folds have neither. The folds were written down after the results of that split had
been seen, and changed nothing else; their tests contain the families of its test, and those that it trained on.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from report import Run, findings, percent, publish, table, verdict
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM
from structlearn.data.biosequences.substitution import AMINO_ACIDS, BLOSUM62
from structlearn.datasets import AlignedPairs, fetch_balibase_pairs, fetch_homstrad, fetch_tmalign_pairs
from structlearn.inference.alignment import align
from structlearn.io.aligned import AlignedRows
from structlearn.metrics import bootstrap_counts
from structlearn.metrics.alignments import q_scores
from structlearn.models import Alignment

LONGEST = 300
SHIFTS = {"Q": 0, "Q4": 4}
LOSSES = {"Q": "q", "Q4": "q_shift"}
C_HOMSTRAD = (0.003, 0.01, 0.03, 0.1)
C_MANY_FEATURES = (0.0003, 0.001, 0.003)
#: Features are divided by about 400 letters here.
C_BALIBASE = (30.0, 100.0, 300.0, 1000.0)
FOLDS = 5
TOL, MAX_ITER = 0.02, 60
BASELINE = "BLOSUM62, tuned gaps"
#: Of Yu's tables 4.1 and 4.2: Q of models trained on Q, and Q4 of those trained on Q4 where it is given.
PUBLISHED = {
    "simple": ("42.08 (2.02)", ""),
    "anova2": ("44.57 (0.78)", "68.87 (0.44)"),
    "tensor": ("42.41 (0.18)", ""),
    "sum": ("44.59 (0.28)", ""),
    "window": ("46.34 (0.70)", "70.52 (0.33)"),
    "profile": ("49.94 (0.11)", "72.19 (0.26)"),
}


class Part(NamedTuple):
    X: list[Any]
    Y: list[Any]
    families: NDArray[Any]


class Found(NamedTuple):
    """A chosen way to align: its name and setting, and how it did on the families held out and in training."""

    name: str
    predict: Callable[[list[Any]], list[Any]]
    setting: str
    validation: float
    training: float = np.nan
    features: int = 0


class Tested(NamedTuple):
    """A way to align in one fold, with one score for every family of its test."""

    found: Found
    scores: dict[str, NDArray[np.float64]]


#: By the set of tests, the name, and the measure trained and chosen for: one a fold.
Results = dict[tuple[str, str, str], list[Tested]]


def homstrad() -> list[dict[str, Part]]:
    structural, sequential = fetch_homstrad("mustang"), fetch_homstrad("clustalo")
    names = [n for n, rows in structural.items() if max(len(rows.sequence(k)) for k in (0, 1)) <= LONGEST]
    examples = {}
    for name in names:
        (s, t), matches = structural[name].pair()
        x = tuple({"residue": own, "profile": profile(sequential[name], own, other)} for own, other in ((s, t), (t, s)))
        examples[name] = [(x, matches)]
    names = [names[k] for k in np.random.default_rng(0).permutation(len(names))]
    return [
        split(examples, names[fold::FOLDS], others[:350], others[350:470]) for fold, others in enumerate(rest(names))
    ]


def rest(names: Sequence[str]) -> list[list[str]]:
    """The names that are not in the test, of every fold."""
    return [[name for k, name in enumerate(names) if k % FOLDS != fold] for fold in range(FOLDS)]


def split(examples: dict[str, list[Any]], test: Sequence[str], train: Sequence[str], held_out: Sequence[str]) -> Any:
    parts = {}
    for key, names in (("train", train), ("held out", held_out), ("test", test)):
        pairs = [(name, x, y) for name in names for x, y in examples[name]]
        parts[key] = Part([x for _, x, _ in pairs], [y for *_, y in pairs], np.array([name for name, *_ in pairs]))
    return parts


def profile(rows: AlignedRows, own: str, other: str) -> NDArray[np.float64]:
    """Frequencies of the 20 residues in the columns of a sequence, over all rows but the partner's."""
    sequences = [rows.sequence(k) for k in range(len(rows.rows))]
    used = [row for row, sequence in zip(rows.rows, sequences, strict=True) if sequence != other or sequence == own]
    columns = [k for k, letter in enumerate(rows.rows[sequences.index(own)]) if letter != "-"]
    counts = np.array([[sum(row[k] == a for row in used) for a in AMINO_ACIDS[:20]] for k in columns], float)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def balibase() -> list[dict[str, Part]]:
    pairs: AlignedPairs = fetch_balibase_pairs()
    random = np.random.default_rng(0)
    short = [k for k, x in enumerate(pairs.X) if max(len(side["residue"]) for side in x) <= LONGEST]
    families = list(random.permutation(np.unique(pairs.families[short])))
    examples = {}
    for family in families:
        chosen = random.permutation([k for k in short if pairs.families[k] == family])[:10]
        examples[family] = [(pairs.X[k], pairs.Y[k]) for k in chosen]
    return [
        split(examples, families[fold::FOLDS], others[7:], others[:7]) for fold, others in enumerate(rest(families))
    ]


def plain(X: list[Any]) -> list[Any]:
    """The pairs without annotations."""
    return [tuple(side["residue"] if isinstance(side, dict) else side for side in x) for x in X]


def scores(part: Part, predicted: list[Any], measure: str) -> NDArray[np.float64]:
    """One mean score a family."""
    each = q_scores(part.Y, predicted, SHIFTS[measure])
    return np.array([each[part.families == family].mean() for family in np.unique(part.families)])


def baseline(held_out: Part, measure: str, runs: list[Run]) -> Found:
    settings = list(product((-6.0, -8.0, -10.0, -12.0), (-0.5, -1.0, -2.0), ("global", "semiglobal", "local")))

    def predict(setting: tuple[Any, ...], X: list[Any]) -> list[Any]:
        first, gap, ends = setting
        return [y for y, _ in align(plain(X), BLOSUM62, gap, first, ends=ends)]

    tried = {s: float(scores(held_out, predict(s, held_out.X), measure).mean()) for s in settings}
    runs += [{"learner": BASELINE, "setting": str(s), "measure": measure, "held out": v} for s, v in tried.items()]
    best = max(settings, key=lambda s: tried[s])
    return Found(BASELINE, lambda X: predict(best, X), f"first {best[0]:g}, gap {best[1]:g}, {best[2]}", tried[best])


def learner(
    name: str,
    data: dict[str, Part],
    measure: str,
    prices: Sequence[float],
    runs: list[Run],
    view: Callable[[list[Any]], list[Any]],
    **options: Any,
) -> Found:
    """The SVM with the C that is best on the families held out."""
    train, held_out = data["train"], data["held out"]
    best: Found | None = None
    for price in prices:
        model = Alignment(AMINO_ACIDS, gaps="affine", loss=LOSSES[measure], **options)
        begin = time.process_time()
        svm = StructuralSVM(model, C=price * len(train.X), tol=TOL, max_iter=MAX_ITER).fit(view(train.X), train.Y)
        seconds = time.process_time() - begin
        value = float(scores(held_out, svm.predict(view(held_out.X)), measure).mean())
        in_training = float(scores(train, svm.predict(view(train.X)), measure).mean())
        setting = f"C/n {price:g}"
        runs.append(
            {"learner": name, "setting": setting, "measure": measure, "held out": value, "train": in_training}
            | {"seconds": seconds, "gap": svm.duality_gap_, "features": len(svm.w_)}
        )
        print(runs[-1], flush=True)
        if best is None or value > best.validation:
            predict = lambda X, svm=svm: svm.predict(view(X))  # noqa: E731
            best = Found(name, predict, setting, value, in_training, len(svm.w_))
    assert best is not None
    return best


def interval(values: NDArray[np.float64]) -> Any:
    counts = np.column_stack([values, np.ones(len(values))])
    return bootstrap_counts(counts, lambda sums: sums[:, 0] / sums[:, 1], random_state=0)


def tested(where: str, found: dict[str, list[Found]], test: Part, results: Results) -> None:
    for measure, ways in found.items():
        for way in ways:
            predicted = way.predict(test.X)
            each = {m: scores(test, predicted, m) for m in SHIFTS}
            results.setdefault((where, way.name, measure), []).append(Tested(way, each))


def of_folds(values: Sequence[float]) -> str:
    """Mean and standard error, in percent."""
    return f"{100 * np.mean(values):.2f} ({100 * np.std(values, ddof=1) / np.sqrt(len(values)):.2f})"


def names_of(results: Results, where: str) -> list[str]:
    return list(dict.fromkeys(name for place, name, _ in results if place == where))


def compared(results: Results, where: str, same_pairs: bool = False) -> str:
    """Test scores, and differences from the baseline over the families of all folds, or over pairs that these share."""
    rows = [["way to align", *(word for m in SHIFTS for word in (m, f"{m} − baseline", ""))]]
    for name in names_of(results, where):
        row = [name]
        for measure in SHIFTS:
            folds = results[where, name, measure]
            row.append(of_folds([fold.scores[measure].mean() for fold in folds]))
            changes = [
                own.scores[measure] - base.scores[measure]
                for own, base in zip(folds, results[where, BASELINE, measure], strict=True)
            ]
            difference = interval(np.mean(changes, axis=0) if same_pairs else np.concatenate(changes))
            row += ["", ""] if name == BASELINE else [percent(difference, "+"), verdict(difference)]
        rows.append(row)
    return table(*rows)


def crossed(results: Results, where: str) -> str:
    """Trained and chosen for one measure, tested by both: Yu's table 4.2."""
    rows = [["model", "trained on", *SHIFTS]]
    for name in names_of(results, where):
        for measure in SHIFTS if name.startswith("SVM") else ():
            folds = results[where, name, measure]
            rows.append([name, measure, *(of_folds([fold.scores[m].mean() for fold in folds]) for m in SHIFTS)])
    return table(*rows)


def sizes(results: Results, where: str) -> str:
    """Yu's table 4.1: features, the scores of training, of the families held out and of the test, and the settings."""
    rows = [["way to align", "features", "train", "held out", "test", "chosen, in how many folds"]]
    for name in names_of(results, where):
        folds = results[where, name, "Q"]
        chosen = Counter(fold.found.setting for fold in folds)
        values = [[fold.found.training for fold in folds], [fold.found.validation for fold in folds]]
        cells = ["" if np.isnan(each).any() else of_folds(each) for each in values]
        features = f"{np.mean([fold.found.features for fold in folds]):.0f}" if folds[0].found.features else ""
        settings = "; ".join(f"{setting}: {count}" for setting, count in chosen.most_common())
        rows.append([name, features, *cells, of_folds([fold.scores["Q"].mean() for fold in folds]), settings])
    return table(*rows)


def on_homstrad(data: dict[str, Part], runs: list[Run]) -> dict[str, list[Found]]:
    return {
        measure: [
            baseline(data["held out"], measure, runs),
            learner("SVM, substitution matrix", data, measure, C_HOMSTRAD, runs, plain),
            learner("SVM, Window", data, measure, C_MANY_FEATURES, runs, plain, features="window"),
            learner("SVM, Profile", data, measure, C_MANY_FEATURES, runs, list, features="profile"),
        ]
        for measure in SHIFTS
    }


def on_balibase(data: dict[str, Part], runs: list[Run]) -> dict[str, list[Found]]:
    options = {"gap_features": "context", "normalise": True}
    found: dict[str, list[Found]] = {}
    for measure in SHIFTS:
        found[measure] = [baseline(data["held out"], measure, runs)]
        for features in ("substitution", "simple", "tensor", "sum", "window"):
            name = f"SVM, {features}" + (" (= anova2)" if features == "tensor" else "")
            view = plain if features == "substitution" else list
            found[measure].append(learner(name, data, measure, C_BALIBASE, runs, view, features=features, **options))
    return found


def convergence(runs: list[Run]) -> str:
    """How many fits reached their gap, how far the others came, and which of those were chosen."""

    def place(run: Run) -> tuple[Any, ...]:
        return tuple(run[key] for key in ("learner", "setting", "measure", "data", "fold"))

    fits = [run for run in runs if run.get("gap") is not None]
    missed = [run for run in fits if run["gap"] > TOL]
    text = f"{len(fits) - len(missed)} of {len(fits)} fits reached a gap of {TOL} within {MAX_ITER} iterations."
    if not missed:
        return text
    tested = {place(run) for run in runs if run.get("test Q") is not None}
    chosen = [place(run) for run in missed if place(run) in tested]
    gaps = [run["gap"] for run in missed]
    names = " and ".join(sorted({f"{run['learner']} with {run['setting']}" for run in missed}))
    text += f" The others, all of {names}, ended at {min(gaps):.3f} to {max(gaps):.3f}; chosen of them: "
    return text + ("; ".join(f"{n}, {s}, by {m}, {d}, fold {fold}" for n, s, m, d, fold in chosen) or "none") + "."


#: Written after the run whose tables it describes.
FINDINGS = """\
- Where only residues are known (HOMSTRAD), nothing that was learnt beats BLOSUM62 with tuned gaps: the plain matrix and
  Window are 0.8 to 1.2 points worse in Q and Q4, intervals below 0, and Profile is level with it. On TM-align's pairs
  all differences are open. 350 pairs stand against the alignments of many families from which BLOSUM62 was counted.
- Where secondary structure is known (BAliBASE) it helps: Simple, the sum and Window gain 5.2 to 5.6 points of Q and 4.9
  to 6.0 of Q4 over BLOSUM62, which sees residues only, intervals above 0. The plain matrix with the same gap model
  gains nothing, so that the gain is the structure's.
- As in the thesis Tensor fits the training pairs best of the models without windows (83.7) and tests lowest of those
  with structure (72.0), and Profile is the best where there are profiles. Unlike there, Window and the sum are no
  better than Simple: their differences are smaller than the standard errors.
- Training on Q4 is worse than training on Q, by either measure and for all eight models (by 0.1 to 2.4 points); the
  thesis has the opposite. Its alignments are harder (Q near 45, here near 75), so that a shifted match says more there;
  it advises Q or a smaller shift for cleaner data.
- Published and own values are of different data and not comparable as such.
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    options = parser.parse_args()
    begin = time.perf_counter()
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs: list[Run] = []
    results: Results = {}
    pairs = fetch_tmalign_pairs()
    second = Part(pairs.X, pairs.Y, np.arange(len(pairs.X)))
    counts: dict[str, list[str]] = {"HOMSTRAD": [], "BAliBASE": []}
    for where, run, folds in (("HOMSTRAD", on_homstrad, homstrad()), ("BAliBASE", on_balibase, balibase())):
        for fold, data in enumerate(folds):
            before = len(runs)
            found = run(data, runs)
            tested(where, found, data["test"], results)
            if where == "HOMSTRAD":
                without = {m: [way for way in ways if "Profile" not in way.name] for m, ways in found.items()}
                tested("TM-align", without, second, results)
            for row in runs[before:]:
                row |= {"data": where, "fold": fold}
            counts[where].append(" + ".join(str(len(part.X)) for part in data.values()))
    for (where, name, measure), each in results.items():
        for fold, one in enumerate(each):
            test = {f"test {m}": float(values.mean()) for m, values in one.scores.items()}
            setting = {"setting": one.found.setting, "measure": measure}
            runs.append({"learner": name, **setting, "data": where, "fold": fold, **test})
    published = table(
        ["model", "Q, trained on Q", "Q4, trained on Q4"], *([name, *values] for name, values in PUBLISHED.items())
    )
    sections = {
        "What it shows": findings(FINDINGS, "16 November 2026"),
        "HOMSTRAD, test": compared(results, "HOMSTRAD"),
        "TM-align, trained on HOMSTRAD": compared(results, "TM-align", same_pairs=True),
        "BAliBASE, test": compared(results, "BAliBASE"),
        "HOMSTRAD, by the loss of training": crossed(results, "HOMSTRAD"),
        "BAliBASE, by the loss of training": crossed(results, "BAliBASE"),
        "HOMSTRAD, Q, training and test": sizes(results, "HOMSTRAD"),
        "BAliBASE, Q, training and test": sizes(results, "BAliBASE")
        + "\n\nPairs for training, to choose settings, and in the test, by fold: "
        + "; ".join(f"{where} {', '.join(each)}" for where, each in counts.items())
        + ".",
        "Convergence": convergence(runs),
        "Published": "Yu's tables 4.1 to 4.3, on other and harder data (29,345 test alignments by CE), mean and "
        f"standard error of five folds; BLAST had Q 25.88 and Q4 30.66, SSALN 47.49 and 67.51.\n\n{published}",
    }
    publish(options.output, "protein_alignment", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
