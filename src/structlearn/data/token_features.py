"""Sentences whose tokens have rows of numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structlearn.data.arrays import FloatArray
from structlearn.data.matrices import check_finite, checked_numbers

KEYS = {"tokens", "features"}


def split_features(X: Sequence[Any], n_columns: int | None = None) -> tuple[list[Any], FloatArray]:
    """The tokens of sentences, and a row of features for each token of all of them; without columns where none has any.

    A sentence is a list of tokens, or a dict with these and their "features", (n_tokens, n_columns). Where `n_columns`
    is given, it is what training had.

    >>> tokens, rows = split_features([{"tokens": ["DT", "NN"], "features": [[0.5], [1.5]]}])
    >>> tokens, rows.tolist()
    ([['DT', 'NN']], [[0.5], [1.5]])
    """
    found = [_split(x, f"X[{i}]") for i, x in enumerate(X)]
    expected = "training" if n_columns is not None else "X[0]"
    for i, (tokens, rows) in enumerate(found):
        width = 0 if rows is None else rows.shape[1]
        n_columns = width if n_columns is None else n_columns
        if width != n_columns:
            raise ValueError(f"X[{i}] has {width or 'no'} features a token but {expected} had {n_columns or 'none'}")
        if rows is not None and len(rows) != len(tokens):
            raise ValueError(f"X[{i}] has features of {len(rows)} tokens but {len(tokens)} tokens")
    given = [rows for _, rows in found if rows is not None]
    return [tokens for tokens, _ in found], np.concatenate([np.empty((0, n_columns or 0)), *given])


def has_features(x: Any) -> bool:
    """Whether a sentence has features of its tokens; a row of attributes by name has numbers."""
    return isinstance(x, Mapping) and x.keys() >= KEYS and not np.isscalar(x["features"])


def _split(x: Any, where: str) -> tuple[Any, FloatArray | None]:
    if not isinstance(x, Mapping):
        return x, None
    if set(x) != KEYS:
        raise ValueError(f"{where} has {', '.join(map(repr, x))}; a sentence with features has 'tokens' and 'features'")
    rows = checked_numbers(x["features"], f"{where}['features']")
    if rows.ndim != 2 or not rows.shape[1]:
        raise ValueError(f"{where}['features'] has the shape {rows.shape}; it must be a matrix with a row a token")
    check_finite(rows, lambda i, j: f"{where}['features'][{i}, {j}]")
    return x["tokens"], np.asarray(rows, np.float64)
