"""The steps of a pipeline before its estimator, in files: transformers by name, and places for those of users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from structlearn.persistence.codec import decode, encode
from structlearn.persistence.container import Tensors
from structlearn.persistence.registry import registered


@dataclass(frozen=True, slots=True)
class Steps:
    """What commands need of a pipeline, for those that would have to wait for scikit-learn's.

    Attributes
    ----------
    steps : list of (name, object)
        Transformers, and last the estimator that they make features for.
    """

    steps: list[tuple[str, Any]]

    def fit_transform(self, X: Any) -> Any:
        """X as the transformers make it, after they have learnt from it."""
        for _, transformer in self.steps[:-1]:
            X = transformer.fit_transform(X)
        return X

    def transform(self, X: Any) -> Any:
        for _, transformer in self.steps[:-1]:
            # scikit-learn's two words for a step that does nothing.
            X = X if transformer in (None, "passthrough") else transformer.transform(X)
        return X

    def predict(self, X: Any) -> Any:
        return self.steps[-1][1].predict(self.transform(X))


def encode_step(name: str, step: Any, tensors: MutableMapping[str, npt.NDArray[Any]]) -> Any:
    """A fitted transformer as JSON and tensors; of the user's own, which has learnt nothing, the name of its class."""
    if registered(type(step).__name__) is type(step):
        return encode(step, f"the step {name!r},", tensors)
    from sklearn.pipeline import Pipeline

    from structlearn.features.token_union import TokenUnion

    if isinstance(step, TokenUnion):
        members = [[member, encode_step(member, each, tensors)] for member, each in step.transformers_]
        return {"union": members, "columns": encode(step.columns_, f"the step {name!r},", tensors)}
    if type(step) is Pipeline:
        return {"pipeline": [[inner, encode_step(f"{name}__{inner}", each, tensors)] for inner, each in step.steps]}
    if hasattr(step, "transform") and not _has_learnt(step):
        return {"own": type(step).__name__}
    return encode(step, f"the step {name!r},", tensors)


def own_names(name: str, value: Any) -> Iterator[str]:
    """The places in an encoded step at which `load` is given a transformer."""
    match value:
        case {"union": members}:
            for member, each in members:
                yield from own_names(member, each)
        case {"pipeline": steps}:
            for step, each in steps:
                yield from own_names(f"{name}__{step}", each)
        case {"own": _}:
            yield name


def decode_step(path: Path, name: str, value: Any, tensors: Tensors, given: Mapping[str, Any]) -> Any:
    """The transformer that was encoded, or the one that is `given` in its place."""
    match value:
        case {"union": members, "columns": columns}:
            from structlearn.features.token_union import TokenUnion

            decoded = [(member, decode_step(path, member, each, tensors, given)) for member, each in members]
            return TokenUnion.restored(decoded, decode(columns, tensors))
        case {"pipeline": steps}:
            from sklearn.pipeline import Pipeline

            inner = [(step, decode_step(path, f"{name}__{step}", each, tensors, given)) for step, each in steps]
            return Pipeline(checked_steps(inner))
        case {"own": trained}:
            if name not in given:
                raise ValueError(
                    f"{path} was trained with a {trained} of your own as {name!r}: load it with "
                    f"load(path, transformers={{{name!r}: …}})"
                )
            if type(given[name]).__name__ != trained:
                kind = type(given[name]).__name__
                raise ValueError(f"{path} was trained with a {trained} as {name!r}, but the given one is a {kind}")
            return given[name]
    return decode(value, tensors)


def checked_steps(steps: list[tuple[Any, Any]], *last: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Steps of a pipeline with names that differ, all of them transformers but perhaps the last."""
    names = [name for name, _ in (*steps, *last)]
    if not all(isinstance(name, str) and name and "__" not in name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"the steps of the pipeline are called {names}; names must be texts that differ")
    for name, step in steps:
        if not hasattr(step, "transform"):
            raise ValueError(f"the step {name!r} is a {type(step).__name__}, which transforms nothing")
    return [*steps, *last]


def _has_learnt(step: Any) -> bool:
    """By scikit-learn's convention; what input looked like is nothing that a prediction needs."""
    looks = ("n_features_in_", "feature_names_in_")
    return any(name.endswith("_") and not name.startswith("_") and name not in looks for name in vars(step))
