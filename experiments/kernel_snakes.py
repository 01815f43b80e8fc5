"""Snakes with a Gaussian kernel of pixels, against linear features of pixels

**Data, features, measure.** Those of [snakes](snakes.md): 200 images for training and 100 for testing, colours of the
3 × 3 neighbourhood of a pixel and a constant; right pixels, of all and of those of snakes.

**Models.** *Unary*: pixels alone. *Directions*: weights for each ordered pair of labels of neighbours, apart for those
to the right and those below. Each with linear features of pixels, as there, and with the kernel exp(-γ‖x - z‖²), by a
basis of 500 pixels drawn from the training images (Nyström, `KernelMap`, seed 0). Pairs stay as they are.

**Training.** As there: `StructuralSVM` to a gap of 1 % or until 100 seconds of processor time are over, planes by dual
ascent as far as it is needed, certificates by branch and bound; predictions by dual ascent, 0.2 seconds an image.

**Settings.** As there, by the right pixels of snakes in training images 60 to 119 after training on images 0 to 59 for
20 seconds at most, of equals the smaller: C/n from 1, 10 and 100 for all four, one more than there at the end that was
taken; γ of 0.5, 1 and 2 times 1 over the median squared distance, together with C/n for pixels alone, and taken over
with directions.

**Intervals.** 95 % percentile bootstrap intervals (seed 0, 2,000 resamples) over images, paired for differences.
Seconds are of processor time, megabytes the most that the process of a fit held.

Fixed before any test image was predicted with a kernel; the scores of linear features on the page of snakes were known.
Ten training images were labelled after five seconds with fifteen others, to see that it works.
"""

from __future__ import annotations

import argparse
import resource
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from kept_runs import alone, file_of, kept
from report import Run, percent, publish, table, verdict
from sklearn.exceptions import ConvergenceWarning
from snakes import (
    DIRECTIONS,
    LIMITS,
    N_FIT,
    N_VALIDATE,
    UNARY,
    VALIDATION_LIMIT,
    Limit,
    counted,
    labelled,
    model,
    of_all,
    of_snakes,
    patches,
)

from structlearn import StructuralSVM
from structlearn.datasets import fetch_snakes
from structlearn.features import KernelMap
from structlearn.kernels import RBF, median_gamma
from structlearn.metrics import bootstrap_counts

PRICES, WIDTHS, N_BASIS = (1.0, 10.0, 100.0), (0.5, 1.0, 2.0), 500
LINEAR, KERNEL = FEATURES = ("linear", "RBF")


