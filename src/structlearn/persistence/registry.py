"""What files may ask for by name: loading one builds objects of these classes and of no others."""

from __future__ import annotations

import inspect
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from structlearn import losses, models, solvers
from structlearn.models.base import Model

#: What may be built from a file by its name, beside models, losses, solvers and file formats, which say so themselves.
_MODULES = {
    "structlearn.features": (
        *("KernelMap", "MentionPairs", "MonotoneCurves", "PiecewiseLinear", "TextFeatures", "TokenTransformer"),
        "WordPairs",
    ),
    "structlearn.kernels": (
        *("Centred", "Constant", "Exponential", "Normalised", "Power", "Product", "Sum"),
        *("HistogramIntersection", "Laplacian", "Linear", "Polynomial", "RBF"),
        *("GapWeighted", "Mismatch", "Spectrum"),
        *("PairwiseKernel", "Precomputed"),
        *("Decomposable", "OperatorSum"),
    ),
    "structlearn.outputs": (
        *("KernelOutputs", "LabelOutputs", "LabelSequenceOutputs", "LabelSetOutputs", "VectorOutputs"),
        *("DependencyTreeOutputs", "GraphOutputs", "MatchingOutputs", "Substitutions", "TreeOutputs"),
    ),
    "structlearn.outputs.listed_outputs": ("ListedOutputs",),
    "structlearn.estimators.regularized_risk": (
        *("Hinge", "Huber", "Logistic", "Squared", "SquaredHinge"),
        *("L1", "L2", "ElasticNet", "Entropy", "Lp"),
    ),
    "structlearn.models.typed_graph.templates": ("Factor",),
    "structlearn.features.template_columns": ("Vocabulary", "Hashing"),
    "sklearn.feature_extraction": ("DictVectorizer",),
    "sklearn.preprocessing": ("StandardScaler",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def registered(name: str) -> Any:
    """The class of that name, or None if files may not ask for it."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if (kind := model_class(name)) is not None:
        return kind
    if (kind := loss_class(name)) is not None:
        return kind
    found = getattr(solvers, name, None)
    if isinstance(found, type) and issubclass(found, solvers.Solver) and not inspect.isabstract(found):
        return found
    if name in emissions():
        return emissions()[name].load()
    # Of estimators, those that are nothing but options and what they learnt, and can tell whether these fit together.
    if hasattr(estimator_class(name), "check_learnt"):
        return estimator_class(name)
    from structlearn.io.formats import FORMATS, IMAGES

    return next((kind for kind in (*FORMATS.values(), *IMAGES.values()) if kind.__name__ == name), None)


def model_class(name: str) -> type | None:
    """The model or the output features of that name in `structlearn.models`, if files can hold them."""
    kind = getattr(models, name) if name in models.__all__ else None
    if not isinstance(kind, type) or inspect.isabstract(kind) or not getattr(kind, "in_files", True):
        return None
    return kind if issubclass(kind, Model) or issubclass(kind, models.OutputFeatures) else None


def loss_class(name: str) -> type | None:
    """The loss of that name in `structlearn.losses`."""
    kind = getattr(losses, name) if name in losses.__all__ else None
    if not isinstance(kind, type) or inspect.isabstract(kind) or kind is losses.Loss:
        return None
    return kind if issubclass(kind, losses.Loss) else None


@cache
def estimators() -> dict[str, EntryPoint]:
    """All estimators that files can hold, by name: what packages, this one among them, declare as entry points."""
    return {point.name: point for point in entry_points(group="structlearn.estimators")}


def estimator_class(name: str) -> type | None:
    return estimators()[name].load() if name in estimators() else None


def is_estimator(value: Any) -> bool:
    """Whether a value is of one of these classes, or of one derived from them."""
    return any(estimator_class(kind.__name__) is kind for kind in type(value).__mro__)


@cache
def emissions() -> dict[str, EntryPoint]:
    """The emissions of hidden Markov models that files can hold, declared in the same way."""
    return {point.name: point for point in entry_points(group="structlearn.emissions")}
