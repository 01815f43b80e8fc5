"""Model files: one safetensors file with the weights and, as JSON in its header, everything else.

Loading builds objects of this library by registered name from plain values; it never runs code from the file.
"""

from __future__ import annotations

import copy
import inspect
import json
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

if TYPE_CHECKING:
    from structlearn.estimators.base import StructuredEstimator

FORMAT = "structlearn"
VERSION = 1

#: Fitted attributes that go into a file beside the weights.
_FITTED = ("C_", "history_", "n_iter_", "converged_", "objective_", "duality_gap_", "n_features_in_")


def save(path: Path, estimator: StructuredEstimator) -> None:
    import structlearn
    from structlearn.solvers import Solver

    params = {name: value for name, value in estimator.get_params(deep=False).items() if name != "model"}
    if isinstance(params.get("solver"), Solver) and type(params["solver"]).__name__ not in _registry():
        # A solver of the user's own is not needed to predict; the loaded estimator has the default one.
        del params["solver"]
    model = estimator.model_
    built_in = type(model).__name__ in _registry()
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "library": structlearn.__version__,
        "estimator": type(estimator).__name__,
        "params": encode(params, "parameter"),
        "model": type(model).__name__,
        "model_params": encode(model.get_params(deep=False), "model option") if built_in else None,
        "own_model": None if built_in else _describe(estimator),
        "spec": encode(estimator.spec_.to_dict(), "label"),
        "fitted": encode({name: getattr(estimator, name) for name in _FITTED if hasattr(estimator, name)}, "result"),
    }
    tensors = {"w": estimator.w_}
    if estimator.slacks_ is not None:
        tensors["slacks"] = estimator.slacks_
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to save {path.name} in")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file")
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=path.name) as folder:
        written = Path(folder) / path.name
        save_file(tensors, written, metadata={FORMAT: json.dumps(metadata)})
        written.replace(path)


def load(path: str | Path, model: Any = None) -> StructuredEstimator:
    """Reads an estimator that was saved with `save`.

    Parameters
    ----------
    path : path
    model : object, optional
        The model, if it is a class of your own: its code is not in the file. Its options must be those of the model
        that was trained, as far as it has `get_params` and they are plain values. What its `initialize` had set comes
        from the file, into a copy of the object.

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
    from structlearn import estimators
    from structlearn.models.base import Model
    from structlearn.models.labels import label_array
    from structlearn.models.python_model import PythonModel

    metadata, tensors = _read(Path(path))
    registry = _registry()
    if metadata["model_params"] is not None:
        if model is not None:
            raise ValueError(f"{path} holds a {metadata['model']} model, which needs no `model` to load")
        if metadata["model"] not in registry:
            raise ValueError(f"{path} holds a model {metadata['model']!r}, which this version does not know")
        bound = registry[metadata["model"]](**decode(metadata["model_params"]))
    elif model is None:
        raise ValueError(f"{path} was trained with a model of your own: load it with load(path, model=YourModel())")
    else:
        own = _restored(path, model, metadata.get("own_model") or {})
        bound = own if isinstance(own, Model) else PythonModel(own)
    params = decode(metadata["params"])
    if metadata["estimator"] not in estimators.__all__:
        raise ValueError(f"{path} holds an estimator {metadata['estimator']!r}, which this version does not know")
    kind = getattr(estimators, metadata["estimator"])
    estimator: StructuredEstimator = kind(bound if model is None else model, **params)
    estimator.model_ = bound
    estimator.spec_ = bound.spec_from_dict(decode(metadata["spec"]))
    estimator.w_ = tensors["w"]
    estimator.slacks_ = tensors.get("slacks")
    for name, value in decode(metadata["fitted"]).items():
        if name in _FITTED:
            setattr(estimator, name, value)
    if hasattr(estimator.spec_, "classes"):
        estimator.classes_ = label_array(estimator.spec_.classes)
    return estimator


def _describe(estimator: StructuredEstimator) -> dict[str, Any]:
    """What a file says about a model of the user's own: its options, and all it holds after `initialize`.

    Options that no file can hold, or that `initialize` changed, are not compared on loading. Of attributes that no file
    can hold it keeps the type, to tell whether the object given to `load` has them.
    """
    model = getattr(estimator.model_, "user_model", estimator.model_)
    given = _plain(_options(estimator.model))
    options = {name: value for name, value in _plain(_options(model)).items() if given.get(name) == value}
    if not hasattr(model, "initialize"):
        return {"options": options}
    state = getattr(model, "__dict__", {})
    plain = _plain(state)
    types = {name: type(value).__name__ for name, value in state.items() if name not in plain}
    return {"options": options, "state": plain, "types": types}


def _restored(path: str | Path, model: Any, described: dict[str, Any]) -> Any:
    """The user's model as it was trained, refused if it has other options or lacks what no file can hold."""
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


