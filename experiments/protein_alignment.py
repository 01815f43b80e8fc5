"""Learning to align proteins: the substitution models of Yu (2011, chapter 4), and BLOSUM62

**HOMSTRAD.** The first two proteins of every family of which both have at most 300 residues, 749 pairs; the truth is
the structural alignment by MUSTANG. Families in the order of a random permutation (seed 0): 350 for training, 120 to
choose settings, the other 279 for the test. Residues only: there Simple, Tensor and their sum with Anova2 are all the
plain substitution matrix, and Anova2 by itself vanishes, as there is no second annotation. Window adds triplets of
residue groups. Profile has the columns of the family's alignment by Clustal Omega, which saw sequences only, without
the row of the partner; 59 % of the families are pairs, whose profiles say no more than the residue.

**TM-align.** The 198 of 2,000 pairs with both TM-scores of at least 0.5, of any length, as a second test for what was
trained and chosen on HOMSTRAD.

**BAliBASE 3.** Pairs of proteins with known helices and strands, at most 300 residues each, at most 10 of a family
(seed 0), split by family (seed 0): 19 families for training, 7 to choose settings, the others for the test. Structures
of both proteins are the annotated ones, not predicted as for Yu's targets. No accessibility: Anova2 has one pair of
annotations on either side and is the same as Tensor; Simple, the sum (Simple + Tensor) and Window differ. Yu's gap
model and length normalisation.

**Learners.** Structural SVMs with affine gaps and margin rescaling, trained on the Q loss and on the Q4 loss (reading
"figure"), to a relative duality gap of 0.02 or 60 iterations; a CRF (C/n = 1, L-BFGS, gap 0.01 or 30 iterations), read
by the best alignment and by the largest expected number of true matches. Baseline: BLOSUM62 with first gap letters from
−6 to −12, others −0.5, −1 or −2, and global, semiglobal or local ends.

**Settings.** C/n and the ends, and all of BLOSUM62's, by the measure that is reported (Q or Q4) on the families held
out for that; training is not repeated with them.

**Measure.** The mean Q and Q4 score of test pairs, for BAliBASE of families, in percent, with 95 % percentile bootstrap
intervals over families (seed 0, 2,000 resamples), paired for differences.

This was fixed before a test part was looked at, after trials on HOMSTRAD's training and held-out families: BLOSUM62
with all ends, of which local ones were the worst, so that the learners were tried with global and semiglobal ends only;
the plain matrix with C/n from 0.001 to 10, both losses and gap models; the CRF with C/n = 0.1 and 1. A first run was
stopped before any test, as Window asked for a smaller C/n, to lower that grid and to save time; it also cut the CRF to
one C/n, which is thus hardly tuned, while BLOSUM62 has 36 settings. Several choices lie at an end of their grid
(BLOSUM62's first gap letter, Window's C/n on HOMSTRAD, some of BAliBASE's), so both sides might gain from wider ones.
The run was repeated once, after the test had been seen, to add the tables by the loss of training; no setting changed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from report import Run, percent, publish, table, verdict
from sklearn.exceptions import ConvergenceWarning

from structlearn import ConditionalRandomField, StructuralSVM
from structlearn.datasets import AlignedPairs, fetch_balibase_pairs, fetch_homstrad, fetch_tmalign_pairs
from structlearn.inference.alignment import align
from structlearn.io.aligned import AlignedRows
from structlearn.metrics import bootstrap_counts
from structlearn.metrics.alignments import q_scores
from structlearn.models import Alignment
from structlearn.models.substitution import AMINO_ACIDS, BLOSUM62

LONGEST = 300
SHIFTS = {"Q": 0, "Q4": 4}
LOSSES = {"Q": "q", "Q4": "q_shift"}
C_HOMSTRAD = (0.003, 0.01, 0.03, 0.1)
C_MANY_FEATURES = (0.0003, 0.001, 0.003)
#: Features are divided by about 400 letters here.
C_BALIBASE = (30.0, 100.0, 300.0, 1000.0)
C_CRF = (1.0,)
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
    """A chosen way to align, what it needs of the pairs, and its name."""

    name: str
    predict: Callable[[list[Any]], list[Any]]
    setting: str
    validation: float


def part_of(pairs: Sequence[Any], families: Sequence[Any]) -> Part:
    return Part([x for x, _ in pairs], [y for _, y in pairs], np.asarray(families))


def homstrad() -> dict[str, Part]:
    structural, sequential = fetch_homstrad("mustang"), fetch_homstrad("clustalo")
    names = [n for n, rows in structural.items() if max(len(rows.sequence(k)) for k in (0, 1)) <= LONGEST]
    names = [names[k] for k in np.random.default_rng(0).permutation(len(names))]
    examples = []
    for name in names:
        (s, t), matches = structural[name].pair()
        x = tuple({"residue": own, "profile": profile(sequential[name], own, other)} for own, other in ((s, t), (t, s)))
        examples.append((x, matches))
    limits = {"train": slice(0, 350), "held out": slice(350, 470), "test": slice(470, None)}
    return {key: part_of(examples[where], names[where]) for key, where in limits.items()}


def profile(rows: AlignedRows, own: str, other: str) -> NDArray[np.float64]:
    """Frequencies of the 20 residues in the columns of a sequence, over all rows but the partner's."""
    sequences = [rows.sequence(k) for k in range(len(rows.rows))]
    used = [row for row, sequence in zip(rows.rows, sequences, strict=True) if sequence != other or sequence == own]
    columns = [k for k, letter in enumerate(rows.rows[sequences.index(own)]) if letter != "-"]
    counts = np.array([[sum(row[k] == a for row in used) for a in AMINO_ACIDS[:20]] for k in columns], float)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)


