"""Values as JSON and arrays, and back: types are remembered, and nothing but what is registered is ever built."""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import fields, is_dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from structlearn.data.matrices import checked_sparse
from structlearn.persistence.container import Tensors
from structlearn.persistence.declared import check_declared
from structlearn.persistence.learnt import check_learnt
from structlearn.persistence.registry import registered
from structlearn.waist.loss import Loss

#: Longer arrays and lists of texts become tensors of the file.
_INLINE = 64
#: An array may be written without its zeros, and read so, if it has at most this many entries for each that is left;
_SPARSEST = 1000
#: or if it has at most this many entries, and all such arrays of a file together at most 2²⁶, which are 512 MB.
_SMALL = 2**24
_ALLOWANCE = 2**26
#: Options that classes once had; files may still name them.
_GONE = {("BlockCoordinate", "max_memory")}


def encode(value: Any, what: str, tensors: MutableMapping[str, npt.NDArray[Any]] | None = None) -> Any:
    """A value as JSON that remembers its type: tuples, arrays, mappings with any keys, this library's objects.

    Long arrays and lists of texts are put into `tensors`, if that is given, and the JSON only names them.

    >>> tensors = {}
    >>> text = json.dumps(encode({("a", 1): np.array([1.5]), None: (True, np.arange(1000))}, "value", tensors))
    >>> value = decode(json.loads(text), tensors)
    >>> value[("a", 1)], value[None][1].shape, list(tensors)
    (array([1.5]), (1000,), ['0'])
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.generic):
        return encode(value.item(), what)
    if isinstance(value, type) and issubclass(value, np.generic):
        return {"scalar": np.dtype(value).str}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, list):
        if tensors is not None and len(value) > _INLINE and _are_lines(value):
            return {"texts": _put(np.frombuffer("\n".join(value).encode("utf-8", "surrogatepass"), np.uint8), tensors)}
        return [encode(item, what, tensors) for item in value]
    if isinstance(value, tuple):
        return {"tuple": encode(list(value), what, tensors)}
    if isinstance(value, (set, frozenset)):
        # In an order that does not change from one interpreter to the next, so that equal sets are written alike.
        kind = "set" if isinstance(value, set) else "frozenset"
        return {kind: sorted((encode(item, what, tensors) for item in value), key=json.dumps)}
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufU":
        if tensors is not None and value.size > _INLINE and value.dtype.kind != "U":
            return _stored(value, tensors)
        return {"array": value.tolist(), "dtype": value.dtype.str, "shape": list(value.shape)}
    if isinstance(value, np.ndarray):
        return encode(value.tolist(), what, tensors)
    if isinstance(value, sp.csr_array):
        parts = [encode(part, what, tensors) for part in (value.data, value.indices, value.indptr)]
        return {"rows": parts, "shape": list(value.shape)}
    if isinstance(value, Mapping):
        return {"mapping": [[encode(key, what, tensors), encode(item, what, tensors)] for key, item in value.items()]}
    name = type(value).__name__
    if registered(name) is type(value):
        encoded = {"object": name, "options": encode(_options(value), what, tensors)}
        learnt = {key: item for key, item in getattr(value, "__dict__", {}).items() if _is_learnt(key)}
        return encoded | ({"learnt": encode(learnt, what, tensors)} if learnt else {})
    hint = "; predictions do not need it: set the option to a loss of the library" if isinstance(value, Loss) else ""
    if callable(value):
        hint = "; a file holds no code: pickle the whole, of which functions and classes must be importable then"
    if what.endswith("engine") or callable(getattr(value, "search", None)):
        hint = "; what was learnt does not depend on it: set the engine of model and model_ to a name, such as 'auto'"
    raise TypeError(f"{what} {value!r} of type {name} cannot be saved{hint}")


def decode(value: Any, tensors: Tensors | None = None) -> Any:
    """The value that `encode` was given."""
    if isinstance(value, list):
        return [decode(item, tensors) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"float": text}:
            return float(text)
        case {"scalar": text}:
            return _dtype(text, "biuf").type
        case {"bytes": text}:
            return bytes.fromhex(text)
        case {"tuple": items}:
            return tuple(decode(items, tensors))
        case {"set": items}:
            return set(decode(items, tensors))
        case {"frozenset": items}:
            return frozenset(decode(items, tensors))
        case {"array": items, "dtype": dtype, "shape": shape}:
            # Indexing with nothing makes a scalar of an array without dimensions.
            return _listed(items, _dtype(dtype, "biufU"), shape)[()]
        case {"tensor": name}:
            return _tensor(name, tensors)
        case {"places": places, "values": values, "shape": shape}:
            return _filled(_tensor(places, tensors), _tensor(values, tensors), shape)
        case {"rows": [data, indices, indptr], "shape": shape}:
            _size(shape)
            rows = sp.csr_array(tuple(decode(part, tensors) for part in (data, indices, indptr)), shape=tuple(shape))
            return checked_sparse(rows, "an array of the file")
        case {"texts": name}:
            return (
                _tensor(name, tensors)
                .astype(np.uint8, casting="safe")
                .tobytes()
                .decode("utf-8", "surrogatepass")
                .split("\n")
            )
        case {"mapping": pairs}:
            return {decode(key, tensors): decode(item, tensors) for key, item in pairs}
        case {"object": name, "options": options}:
            return _built(name, decode(options, tensors), decode(value.get("learnt", {"mapping": []}), tensors))
    raise ValueError(f"the file holds a value of an unknown kind: {sorted(value)}")


def check_sizes(value: Any, tensors: Tensors) -> None:
    """Refuses, before anything is decoded, JSON that would need memory out of proportion to its file.

    Every tensor may be asked for once, as `encode` does it, and arrays without their zeros must not grow too much.
    """
    named: set[str] = set()
    zeros = 0
    rest = [value]
    while rest:
        value = rest.pop()
        if isinstance(value, dict):
            for key in ("tensor", "texts", "places", "values"):
                name = value.get(key)
                if isinstance(name, str) and name in named:
                    raise ValueError(f"the file asks for the array {name!r} twice")
                if isinstance(name, str):
                    named.add(name)
            if "places" in value:
                size, stored = _size(value.get("shape")), len(np.atleast_1d(_tensor(value["places"], tensors)))
                zeros += size if size > _SPARSEST * stored else 0
                if zeros > _ALLOWANCE:
                    raise ValueError(f"the file holds an array of {size} entries, all but {stored} of them zeros")
            rest.extend(value.values())
        elif isinstance(value, list):
            rest.extend(value)


def _built(name: str, options: dict[str, Any], learnt: dict[str, Any]) -> Any:
    kind = registered(name)
    if kind is None:
        raise ValueError(f"the file holds an object {name!r}, which this version does not know")
    if hasattr(kind, "from_dict"):
        result = kind.from_dict(options)
    else:
        check_declared(kind, options)
        result = kind(**{option: value for option, value in options.items() if (name, option) not in _GONE})
    for key, item in learnt.items():
        if not _is_learnt(key):
            raise ValueError(f"the file sets {key!r} of {name}, which is nothing that fitting learns")
        setattr(result, key, item)
    if learnt:
        check_learnt(result)
    return result


def _options(value: Any) -> dict[str, Any]:
    if hasattr(value, "to_dict"):
        return dict(value.to_dict())
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value.get_params(deep=False))


def _is_learnt(name: str) -> bool:
    """By scikit-learn's convention."""
    return name.endswith("_") and not name.startswith("_")


