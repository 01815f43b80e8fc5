"""The rows of features that inputs of any kind hold: of tables, of tokens, of nodes, of pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.networks import Networks
from structlearn.data.tokens.sequences import Sequences


def input_rows(X: Any) -> Any:
    """All rows of inputs that were read, one input after another.

    >>> input_rows(Sequences(np.eye(3), [2, 1])).shape
    (3, 3)
    """
    if isinstance(X, Sequences):
        return X.tokens
    if isinstance(X, Networks):
        return X.nodes.tokens
    if are_images(X):
        return np.concatenate([image.reshape(-1, image.shape[-1]) for image in X])
    if sp.issparse(X) or isinstance(X, np.ndarray):
        return X
    raise TypeError(f"a {type(X).__name__} has no rows of features")


def with_input_rows(X: Any, rows: Any) -> Any:
    """The same inputs with other rows in the place of theirs.

    >>> with_input_rows(Sequences(np.eye(3), [2, 1]), np.ones((3, 2)))[1]
    array([[1., 1.]])
    """
    if isinstance(X, Sequences):
        return Sequences(rows, X.lengths)
    if isinstance(X, Networks):
        return Networks(Sequences(rows, X.nodes.lengths), X.edges, X.edge_features)
    if are_images(X):
        ends = np.cumsum([image.shape[0] * image.shape[1] for image in X])
        parts = np.split(rows, ends[:-1])
        return [part.reshape(*image.shape[:2], -1) for part, image in zip(parts, X, strict=True)]
    return rows


def are_images(X: Any) -> bool:
    """Whether X is a list of arrays with features of pixels."""
    return isinstance(X, list) and bool(X) and all(isinstance(x, np.ndarray) and x.ndim == 3 for x in X)