def balibase() -> dict[str, Part]:
    pairs: AlignedPairs = fetch_balibase_pairs()
    random = np.random.default_rng(0)
    short = [k for k, x in enumerate(pairs.X) if max(len(side["residue"]) for side in x) <= LONGEST]
    families = random.permutation(np.unique(pairs.families[short]))
    chosen = {family: random.permutation([k for k in short if pairs.families[k] == family])[:10] for family in families}
    limits = {"train": slice(0, 19), "held out": slice(19, 26), "test": slice(26, None)}
    found = {}
    for key, where in limits.items():
        which = [int(k) for family in families[where] for k in chosen[family]]
        found[key] = Part([pairs.X[k] for k in which], [pairs.Y[k] for k in which], pairs.families[which])
    return found


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
    ends: Sequence[str] = ("global", "semiglobal"),
    **options: Any,
) -> Found:
    """The SVM with the C and the ends that are best on the families held out."""
    train, held_out = data["train"], data["held out"]
    best: Found | None = None
    for where, price in product(ends, prices):
        model = Alignment(AMINO_ACIDS, gaps="affine", loss=LOSSES[measure], ends=where, **options)
        begin = time.process_time()
        svm = StructuralSVM(model, C=price * len(train.X), tol=0.02, max_iter=60).fit(view(train.X), train.Y)
        seconds = time.process_time() - begin
        value = float(scores(held_out, svm.predict(view(held_out.X)), measure).mean())
        in_training = float(scores(train, svm.predict(view(train.X)), measure).mean())
        setting = f"C/n {price:g}, {where}"
        runs.append(
            {"learner": name, "setting": setting, "measure": measure, "held out": value, "train": in_training}
            | {"seconds": seconds, "gap": svm.duality_gap_, "features": len(svm.w_)}
        )
        print(runs[-1], flush=True)
        if best is None or value > best.validation:
            best = Found(name, lambda X, svm=svm: svm.predict(view(X)), setting, value)  # type: ignore[misc]
    assert best is not None
    return best


def likelihoods(data: dict[str, Part], measure: str, fitted: dict[float, Any], runs: list[Run]) -> list[Found]:
    """The CRF by the best alignment and by expected accuracy, each with its own C."""
    found = []
    for posterior, words in ((False, "CRF, best alignment"), (True, "CRF, most matches in expectation")):
        tried = {}
        for price, crf in fitted.items():
            predicted = crf.predict(plain(data["held out"].X), posterior=posterior)
            tried[price] = float(scores(data["held out"], predicted, measure).mean())
            runs.append({"learner": words, "setting": f"C/n {price:g}", "measure": measure, "held out": tried[price]})
        best = max(tried, key=lambda price: tried[price])
        found.append(
            Found(
                words,
                lambda X, crf=fitted[best], posterior=posterior: crf.predict(plain(X), posterior=posterior),  # type: ignore[misc]
                f"C/n {best:g}, global",
                tried[best],
            )
        )
    return found


def interval(values: NDArray[np.float64]) -> Any:
    counts = np.column_stack([values, np.ones(len(values))])
    return bootstrap_counts(counts, lambda sums: sums[:, 0] / sums[:, 1], random_state=0)


