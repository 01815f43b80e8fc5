"""Model files: one safetensors file with the weights and, as JSON in its header, everything else.

Loading builds objects of this library by registered name from plain values; it never runs code from the file.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
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
    metadata = {
        "format": FORMAT,
        "version": VERSION,
        "library": structlearn.__version__,
        "estimator": type(estimator).__name__,
        "params": encode(params, "parameter"),
        "model": type(model).__name__,
        "model_params": encode(model.get_params(deep=False), "model option")
        if type(model).__name__ in _registry()
        else None,
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
        The model, if it is a class of your own: its code is not in the file.

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
        bound = model if isinstance(model, Model) else PythonModel(model)
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

    names = ("Chain", "Multiclass", "Taxonomy", "ClassAttributes", "ClassDescriptions", "ClassKernel")
    known = {name: getattr(models, name) for name in names}
    return known | {
        name: getattr(solvers, name)
        for name in (
            "BlockCoordinate",
            "ExcessiveGap",
            "Extragradient",
            "NSlack",
            "OneSlack",
            "Perceptron",
            "Subgradient",
        )
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
    if isinstance(value, frozenset):
        return {"frozenset": [encode(item, what) for item in value]}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.ndarray):
        return encode(value.tolist(), what)
    if isinstance(value, Mapping):
        return {"mapping": [[encode(key, what), encode(item, what)] for key, item in value.items()]}
    name = type(value).__name__
    if _registry().get(name) is type(value):
        options = value.get_params(deep=False) if hasattr(value, "get_params") else vars(value)
        return {"object": name, "options": encode(dict(options), what)}
    raise TypeError(f"{what} {value!r} of type {name} cannot be saved")


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
        case {"frozenset": items}:
            return frozenset(map(decode, items))
        case {"array": items, "dtype": dtype, "shape": shape}:
            return np.array(items, dtype=np.dtype(dtype)).reshape(shape)
        case {"mapping": pairs}:
            return {decode(key): decode(item) for key, item in pairs}
        case {"object": name, "options": options}:
            return _registry()[name](**decode(options))
    raise ValueError(f"the file holds a value of an unknown kind: {sorted(value)}")
