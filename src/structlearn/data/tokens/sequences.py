"""Sequences of tokens in all the forms in which users have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn import _core
from structlearn.data.arrays import IntArray, LabelArray
from structlearn.data.examples import SEQUENCES, Words, is_listed
from structlearn.data.matrices import (
    check_finite,
    checked_matrix,
    checked_numbers,
    checked_sparse,
    compressed_rows,
    stacked_csr,
)
from structlearn.data.ragged import Ragged, locate, offsets_of, places_of
from structlearn.data.tokens.matrix import TokenMatrix
from structlearn.wording import shown

_MADE_OF_TEXT = "is a dict or a list of its features, which structlearn.features.TextFeatures makes of words"


class Sequences(Ragged):
    """One stacked matrix of tokens, all finite, and the lengths of the sequences in it.

    It is a sequence of matrices, so that cross-validation can index it, without a copy for each.

    Parameters
    ----------
    tokens : (n_tokens, n_features) array or sparse matrix
    lengths : (n_sequences,) integers
        They add up to n_tokens.
    names : (n_features,) texts, optional
        What the columns are called.

    Examples
    --------
    >>> words = Sequences(np.arange(10.0).reshape(5, 2), lengths=[2, 3])
    >>> len(words), words[1].shape
    (2, (3, 2))
    """

    __slots__ = ("names",)

    def __init__(self, tokens: Any, lengths: npt.ArrayLike, names: Sequence[str] | None = None):
        tokens = checked_matrix(tokens, "tokens")
        lengths = np.asarray(lengths)
        if tokens.ndim != 2:
            raise ValueError(f"tokens has {tokens.ndim} dimensions; it must be a matrix with a row a token")
        whole = lengths.dtype.kind in "iu" or not lengths.size
        if lengths.ndim != 1 or not whole or lengths.min(initial=0) < 0:
            raise ValueError("lengths must be a list of non-negative integers")
        if lengths.sum() != tokens.shape[0]:
            raise ValueError(f"lengths add up to {lengths.sum()} but there are {tokens.shape[0]} tokens")
        if names is not None and len(names) != tokens.shape[1]:
            raise ValueError(f"there are {len(names)} names but {tokens.shape[1]} features")
        super().__init__(tokens, offsets_of(lengths))
        self.names = None if names is None else tuple(names)
        _check_finite(tokens, self.offsets)

    @classmethod
    def made_of(cls, tokens: Any, offsets: IntArray, names: tuple[str, ...] | None = None) -> Sequences:
        """Of a matrix, or a `TokenMatrix`, and offsets that were checked before."""
        made = cls.__new__(cls)
        Ragged.__init__(made, tokens, offsets)
        made.names = names
        return made

    @property
    def tokens(self) -> Any:
        return self.flat

    def between(self, begin: int, end: int) -> Sequences:
        """Neighbouring sequences; of tokens in files nothing is read."""
        offsets, tokens = self.offsets[begin : end + 1], self.flat
        rows = int(offsets[0]), int(offsets[-1])
        part = tokens.between(*rows) if isinstance(tokens, TokenMatrix) else tokens[slice(*rows)]
        return Sequences.made_of(part, offsets - offsets[0], self.names)

    def take(self, which: npt.ArrayLike) -> Sequences:
        places, offsets = places_of(self.offsets, which)
        return Sequences.made_of(self.flat[places], offsets, self.names)


class NamedColumns:
    """The columns of names, for tokens that come as dicts or lists of names."""

    def __init__(self, names: Sequence[str]):
        self.names = tuple(names)
        self._table = _core.Vocabulary(self.names)

    def rows(self, X: Any, n_tokens: int) -> sp.csr_array:
        """A row a token; names that have no column are left out."""
        if isinstance(X, Sequences):
            return self._chosen(X)
        indptr, indices, values = _read(self._table.rows, X, n_tokens)
        rows = compressed_rows(indptr, indices, values, (n_tokens, len(self.names)))
        rows.has_canonical_format = True
        return rows

    def _chosen(self, X: Sequences) -> sp.csr_array:
        if X.names is None:
            raise ValueError("X has no names of features, but training had features by name")
        if X.names == self.names:
            return X.tokens
        place = {name: k for k, name in enumerate(self.names)}
        column_of = np.array([place.get(name, -1) for name in X.names], np.int32)
        return _named_rows(sp.csr_array(X.tokens), column_of, len(self.names))


def with_tokens(X: Any) -> IntArray | None:
    """Which sequences have tokens; None if all have, or if these are no sequences.

    >>> with_tokens([["a"], [], ["b", "c"]])
    array([0, 2])
    """
    try:
        lengths = X.lengths if isinstance(X, Ragged) else np.array([_length(x) for x in X])
    except (TypeError, IndexError):
        return None
    return None if lengths.all() else np.flatnonzero(lengths)


def chosen(X: Any, which: IntArray) -> Any:
    """Some of the sequences, or of what is said about each."""
    return X.take(which) if isinstance(X, Ragged) else [X[i] for i in which.tolist()]


def read_sequences(X: Any, *, empty: bool = False, words: Words = SEQUENCES) -> Sequences:
    """Sequences in any of the forms that users have them in: lists of matrices, of dicts, or of lists of names.

    There is mostly nothing to learn from those without tokens, so they are refused unless `empty`. `words` are for
    messages.

    >>> read_sequences([[{"word": "the"}, {"word": "dog", "length": 3}]]).names
    ('length', 'word=dog', 'word=the')
    """
    X, offsets = _listed(X, words)
    if not empty:
        check_tokens(offsets, words)
    if isinstance(X, Sequences):
        return X
    if not _are_dicts(X):
        return _stacked(X, offsets, None, words)
    names, indptr, numbers, values = _read(_core.read_attributes, X)
    if len(indptr) - 1 != offsets[-1]:
        raise ValueError(f"X changed while it was read: it had {offsets[-1]} tokens and then {len(indptr) - 1}")
    order = sorted(range(len(names)), key=names.__getitem__)
    column_of = np.empty(len(names), np.int32)
    column_of[order] = np.arange(len(names))
    raw = compressed_rows(indptr, numbers, values, (int(offsets[-1]), len(names)))
    rows = _named_rows(raw, column_of, len(names))
    _check_finite(rows, offsets)
    return Sequences.made_of(rows, offsets, tuple(names[k] for k in order))


def stack(X: Any, columns: NamedColumns | None, n_inputs: int | None, words: Words = SEQUENCES) -> tuple[Any, IntArray]:
    """All tokens as one matrix, and the offsets of the sequences in it.

    Names that have no column are left out; `n_inputs` is the width that numeric tokens must have; those
    of a sequence without tokens may have any. `words` are for messages.
    """
    X, offsets = _listed(X, words)
    if not offsets[-1]:
        return np.empty((0, (n_inputs or 0) if columns is None else len(columns.names))), offsets
    if columns is not None:
        return columns.rows(X, int(offsets[-1])), offsets
    if not isinstance(X, Sequences):
        X = _stacked(X, offsets, n_inputs, words)
    if n_inputs is not None and X.tokens.shape[1] != n_inputs:
        raise ValueError(f"X has {X.tokens.shape[1]} features {words.each} but training had {n_inputs}")
    return X.tokens, offsets


def check_tokens(offsets: IntArray, words: Words = SEQUENCES) -> None:
    """Refuses sequences without tokens."""
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        raise ValueError(f"X[{empty[0]}] is an empty {words.example}")


def _listed(X: Any, words: Words) -> tuple[Any, IntArray]:
    """A list of sequences, and their offsets."""
    if not is_listed(X):
        raise ValueError(f"X must be a list of {words.example}s, not {type(X).__name__}")
    if len(X) == 0:
        raise ValueError(f"X is empty; at least one {words.example} is needed")
    if not isinstance(X, Sequences):
        X = _stacked_rows(X) or [_sequence(x, i, words) for i, x in enumerate(X)]
    return X, X.offsets if isinstance(X, Sequences) else offsets_of([_length(x) for x in X])


def _stacked_rows(X: Sequence[Any]) -> Sequences | None:
    """Sparse matrices in rows, checked all at once: one by one costs more than to decode them.

    None if they are something else, or if something is wrong, which is then found, and named, one by one.
    """
    if not all(sp.issparse(x) and x.format == "csr" and x.ndim == 2 for x in X):
        return None
    tokens = stacked_csr([x for x in X if x.shape[0]])
    if tokens is None or not np.isfinite(tokens.data).all():
        return None
    return Sequences.made_of(tokens, offsets_of([x.shape[0] for x in X]))


def _read(read: Callable[..., Any], X: Sequence[Any], *sizes: int) -> Any:
    """What the core reads of tokens, but for a whole number that no float can hold, which it does not name."""
    try:
        return read(X, _items, *sizes)
    except OverflowError:
        for i, x in enumerate(X):
            for t, token in enumerate(x):
                list(_items(token, i, t))
        raise


def _named_rows(raw: sp.csr_array, column_of: LabelArray, n_columns: int) -> sp.csr_array:
    """The rows with each column moved to `column_of` it, or left out where that is −1; equal columns are summed."""
    indptr, numbers = np.asarray(raw.indptr, np.int64), np.asarray(raw.indices, np.int32)
    indptr, indices, values = _core.attribute_rows(indptr, numbers, np.asarray(raw.data, np.float64), column_of)
    return compressed_rows(indptr, indices, values, (raw.shape[0], n_columns))


def _stacked(X: Sequence[Any], offsets: IntArray, n_inputs: int | None, words: Words) -> Sequences:
    parts = _arrays(X, n_inputs, words)
    sparse = any(sp.issparse(part) for part in parts)
    tokens = sp.csr_array(sp.vstack(parts, format="csr")) if sparse else np.concatenate(parts)
    _check_finite(tokens, offsets)
    return Sequences.made_of(tokens, offsets)


def _are_dicts(X: Sequence[Any]) -> bool:
    first = next((x for x in X if isinstance(x, Sequence) and len(x)), None)
    return (
        first is not None
        and isinstance(first[0], (Mapping, list, tuple))
        and (isinstance(first[0], Mapping) or (bool(first[0]) and isinstance(first[0][0], str)))
    )


def _sequence(x: Any, i: int, words: Words) -> Any:
    if type(x) is list:
        return x
    if sp.issparse(x):
        return checked_sparse(x, f"X[{i}]")
    if isinstance(x, np.ndarray) or not is_listed(x):
        x = np.asanyarray(x)
        if x.ndim != 2 and x.shape != (0,):
            raise ValueError(f"X[{i}] has {x.ndim} dimensions; {words.matrix}")
    elif hasattr(x, "to_numpy"):
        x = x.to_numpy()
    return x


def _length(x: Any) -> int:
    return int(x.shape[0]) if hasattr(x, "shape") else len(x)


def _arrays(X: Sequence[Any], n_inputs: int | None, words: Words) -> list[Any]:
    """Numeric sequences as matrices of one width; those without tokens are left out."""
    parts = []
    width = n_inputs
    for i, x in enumerate(X):
        if _length(x) == 0:
            continue
        if isinstance(x, Sequence) and isinstance(x[0], str):
            raise ValueError(f"X[{i}][0] is {shown(x[0])}; {words.each} {_MADE_OF_TEXT}")
        part = x if sp.issparse(x) else np.asarray(checked_numbers(x, f"X[{i}]"), np.float64)
        if part.ndim != 2:
            raise ValueError(f"X[{i}] has {part.ndim} dimensions; {words.matrix}")
        width = part.shape[1] if width is None else width
        if part.shape[1] != width:
            expected = f"training had {width}" if n_inputs is not None else f"X[0] has {width}"
            raise ValueError(f"X[{i}] has {part.shape[1]} features {words.each} but {expected}")
        parts.append(part)
    return parts


def _items(token: Any, i: int, t: int) -> Iterator[tuple[str, float]]:
    """A token's features as names and numbers: ``{"w": "dog", "cap": True, "len": 3}`` gives w=dog 1, cap 1, len 3."""
    if not isinstance(token, Mapping):
        listed = hasattr(token, "__iter__") and not isinstance(token, (str, bytes))
        if not listed or not all(isinstance(name, str) for name in token):
            text = isinstance(token, str)
            why = f"a token {_MADE_OF_TEXT}" if text else "expected a dict of features or a list of feature names"
            raise ValueError(f"X[{i}][{t}] is {shown(token)}; {why}")
        yield from ((name, 1.0) for name in token)
        return
    for name, value in token.items():
        yield from _named(str(name), value, (i, t, name))


