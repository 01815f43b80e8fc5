"""The degree-2 kernel of the named-entity experiment as a kernel, beside its features written out.

**Exact in the kernel.** `KernelStructuralSVM` with `Polynomial(2)`, (1 + ⟨x, x'⟩)², and cuts that are functions
(`KernelCuts`), against `StructuralSVM` on the features written out: the same objective, both to a relative duality gap
of 0.001. Five folds of the first 300 sentences; the three forms of Table 3 with C = 1, and the SVM of Table 2, zero-one
loss, with C = 10, which is what every fold had chosen.

**All tokens as the basis.** `KernelMap(Polynomial(2), None)` before the SVM of Table 2 and before the perceptron with
ten passes, seed 0 and fold 0 alone: the optimum is that of the features written out, and so are the mistakes of the
perceptron, but for ties, which rounding breaks. These were seen in the first run, and the perceptron on features that
are written out with relative noise of 1e-12 was added.

**What is compared.** Objectives, which may differ by the gaps; labels of test tokens, which may differ where scores of
two are as good as equal; seconds of processor time, megabytes of a process of its own. Nothing is chosen.

Fixed before these runs; errors with the features written out were known. Times were tried on the sentences from number
1001 on. The perceptron was run again: in the first run it had no seed, and so another order of sentences each time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from named_entities import CHAIN, FOLDS, SENTENCES, TEMPLATES, chosen, error, squared_kernel_features
from named_entities_page import Run, write_page
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline

from structlearn import KernelStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.data.tokens.sequences import Sequences
from structlearn.datasets import fetch_conll2002
from structlearn.features import KernelMap, TextFeatures
from structlearn.kernels import Polynomial

FORMS: dict[str, Any] = {
    "SVM₂": {"rescaling": None, "C": 1.0},
    "SVM₂, C = 10": {"rescaling": None, "C": 10.0},
    "SVM₂^Δs": {"rescaling": "slack", "C": 1.0},
    "SVM₂^Δm": {"rescaling": "margin", "C": 1.0},
}
OF_ALL, PERCEPTRON, NOISY = "SVM₂, C = 10", "perceptron", "written out, with noise"


def learner(form: str, way: str) -> Any:
    if form == PERCEPTRON:
        last: Any = StructuredPerceptron(CHAIN, max_iter=10, random_state=0)
    elif way == "in the kernel":
        options = FORMS[form] | {"slack": "squared", "tol": 1e-3, "max_iter": 2000}
        return make_pipeline(KernelStructuralSVM(CHAIN, Polynomial(2), solver="exact", **options))
    else:
        last = StructuralSVM(CHAIN, slack="squared", tol=1e-3, **FORMS[form])
    return make_pipeline(KernelMap(Polynomial(2), None), last) if way == "all tokens" else make_pipeline(last)


def fitted(form: str, way: str, train: Any, test: Any) -> tuple[Run, Any]:
    pipeline = learner(form, way)
    begin = time.process_time()
    pipeline.fit(*train)
    seconds, last = time.process_time() - begin, pipeline[-1]
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    predicted = pipeline.predict(test[0])
    basis = getattr(last, "basis_", getattr(pipeline[0], "basis_", None))
    run = {
        "form": form,
        "way": way,
        "objective": None if form == PERCEPTRON else last.objective_,
        "gap": None if form == PERCEPTRON else last.duality_gap_,
        "train_error": error(train[1], pipeline.predict(train[0])),
        "test_error": error(test[1], predicted),
        "basis": None if basis is None else int(basis.shape[0]),
        "iterations": last.n_iter_,
        "seconds": seconds,
        "megabytes": megabytes,
    }
    return run, predicted


def noisy(rows: Sequences) -> Sequences:
    """The same with relative noise of 1e-12, as rounding might leave it."""
    tokens = rows.tokens.copy()
    tokens.data *= 1.0 + 1e-12 * np.random.default_rng(0).standard_normal(tokens.nnz)
    return Sequences(tokens, rows.lengths)


def in_own_process(*arguments: Any) -> tuple[Run, Any]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("fork")) as pool:
        return pool.submit(fitted, *arguments).result()


def all_runs(done: set[tuple[Any, ...]], seed: int) -> Iterator[Run]:
    """All runs that are not done; of each pair, the features written out go first."""
    corpus = fetch_conll2002("train")
    words, Y = [[word for word, _ in sentence] for sentence in corpus.X[:SENTENCES]], corpus.Y[:SENTENCES]
    features = TextFeatures(TEMPLATES).fit_transform(words)
    written_out = squared_kernel_features(features)
    views = {"in the kernel": features, "all tokens": features, NOISY: noisy(written_out)}
    for fold, (train, test) in enumerate(KFold(FOLDS, shuffle=True, random_state=seed).split(words)):
        asked = [(form, "in the kernel") for form in FORMS]
        if fold == 0:
            asked += [(OF_ALL, "all tokens"), (PERCEPTRON, "all tokens"), (PERCEPTRON, NOISY)]
        first: dict[str, Any] = {}
        for form, way in asked:
            if (fold, form, way) in done:
                continue
            if form not in first:
                parts = [(chosen(written_out, some), chosen(Y, some)) for some in (train, test)]
                run, first[form] = in_own_process(form, "written out", *parts)
                yield {"fold": fold} | run
            parts = [(chosen(views[way], some), chosen(Y, some)) for some in (train, test)]
            run, predicted = in_own_process(form, way, *parts)
            pairs = [pair for y, z in zip(first[form], predicted, strict=True) for pair in zip(y, z, strict=True)]
            yield {"fold": fold} | run | {"tokens": len(pairs), "same": sum(a == b for a, b in pairs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="folder of named_entities.md and both .json")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    options = parser.parse_args()
    file = options.output / "named_entities_kernel.json"
    runs: list[Run] = json.loads(file.read_text(encoding="utf-8"))["runs"] if file.exists() else []
    done = {(run["fold"], run["form"], run["way"]) for run in runs}
    for run in all_runs(done, options.seed):
        if (run["fold"], run["form"], run["way"]) not in done:
            runs.append({k: float(f"{v:.6g}") if isinstance(v, float) else v for k, v in run.items()})
            print(runs[-1], flush=True)
        lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in runs)
        command = f"python experiments/named_entities_kernel.py --output {options.output}"
        head = json.dumps({"command": command, "seed": options.seed})
        file.write_text(f'{head[:-1]}, "runs": [\n{lines}\n]}}\n', encoding="utf-8")
    write_page(options.output)


if __name__ == "__main__":
    main()
