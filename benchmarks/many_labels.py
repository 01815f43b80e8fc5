"""Decoding chains with many labels: microseconds of processor time a token, of two checkouts in turns.

    python benchmarks/many_labels.py BEFORE AFTER --labels 52 200 450

Scores are random; zero plus the Hamming loss, as in the first pass of training; and those of models trained on
sentences of `large_tagset.py` for one pass, for three, and to a 1 % gap, of other sentences, or of the same with the
loss.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
from large_tagset import Resampling, sources
from measure import Run, in_fresh_process
from sklearn.exceptions import ConvergenceWarning

from structlearn import StructuralSVM, _core
from structlearn.features import TextFeatures
from structlearn.models import Chain

TEMPLATES = ["word[-1..1]", "word.suffix1..3[0]", "word.shape[0]"]
N_TOKENS, N_DECODED = 20_000, 1_000
PASSES = {"one pass": 1, "three passes": 3, "1 % gap": 1000}

Array = npt.NDArray[Any]
#: Lengths, emissions, transitions with the scores of both ends.
Scores = tuple[Array, ...]


def drawn(n_labels: int) -> Iterator[tuple[str, Scores]]:
    random = np.random.default_rng(0)
    lengths = np.full(N_DECODED // 20, 20)
    shapes = (N_DECODED, n_labels), ((n_labels + 2) * n_labels,)
    yield "random", (lengths, *(random.normal(size=shape) for shape in shapes))
    loss = wrong(random.integers(n_labels, size=N_DECODED), n_labels)
    yield "zero, with the loss", (lengths, loss, np.zeros(shapes[1]))


def wrong(truth: Array, n_labels: int) -> Array:
    return np.asarray(np.arange(n_labels) != truth[:, None], float)


def trained(n_labels: int) -> Iterator[tuple[str, Scores]]:
    resampling = Resampling(sources(), n_labels)
    sentences = list(resampling.draw(N_TOKENS + N_DECODED))
    lengths = np.array([len(sentence) for sentence in sentences])
    n = int(np.searchsorted(np.cumsum(lengths), N_TOKENS))
    words, Y = ([[token[k] for token in x] for x in sentences] for k in (0, 1))
    features = TextFeatures(TEMPLATES)
    X, X_new = features.fit_transform(words[:n]), features.transform(words[n:])
    classes = sorted(set(resampling.tags.values()))
    codes = {tag: code for code, tag in enumerate(classes)}
    same = int(np.searchsorted(np.cumsum(lengths), N_DECODED))
    truth = np.array([codes[tag] for y in Y[:same] for tag in y])
    for name, passes in PASSES.items():
        svm = StructuralSVM(Chain(classes=classes), tol=0.01, max_iter=passes, random_state=0).fit(X, Y[:n])
        weights = svm.model_.unpack(svm.spec_, svm.w_)
        shared = np.concatenate([weights.transitions.ravel(), weights.start, weights.stop])
        yield name, (lengths[n:], X_new.tokens @ weights.emissions, shared)
        scores = X.tokens[: len(truth)] @ weights.emissions + wrong(truth, len(classes))
        yield f"{name}, with the loss", (lengths[:same], scores, shared)


def decode(paths: list[str]) -> Run:
    """For each file of scores the shortest of five calls, the score of all sentences, and a number of all labels."""
    return {path: _decoded(path) for path in paths}


def _decoded(path: str) -> Run:
    with np.load(path) as file:
        lengths, emission, shared = (file[name] for name in ("lengths", "emission", "shared"))
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    engine = _core.ChainEngine(offsets, emission.shape[1], True, False)
    given = _core.GivenChain(engine, _core.GivenScores(len(shared), offsets * emission.shape[1]))
    theta = np.concatenate([emission.ravel(), shared])
    times = []
    for _ in range(5):
        begin = time.process_time()
        (codes, _), scores = given.best(theta, np.arange(len(lengths)), 1)
        times.append(time.process_time() - begin)
    found = [float(scores.sum()), int(codes.astype(np.int64) @ np.arange(len(codes)))]
    return {"microseconds": 1e6 * min(times) / len(codes), "found": found}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path, nargs=2, metavar="CHECKOUT")
    parser.add_argument("--labels", type=int, nargs="+", default=[20, 52, 100, 200, 450, 1000])
    parser.add_argument("--pairs", type=int, default=5, help="turns of both (5)")
    parser.add_argument("--untrained", action="store_true", help="leave the trained models out")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)  # of what is stopped early
    with TemporaryDirectory() as folder:
        compare(Path(folder), options)


def compare(folder: Path, options: argparse.Namespace) -> None:
    names: dict[str, str] = {}
    for n_labels in options.labels:
        # Fewer than the parts of speech cannot be trained.
        with_models = n_labels >= 52 and not options.untrained
        for name, scores in chain.from_iterable([drawn(n_labels), trained(n_labels) if with_models else ()]):
            path = str(folder / f"{len(names)}.npz")
            lengths, emission, shared = scores
            np.savez(path, lengths=lengths, emission=emission, shared=shared)
            names[path] = f"{n_labels} | {name}"
    libraries = [str(checkout.resolve() / "src") for checkout in options.checkouts]
    runs = [
        [in_fresh_process("many_labels:decode", library, paths=list(names)) for library in libraries]
        for _ in range(options.pairs)
    ]
    print("| labels | scores | before | after | ratio |\n|---|---|---|---|---|")
    for path, name in names.items():
        found = {tuple(run[path]["found"]) for pair in runs for run in pair}
        times = np.array([[run[path]["microseconds"] for run in pair] for pair in runs])
        before, after, ratio = np.median(np.c_[times, times[:, 0] / times[:, 1]], axis=0)
        differ = "" if len(found) == 1 else " (THEY DIFFER)"
        print(f"| {name} | {before:.2f} | {after:.2f} | {ratio:.2f}{differ} |")


if __name__ == "__main__":
    main()
