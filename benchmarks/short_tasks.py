"""A few seconds of training, or of prediction, with every structure: what `before_and_after.py` measures.

Public names and published data only, so that the tasks run on other versions of the library. Predictions are for data
that were not trained on: at the optimum of an SVM the best outputs of its training examples are often exactly tied.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
from measure import Run, peak_mb
from sklearn.exceptions import ConvergenceWarning

import structlearn
from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM
from structlearn.data import from_bio
from structlearn.data.biosequences.substitution import AMINO_ACIDS, BLOSUM62
from structlearn.data.clusterings import to_clusters
from structlearn.data.trees import brackets
from structlearn.datasets import fetch_homstrad, fetch_litbank, fetch_mq2007_agg, fetch_treebank, fetch_yeast_origins
from structlearn.features import MentionPairs
from structlearn.inference import align
from structlearn.models import (
    Alignment,
    Chain,
    Grammar,
    LatentChain,
    LatentForest,
    Motif,
    Multiclass,
    Ranking,
    Segments,
)

#: What a prediction consists of: parts that another prediction has, too, or has not.
Parts = Callable[[Any], Iterable[Any]]


class Task(NamedTuple):
    """What is timed, the predictions after it, their parts, and the estimator with the weights behind them."""

    work: Callable[[], Any]
    predict: Callable[[], Any]
    parts: Parts
    estimator: Any = None


def fitting(estimator: Any, X: Any, Y: Any, X_new: Any, parts: Parts = enumerate) -> Task:
    return Task(lambda: estimator.fit(X, Y), lambda: estimator.predict(X_new), parts, estimator)


def repeat(times: int, work: Callable[[], Any]) -> None:
    for _ in range(times):
        work()


def chunks(limit: int) -> tuple[Any, list[list[str]], Any]:
    X, Y = data.chunking("train", limit)
    columns = data.vocabulary(X)
    return data.prepared(X, columns), Y, data.prepared(data.chunking("test")[0], columns)


def chunking(estimator: Any) -> Task:
    return fitting(estimator, *chunks(4000))


def chunk_prediction() -> Task:
    X, Y = data.chunking("train")
    svm = StructuralSVM(Chain(), C=200, tol=0.01).fit(X[:2000], Y[:2000])
    return Task(lambda: repeat(3, lambda: svm.predict(X)), lambda: svm.predict(X[2000:]), enumerate, svm)


def segments() -> Task:
    X, Y, X_new = chunks(800)
    return fitting(StructuralSVM(Segments(), C=80, tol=1e-4), X, [from_bio(y) for y in Y], X_new, tuple)


def letters(estimator: Any, limit: int | None = None) -> Task:
    X, Y, X_new, _ = data.letters([0], [1, 2])
    return fitting(estimator, X[:limit], Y[:limit], X_new)


def mnist() -> Task:
    X, y = data.mnist(30_000)
    return fitting(StructuralSVM(Multiclass(), C=200, tol=1e-5), X[:20_000], y[:20_000], X[20_000:], whole)


def parsing(estimator: Any, n: int) -> Task:
    trees = fetch_treebank(15)
    X = [[tag for _, tag in x] for x in trees.X]
    return fitting(estimator, X[:n], trees.Y[:n], X[n:], brackets)


def proteins() -> tuple[list[Any], list[Any]]:
    pairs = (rows.pair() for rows in fetch_homstrad().values())
    X, Y = zip(*((x, y) for x, y in pairs if max(map(len, x)) <= 150), strict=True)
    return list(X), list(Y)


def best_alignments() -> Task:
    X, _ = proteins()
    best = partial(align, X, BLOSUM62, gap=-1.0, first=-10.0)
    return Task(lambda: repeat(30, best), lambda: [matches for matches, _ in best()], tuple)


def alignment(estimator: Any, n: int) -> Task:
    X, Y = proteins()
    return fitting(estimator, X[:n], Y[:n], X[n:], tuple)


def coreference() -> Task:
    documents = fetch_litbank()
    X = MentionPairs().fit_transform(documents.X[:20])
    svm = LatentStructuralSVM(LatentForest(), C=12, max_iter=200, random_state=0)
    return fitting(svm, X[:12], documents.Y[:12], X[12:], links)


def motifs() -> Task:
    origins = fetch_yeast_origins()
    svm = LatentStructuralSVM(Motif(11), C=704, max_iter=60, random_state=0)
    return fitting(svm, origins.X, origins.Y, origins.intergenic, whole)


def ranking() -> Task:
    queries = fetch_mq2007_agg(1)
    svm = StructuralSVM(Ranking("ndcg", k=10), C=600, tol=1e-6)
    return fitting(svm, queries.X[:600], queries.Y[:600], queries.X[600:], first_ten)


def whole(y: Any) -> list[Any]:
    return [y]


def first_ten(ranking: Any) -> list[Any]:
    return list(ranking[:10])


def links(labels: Any) -> list[tuple[int, int]]:
    """Every item with the first one of its cluster."""
    return [(item, min(cluster)) for cluster in to_clusters(labels) for item in cluster]


PROTEINS = Alignment(AMINO_ACIDS, gaps="affine")
TASKS: dict[str, Callable[[], Task]] = {
    "chunks": partial(chunking, StructuralSVM(Chain(), C=400, tol=1e-3)),
    "chunks-crf": partial(chunking, ConditionalRandomField(Chain(), C=400, tol=1e-3)),
    "chunks-predict": chunk_prediction,
    "segments": segments,
    "letters": partial(letters, StructuralSVM(Chain(), C=62.6, tol=1e-5)),
    "letters-crf": partial(letters, ConditionalRandomField(Chain(), C=626, tol=1e-5)),
    "letters-order-2": partial(letters, StructuralSVM(Chain(order=2), C=30, tol=1e-5), 300),
    "letters-one-slack": partial(letters, StructuralSVM(Chain(), C=62.6, solver="one_slack", tol=5e-4)),
    "latent-chain": partial(letters, LatentStructuralSVM(LatentChain(2), C=60, max_iter=30, random_state=0), 300),
    "mnist": mnist,
    "parsing": partial(parsing, StructuralSVM(Grammar(), C=60, tol=1e-4), 600),
    "parsing-crf": partial(parsing, ConditionalRandomField(Grammar(), C=300, tol=1e-4), 300),
    "alignment-best": best_alignments,
    "alignment": partial(alignment, StructuralSVM(PROTEINS, C=3, tol=1e-5), 100),
    "alignment-crf": partial(alignment, ConditionalRandomField(PROTEINS, C=30, tol=2e-4), 30),
    "coreference": coreference,
    "motifs": motifs,
    "ranking": ranking,
}


def run(task: str, weights: str, keep: bool, nudge: float) -> Run:
    """One measurement, and what it found: the objective between its bounds, and the parts of all predictions.

    The weights go into a file; or those of the file predict once more, for what a decoder makes of the same weights.
    C is larger by the part `nudge` of itself.
    """
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", message=".*teach nothing")
    work, predict, parts, estimator = TASKS[task]()
    if estimator is not None:
        estimator.C *= 1.0 + nudge
    with suppress(OSError):  # on Linux; the peak is that of the work then, not that of reading the data
        Path("/proc/self/clear_refs").write_text("5")
    begin = time.process_time()
    work()
    seconds = time.process_time() - begin
    peak = peak_mb()

    def predicted() -> list[str]:
        return [f"{i} {part}" for i, y in enumerate(predict()) for part in parts(y)]

    last = estimator.history_[-1] if estimator is not None else {}
    found = {"library": structlearn.__file__, "seconds": seconds, "peak_mb": peak, "own": predicted()}
    found |= {name: last.get(name, np.nan) for name in ("primal", "dual", "stationarity")}
    if estimator is not None and keep:
        np.save(weights, estimator.w_)
    elif estimator is not None:
        estimator.w_ = np.load(weights)
    return found | {"same": found["own"] if keep else predicted()}
