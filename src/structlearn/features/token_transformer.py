"""scikit-learn transformers on the tokens of sequences."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from structlearn.data.fields import check_distinct, check_tuple
from structlearn.data.labels import LabelSequences, label_array, read_label_sequences
from structlearn.data.tokens.sequences import NamedColumns, Sequences, read_sequences, stack
from structlearn.wording import shown


class TokenTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Applies a transformer of single rows, such as `StandardScaler`, to all tokens of all sequences.

    Parameters
    ----------
    transformer : scikit-learn transformer
        It sees one matrix with a row a token; if it needs labels, one label a token.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from structlearn import StructuralSVM
    >>> from structlearn.models import Chain
    >>> tagger = make_pipeline(TokenTransformer(StandardScaler()), StructuralSVM(Chain(), C=10))
    >>> X, Y = [[[0.0, 9.0], [3.0, 5.0]], [[4.0, 6.0]]], [["a", "b"], ["b"]]
    >>> tagger.fit(X, Y).predict(X)
    [['a', 'b'], ['b']]
    """

    def __init__(self, transformer: Any):
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        if isinstance(self.transformer, type) or not hasattr(self.transformer, "fit"):
            raise TypeError(f"transformer is {shown(self.transformer)}; expected a transformer of scikit-learn's kind")
        X = read_sequences(X)
        labels = None if y is None else _flat(read_label_sequences(y))
        self.transformer_ = clone(self.transformer).fit(X.tokens, labels)
        self.vocabulary_ = X.names
        return self

    def check_learnt(self) -> None:
        """Refuses what `fit` could not have learnt; who loads a transformer asks for it."""
        if not hasattr(self.transformer_, "transform"):
            raise ValueError(f"transformer_ is a {type(self.transformer_).__name__}, which transforms nothing")
        check_is_fitted(self.transformer_)
        if self.vocabulary_ is not None:
            check_tuple("vocabulary_", self.vocabulary_, str)
            check_distinct("vocabulary_", self.vocabulary_)

    def transform(self, X: Any) -> Sequences:
        check_is_fitted(self)
        columns = None if self.vocabulary_ is None else NamedColumns(self.vocabulary_)
        tokens, offsets = stack(X, columns, None)
        # Transformers refuse a matrix without rows.
        made = self.transformer_.transform(tokens) if offsets[-1] else np.empty((0, 0))
        return Sequences(made, np.diff(offsets))


def _flat(Y: LabelSequences) -> Any:
    """The labels of all tokens, one after another."""
    return label_array(Y.classes)[Y.flat]