def _named(name: str, value: Any, place: tuple[Any, ...]) -> Iterator[tuple[str, float]]:
    """What a name and its value stand for, as in python-crfsuite but with = where that writes a colon.

    What is inside a dict, list or set has the outer name in front: ``{"w": ["a"]}``, ``{"w": {"a": 1.0}}`` and
    ``{"w": "a"}`` are all w=a with 1.
    """
    if isinstance(value, str):
        yield f"{name}={value}", 1.0
    elif isinstance(value, (bool, int, float, np.number, np.bool_)):
        try:
            number = float(value)
        except OverflowError:
            number = np.inf
        if not np.isfinite(number):
            raise ValueError(f"{_written(place)} is {value}")
        yield name, number
    elif isinstance(value, Mapping):
        for inner, its_value in value.items():
            yield from _named(f"{name}={inner}", its_value, (*place, inner))
    elif isinstance(value, (list, tuple, Set)) and all(isinstance(inner, str) for inner in value):
        yield from ((f"{name}={inner}", 1.0) for inner in value)
    else:
        raise ValueError(
            f"{_written(place)} is {shown(value)}; "
            "a feature is a number, a flag, a string, a list or set of strings, or a dict of features"
        )


def _written(place: tuple[Any, ...]) -> str:
    return "X" + "".join(f"[{shown(key)}]" for key in place)


def _check_finite(matrix: Any, offsets: IntArray) -> None:
    check_finite(matrix, entry_names(offsets))


def entry_names(offsets: IntArray) -> Callable[[int, int], str]:
    """What messages call an entry of a matrix in which sequences begin at these offsets."""

    def name(row: int, column: int) -> str:
        i, t = locate(offsets, row)
        return f"X[{i}][{t}, {column}]"

    return name
