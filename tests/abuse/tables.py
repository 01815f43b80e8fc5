"""What is trained, and what is done to it: every estimator here meets every abuse."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structlearn import ConditionalRandomField, LatentStructuralSVM, StructuralSVM, StructuredPerceptron
from structlearn.models import Chain, CorrelationClustering, LatentChain, Multiclass, MultivariateBinary, Ranking


class Subject(NamedTuple):
    """An estimator and data that it can learn."""

    estimator: Callable[..., Any]
    X: Any
    Y: Any


SEQUENCES = [np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[3.0, 4.0], [1.0, 1.0], [0.0, 1.0]])]
LABELS = [["a", "b"], ["b", "a", "b"]]
DICTS = [[{"w": "the"}, {"w": "dog"}], [{"w": "a"}, {"w": "cat"}, {"w": "sat", "n": 3}]]
TABLE, CLASSES = np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]]), ["a", "b", "a"]
PAIRS = [(3, np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])), (2, np.array([[1.0, 2.0]]))]


def svm(model: Any) -> Callable[..., Any]:
    return lambda **options: StructuralSVM(model, **{"max_iter": 5, **options})


SUBJECTS = {
    "chain": Subject(svm(Chain()), SEQUENCES, LABELS),
    "chain of dicts": Subject(svm(Chain()), DICTS, LABELS),
    "crf": Subject(lambda **o: ConditionalRandomField(Chain(), **{"max_iter": 5, **o}), SEQUENCES, LABELS),
    "perceptron": Subject(lambda **o: StructuredPerceptron(Chain(), **{"max_iter": 5, **o}), SEQUENCES, LABELS),
    "latent chain": Subject(lambda **o: LatentStructuralSVM(LatentChain(), **{"max_iter": 3, **o}), SEQUENCES, LABELS),
    "multiclass": Subject(svm(Multiclass()), TABLE, CLASSES),
    "ranking": Subject(svm(Ranking("ndcg")), SEQUENCES, [[0, 1], [2, 0, 1]]),
    "binary": Subject(svm(MultivariateBinary()), SEQUENCES, [[0, 1], [1, 0, 1]]),
    "clustering": Subject(svm(CorrelationClustering()), PAIRS, [[0, 0, 1], [0, 1]]),
}

#: An argument of `fit` or of the estimator, and what is put in its place.
Abuse = tuple[str, Callable[[Subject], Any]]


def first(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The first example changed, the others as they were."""
    return lambda data: [change(data[0]), *list(data)[1:]]


def matrix_of(x: Any) -> Any:
    return np.eye(2) if not isinstance(x, np.ndarray) else x.reshape(-1, 2)


def sparse(**arrays: Any) -> Callable[[Any], Any]:
    """A sparse matrix in the place of an example, with some of its arrays put in the place of what they were."""

    def broken(x: Any) -> Any:
        matrix = sp.csr_array(matrix_of(x))
        for name, change in arrays.items():
            setattr(matrix, name, change(getattr(matrix, name)))
        return matrix

    return broken


def filled(value: Any, dtype: Any = None) -> Callable[[Any], Any]:
    return lambda x: np.full(np.shape(matrix_of(x)), value, dtype)


X_ABUSES: dict[str, Callable[[Any], Any]] = {
    "none": lambda X: None,
    "nothing": lambda X: [],
    "a number": lambda X: 3,
    "a text": lambda X: "text",
    "texts": lambda X: ["text"] * len(X),
    "numbers": lambda X: list(range(len(X))),
    "a generator": lambda X: iter(X),
    "a dict": lambda X: dict(enumerate(X)),
    "a set": lambda X: {1, 2},
    "0-d array": lambda X: np.array(1.0),
    "cube": lambda X: np.ones((len(X), 2, 2, 2)),
    "one too few": lambda X: X[:-1],
    "a none among them": first(lambda x: None),
    "an empty one": first(lambda x: []),
    "an empty matrix": first(lambda x: np.empty((0, 2))),
    "no columns": first(lambda x: np.empty((len(matrix_of(x)), 0))),
    "ragged": first(lambda x: [[1.0, 2.0], [3.0]]),
    "words": first(lambda x: ["the", "dog"]),
    "odd keys": first(lambda x: [{1: 2.0, None: 1.0, ("a",): True}] * 2),
    "odd values": first(lambda x: [{"a": object()}] * 2),
    "huge whole numbers": first(lambda x: [[10**400, 1]] * 2),
    "huge numbers": first(filled(1e200)),
    "nan": first(filled(np.nan)),
    "inf": first(filled(-np.inf)),
    "complex": first(filled(1j)),
    "dates": first(filled(datetime.date(2024, 1, 1), "M8[D]")),
    "durations": first(filled(3, "m8[s]")),
    "objects": first(filled("1.5", object)),
    "numbers in words": first(filled("1.5")),
    "masked": first(lambda x: np.ma.masked_array(matrix_of(x), np.ones(np.shape(matrix_of(x)), bool))),
    "columns too far": first(sparse(indices=lambda k: k + 2**20)),
    "columns below zero": first(sparse(indices=lambda k: k - 9)),
    "starts that fall": first(sparse(indptr=lambda k: k[::-1].copy())),
    "starts too far": first(sparse(indptr=lambda k: k + 1000)),
    "too few values": first(sparse(data=lambda v: v[:1])),
    "too few columns": first(sparse(indices=lambda k: k[:1])),
    "a sparse whole": lambda X: sparse(indices=lambda k: k + 2**20)(TABLE),
}

