"""The data of the kernel machines, in the parts that Yu's thesis has where they allow it."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from structlearn.datasets import fetch_adult, fetch_covertype, fetch_ijcnn1, fetch_newsgroups, make_checkerboard


class Part(NamedTuple):
    X: Any
    y: Any


def mixed(X: Any, y: Any, sizes: tuple[int, ...]) -> tuple[Part, ...]:
    """Parts of these sizes, of rows in the order that seed 0 gives."""
    order = np.split(np.random.default_rng(0).permutation(len(y)), np.cumsum(sizes)[:-1])
    return tuple(
        Part(X[np.sort(part[:size])], y[np.sort(part[:size])]) for part, size in zip(order, sizes, strict=True)
    )


def mnist() -> tuple[Any, Any]:
    found = []
    for name, head in (("train-images-idx3-ubyte", 16), ("train-labels-idx1-ubyte", 8)):
        content = gzip.decompress(next(Path(os.environ["STRUCTLEARN_DATA"], "mnist").glob(f"{name}*")).read_bytes())
        found.append(np.frombuffer(content, np.uint8, offset=head))
    return found[0].reshape(60_000, 784) / 255.0, found[1]


def newsgroups() -> tuple[Part, ...]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, test = fetch_newsgroups("train"), fetch_newsgroups("test")
    words = TfidfVectorizer(min_df=10, max_df=0.1, sublinear_tf=True)
    X = words.fit_transform(train.X).tocsr()
    y, y_test = (np.where([g.startswith(("comp", "sci")) for g in part.Y], 1, -1) for part in (train, test))
    return Part(X, y), *mixed(words.transform(test.X).tocsr(), y_test, (3_766, 3_766))


def parts(task: str) -> tuple[Part, ...]:
    """Training, validation and test; of Table 6.1 training and test."""
    if task == "ADULT":
        data = fetch_adult()
        return mixed(data.X, data.Y, (20_000, 6_281, 6_280))
    if task == "IJCNN":
        both = fetch_ijcnn1("train"), fetch_ijcnn1("test")
        X = np.concatenate([np.asarray(each.X.toarray()) for each in both])  # type: ignore[union-attr]
        return mixed(X, np.concatenate([each.Y for each in both]), (113_353, 14_169, 14_169))
    if task == "NEWS":
        return newsgroups()
    if task in ("OCR0", "OCR*"):
        X, digits = mnist()
        return mixed(X, np.where(digits < (1 if task == "OCR0" else 5), 1, -1), (50_000, 5_000, 5_000))
    name, _, size = task.partition(" ")
    n = int(size)
    if name == "checkerboard":
        train, test = make_checkerboard(n, random_state=0), make_checkerboard(100_000, random_state=1)
        return Part(train.X, train.Y), Part(test.X, test.Y)
    if name == "Adult":
        data = fetch_adult()
        return Part(data.X[:n], data.Y[:n]), Part(data.X[22_697:], data.Y[22_697:])
    cover = fetch_covertype()
    X = (cover.X - cover.X.min(axis=0)) / np.maximum(np.ptp(cover.X, axis=0), 1e-9)
    most, rest = mixed(X, np.where(cover.Y == 2, 1, -1), (15_000, 5_000))
    return Part(most.X[:n], most.y[:n]), rest
