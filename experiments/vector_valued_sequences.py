"""Sequences of labels of the experiment on vector-valued prediction: data, learners, settings and measures."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from label_sets_page import Judged
from learners import SYMBOLS, WINDOW
from part_of_speech import TEMPLATES, columns
from vector_valued_sets import (
    COVARIANCE,
    CRF,
    IDENTITY,
    KERNEL_SVM,
    LEARNT,
    MATRICES,
    SVM,
    VECTOR_SVM,
    Grids,
    kernel_named,
)

from structlearn import (
    ConditionalRandomField,
    HiddenMarkov,
    KernelStructuralSVM,
    StructuralSVM,
    VectorValuedRidge,
    VectorValuedSVM,
)
from structlearn.data import Sequences
from structlearn.datasets import fetch_conll2000, fetch_letters, fetch_ud_english
from structlearn.estimators.generative import Discrete, Gaussian, PiecewiseLinearCounts
from structlearn.features import TextFeatures
from structlearn.kernels import Decomposable
from structlearn.metrics import f1, span_counts
from structlearn.models import Chain
from structlearn.outputs import LabelSequenceOutputs
from structlearn.solvers import SampledCuts

HMM = "hidden Markov model"
MOST = 200  # sentences that are drawn with a seed; smaller training parts are the first of them
MEASURES = {"token error": -1, "exact match": 1, "F1": 1}
#: What the hidden Markov model may see of a token of the part-of-speech data.
WORDS: dict[str, Any] = {
    "word": lambda x, t: x[t].lower(),
    "last two letters": lambda x, t: x[t][-2:],
    "last three letters": lambda x, t: x[t][-3:],
}


def grids(data: str) -> Grids:
    """What each learner chooses its settings from; those of A that is no identity go on from ridge with A = I."""
    found: Grids = {CRF: [[0.3], [1.0], [3.0]], SVM: [[0.1], [0.3], [1.0]]}
    shares: list[list[Any]] = [[0.01], [0.1]]
    if data == "letters":
        return found | {
            HMM: [["Bernoulli", 0], ["Gaussian", 0.1], ["Gaussian", 1.0]],
            SVM: [[0.03], [0.1], [0.3]],
            CRF: [[0.1], [0.3], [1.0]],
            KERNEL_SVM: [["rbf 2", 10.0]],
            IDENTITY: [["rbf 1", 0.0], ["rbf 2", 0.0], ["rbf 2", 0.1]],
            COVARIANCE: shares,
            LEARNT: [[]],
            VECTOR_SVM: [["rbf 2", 0.1, 10.0]],
        }
    symbols = SYMBOLS if data == "CoNLL-2000" else WORDS
    return found | {
        HMM: [[symbol, smoothing] for symbol in symbols for smoothing in (0.01, 0.1)],
        KERNEL_SVM: [["quadratic", 0.3], ["quadratic", 1.0], ["quadratic", 3.0]],
        IDENTITY: [[kernel, edges] for kernel in ("linear", "quadratic") for edges in (0.0, 0.1, 1.0)],
        COVARIANCE: shares,
        LEARNT: [[]],
        VECTOR_SVM: [["linear", 0.1, 0.1], ["linear", 0.1, 0.3], ["quadratic", 0.1, 1.0]],
    }


@dataclass(frozen=True)
class Tokens:
    """Features of tokens, and the tokens as they came, for the hidden Markov model."""

    X: Sequences
    raw: list[Any]


def parts(data: str, size: int, seed: int, test: bool) -> tuple[Any, Any, Any, Any]:
    """What is trained on and what is judged: a part of the test, or every third of the training sequences."""
    source, places = _source(data, seed, size)
    if test:
        others, theirs = _tested(data)
    else:
        others, theirs, places = source, places[2::3], np.delete(places, np.s_[2::3])
    own, raw = [source.X[i] for i in places], [others.X[i] for i in theirs]
    Y, Y_other = [list(source.Y[i]) for i in places], [list(others.Y[i]) for i in theirs]
    X, X_other = _features(data, own, raw)
    return Tokens(X, own), Y, Tokens(X_other, raw), Y_other


@cache
def _fetched(data: str, part: str) -> Any:
    if data == "letters":
        return fetch_letters()
    fetch: Any = fetch_conll2000 if data == "CoNLL-2000" else fetch_ud_english
    return fetch(part)


def _source(data: str, seed: int, size: int) -> tuple[Any, Any]:
    source = _fetched(data, "train")
    if data == "letters":
        return source, np.flatnonzero(source.folds == 0)
    return source, np.random.default_rng(seed).permutation(len(source.X))[:MOST][:size]


def _tested(data: str) -> tuple[Any, Any]:
    test = _fetched(data, "test")
    return test, np.flatnonzero(test.folds != 0) if data == "letters" else np.arange(0, len(test.X), 2)


def _features(data: str, own: list[Any], others: list[Any]) -> tuple[Sequences, Sequences]:
    if data == "letters":
        first, second = (Sequences(np.vstack(x).astype(float), [len(each) for each in x]) for x in (own, others))
        return first, second
    if data == "CoNLL-2000":
        text = TextFeatures(WINDOW, columns=("word", "pos"), boundary=False)
        return text.fit_transform(own), text.transform(others)
    text, seen = TextFeatures(TEMPLATES, columns=("word", "common", "rare")), Counter(word for x in own for word in x)
    return text.fit_transform(columns(own, seen)), text.transform(columns(others, seen))


class OfSymbols:
    """The hidden Markov model with one symbol a token."""

    def __init__(self, symbol: Any, smoothing: float):
        self.symbol = symbol
        self.model = HiddenMarkov(Discrete(smoothing))

    def fit(self, X: Tokens, Y: Any) -> None:
        self.model.fit(self._symbols(X), Y)

    def predict(self, X: Tokens) -> Any:
        return self.model.predict(self._symbols(X))

    def _symbols(self, X: Tokens) -> list[list[Any]]:
        return [[self.symbol(x, t) for t in range(len(x))] for x in X.raw]


class OfFeatures:
    """Any other learner."""

    def __init__(self, learner: Any):
        self.learner = learner

    def fit(self, X: Tokens, Y: Any) -> None:
        self.learner.fit(X.X, Y)
        for name in ("lam_", "n_iter_", "duality_gap_"):
            setattr(self, name, getattr(self.learner, name, None))

    def predict(self, X: Tokens) -> Any:
        return self.learner.predict(X.X)


def learner(data: str, name: str, setting: list[Any], X: Tokens, Y: Any) -> Any:
    if name == HMM and data != "letters":
        return OfSymbols((SYMBOLS if data == "CoNLL-2000" else WORDS)[setting[0]], setting[1])
    return OfFeatures(_estimator(data, name, setting, X.X))


def _estimator(data: str, name: str, setting: list[Any], X: Sequences) -> Any:
    n = len(X)
    if name == HMM:
        # Knots at 0 and 1 make the emission of a binary feature Bernoulli's.
        return HiddenMarkov(PiecewiseLinearCounts(n_knots=1000) if setting[0] == "Bernoulli" else Gaussian(setting[1]))
    if name == CRF:
        return ConditionalRandomField(Chain(), C=setting[0] * n, n_jobs=1)
    if name == SVM:
        return StructuralSVM(Chain(), C=setting[0] * n, random_state=0, n_jobs=1)
    kernel = kernel_named(setting[0], X.tokens)
    if name == KERNEL_SVM:
        solver: Any = SampledCuts(tol=0.03, max_iter=300) if data == "letters" else "exact"
        return KernelStructuralSVM(Chain(), kernel, C=setting[1] * n, solver=solver, n_jobs=1)
    outputs = LabelSequenceOutputs(edges=setting[1])
    if name == VECTOR_SVM:
        return VectorValuedSVM(outputs, kernel, C=setting[2] * n, tol=0.1, max_iter=40, n_jobs=1)
    operator = Decomposable(kernel, MATRICES[name])
    return VectorValuedRidge(outputs, operator, lam=_lam(setting, kernel, X), n_jobs=1)


def _lam(setting: list[Any], kernel: Any, X: Sequences) -> float | None:
    """λ as a share of tr A times the mean of k(x, x), over the number of tokens, where A is the covariance."""
    if len(setting) < 3:
        return None
    _, edges, share = setting
    # The trace of the covariance is the mean of ‖ỹ‖²: 1 for the label, and η for the pair unless it is the last token.
    trace = 1.0 + edges * (1.0 - len(X) / X.tokens.shape[0])
    return float(share * trace * kernel.diagonal_values(X.tokens).mean() / X.tokens.shape[0])


def listed(predicted: Any) -> list[list[str]]:
    return [[str(label) for label in y] for y in predicted]


def loss(Y: Any, predicted: list[list[str]]) -> float:
    """The share of labels that are wrong."""
    return float(np.mean(np.concatenate(Y).astype(str) != np.concatenate(predicted)))


def truth(data: str) -> Any:
    """The outputs of the test part."""
    others, places = _tested(data)
    return [list(others.Y[i]) for i in places]


def judged(data: str, Y: Any, predicted: list[list[str]]) -> Judged:
    """Of each sequence wrong labels, labels, whether all are right, 1, and what F1 is made of."""
    wrong = [sum(str(a) != b for a, b in zip(y, p, strict=True)) for y, p in zip(Y, predicted, strict=True)]
    plain = np.column_stack([wrong, [len(y) for y in Y], np.equal(wrong, 0), np.ones(len(Y))])
    more = span_counts(Y, predicted) if data == "CoNLL-2000" else _label_counts(Y, predicted)
    return Judged(
        np.hstack([plain, np.asarray(more, float)]),
        {
            "token error": lambda sums: 100 * sums[..., 0] / sums[..., 1],
            "exact match": lambda sums: 100 * sums[..., 2] / sums[..., 3],
            "F1": lambda sums: 100 * f1(sums[..., 4:].reshape(*sums.shape[:-1], -1, 3)).mean(axis=-1),
        },
    )


def _label_counts(Y: Any, predicted: list[list[str]]) -> Any:
    """Of each sequence and label how often it is found rightly, true and predicted."""
    labels = sorted({str(label) for y in Y for label in y})
    offsets = np.cumsum([0, *(len(y) for y in Y)])[:-1]
    true = np.equal.outer(np.concatenate(Y).astype(str), labels)
    found = np.equal.outer(np.concatenate(predicted), labels)
    return np.add.reduceat(np.stack([true & found, true, found], axis=-1).astype(float), offsets).reshape(len(Y), -1)