def _are_lines(values: list[Any]) -> bool:
    return all(isinstance(value, str) and "\n" not in value for value in values)


def _stored(array: npt.NDArray[Any], tensors: MutableMapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """An array as a tensor, without its zeros where it is mostly zeros, as the weights of a chain are."""
    if array.dtype == np.float64:
        flat = np.ascontiguousarray(array).reshape(-1)
        # By their bits: −0.0 is a number of its own.
        places = np.flatnonzero(flat.view(np.int64))
        if 3 * len(places) < array.size <= max(_SPARSEST * len(places), _SMALL):
            short = places.astype(np.uint32) if array.size < 2**32 else places
            return {"places": _put(short, tensors), "values": _put(flat[places], tensors), "shape": list(array.shape)}
    return {"tensor": _put(array, tensors)}


def _filled(places: npt.NDArray[Any], values: npt.NDArray[Any], shape: Any) -> npt.NDArray[np.float64]:
    size = _size(shape)
    fit = places.dtype.kind in "iu" and values.dtype == np.float64 and places.ndim == 1 and places.shape == values.shape
    if not fit or (len(places) and not (int(places.min()) >= 0 and int(places.max()) < size)):
        raise ValueError("the file holds an array whose parts do not fit together")
    array = np.zeros(size)
    array[places] = values
    return array.reshape(shape)


def _size(shape: Any) -> int:
    if not isinstance(shape, list) or not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError(f"the file holds an array of the shape {shape!r}")
    return prod(shape)


def _dtype(text: Any, kinds: str) -> np.dtype[Any]:
    found = np.dtype(text if isinstance(text, str) else "O")
    if found.kind not in kinds:
        raise ValueError(f"the file holds an array of the type {text!r}")
    return found


def _listed(items: Any, dtype: np.dtype[Any], shape: Any) -> npt.NDArray[Any]:
    # Texts take as much as the type says, however short they are.
    if _count(items) != _size(shape) or dtype.itemsize * _size(shape) > _ALLOWANCE:
        raise ValueError(f"the file holds {_count(items)} numbers or texts for an array of {shape} {dtype}")
    return np.array(items, dtype=dtype).reshape(shape)


def _count(items: Any) -> int:
    return sum(map(_count, items)) if isinstance(items, list) else 1


def _put(array: npt.NDArray[Any], tensors: MutableMapping[str, npt.NDArray[Any]]) -> str:
    name = str(len(tensors))
    tensors[name] = array
    return name


def _tensor(name: Any, tensors: Tensors | None) -> npt.NDArray[Any]:
    if tensors is None or not isinstance(name, str) or name not in tensors:
        raise ValueError(f"the file lacks the array {name!r}")
    return tensors[name]
