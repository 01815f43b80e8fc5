"""Model files: one safetensors file with the weights and, as JSON in its header, everything else.

Loading builds objects of this library by registered name from plain values; it never runs code from the file.
"""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.contract import check_is_fitted, library_version
from structlearn.data.labels import label_array
from structlearn.kernels import Kernel
from structlearn.models.base import Model
from structlearn.models.own.pystruct_latent import adapter
from structlearn.models.own.unknown_model import UnknownModel
from structlearn.persistence import container, registry
from structlearn.persistence.codec import check_sizes, decode, encode
from structlearn.persistence.declared import check_declared
from structlearn.persistence.late_pipeline import pipeline_of
from structlearn.persistence.registry import registered
from structlearn.persistence.steps import Steps, checked_steps, decode_step, encode_step, own_names
from structlearn.solvers import Solver

FORMAT = "structlearn"
#: From 3 on, the spec may say which features have a weight for which labels.
VERSION = 3


def _is_number(value: Any) -> bool:
    return value is None or isinstance(value, (int, float))


def _is_whole(value: Any) -> bool:
    return type(value) is int and value >= 0


def _is_history(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(record, dict) for record in value)


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.ndim == 1


#: Fitted attributes that go into a file beside the weights, and what they must be.
_FITTED: dict[str, Callable[[Any], bool]] = {
    "C_": _is_number,
    "history_": _is_history,
    "n_iter_": _is_whole,
    "converged_": lambda value: type(value) is bool,
    "objective_": _is_number,
    "duality_gap_": _is_number,
    "stationarity_": _is_number,
    "n_features_in_": _is_whole,
    "training_": lambda value: isinstance(value, dict),
    "kernel_": lambda value: isinstance(value, Kernel),
    "basis_": lambda value: sp.issparse(value) or isinstance(value, np.ndarray),
    "coefficients_": lambda value: isinstance(value, np.ndarray),
    "vocabulary_": lambda value: value is None or isinstance(value, tuple),
}


@dataclass(frozen=True)
class Saved:
    """What a model file holds: an estimator or steps that end with one, and the format of the files it reads."""

    path: Path
    fitted: Any
    encoded_reader: Any
    tensors: container.Tensors

    @cached_property
    def reader(self) -> Any:
        """Made when a command asks for it, since to predict nobody needs the file formats."""
        with _blamed(self.path), suppress(ValueError, TypeError):
            # A format of the user's own may not be known here.
            return decode(self.encoded_reader, self.tensors)

    @cached_property
    def estimator(self) -> Any:
        """The estimator, or scikit-learn's pipeline of the steps."""
        return pipeline_of(self.fitted) if isinstance(self.fitted, Steps) else self.fitted


def save(estimator: Any, path: str | os.PathLike[str], *, reader: Any = None) -> None:
    """Writes a fitted estimator, or a scikit-learn pipeline that ends with one, to one file.

    `structlearn.load` reads it and never runs code from it. The steps of a pipeline may be the transformers of this
    library, `DictVectorizer` and `StandardScaler`; others that learn nothing, such as a `FunctionTransformer`, are
    given to `load` again.

    Parameters
    ----------
    estimator : estimator or Pipeline
    path : path
        The file is there in full or not at all; one that was there before stays if the new one cannot be written.
    reader : Format, optional
        How the files look from which the estimator was trained, for the command line.

    Examples
    --------
    >>> import tempfile, structlearn
    >>> from sklearn.pipeline import make_pipeline
    >>> from structlearn.features import TextFeatures
    >>> from structlearn.models import Chain
    >>> tagger = make_pipeline(TextFeatures(), structlearn.StructuralSVM(Chain(), C=10))
    >>> tagger = tagger.fit([["the", "dog"], ["a", "cat"]], [["DET", "NOUN"], ["DET", "NOUN"]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     structlearn.save(tagger, f"{folder}/tagger.slm")
    ...     structlearn.load(f"{folder}/tagger.slm").predict([["the", "cat"]])
    [['DET', 'NOUN']]
    """
    steps, last = steps_of(estimator)
    check_is_fitted(last)
    tensors: dict[str, npt.NDArray[Any]] = {}
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "library": library_version(),
        "steps": [[name, encode_step(name, step, tensors)] for name, step in steps[:-1]],
        "name": steps[-1][0] if steps else None,
        **({"whole": encode(last, "estimator", tensors)} if _is_whole_value(last) else _with_weights(last, tensors)),
        "reader": encode(reader, "the format", tensors),
    }
    container.write(Path(path), FORMAT, metadata, tensors)


