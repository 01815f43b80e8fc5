"""Named entities with a kernel of tokens: fixed bases and subspaces, against linear chains

**Data.** CoNLL-2002, Spanish: the first 2,000 sentences of the training part, and all 8,323 of them; settings are
judged on testa, the test is testb, 1,517 sentences. Features of a token are those of
[the JMLR paper's experiment](named_entities.md): the word, its last three letters and six flags, for the word before,
the word itself and the word after, all 0 or 1; those of the training sentences alone.

**Learners.** Structural SVM of a chain with valid BIO transitions (Hamming loss, margin rescaling) to a relative gap
of 0.03, whose tokens are scored by a linear function of their features or by the kernel (1 + ⟨x, z⟩)². Transitions
stay linear. The kernel is used
- *written out*, as features of pairs of features: exact, since these are 0 or 1 (`squared_kernel_features`);
- with a fixed basis of tokens drawn at random, or of centres of clusters (Nyström, `KernelMap`, seed 0);
- in a subspace of functions whose vectors are found on the way, and must be tokens (CPSP(tr)) or need be none (CPSP;
  `SubspacePursuit`, seed 0, 1,500 cuts at most; certifies no gap).

Fixed features are learnt by `BlockCoordinate(tol=0.03, averaging=True, random_state=0)`.

**Settings.** C/n, after training on the first 1,000 sentences, by F1 on testa, the smaller one of equals: linear from
0.1, 0.3, 1, 3; written out from 0.03, 0.1, 0.3; fixed bases (500 tokens at random) and each kind of subspace (200
functions) from 0.1 and 1. A way takes its C/n for all sizes of its basis and of the training part.

**Measure.** F1 of entities on testb as conlleval counts. 95 % percentile bootstrap intervals over sentences (seed 0,
2,000 resamples), paired for differences. Seconds are processor time of one thread, memory is the most that the process
of a run had; the process of features written out made them there, outside the clock. Other work ran on the machine.

Fixed before testb was read here (scores in [F1 training](f1_training.md) were known). Looked at before: times and F1
on the first 500 sentences of testa after training on 1,000, of linear chains and of the kernel written out (three
prices), with bases of 500 and 1,000 (two) and in subspaces of 200 and 500 (C/n 0.1).
"""

from __future__ import annotations

import argparse
import resource
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from kept_runs import alone, file_of, kept
from named_entities import TEMPLATES, squared_kernel_features
from report import Run, percent, publish, table, verdict
from sklearn.pipeline import make_pipeline

from structlearn import KernelStructuralSVM, StructuralSVM
from structlearn.data import from_bio, to_bio
from structlearn.data.tokens.sequences import Sequences
from structlearn.datasets import fetch_conll2002
from structlearn.features import KernelMap, TextFeatures
from structlearn.kernels import Polynomial
from structlearn.metrics import bootstrap_counts, f1, span_counts
from structlearn.models import Chain
from structlearn.solvers import BlockCoordinate, SubspacePursuit

N_FOR_CHOICE = 1000
PRICES: dict[str, tuple[float, ...]] = {
    "linear": (0.1, 0.3, 1.0, 3.0),
    "written out": (0.03, 0.1, 0.3),
    "basis": (0.1, 1.0),
    "CPSP(tr)": (0.1, 1.0),
    "CPSP": (0.1, 1.0),
}
#: By the number of sentences: ways to use the kernel, with the size of the basis.
RUNS: dict[int, tuple[tuple[str, int], ...]] = {
    2000: (
        ("linear", 0),
        ("written out", 0),
        *(("basis", size) for size in (500, 1000, 2000)),
        *(("k-means basis", size) for size in (500, 1000)),
        *(("CPSP(tr)", size) for size in (200, 500)),
        *(("CPSP", size) for size in (200, 500)),
    ),
    8323: (("linear", 0), ("written out", 0), ("basis", 1000), ("CPSP(tr)", 200), ("CPSP", 200)),
}


def words(sentences: Any) -> list[list[str]]:
    return [[word for word, _ in sentence] for sentence in sentences]


def data(n: int, test: str, way: str) -> tuple[Any, Any, Any, Any]:
    train, other = fetch_conll2002("train"), fetch_conll2002(test)  # type: ignore[arg-type]
    text = TextFeatures(TEMPLATES)
    X, X_test = text.fit_transform(words(train.X[:n])), text.transform(words(other.X))
    # One sentence begins with I-LOC, which conlleval reads as the beginning of an entity.
    Y = [to_bio(from_bio(y)) for y in train.Y[:n]]
    if way == "written out":
        tokens = sp.csr_array(sp.vstack([X.tokens, X_test.tokens]))
        both = squared_kernel_features(Sequences(tokens, np.concatenate([X.lengths, X_test.lengths])))
        return both[: len(Y)], Y, both[len(Y) :], other.Y
    return X, Y, X_test, other.Y


def learner(way: str, size: int, C: float) -> Any:
    chain, kernel = Chain(allowed_transitions="BIO"), Polynomial(2)
    if way.startswith("CPSP"):
        pursuit = SubspacePursuit(n_basis=size, preimages=way == "CPSP", tol=0.03, max_iter=1500)
        return make_pipeline(KernelStructuralSVM(chain, kernel, C=C, solver=pursuit))
    svm = StructuralSVM(chain, C=C, solver=BlockCoordinate(tol=0.03, averaging=True, random_state=0))
    if way in ("linear", "written out"):
        return make_pipeline(svm)
    return make_pipeline(KernelMap(kernel, size, "k_means" if way[0] == "k" else "uniform", random_state=0), svm)


