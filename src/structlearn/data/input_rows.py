"""The rows of features that inputs of any kind hold: of tables, of tokens, of nodes, of pixels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from structlearn.data.examples import NODES
from structlearn.data.images import read_images
from structlearn.data.networks import Network, Networks, read_networks
from structlearn.data.tokens.sequences import NamedColumns, Sequences, read_sequences, stack


def read_inputs(X: Any, columns: NamedColumns | None = None, n_features: int | None = None) -> Any:
    """Inputs in a form whose rows are known: `Sequences`, `Networks` or a list of images; None for tables.

    What X holds is told by the axes of its first input that is not empty: a row of a table has one, a sequence two, an
    image three; a network is a `Network`, or its matrix of nodes with its edges. For inputs to predict, `n_features` is
    the width that rows had in training, and `columns` are those of their names.

    >>> table, sequence, network, image = np.ones(2), np.eye(2), (np.eye(2), [(0, 1)]), np.ones((2, 2, 1))
    >>> [type(read_inputs([x])).__name__ for x in (table, sequence, network, image)]
    ['NoneType', 'Sequences', 'Networks', 'list']
    """
    if isinstance(X, np.ndarray) and (X.ndim > 2 or (X.ndim == 1 and X.dtype == object)):
        X = list(X)
    match _kind(X):
        case "images":
            return _images(X, n_features)
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
    if _axes(first) == 3:
        return "images" if isinstance(first, np.ndarray) else "networks"
    return "sequences" if _axes(first) == 2 else "table"


def _images(X: Any, n_channels: int | None) -> Any:
    images = read_images(X)
    if n_channels is not None and images[0].shape[2] != n_channels:
        raise ValueError(f"X[0] has {images[0].shape[2]} channels but training had {n_channels}")
    return images


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