def load(path: str | os.PathLike[str], model: Any = None, transformers: Mapping[str, Any] | None = None) -> Any:
    """Reads an estimator, or a pipeline that ends with one, that was saved with `save`.

    Parameters
    ----------
    path : path
    model : object, optional
        The model, if it is a class of your own: its code is not in the file. Its options must be those of the model
        that was trained, as far as it has `get_params` and they are plain values. What its `initialize` had set comes
        from the file, into a copy of the object.
    transformers : dict, optional
        By the names of their steps, or of their places in a `TokenUnion`, transformers whose code is not in the file,
        fitted where they learn anything.

    Examples
    --------
    >>> import tempfile, structlearn
    >>> from structlearn.models import Multiclass
    >>> svm = structlearn.StructuralSVM(Multiclass()).fit([[0.0, 1.0], [1.0, 0.0]], ["north", "east"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     svm.save(f"{folder}/compass.slm")
    ...     structlearn.load(f"{folder}/compass.slm").predict([[0.1, 0.9]])
    array(['north'], dtype='<U5')
    """
    return read(path, model, transformers).estimator


def read(
    path: str | os.PathLike[str],
    model: Any = None,
    transformers: Mapping[str, Any] | None = None,
    *,
    to_look_at: bool = False,
) -> Saved:
    """Everything that a model file holds; `to_look_at` takes an `UnknownModel` for one of the user's own."""
    path = Path(path)
    metadata, tensors = container.read(path, FORMAT, what="structlearn model")
    with _blamed(path):
        return _read(path, metadata, tensors, model, transformers or {}, to_look_at=to_look_at)


@contextmanager
def _blamed(path: Path) -> Iterator[None]:
    """Names the file in whatever values that nobody foresaw make of the classes they are given to."""
    try:
        yield
    except Exception as error:
        if isinstance(error, ValueError) and str(path) in str(error):
            raise
        name = "" if type(error) is ValueError else f"{type(error).__name__}: "
        raise ValueError(f"{path} is damaged or edited: {name}{error}") from error


def _read(
    path: Path,
    metadata: dict[str, Any],
    tensors: container.Tensors,
    model: Any,
    transformers: Mapping[str, Any],
    *,
    to_look_at: bool,
) -> Saved:
    if metadata["version"] > VERSION:
        raise ValueError(
            f"{path} has format version {metadata['version']}, written by structlearn {metadata.get('library')}; this "
            f"version reads up to {VERSION}"
        )
    check_sizes(metadata, tensors)
    if "whole" in metadata:
        estimator = _whole_value(path, metadata["whole"], tensors, model)
    else:
        if to_look_at and metadata["model_params"] is None:
            model = _unknown(metadata)
        estimator = _estimator(path, metadata, tensors, model)
    encoded = metadata.get("steps", [])
    unused = set(transformers) - {own for name, step in encoded for own in own_names(name, step)}
    if unused:
        raise ValueError(f"{path} has no place for the transformer {sorted(unused)[0]!r}")
    steps = [(name, decode_step(path, name, step, tensors, transformers)) for name, step in encoded]
    fitted = Steps(checked_steps(steps, (metadata["name"], estimator))) if metadata.get("name") else estimator
    return Saved(path, fitted, metadata.get("reader"), tensors)