def compared(found: dict[str, list[Found]], test: Part, runs: list[Run], where: str) -> str:
    """A table of test scores, and of differences from the baseline."""
    rows = [
        ["way to align", *(f"{word}" for m in SHIFTS for word in (m, f"{m} − baseline", "")), "chosen for Q; for Q4"]
    ]
    predictions: dict[tuple[str, str], NDArray[np.float64]] = {}
    for measure, ways in found.items():
        for way in ways:
            predictions[measure, way.name] = scores(test, way.predict(test.X), measure)
            runs.append(
                {
                    "learner": way.name,
                    "setting": way.setting,
                    "measure": measure,
                    where: float(predictions[measure, way.name].mean()),
                }
            )
    for k, way in enumerate(found["Q"]):
        row = [way.name]
        for measure in SHIFTS:
            own, base = predictions[measure, way.name], predictions[measure, BASELINE]
            difference = interval(own - base)
            row += [
                percent(interval(own)),
                percent(difference, "+"),
                verdict(difference) if way.name != BASELINE else "",
            ]
        rows.append([*row, f"{way.setting}; {found['Q4'][k].setting}"])
    return table(*rows)


def crossed(found: dict[str, list[Found]], test: Part) -> str:
    """Trained and chosen for one measure, tested by both: Yu's table 4.2."""
    rows = [["model", "trained on", *SHIFTS]]
    for k, way in enumerate(found["Q"]):
        if way.name.startswith("SVM"):
            for measure, ways in found.items():
                predicted = ways[k].predict(test.X)
                rows.append([way.name, measure, *(percent(interval(scores(test, predicted, m))) for m in SHIFTS)])
    return table(*rows)


def on_homstrad(runs: list[Run]) -> tuple[dict[str, list[Found]], dict[str, Part]]:
    data = homstrad()
    train = data["train"]
    fitted = {}
    for price in C_CRF:
        begin = time.process_time()
        crf = ConditionalRandomField(
            Alignment(AMINO_ACIDS, gaps="affine"), C=price * len(train.X), solver="lbfgs", tol=0.01, max_iter=30
        )
        fitted[price] = crf.fit(plain(train.X), train.Y)
        runs.append({"learner": "CRF", "setting": f"C/n {price:g}", "seconds": time.process_time() - begin})
        print(runs[-1], flush=True)
    found = {}
    for measure in SHIFTS:
        found[measure] = [
            baseline(data["held out"], measure, runs),
            learner("SVM, substitution matrix", data, measure, C_HOMSTRAD, runs, plain),
            learner("SVM, Window", data, measure, C_MANY_FEATURES, runs, plain, features="window"),
            learner("SVM, Profile", data, measure, C_MANY_FEATURES, runs, list, ("global",), features="profile"),
            *likelihoods(data, measure, fitted, runs),
        ]
    return found, data


def on_balibase(runs: list[Run]) -> tuple[dict[str, list[Found]], dict[str, Part]]:
    data = balibase()
    options = {"gap_features": "context", "normalise": True}
    found: dict[str, list[Found]] = {}
    for measure in SHIFTS:
        found[measure] = [baseline(data["held out"], measure, runs)]
        for features in ("substitution", "simple", "tensor", "sum", "window"):
            name = f"SVM, {features}" + (" (= anova2)" if features == "tensor" else "")
            view = plain if features == "substitution" else list
            found[measure].append(
                learner(name, data, measure, C_BALIBASE, runs, view, ("global",), features=features, **options)
            )
    return found, data


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    options = parser.parse_args()
    begin = time.perf_counter()
    warnings.simplefilter("ignore", ConvergenceWarning)
    runs: list[Run] = []
    found, data = on_homstrad(runs)
    tmalign = fetch_tmalign_pairs()
    second = Part(tmalign.X, tmalign.Y, np.arange(len(tmalign.X)))
    without_profiles = {m: [way for way in ways if "Profile" not in way.name] for m, ways in found.items()}
    annotated, balibase_data = on_balibase(runs)
    published = table(
        ["model", "Q, trained on Q", "Q4, trained on Q4"], *([name, *values] for name, values in PUBLISHED.items())
    )
    sizes = ", ".join(
        f"{key} {len(part.X)} of {len(np.unique(part.families))} families" for key, part in balibase_data.items()
    )
    sections = {
        "HOMSTRAD, test": compared(found, data["test"], runs, "HOMSTRAD test"),
        "TM-align, trained on HOMSTRAD": compared(without_profiles, second, runs, "TM-align test"),
        "BAliBASE, test": compared(annotated, balibase_data["test"], runs, "BAliBASE test") + f"\n\nPairs: {sizes}.",
        "BAliBASE, by the loss of training": crossed(annotated, balibase_data["test"]),
        "HOMSTRAD, by the loss of training": crossed(found, data["test"]),
        "Published": "Yu's tables 4.1 to 4.3, on other and harder data (29,345 test alignments by CE), mean and "
        f"standard error of five folds; BLAST had Q 25.88 and Q4 30.66, SSALN 47.49 and 67.51.\n\n{published}",
    }
    publish(options.output, "protein_alignment", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
