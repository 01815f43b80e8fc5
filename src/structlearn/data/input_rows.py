"""The rows of features that inputs of any kind hold: tables, tokens, nodes, pixels, aligned letters, pairs of items."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.biosequences.annotations import read_pairs
from structlearn.data.examples import NODES
from structlearn.data.images import read_images
from structlearn.data.item_pairs import ItemPairs, read_item_pairs
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.token_features import has_features, split_features
from structlearn.data.tokens.sequences import NamedColumns, Sequences, read_sequences, stack


def read_inputs(X: Any, columns: NamedColumns | None = None, n_features: int | None = None) -> Any:
    """Inputs in a form whose rows are known, or None for tables.

    What X holds is told by the axes of its first input that is not empty: a row of a table has one, a sequence two, an
    image three; a network is a `Network`, or its matrix of nodes with its edges; a pair to be aligned are two dicts, of
    which one has a "profile"; a sentence to be parsed is a dict of "tokens" and "features"; items to be clustered are
    `ItemPairs`, or a number of items with features of pairs. For inputs to predict, `n_features` is the width that rows
    had in training, and `columns` are those of their names.

    >>> table, sequence, network, image = np.ones(2), np.eye(2), (np.eye(2), [(0, 1)]), np.ones((2, 2, 1))
    >>> [type(read_inputs([x])).__name__ for x in (table, sequence, network, image)]
    ['NoneType', 'Sequences', 'Networks', 'list']
    """
    if isinstance(X, np.ndarray) and (X.ndim > 2 or (X.ndim == 1 and X.dtype == object)):
        X = list(X)
    match _kind(X):
        case "images":
            return _images(X, n_features)
        case "pairs":
            return _pairs(X, n_features)
        case "item pairs":
            return _item_pairs(X, n_features)
        case "sentences":
            split_features(X, n_features)
            return list(X)
        case "networks":
            networks = read_networks(X)
            if n_features is None:
                return networks
            return with_input_rows(networks, stack(networks.nodes, columns, n_features, NODES)[0])
        case "sequences":
            if n_features is None:
                return read_sequences(X)
            tokens, offsets = stack(X, columns, n_features)
            return Sequences(tokens, np.diff(offsets))
    return None


def _kind(X: Any) -> str:
    if isinstance(X, (Sequences, Networks)):
        return type(X).__name__.lower()
    if not isinstance(X, (list, tuple)) or not X:
        return "table"
    first = next((x for x in X if not _is_empty(x)), X[0])
    if isinstance(first, Network):
        return "networks"
    if _is_pair(first):
        return "pairs"
    if has_features(first):
        return "sentences"
    if isinstance(first, tuple) and first and isinstance(first[0], numbers.Integral) and _axes(first[1:2]) == 3:
        return "item pairs"
    if _axes(first) == 3:
        return "images" if isinstance(first, np.ndarray) else "networks"
    return "sequences" if _axes(first) == 2 else "table"


def _images(X: Any, n_channels: int | None) -> Any:
    images = read_images(X)
    if n_channels is not None and images[0].shape[2] != n_channels:
        raise ValueError(f"X[0] has {images[0].shape[2]} channels but training had {n_channels}")
    return images


def _pairs(X: Any, n_columns: int | None) -> Any:
    """Pairs of sequences as dicts of annotations, all with profiles of the same width."""
    pairs = list(zip(*read_pairs(X), strict=True))
    expected = "X[0][0]" if n_columns is None else "training"
    for i, pair in enumerate(pairs):
        for side, parts in enumerate(pair):
            if "profile" not in parts:
                raise ValueError(f"X[{i}][{side}] has no 'profile', whose rows have the kernel")
            width = np.shape(parts["profile"])[1]
            n_columns = width if n_columns is None else n_columns
            if width != n_columns:
                raise ValueError(f"X[{i}][{side}] has a profile of {width} columns but {expected} had {n_columns}")
    return pairs


def _item_pairs(X: Any, n_columns: int | None) -> list[ItemPairs]:
    items = [read_item_pairs(x, i) for i, x in enumerate(X)]
    expected = "X[0]" if n_columns is None else "training"
    for i, x in enumerate(items):
        width = x.features.shape[1]
        n_columns = width if n_columns is None else n_columns
        if width != n_columns:
            raise ValueError(f"the pairs of X[{i}] have {width} features, but {expected} had {n_columns}")
    return items


def _is_pair(x: Any) -> bool:
    if not isinstance(x, (list, tuple)) or len(x) != 2:
        return False
    # Two tokens may have a feature of that name, which is a number.
    return any(isinstance(side, Mapping) and not np.isscalar(side.get("profile", 0)) for side in x)


def _is_empty(x: Any) -> bool:
    return not x.shape[0] if getattr(x, "shape", ()) else isinstance(x, (list, tuple)) and not x


def _axes(x: Any) -> int:
    """How many indices a number of an input has; features by name are a row."""
    axes = 0
    # Nothing has more than three, however deep the lists go.
    while isinstance(x, (list, tuple)) and axes <= 3:
        axes, x = axes + 1, x[0] if x else None
    return axes + (1 if isinstance(x, Mapping) else int(getattr(x, "ndim", 0)))


def row_names(X: Any) -> tuple[str, ...] | None:
    """What the columns of the rows of inputs that were read are called, where they have names."""
    tokens = X.nodes if isinstance(X, Networks) else X
    return tokens.names if isinstance(tokens, Sequences) else None


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
    if are_profiled_pairs(X):
        return np.concatenate([np.asarray(parts["profile"], np.float64) for pair in X for parts in pair])
    if are_sentences(X):
        return split_features(X)[1]
    if are_item_pairs(X):
        return sp.csr_array(sp.vstack([x.features for x in X], format="csr"))
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
    if are_profiled_pairs(X):
        ends = np.cumsum([len(parts["profile"]) for pair in X for parts in pair])
        mapped = iter(np.split(rows, ends[:-1]))
        return [tuple(parts | {"profile": next(mapped)} for parts in pair) for pair in X]
    if are_sentences(X):
        ends = np.cumsum([len(x["features"]) for x in X])
        return [{**x, "features": part} for x, part in zip(X, np.split(rows, ends[:-1]), strict=True)]
    if are_item_pairs(X):
        ends = np.cumsum([x.features.shape[0] for x in X])
        return [x._replace(features=part) for x, part in zip(X, np.split(rows, ends[:-1]), strict=True)]
    return rows


def are_images(X: Any) -> bool:
    """Whether X is a list of arrays with features of pixels."""
    return isinstance(X, list) and bool(X) and all(isinstance(x, np.ndarray) and x.ndim == 3 for x in X)


def are_sentences(X: Any) -> bool:
    """Whether X is a list of sentences with features of tokens."""
    return isinstance(X, list) and bool(X) and all(map(has_features, X))


def are_item_pairs(X: Any) -> bool:
    """Whether X is a list of items with features of pairs."""
    return isinstance(X, list) and bool(X) and all(isinstance(x, ItemPairs) for x in X)


def are_profiled_pairs(X: Any) -> bool:
    """Whether X is a list of pairs of sequences with profiles."""
    return isinstance(X, list) and bool(X) and all(map(_is_pair, X))
