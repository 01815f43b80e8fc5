"""Values of JSON in lines of files: objects, features and labels, checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, NoReturn

from structlearn.io.text import quoted

#: The longest name that is put before others: a short line must not become features without end.
LONGEST_OUTER_NAME = 255


class JsonError(ValueError):
    """What is no JSON, and from which column on."""

    def __init__(self, message: str, column: int):
        super().__init__(message)
        self.column = column


def load_object(line: str) -> dict[str, Any]:
    """The object of a line."""
    try:
        found = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
        if "\\u" in line:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise JsonError(f"this is no JSON: {error.msg}", error.colno) from None
    except RecursionError:
        raise ValueError("this is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("a string holds half a surrogate pair, which is no character") from None
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {shown_value(found)}")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {quoted(twice)} twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def read_label(label: Any, where: str, *, partial: bool = False) -> Any:
    """A label, None for none; of labels known in part, several in a list."""
    if partial and isinstance(label, list) and label and None not in label:
        return [read_label(one, where) for one in label]
    if label is None or isinstance(label, (str, int)):
        return label
    raise ValueError(f"expected a string or a whole number as {where}, found {shown_value(label)}")


def read_label_set(labels: Any) -> set[Any] | None:
    """A set of labels, None for none."""
    if labels is None:
        return None
    if not isinstance(labels, list):
        raise ValueError(f'expected a list of "labels", found {shown_value(labels)}')
    for k, label in enumerate(labels):
        if read_label(label, f"labels[{k}]") is None:
            raise ValueError(f"labels[{k}] is null, which is no label")
    found = set(labels)
    if len(found) < len(labels):
        (twice, _), *_ = Counter(labels).most_common(1)
        raise ValueError(f"the label {quoted(str(twice))} is there twice")
    return found


def listed(label: Any) -> Any:
    """A label as JSON holds it, one of several as a list."""
    return sorted(label, key=str) if isinstance(label, (set, frozenset)) else label


def read_features(found: Mapping[str, Any], where: str) -> dict[str, float]:
    features: dict[str, float] = {}
    try:
        for name, value in (pair for item in found.items() for pair in _named(*item)):
            if name in features or not isfinite(value):
                why = "is there twice" if name in features else f"is {value}"
                raise ValueError(f"the feature {quoted(name)} of {where} {why}")
            features[name] = value
    except OverflowError:
        raise ValueError(f"a number of {where} is too large") from None
    except RecursionError:
        raise ValueError(f"{where} is nested too deeply") from None
    return features


def _named(name: str, value: Any) -> Iterator[tuple[str, float]]:
    """What a name and its value stand for; the names are those that a `Chain` gives to features in dicts."""
    if isinstance(value, (bool, int, float)):
        yield name, float(value)
    elif isinstance(value, str):
        yield f"{name}={value}", 1.0
    elif isinstance(value, (dict, list)) and len(name) > LONGEST_OUTER_NAME:
        raise ValueError(f"the name {quoted(name)} is too long for one with several values")
    elif isinstance(value, dict):
        for inner, its_value in value.items():
            yield from _named(f"{name}={inner}", its_value)
    elif isinstance(value, list) and all(isinstance(inner, str) for inner in value):
        yield from ((f"{name}={inner}", 1.0) for inner in value)
    else:
        raise ValueError(
            f"expected a number, a string, strings or an object as {quoted(name)}, found {shown_value(value)}"
        )


def shown_value(value: Any) -> str:
    """A value for messages, by its kind where it may be large."""
    if isinstance(value, (list, dict)):
        kind = "a list" if isinstance(value, list) else "an object"
        return f"{kind} of {len(value)}"
    if isinstance(value, str):
        return quoted(value)
    return "nothing" if value is None else str(value) if isinstance(value, (bool, float)) else "a whole number"


def dump(found: dict[str, Any]) -> str:
    text = json.dumps(found, ensure_ascii=False, allow_nan=False, default=_plain)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("a string holds half a surrogate pair, which cannot be written") from None
    return text + "\n"


def _plain(value: Any) -> Any:
    """Numbers and texts of numpy as those of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise ValueError(f"{quoted(repr(value))} cannot be written as JSON")
