"""Whether what a file says that a transformer had learnt fits together."""

from __future__ import annotations

from typing import Any

import numpy as np

from structlearn.data.fields import check_distinct, check_whole


def check_learnt(transformer: Any) -> None:
    """Asks transformers of this library themselves; those of scikit-learn trust their attributes."""
    if hasattr(transformer, "check_learnt"):
        transformer.check_learnt()
    elif type(transformer).__name__ == "StandardScaler":
        _check_scaler(transformer)
    elif type(transformer).__name__ == "DictVectorizer":
        _check_vectorizer(transformer)


def _check_scaler(scaler: Any) -> None:
    scaler._validate_params()
    check_whole("n_features_in_", scaler.n_features_in_)
    for name in ("mean_", "scale_", "var_"):
        array = getattr(scaler, name)
        needed = {"mean_": scaler.with_mean, "scale_": scaler.with_std, "var_": False}[name]
        if array is None and not needed:
            continue
        numeric = isinstance(array, np.ndarray) and array.dtype.kind == "f" and array.shape == (scaler.n_features_in_,)
        if not numeric or not np.isfinite(array).all():
            raise ValueError(f"{name} of StandardScaler does not hold {scaler.n_features_in_} finite numbers")


def _check_vectorizer(vectorizer: Any) -> None:
    vectorizer._validate_params()
    names = vectorizer.feature_names_
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("feature_names_ of DictVectorizer is no list of texts")
    check_distinct("feature_names_", names)
    if vectorizer.vocabulary_ != {name: k for k, name in enumerate(names)}:
        raise ValueError("vocabulary_ of DictVectorizer does not number feature_names_")
