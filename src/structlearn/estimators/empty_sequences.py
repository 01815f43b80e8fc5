"""Sequences without tokens: they have one labelling, the empty one, and no model need be asked for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from structlearn.data.arrays import IntArray
from structlearn.data.sequences import chosen, with_tokens
from structlearn.models.base import Model


def answering_empty(answer: Callable[[Any, Mapping[str, Any]], Any]) -> Callable[[Any], Any]:
    """A decorator for a method that has an answer for each example of X.

    The method sees the sequences with tokens only, of X, y and `allowed`; the others are answered by `answer`, a
    function of the estimator and the arguments.
    """

    def decorator(method: Any) -> Any:
        parameters = signature(method)

        @wraps(method)
        def answered(*given: Any, **options: Any) -> Any:
            bound = parameters.bind(*given, **options)
            bound.apply_defaults()
            estimator, X = bound.arguments["self"], bound.arguments["X"]
            check_is_fitted(estimator)
            full = full_sequences(estimator.model_, X)
            if full is None:
                return method(*given, **options)
            for name in ("y", "allowed"):
                if bound.arguments.get(name) is not None:
                    check_nothing_said(bound.arguments[name], len(X), full, "Y" if name == "y" else name)
                    bound.arguments[name] = chosen(bound.arguments[name], full)
            bound.arguments["X"] = chosen(X, full)
            answers = [answer(estimator, bound.arguments) for _ in range(len(X))]
            for i, found in zip(full, method(*bound.args, **bound.kwargs) if len(full) else (), strict=True):
                answers[i] = found
            return np.array(answers) if isinstance(answers[0], float) else answers

        return answered

    return decorator


def full_sequences(model: Model, X: Any) -> IntArray | None:
    """Which examples have tokens; None if all have, or if the model predicts no sequences."""
    return with_tokens(X) if model.kind in ("sequences", "segments") else None


def check_nothing_said(said: Any, n: int, full: IntArray, name: str) -> None:
    """Refuses labels of tokens that are not there."""
    if not hasattr(said, "__len__") or len(said) != n:
        raise ValueError(f"X has {n} sequences but {name} is not about as many")
    for i in sorted({*range(n)} - {*full.tolist()}):
        if said[i] is not None and len(said[i]):
            raise ValueError(f"{name}[{i}] has {len(said[i])} entries but X[{i}] has 0 rows")