def learnt(method: str, width: float, price: float, limit: float, train: Any, test: Any) -> Run:
    """A fit with the kernel of γ = width / median, or with linear features where the width is 0."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    (X, Y), (X_test, Y_test) = train, test
    begin = time.process_time()
    if width:
        features = KernelMap(RBF(width * median_gamma(X)), N_BASIS, random_state=0).fit(X)
        X, X_test = features.transform(X), features.transform(X_test)
    estimator = StructuralSVM(model(method), C=price * len(Y), tol=0.01, max_iter=1000, random_state=0)
    estimator.set_callbacks(Limit(limit)).fit(X, Y)
    seconds = time.process_time() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    predicted, proven = labelled(method, estimator, X_test)
    counts = counted(Y_test, predicted)
    return {
        "model": method,
        "features": KERNEL if width else LINEAR,
        "γ times the median": width,
        "C/n": price,
        "limit": limit,
        "all pixels": float(of_all(counts.sum(axis=0))),
        "pixels of snakes": float(of_snakes(counts.sum(axis=0))),
        "gap": estimator.duality_gap_,
        "iterations": estimator.n_iter_,
        "weights": len(estimator.w_),
        "seconds": seconds,
        "MB": megabytes,
        "proven": proven / len(predicted),
        "counts": counts.tolist(),
    }


def fitted(work: Path, name: str, *arguments: Any) -> Run:
    run: Run = {"part": name} | kept(file_of(work, name, *arguments[:3]), alone, learnt, *arguments)
    print({key: value for key, value in run.items() if key != "counts"}, flush=True)
    return run


def validated(work: Path, X: Any, Y: Any) -> list[Run]:
    """All settings that are tried."""
    fit, held = slice(N_FIT), slice(N_FIT, N_FIT + N_VALIDATE)
    parts = (X[fit], Y[fit]), (X[held], Y[held])
    tried: list[Run] = []
    for method in (UNARY, DIRECTIONS):
        widths = (0.0, *WIDTHS) if method == UNARY else (0.0, best(tried, UNARY, KERNEL)["γ times the median"])
        for width in widths:
            tried += [fitted(work, "validation", method, width, price, VALIDATION_LIMIT, *parts) for price in PRICES]
    return tried


def best(tried: list[Run], method: str, features: str) -> Run:
    mine = [run for run in tried if (run["model"], run["features"]) == (method, features)]
    return max(mine, key=lambda run: (run["pixels of snakes"], -run["C/n"], -run["γ times the median"]))


def name_of(run: Run) -> str:
    return f"{run['model']}, {run['features']}"


def results(final: list[Run]) -> str:
    forms = {"gap": ".1%", "iterations": "d", "weights": ",d", "seconds": ".0f", "MB": ".0f", "proven": ".0%"}
    rows = [["model", "γ times the median", "C/n", "all pixels [95 % interval]", "pixels of snakes", *forms]]
    for run in final:
        scores = [percent(bootstrap_counts(np.array(run["counts"]), of, random_state=0)) for of in (of_all, of_snakes)]
        cells = (f"{run[name]:{form}}" for name, form in forms.items())
        rows.append([name_of(run), run["γ times the median"] or "", run["C/n"], *scores, *cells])
    return table(*rows)


def differences(final: list[Run]) -> tuple[str, str]:
    by = {(run["model"], run["features"]): run for run in final}
    rows = [["", "all pixels, points", "the first is", "pixels of snakes, points", "the first is"]]
    said = []
    pairs = [((method, KERNEL), (method, LINEAR)) for method in (UNARY, DIRECTIONS)]
    pairs += [((DIRECTIONS, kind), (UNARY, kind)) for kind in FEATURES]
    for first, second in pairs:
        both = np.hstack([np.array(by[which]["counts"]) for which in (first, second)])
        cells = []
        for of in (of_all, of_snakes):
            gain = bootstrap_counts(both, lambda s, of=of: of(s[..., :4]) - of(s[..., 4:]), random_state=0)
            cells += [percent(gain, "+"), verdict(gain)]
        names = [name_of(by[which]) for which in (first, second)]
        rows.append([" − ".join(names), *cells])
        said.append(
            f"- {names[0]} against {names[1]}: {cells[3]} on snakes ({cells[2]}), {cells[1]} on all ({cells[0]})."
        )
    return table(*rows), "\n".join(said)


def tried_table(tried: list[Run]) -> str:
    rows: list[list[object]] = [
        ["model", "γ times the median", "C/n", "pixels of snakes, %", "gap", "seconds", "taken"]
    ]
    for run in tried:
        taken = "yes" if run is best(tried, run["model"], run["features"]) else ""
        score = f"{100 * run['pixels of snakes']:.1f}"
        cells = [run["C/n"], score, f"{run['gap']:.1%}", f"{run['seconds']:.0f}", taken]
        rows.append([name_of(run), run["γ times the median"] or "", *cells])
    return table(*rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    parser.add_argument("--work", type=Path, default=Path("build/kernel_snakes"), help="where finished runs are kept")
    given = parser.parse_args()
    begin = time.perf_counter()
    train = fetch_snakes("train")
    X, Y = [patches(x) for x in train.X], train.Y
    tried = validated(given.work, X, Y)
    test = fetch_snakes("test")
    others = [patches(x) for x in test.X], test.Y
    final = []
    for method in (UNARY, DIRECTIONS):
        for features in FEATURES:
            found = best(tried, method, features)
            setting = method, found["γ times the median"], found["C/n"]
            final.append(fitted(given.work, "test", *setting, LIMITS[method], (X, Y), others))
    compared, said = differences(final)
    sections = {
        "What was found": said,
        "Results": results(final),
        "Differences": compared,
        "Settings": tried_table(tried),
    }
    runs = [run | {"counts": None} for run in final + tried]
    publish(given.output, "kernel_snakes", __doc__ or "", sections, runs, begin)


if __name__ == "__main__":
    main()