Y_ABUSES: dict[str, Callable[[Any], Any]] = {
    "none": lambda Y: None,
    "nothing": lambda Y: [],
    "a number": lambda Y: 3,
    "a text": lambda Y: "text",
    "a generator": lambda Y: iter(Y),
    "0-d array": lambda Y: np.array(1.0),
    "numbers": lambda Y: list(range(len(Y))),
    "nones": lambda Y: [None] * len(Y),
    "one too few": lambda Y: Y[:-1],
    "one label": lambda Y: [["a"] * len(y) if hasattr(y, "__len__") and not isinstance(y, str) else "a" for y in Y],
    "an empty one": first(lambda y: []),
    "nan": first(lambda y: [np.nan] * len(y)),
    "inf": first(lambda y: [np.inf] * len(y)),
    "lists for labels": first(lambda y: [["a"]] * len(y)),
    "dicts for labels": first(lambda y: [{}] * len(y)),
    "huge": first(lambda y: [10**400] * len(y)),
    "large": first(lambda y: [1024] * len(y)),
    "below zero": first(lambda y: [-5] * len(y)),
    "complex": first(lambda y: [1j] * len(y)),
}

WEIGHT_ABUSES: dict[str, Any] = {
    "a number": 3.0,
    "a text": "text",
    "texts": ["1", "2", "3"],
    "below zero": [-1.0, 1.0, 1.0],
    "nan": [np.nan, 1.0, 1.0],
    "inf": [np.inf, 1.0, 1.0],
    "zeros": [0.0, 0.0, 0.0],
    "complex": [1j, 1.0, 1.0],
    "dates": np.array(["2024", "2025", "2026"], "M8[Y]"),
    "a matrix": np.ones((3, 1)),
    "too many": np.ones(9),
    "masked": np.ma.masked_array([1.0, 1.0, 1.0], [True, False, False]),
    "a dict": {0: 1.0},
    "huge whole numbers": [10**400, 1, 1],
}

OPTION_ABUSES: dict[str, list[Any]] = {
    "C": [True, "1", np.nan, np.inf, 0, -1, 1j, [1.0]],
    "tol": [True, "1", np.nan, 0, -1, [1.0]],
    "max_iter": [True, "3", 2.5, -1, np.nan],
    "n_jobs": [True, "2", 0, 1.5],
    "fit_intercept": ["no", 7, None],
    "n_iter_no_change": [True, "3", 0],
    "random_state": ["x", -1, 1.5],
    "solver": ["unknown", 3, ["n_slack"]],
    "class_weight": [3],
}


def cases() -> list[tuple[str, str, str, Any]]:
    """(subject, argument, abuse, what makes the bad value of the good one)."""
    found: list[tuple[str, str, str, Any]] = []
    for subject in SUBJECTS:
        found += [(subject, "X", name, change) for name, change in X_ABUSES.items()]
        found += [(subject, "Y", name, change) for name, change in Y_ABUSES.items()]
        found += [(subject, "sample_weight", name, value) for name, value in WEIGHT_ABUSES.items()]
        known = SUBJECTS[subject].estimator().get_params(deep=False)
        found += [
            (subject, option, repr(value), value)
            for option, values in OPTION_ABUSES.items()
            for value in values
            if option in known
        ]
    return found