def run(n: int, way: str, size: int, price: float, test: str) -> Run:
    X, Y, X_test, Y_test = data(n, test, way)
    fitted = learner(way, size, price * len(Y))
    begin = time.process_time()
    fitted.fit(X, Y)
    seconds = time.process_time() - begin
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    begin = time.process_time()
    predicted = fitted.predict(X_test)
    predicting = time.process_time() - begin
    counts, last = span_counts(Y_test, predicted, "conlleval"), fitted[-1]
    return {
        "sentences": n,
        "tokens": sum(map(len, Y)),
        "way": way,
        "size": size,
        "C/n": price,
        "test": test,
        "F1": float(f1(counts.sum(axis=0))),
        "objective": last.objective_,
        "gap": last.duality_gap_,
        "iterations": last.n_iter_,
        "seconds": seconds,
        "megabytes": megabytes,
        "tokens_a_second": sum(map(len, Y_test)) / predicting,
        "counts": counts.tolist(),
    }


def asked_for(work: Path, finished: bool, *arguments: Any) -> Run | None:
    """A run that is kept, or None if it is not there and only finished ones are asked for."""
    file = file_of(work, *arguments)
    if finished and not file.exists():
        return None
    found: Run = kept(file, alone, run, *arguments)
    print({name: value for name, value in found.items() if name != "counts"}, flush=True)
    return found


def chosen(tried: list[Run], way: str) -> float:
    """The C/n of a way; where none was tried, that of the fixed basis."""
    mine = [each for each in tried if each["way"] == way]
    return chosen(tried, "basis") if not mine else float(max(mine, key=lambda each: (each["F1"], -each["C/n"]))["C/n"])


def name_of(each: Run) -> str:
    return f"{each['way']}, {each['size']:,}" if each["size"] else str(each["way"])


def against(one: Run, other: Run) -> Any:
    counts = np.hstack([np.array(one["counts"]), np.array(other["counts"])])
    return bootstrap_counts(counts, lambda sums: f1(sums[..., :3]) - f1(sums[..., 3:]), random_state=0)


def results(runs: list[Run]) -> str:
    head = ["tokens are scored", "C/n", "F1 [95 % interval]", "minus linear", "", "minus written out", "", "objective"]
    rows: list[list[object]] = [[*head, "gap", "iterations", "s", "MB", "tokens/s"]]
    by = {each["way"]: each for each in runs}
    for each in runs:
        cells: list[str] = []
        for base in ("linear", "written out"):
            other = by.get(base)
            gained = None if other is None or other is each else against(each, other)
            cells += ["", ""] if gained is None else [percent(gained, "+"), verdict(gained)]
        score = percent(bootstrap_counts(np.array(each["counts"]), f1, random_state=0))
        gap = "" if each["gap"] is None or np.isnan(each["gap"]) else f"{each['gap']:.3f}"
        numbers = [f"{each['objective']:.1f}", gap, each["iterations"], f"{each['seconds']:.1f}"]
        speed = f"{each['tokens_a_second']:,.0f}"
        rows.append([name_of(each), each["C/n"], score, *cells, *numbers, f"{each['megabytes']:.0f}", speed])
    return table(*rows)


def sentences(runs: list[Run]) -> str:
    """What the numbers say, worked out from them."""
    n, linear = runs[0]["sentences"], runs[0]
    said = []
    for each in runs[1:]:
        gained = against(each, linear)
        said.append(f"{name_of(each)} {percent(gained, '+')}, {verdict(gained)}")
    return f"- {n:,} sentences, {linear['tokens']:,} tokens; points of F1 against linear: {'; '.join(said)}."


def at_the_ends(tried: list[Run]) -> str:
    ends = [way for way, prices in PRICES.items() if chosen(tried, way) in (prices[0], prices[-1])]
    return f"- The C/n that was taken is an end of what was tried, and another may be better, for: {', '.join(ends)}."


def tried_table(tried: list[Run]) -> str:
    rows: list[list[object]] = [["tokens are scored", "C/n", "F1 on testa", "s", "taken"]]
    for each in tried:
        taken = "yes" if each["C/n"] == chosen(tried, each["way"]) else ""
        rows.append([name_of(each), each["C/n"], f"{100 * each['F1']:.2f}", f"{each['seconds']:.1f}", taken])
    return table(*rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("docs/experiments"))
    parser.add_argument("--work", type=Path, default=Path("build/kernel_named_entities"), help="finished runs")
    parser.add_argument("--finished", action="store_true", help="a page of the runs that are there, and no new ones")
    given = parser.parse_args()
    begin = time.perf_counter()
    tried = []
    for way, prices in PRICES.items():
        size = 500 if way == "basis" else 200 if way.startswith("CPSP") else 0
        asked = [asked_for(given.work, given.finished, N_FOR_CHOICE, way, size, price, "testa") for price in prices]
        tried += [each for each in asked if each is not None]
    runs, said, sections, left_out = [], [], {}, []
    for n, ways in RUNS.items():
        found = []
        for way, size in ways:
            each = asked_for(given.work, given.finished, n, way, size, chosen(tried, way), "testb")
            if each is None:
                left_out.append(f"- {n:,} sentences: {name_of({'way': way, 'size': size})}")
            else:
                found.append(each)
        if found:
            said.append(sentences(found))
            sections[f"Trained on {n:,} sentences"] = results(found)
            runs += [each | {"counts": None} for each in found]
    said.append(at_the_ends(tried))
    if left_out:
        why = "The command below without `--finished` runs them."
        sections["Not run"] = "\n".join([why, "", *left_out])
    sections["Settings"] = tried_table(tried)
    runs += [each | {"counts": None} for each in tried]
    publish(
        given.output,
        "kernel_named_entities",
        __doc__ or "",
        {"What was found": "\n".join(said), **sections},
        runs,
        begin,
    )


if __name__ == "__main__":
    main()
