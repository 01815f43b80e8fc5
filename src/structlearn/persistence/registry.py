"""What files may ask for by name: loading one builds objects of these classes and of no others."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from structlearn import losses, models, solvers
from structlearn.io.formats import FORMATS

#: What may be built from a file by its name, beside models, losses, solvers and file formats, which say so themselves.
_MODULES = {
    "structlearn.features": ("MentionPairs", "MonotoneCurves", "PiecewiseLinear", "TextFeatures", "TokenTransformer"),
    "structlearn.features.template_columns": ("Vocabulary", "Hashing"),
    "sklearn.feature_extraction": ("DictVectorizer",),
    "sklearn.preprocessing": ("StandardScaler",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def registered(name: str) -> Any:
    """The class of that name, or None if files may not ask for it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in model_classes():
        return model_classes()[name]
    if name in loss_classes():
        return loss_classes()[name]
    found = getattr(solvers, name, None)
    if isinstance(found, type) and issubclass(found, solvers.Solver) and not inspect.isabstract(found):
        return found
    if name in emissions():
        return emissions()[name]
    # Of estimators, those that are nothing but options and what they learnt, and can tell whether these fit together.
    if hasattr(estimators().get(name), "check_learnt"):
        return estimators()[name]
    return next((kind for kind in FORMATS.values() if kind.__name__ == name), None)


@cache
def model_classes() -> dict[str, type]:
    """The models and output features of `structlearn.models` that files can hold, by name."""
    public = {name: getattr(models, name) for name in models.__all__}
    kinds = (models.Model, models.OutputFeatures)
    return {
        name: kind
        for name, kind in public.items()
        if isinstance(kind, type)
        and issubclass(kind, kinds)
        and not inspect.isabstract(kind)
        and getattr(kind, "in_files", True)
    }


@cache
def loss_classes() -> dict[str, type]:
    """The losses of `structlearn.losses`, by name."""
    public = {name: getattr(losses, name) for name in losses.__all__}
    return {
        name: kind
        for name, kind in public.items()
        if isinstance(kind, type)
        and issubclass(kind, losses.Loss)
        and not (kind is losses.Loss or inspect.isabstract(kind))
    }


@cache
def estimators() -> dict[str, type]:
    """All estimators that files can hold, by name: what packages, this one among them, declare as entry points."""
    return {point.name: point.load() for point in entry_points(group="structlearn.estimators")}


@cache
def emissions() -> dict[str, type]:
    """The emissions of hidden Markov models that files can hold, declared in the same way."""
    return {point.name: point.load() for point in entry_points(group="structlearn.emissions")}
