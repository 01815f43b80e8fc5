"""Data in the form in which all competitors get them, and the score of chunks."""

from __future__ import annotations

import gzip
import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from sys import intern
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data import Sequences
from structlearn.datasets import fetch_conll2000, fetch_letters
from structlearn.metrics import span_scores

Sentence = list[list[str]]
Matrix = Any


def chunking(subset: str, limit: int | None = None) -> tuple[list[Sentence], list[list[str]]]:
    """CoNLL-2000 as lists of attribute names, up to 14 a token, and chunk tags."""
    sentences = fetch_conll2000(subset)  # type: ignore[arg-type]
    return [window_attributes(x) for x in sentences.X[:limit]], sentences.Y[:limit]


def window_attributes(sentence: Sequence[tuple[str, str]]) -> Sentence:
    """Words and tags at −2…2 and the four pairs of neighbouring tags; positions outside the sentence have none.

    Equal names are one object, as a program would have them that means to keep the whole corpus in memory.

    >>> window_attributes([("He", "PRP"), ("ran", "VBD")])[1]
    ['w[-1]=He', 'w[0]=ran', 'p[-1]=PRP', 'p[0]=VBD', 'p[-1,0]=PRP|VBD']
    """
    words = [word for word, _ in sentence]
    tags = [tag for _, tag in sentence]
    pairs = [f"{a}|{b}" for a, b in pairwise(tags)]
    T = len(sentence)
    return [
        [intern(f"w[{d}]={words[t + d]}") for d in range(-2, 3) if 0 <= t + d < T]
        + [intern(f"p[{d}]={tags[t + d]}") for d in range(-2, 3) if 0 <= t + d < T]
        + [intern(f"p[{d},{d + 1}]={pairs[t + d]}") for d in range(-2, 2) if 0 <= t + d < T - 1]
        for t in range(T)
    ]


def vocabulary(X: Sequence[Sentence]) -> dict[str, int]:
    """A column for every attribute name, in the order of first occurrence."""
    columns: dict[str, int] = {}
    for x in X:
        for token in x:
            for name in token:
                columns.setdefault(name, len(columns))
    return columns


def prepared(X: Sequence[Sentence], columns: dict[str, int]) -> Sequences:
    """Attribute lists as one sparse matrix; names without a column are left out."""
    known = (sum(name in columns for name in token) for x in X for token in x)
    n_tokens = sum(len(x) for x in X)
    indptr = np.concatenate([[0], np.cumsum(np.fromiter(known, np.int64, count=n_tokens))])
    names = (columns[name] for x in X for token in x for name in token if name in columns)
    matrix = _indicators(indptr, np.fromiter(names, np.int32, count=int(indptr[-1])), len(columns))
    return Sequences(matrix, [len(x) for x in X])


def part_of_speech(limit: int | None = None) -> tuple[Matrix, npt.NDArray[np.int64]]:
    """A row of 8 indicators for every token of CoNLL-2000 (words at −2…2, suffixes of 2 and 3, shape), and its tag."""
    columns: dict[str, int] = {}
    rows, tags = [], []
    for sentence in fetch_conll2000("train").X[:limit]:
        padded = ["", "", *(word for word, _ in sentence), "", ""]
        for t, (word, tag) in enumerate(sentence):
            names = [f"w[{d}]={padded[t + 2 + d]}" for d in range(-2, 3)]
            names += [f"2={word[-2:]}", f"3={word[-3:]}", f"shape={_shape(word)}"]
            rows.append([columns.setdefault(name, len(columns)) for name in names])
            tags.append(tag)
    return indicators(rows, len(columns)), np.unique(tags, return_inverse=True)[1]


def mnist(limit: int | None = None) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The 60,000 training images of MNIST, pixels scaled to [0, 1], and their digits."""
    folder = Path(os.environ["STRUCTLEARN_DATA"]) / "mnist"
    with gzip.open(folder / "train-images-idx3-ubyte.gz") as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784)
    with gzip.open(folder / "train-labels-idx1-ubyte.gz") as file:
        digits = np.frombuffer(file.read(), np.uint8, offset=8)
    return images[:limit] / 255.0, digits[:limit].astype(np.int64)


def letters(train_folds: Sequence[int], test_folds: Sequence[int]) -> tuple[list[Any], list[Any], list[Any], list[Any]]:
    """OCR letters: X and Y of the training folds, X and Y of the test folds."""
    words = fetch_letters()

    def of(folds: Sequence[int], values: list[Any]) -> list[Any]:
        return [values[i] for i in np.flatnonzero(np.isin(words.folds, folds))]

    return (
        of(train_folds, words.X),
        of(train_folds, words.Y),
        of(test_folds, words.X),
        of(test_folds, words.Y),
    )


def noisy_sequences(n: int, n_features: int = 20, n_labels: int = 5) -> tuple[list[Any], list[Any]]:
    """Sequences of 4 to 11 places whose labels are linear in a few features, but for three in ten, drawn at random."""
    random = np.random.default_rng(0)
    W = random.normal(size=(n_features, n_labels))
    X = [random.normal(size=(int(random.integers(4, 12)), n_features)) for _ in range(n)]
    Y = [np.argmax(x @ W, axis=1) for x in X]
    Y = [np.where(random.uniform(size=len(y)) < 0.3, random.integers(n_labels, size=len(y)), y) for y in Y]
    return X, Y


def token_error(Y: Sequence[Sequence[Any]], predicted: Sequence[Sequence[Any]]) -> float:
    """Part of the labels that are wrong."""
    wrong = sum(int(a != b) for y, p in zip(Y, predicted, strict=True) for a, b in zip(y, p, strict=True))
    return wrong / sum(len(y) for y in Y)


def chunk_f1(Y: Sequence[Sequence[str]], predicted: Sequence[Sequence[str]]) -> float:
    """F1 of chunks that agree in begin, end and type, as conlleval reads them.

    >>> chunk_f1([["B-NP", "I-NP", "O", "B-VP"]], [["B-NP", "I-NP", "O", "O"]])
    0.6666666666666666
    """
    return span_scores(Y, predicted, "conlleval").f1


def indicators(rows: list[list[int]], width: int) -> Matrix:
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    return _indicators(indptr, np.fromiter((k for row in rows for k in row), np.int32, count=int(indptr[-1])), width)


def _indicators(indptr: npt.NDArray[np.int64], columns: npt.NDArray[np.int32], width: int) -> Matrix:
    indptr = indptr.astype(np.int32)  # one size for both, or scipy widens the columns
    matrix = sp.csr_array((np.ones(len(columns)), columns, indptr), shape=(len(indptr) - 1, width))
    matrix.sort_indices()
    return matrix


def _shape(word: str) -> str:
    return "".join("A" if c.isupper() else "a" if c.islower() else "0" if c.isdigit() else c for c in word)