def _read(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with safe_open(path, framework="numpy") as file:
            header = (file.metadata() or {}).get(FORMAT)
            if header is None:
                raise ValueError(f"{path} is a safetensors file, but not a structlearn model")
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{path} is no structlearn model, or it is damaged or cut short ({error})") from None
    metadata = json.loads(header)
    if metadata.get("version", 0) > VERSION:
        raise ValueError(
            f"{path} has format version {metadata['version']}, written by structlearn {metadata.get('library')}; this "
            f"version reads up to {VERSION}"
        )
    return metadata, tensors


def _registry() -> dict[str, Any]:
    """Everything that may be built from a file by its name."""
    from structlearn import models, solvers
    from structlearn.features import MonotoneCurves

    names = ("Chain", "Segments", "Multiclass", "Taxonomy", "ClassAttributes", "ClassDescriptions", "ClassKernel")
    known = {name: getattr(models, name) for name in names} | {"MonotoneCurves": MonotoneCurves}
    return known | {
        name: solver
        for name, solver in vars(solvers).items()
        if isinstance(solver, type) and issubclass(solver, solvers.Solver) and not inspect.isabstract(solver)
    }


def encode(value: Any, what: str) -> Any:
    """A value as JSON that remembers its type: tuples, arrays, mappings with any keys, this library's objects.

    >>> decode(json.loads(json.dumps(encode({("a", 1): np.array([1.5]), None: (True, 2)}, "value"))))
    {('a', 1): array([1.5]), None: (True, 2)}
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return encode(value.item(), what)
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list):
        return [encode(item, what) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [encode(item, what) for item in value]}
    if isinstance(value, (set, frozenset)):
        # In an order that does not change from one interpreter to the next, so that equal sets are written alike.
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: sorted((encode(item, what) for item in value), key=json.dumps)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.ndarray):
        return encode(value.tolist(), what)
    if isinstance(value, Mapping):
        return {"mapping": [[encode(key, what), encode(item, what)] for key, item in value.items()]}
    name = type(value).__name__
    if _registry().get(name) is type(value):
        options = value.get_params(deep=False) if hasattr(value, "get_params") else _fields(value)
        return {"object": name, "options": encode(dict(options), what)}
    raise TypeError(f"{what} {value!r} of type {name} cannot be saved")


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def decode(value: Any) -> Any:
    if isinstance(value, list):
        return [decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": text}:
            return float(text)
        case {"bytes": text}:
            return bytes.fromhex(text)
        case {"tuple": items}:
            return tuple(map(decode, items))
        case {"set": items}:
            return set(map(decode, items))
        case {"frozenset": items}:
            return frozenset(map(decode, items))
        case {"array": items, "dtype": dtype, "shape": shape}:
            # Indexing with nothing makes a scalar of an array without dimensions.
            return np.array(items, dtype=np.dtype(dtype)).reshape(shape)[()]
        case {"mapping": pairs}:
            return {decode(key): decode(item) for key, item in pairs}
        case {"object": name, "options": options}:
            return _registry()[name](**decode(options))
    raise ValueError(f"the file holds a value of an unknown kind: {sorted(value)}")