def steps_of(estimator: Any) -> tuple[list[tuple[str, Any]], Any]:
    """The steps of a pipeline, none for an estimator alone, and the estimator at its end."""
    steps = list(getattr(estimator, "steps", []))
    last = steps[-1][1] if steps else estimator
    if not registry.is_estimator(last):
        raise TypeError(f"{type(last).__name__} is no estimator of this library; it cannot be saved")
    return steps, last


def _is_whole_value(estimator: Any) -> bool:
    """Whether an estimator is nothing but its options and what it learnt, as those are that only count."""
    return registered(type(estimator).__name__) is type(estimator)


def _with_weights(estimator: Any, tensors: dict[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """An estimator that has a model and its weights."""
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name != "model"}
    solver = params.get("solver")
    kinds = [type(used) for used in (solver, getattr(solver, "inner", None)) if isinstance(used, Solver)]
    own_solver = next((kind.__name__ for kind in kinds if registered(kind.__name__) is not kind), None)
    if own_solver is not None:
        # A solver of the user's own is not needed to predict; the loaded estimator has the default one.
        del params["solver"]
    model = estimator.model_
    built_in = registered(type(model).__name__) is type(model)
    fitted = {name: getattr(estimator, name) for name in _FITTED if hasattr(estimator, name)}
    return {
        "w": encode(estimator.w_, "weights", tensors),
        "slacks": encode(estimator.slacks_, "slacks", tensors),
        "estimator": type(estimator).__name__,
        "params": encode(params, "parameter", tensors),
        "own_solver": own_solver,
        "model": type(model).__name__,
        "model_params": encode(model.get_params(deep=False), "model option", tensors) if built_in else None,
        "own_model": None if built_in else _describe(estimator),
        "spec": encode(estimator.spec_.to_dict(), "label", tensors),
        "fitted": encode(fitted, "result", tensors),
    }


def _whole_value(path: Path, encoded: Any, tensors: container.Tensors, model: Any) -> Any:
    estimator = decode(encoded, tensors)
    if not registry.is_estimator(estimator):
        raise ValueError(f"{path} holds a {type(estimator).__name__} where an estimator should be")
    if model is not None:
        raise ValueError(f"{path} holds a {type(estimator).__name__}, which needs no `model` to load")
    check_is_fitted(estimator)
    return estimator


def _estimator(path: Path, metadata: dict[str, Any], tensors: container.Tensors, model: Any) -> Any:
    if metadata["model_params"] is not None:
        if model is not None:
            raise ValueError(f"{path} holds a {metadata['model']} model, which needs no `model` to load")
        kind = registered(metadata["model"])
        if kind is None or not issubclass(kind, Model):
            raise ValueError(f"{path} holds a model {metadata['model']!r}, which this version does not know")
        options = decode(metadata["model_params"], tensors)
        check_declared(kind, options)
        bound = kind(**options)
        bound.check_options()
    elif model is None:
        raise ValueError(f"{path} was trained with a model of your own: load it with load(path, model=YourModel())")
    elif getattr(model, "without_code", False):
        bound = model
    else:
        own = _restored(path, model, metadata.get("own_model") or {})
        bound = own if isinstance(own, Model) else adapter(own)(own)
    params = decode(metadata["params"], tensors)
    kind = registry.estimator_class(metadata["estimator"])
    if kind is None:
        raise ValueError(f"{path} holds an estimator {metadata['estimator']!r}, which this version does not know")
    check_declared(kind, params)
    estimator = kind(bound if model is None else model, **params)
    if metadata.get("own_solver"):
        warnings.warn(
            f"{path} was trained by {metadata['own_solver']}, a solver of your own whose code is not in the file; the "
            "loaded estimator has the default one",
            UserWarning,
            stacklevel=4,
        )
    estimator.model_ = bound
    estimator.spec_ = bound.spec_from_dict(decode(metadata["spec"], tensors))
    n_weights = bound.n_weights(estimator.spec_)
    # Files of version 1 have these two as tensors of that name.
    w = tensors["w"] if metadata["version"] == 1 else decode(metadata["w"], tensors)
    if not _is_vector(w) or not np.isfinite(w).all():
        raise ValueError("w is no array of finite numbers")
    if n_weights is not None and len(w) != n_weights:
        raise ValueError(f"w_ has {len(w)} entries, but the model has {n_weights} weights")
    estimator.w_ = w
    estimator.slacks_ = tensors.get("slacks") if metadata["version"] == 1 else decode(metadata["slacks"], tensors)
    if estimator.slacks_ is not None and not _is_vector(estimator.slacks_):
        raise ValueError("slacks is no array of numbers")
    for name, value in decode(metadata["fitted"], tensors).items():
        if name in _FITTED:
            if not _FITTED[name](value):
                raise ValueError(f"{name} is {value!r:.80}")
            setattr(estimator, name, value)
    if hasattr(estimator.spec_, "classes"):
        estimator.classes_ = label_array(estimator.spec_.classes)
    if hasattr(estimator, "check_fitted"):
        estimator.check_fitted()
    return estimator


def _unknown(metadata: dict[str, Any]) -> UnknownModel:
    told = metadata.get("own_model") or {}
    options = {name: decode(value) for name, value in told.get("options", {}).items()}
    return UnknownModel(told.get("class", metadata["model"]), options)


def _describe(estimator: Any) -> dict[str, Any]:
    """What a file says about a model of the user's own: its options, and all it holds after `initialize`.

    Options that no file can hold, or that `initialize` changed, are not compared on loading. Of attributes that no file
    can hold it keeps the type, to tell whether the object given to `load` has them.
    """
    model = getattr(estimator.model_, "user_model", estimator.model_)
    given = _plain(_options(estimator.model))
    options = {name: value for name, value in _plain(_options(model)).items() if given.get(name) == value}
    described = {"class": type(model).__name__, "options": options}
    if not hasattr(model, "initialize"):
        return described
    state = getattr(model, "__dict__", {})
    plain = _plain(state)
    types = {name: type(value).__name__ for name, value in state.items() if name not in plain}
    return described | {"state": plain, "types": types}


def _restored(path: str | Path, model: Any, described: dict[str, Any]) -> Any:
    """The user's model as it was trained, refused if it has other options or lacks what no file can hold."""
    trained = described.get("class", type(model).__name__)
    if trained != type(model).__name__:
        raise ValueError(f"{path} was trained with a {trained}, but the given model is a {type(model).__name__}")
    options = _plain(_options(model))
    for name, value in described.get("options", {}).items():
        if options.get(name) != value:
            raise ValueError(
                f"{path} was trained with {name}={decode(value)!r}, but the given {type(model).__name__} has "
                f"{name}={_options(model).get(name)!r}"
            )
    for name, kind in described.get("types", {}).items():
        if type(getattr(model, name, None)).__name__ != kind:
            raise ValueError(
                f"{path} does not hold {name!r} of {type(model).__name__}, a {kind} that initialize made: give load "
                "the model that was initialised, the trained estimator's model_.user_model, or pickle the estimator"
            )
    if described.get("state"):
        model = copy.deepcopy(model)
        vars(model).update({name: decode(value) for name, value in described["state"].items()})
    return model


def _options(model: Any) -> dict[str, Any]:
    return dict(model.get_params()) if hasattr(model, "get_params") else {}


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Those values that come back from a file with the type they have, encoded."""
    encoded = {}
    for name, value in values.items():
        with suppress(TypeError):
            written = encode(np.asarray(value) if isinstance(value, np.generic) else value, "value")
            if type(decode(written)) is type(value):
                encoded[name] = written
    return encoded
