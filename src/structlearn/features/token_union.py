"""Features of tokens from several transformers, side by side: templates beside embeddings or numbers of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import TransformerMixin, clone
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from structlearn.data.fields import check_distinct, check_tuple, check_whole
from structlearn.data.tokens.sequences import NamedColumns, Sequences, chosen, read_sequences, stack, with_tokens


class TokenUnion(TransformerMixin, _BaseComposition, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """φ(x, t) of several transformers, one after another: what `FeatureUnion` is for rows of a table.

    Parameters
    ----------
    transformers : list of (name, transformer)
        Each makes features of the tokens of every sequence: `TextFeatures`, a `TokenTransformer`, or one of your own
        whose `transform` gives, for each sequence, a (length, n_features) array, a sparse matrix, or a list of feature
        dicts; `FunctionTransformer` makes one of a function. All see the same X.

    Attributes
    ----------
    transformers_ : list of (name, fitted transformer)
    columns_ : tuple
        Of each transformer how many features a token has, or their names where they came as dicts.

    Notes
    -----
    The union is sparse if a part is: 384 dense columns beside templates take 384 entries a token, 5 kB, and twice that
    while they are joined. `set_params(words__min_count=2)` reaches into the transformers, as in a pipeline.

    Examples
    --------
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> from structlearn.features import TextFeatures
    >>> def lengths(X):
    ...     return [np.array([[len(word)] for word in x]) for x in X]
    >>> union = TokenUnion([("words", TextFeatures(["word[0]"])), ("length", FunctionTransformer(lengths))])
    >>> union.fit_transform([["the", "dog"], ["sleeps"]]).tokens.toarray()
    array([[1., 0., 0., 3.],
           [0., 1., 0., 3.],
           [0., 0., 1., 6.]])
    >>> union.get_feature_names_out().tolist()
    ['words__word[0]=the', 'words__word[0]=dog', 'words__word[0]=sleeps', 'length__0']
    """

    def __init__(self, transformers: Sequence[tuple[str, Any]]):
        self.transformers = transformers

    def fit(self, X: Any, y: Any = None) -> Self:
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Sequences:
        self._check(self.transformers)
        fitted = [(name, clone(transformer)) for name, transformer in self.transformers]
        made = {name: _fit_transform(transformer, X, y) for name, transformer in fitted}
        parts = {name: _part(name, rows, None) for name, rows in made.items()}
        self.transformers_ = fitted
        self.columns_ = tuple(part.tokens.shape[1] if part.names is None else part.names for part in parts.values())
        return _joined(parts)

    def transform(self, X: Any) -> Sequences:
        check_is_fitted(self)
        parts = {
            name: _part(name, transformer.transform(X), columns)
            for (name, transformer), columns in zip(self.transformers_, self.columns_, strict=True)
        }
        return _joined(parts)

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """The names of all columns, each after that of its transformer; numbers where a transformer has none."""
        check_is_fitted(self)
        names = [
            f"{name}__{column}"
            for (name, transformer), columns in zip(self.transformers_, self.columns_, strict=True)
            for column in _column_names(transformer, columns)
        ]
        return np.array(names, object)

    @classmethod
    def restored(cls, transformers: list[tuple[str, Any]], columns: Any) -> Self:
        """A union of fitted transformers, as a file has them; refuses what `fit` could not have learnt."""
        cls._check(transformers)
        union = cls([(name, clone(transformer)) for name, transformer in transformers])
        check_tuple("columns_", columns)
        if len(columns) != len(transformers):
            raise ValueError(f"columns_ is about {len(columns)} transformers, but there are {len(transformers)}")
        for (name, _), known in zip(transformers, columns, strict=True):
            if isinstance(known, tuple):
                check_tuple(f"columns_ of {name}", known, str)
                check_distinct(f"columns_ of {name}", known)
            else:
                check_whole(f"columns_ of {name}", known)
        union.transformers_, union.columns_ = transformers, columns
        return union

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The transformers and, if `deep`, their options as ``name__option``."""
        params: dict[str, Any] = self._get_params("transformers", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        self._set_params("transformers", **params)
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    @staticmethod
    def _check(transformers: Any) -> None:
        pairs = isinstance(transformers, (list, tuple)) and all(
            isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in transformers
        )
        if not pairs or not transformers:
            raise ValueError(f"transformers is {transformers!r:.200}; expected a list of pairs (name, transformer)")
        names = [name for name, _ in transformers]
        fit = all(isinstance(name, str) and name and "__" not in name for name in names)
        if not fit or len(set(names)) < len(names):
            raise ValueError(f"the transformers are called {names}; names must be texts that differ, without '__'")
        for name, transformer in transformers:
            if isinstance(transformer, type) or not hasattr(transformer, "transform"):
                raise ValueError(f"{name} is {transformer!r:.200}, which is no transformer")


def _fit_transform(transformer: Any, X: Any, y: Any) -> Any:
    if hasattr(transformer, "fit_transform"):
        return transformer.fit_transform(X, y)
    return transformer.fit(X, y).transform(X)


def _part(name: str, made: Any, columns: int | tuple[str, ...] | None) -> Sequences:
    """What a transformer made, with the columns that it had in training, if there are any yet."""
    full = with_tokens(made)
    rows = made if full is None else chosen(made, full)
    try:
        if columns is None:
            part = read_sequences(rows)
        elif full is not None and not len(full):
            part = Sequences(np.empty((0, columns if isinstance(columns, int) else len(columns))), [])
        else:
            named = None if isinstance(columns, int) else NamedColumns(columns)
            tokens, offsets = stack(rows, named, columns if isinstance(columns, int) else None)
            part = Sequences(tokens, np.diff(offsets))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    if full is None:
        return part
    lengths = np.zeros(len(made), np.int64)
    lengths[full] = part.lengths
    return Sequences(part.tokens, lengths, part.names)


def _joined(parts: dict[str, Sequences]) -> Sequences:
    (first, one), *others = parts.items()
    for name, other in others:
        if len(other) != len(one):
            raise ValueError(f"{first} gives {len(one)} sequences but {name} {len(other)}")
        if not np.array_equal(one.lengths, other.lengths):
            i = int(np.argmax(one.lengths != other.lengths))
            raise ValueError(f"of X[{i}], {first} gives {one.lengths[i]} tokens but {name} {other.lengths[i]}")
    tokens = [part.tokens for part in parts.values()]
    if not any(map(sp.issparse, tokens)):
        return Sequences(np.hstack(tokens), one.lengths)
    return Sequences(sp.hstack(list(map(_in_rows, tokens)), format="csr"), one.lengths)


def _in_rows(tokens: Any) -> sp.csr_array:
    """Compressed rows; of an array without the detour over coordinates, which takes twice the memory."""
    if sp.issparse(tokens):
        return sp.csr_array(tokens)
    n, k = tokens.shape
    index = sp.get_index_dtype(maxval=max(n * k, k))
    indices = np.tile(np.arange(k, dtype=index), n)
    return sp.csr_array((tokens.ravel(), indices, k * np.arange(n + 1, dtype=index)), shape=(n, k))


def _column_names(transformer: Any, columns: int | tuple[str, ...]) -> Sequence[Any]:
    if not isinstance(columns, int):
        return columns
    if hasattr(transformer, "get_feature_names_out"):
        try:
            names = list(transformer.get_feature_names_out())
        except (ValueError, AttributeError):  # hashed features and steps of a pipeline may have none
            names = []
        if len(names) == columns:
            return names
    return range(columns)
