"""JSON lines: ``{"tokens": […], "labels": […]}`` or ``{"features": {…}, "label": …}``, one object a line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, Literal, NoReturn, Self

from structlearn.io.columns import default_names
from structlearn.io.format import BLANKS, Example, Format, Structure
from structlearn.io.text import Lines, quoted

#: The longest name that is put before others: a short line must not become features without end.
LONGEST_OUTER_NAME = 255
STRUCTURES = ("words", "attributes", "row")


@dataclass(frozen=True)
class JsonLines(Format):
    """One JSON object a line.

    Tokens are strings, lists with a string for every column, or objects of features; labels are strings, whole numbers,
    true or false, one for each token, and may be left out or null. ``{"features": …, "label": …}`` is an example that
    is no sequence. Features mean what they mean in dicts: ``{"w": "dog", "cap": true, "len": 3}`` is w=dog 1, cap 1,
    len 3. All else of a line is kept; predictions come as "predicted". An object with the same key twice is refused.

    Parameters
    ----------
    content : {"words", "attributes", "row"}
        What the lines hold, see `Format.structure`; they are all alike.
    columns : tuple of str
        The names of the columns, for words.
    partial : bool
        Whether labels are known in part: null where nothing is known, a list for one of several.

    Examples
    --------
    >>> lines = Lines([b'{"tokens": ["The", "dog"], "labels": ["DET", "NOUN"], "id": 7}'], "tags.jsonl")
    >>> (example,) = JsonLines().read(lines)
    >>> print(JsonLines().annotate(example, ["DET", "VERB"]), end="")
    {"tokens": ["The", "dog"], "labels": ["DET", "NOUN"], "id": 7, "predicted": ["DET", "VERB"]}
    """

    name: ClassVar[str] = "jsonl"

    content: Literal["words", "attributes", "row"] = "words"
    columns: tuple[str, ...] = ("word",)
    partial: bool = False

    def __post_init__(self) -> None:
        if self.content not in STRUCTURES:
            raise ValueError(f"content is {self.content!r}; it may be {', '.join(STRUCTURES)}")
        if isinstance(self.columns, str) or not self.columns:
            raise ValueError(f"columns is {self.columns!r}; expected a tuple of names")

    @property
    def structure(self) -> Structure:
        return self.content

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.columns if self.content == "words" else ()

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        first = next((line for line in head if line.strip(BLANKS)), "")
        if not first.lstrip(BLANKS).startswith("{"):
            return None
        try:
            found = _load(first)
        except ValueError:
            return cls()
        if "features" in found:
            return cls("row")
        tokens = found.get("tokens")
        token = tokens[0] if isinstance(tokens, list) and tokens else ""
        if isinstance(token, dict):
            return cls("attributes")
        return cls(columns=default_names(len(token))) if isinstance(token, list) and token else cls()

    def parse(self, lines: Lines) -> Iterator[Example]:
        read = self._row if self.content == "row" else self._sequence
        for line in lines:
            if not line.strip(BLANKS):
                continue
            try:
                x, y = read(_load(line))
            except ValueError as error:
                raise lines.error(str(error), getattr(error, "column", 1)) from None
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        if self.content == "row":
            return _dump({"features": x} | ({} if y is None else {"label": _listed(y)}))
        if y is not None and len(y) != len(x):
            raise ValueError(f"there are {len(y)} labels for {len(x)} tokens")
        if len(x) == 0:
            raise ValueError("a sequence without tokens cannot be written")
        tokens = [dict.fromkeys(t, 1.0) if self.content == "attributes" and isinstance(t, list) else t for t in x]
        return _dump({"tokens": tokens} | ({} if y is None else {"labels": list(map(_listed, y))}))

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        predicted = {"predicted": y if self.content == "row" else list(y)}
        found = _load(line)
        if "predicted" in found:
            return _dump(found | predicted)
        # Spaces and numbers stay as they were.
        before, end, after = line.rpartition("}")
        return f"{before}, {_dump(predicted).strip()[1:-1]}{end}{after}\n"

    def _row(self, found: dict[str, Any]) -> tuple[Any, Any]:
        features = found.get("features")
        if not isinstance(features, dict):
            raise ValueError(f'expected an object of "features", found {_shown(features)}')
        return _features(features, "features"), self._label(found.get("label"), '"label"')

    def _sequence(self, found: dict[str, Any]) -> tuple[Any, Any]:
        tokens, labels = found.get("tokens"), found.get("labels")
        if not isinstance(tokens, list) or not tokens:
            raise ValueError(f'expected a list of "tokens", found {_shown(tokens)}')
        token_of = self._attributes if self.content == "attributes" else self._words
        x = [token_of(token, t) for t, token in enumerate(tokens)]
        if labels is None:
            return x, None
        if not isinstance(labels, list) or len(labels) != len(tokens):
            raise ValueError(f'expected {len(tokens)} "labels", one for each token, found {_shown(labels)}')
        for t, label in enumerate(labels):
            if self._label(label, f"labels[{t}]") is None and not self.partial:
                raise ValueError(f"labels[{t}] is null, but a sequence has all its labels or none")
        return x, labels

    def known(self, label: Any) -> Any:
        return frozenset(label) if isinstance(label, list) else label

    def _label(self, label: Any, where: str) -> Any:
        if self.partial and isinstance(label, list) and label and None not in label:
            return [_label(one, where) for one in label]
        return _label(label, where)

    def _words(self, token: Any, t: int) -> Any:
        if len(self.columns) == 1 and isinstance(token, str):
            return token
        if isinstance(token, list) and len(token) == len(self.columns) and all(isinstance(v, str) for v in token):
            return token[0] if len(token) == 1 else tuple(token)
        expected = "a string" if len(self.columns) == 1 else f"a list of {len(self.columns)} strings"
        raise ValueError(f"expected {expected} as tokens[{t}], like the tokens before it, found {_shown(token)}")

    def _attributes(self, token: Any, t: int) -> dict[str, float]:
        if not isinstance(token, dict):
            raise ValueError(f"expected an object of features as tokens[{t}], found {_shown(token)}")
        return _features(token, f"tokens[{t}]")


class _SyntaxError(ValueError):
    def __init__(self, message: str, column: int):
        super().__init__(message)
        self.column = column


def _load(line: str) -> dict[str, Any]:
    """The object of a line."""
    try:
        found = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
        if "\\u" in line:
            json.dumps(found, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise _SyntaxError(f"this is no JSON: {error.msg}", error.colno) from None
    except RecursionError:
        raise ValueError("this is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("a string holds half a surrogate pair, which is no character") from None
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {_shown(found)}")
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise ValueError(f"an object has the key {quoted(twice)} twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _label(label: Any, where: str) -> Any:
    if label is None or isinstance(label, (str, int)):
        return label
    raise ValueError(f"expected a string or a whole number as {where}, found {_shown(label)}")


def _listed(label: Any) -> Any:
    """A label as JSON holds it, one of several as a list."""
    return sorted(label, key=str) if isinstance(label, (set, frozenset)) else label


def _features(found: Mapping[str, Any], where: str) -> dict[str, float]:
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
        raise ValueError(f"expected a number, a string, strings or an object as {quoted(name)}, found {_shown(value)}")


def _shown(value: Any) -> str:
    """A value for messages, by its kind where it may be large."""
    if isinstance(value, (list, dict)):
        kind = "a list" if isinstance(value, list) else "an object"
        return f"{kind} of {len(value)}"
    if isinstance(value, str):
        return quoted(value)
    return "nothing" if value is None else str(value) if isinstance(value, (bool, float)) else "a whole number"


def _dump(found: dict[str, Any]) -> str:
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
