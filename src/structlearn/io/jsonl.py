"""JSON lines: ``{"tokens": […], "labels": […]}`` or ``{"features": {…}, "label": …}``, one object a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from structlearn.data.dependency_trees import check_tree, split_tree
from structlearn.io.columns import default_names
from structlearn.io.format import BLANKS, Example, Format, Structure
from structlearn.io.json_values import dump, listed, load_object, read_features, read_label, read_label_set, shown_value
from structlearn.io.text import Lines

STRUCTURES = ("words", "attributes", "row", "set", "dependencies")


@dataclass(frozen=True)
class JsonLines(Format):
    """One JSON object a line.

    Tokens are strings, lists with a string for every column, or objects of features; labels are strings, whole numbers,
    true or false, one for each token, and may be left out or null. ``{"features": …, "label": …}`` is an example that
    is no sequence; one with a list of "labels" has all of them, a set. Tokens with "heads", whole numbers from 0 for
    the root on, are a dependency tree, and "labels" are those of its arcs, if there are any. Features mean what they
    mean in dicts: ``{"w": "dog", "cap": true, "len": 3}`` is w=dog 1, cap 1, len 3. All else of a line is kept;
    predictions come as "predicted". An object with the same key twice is refused.

    Parameters
    ----------
    content : {"words", "attributes", "row", "set", "dependencies"}
        What the lines hold, see `Format.structure`; they are all alike.
    columns : tuple of str
        The names of the columns, for words.
    partial : bool
        Whether labels are known in part: null where nothing is known, a list for one of several; of trees, heads and
        labels may be null.

    Examples
    --------
    >>> lines = Lines([b'{"tokens": ["The", "dog"], "labels": ["DET", "NOUN"], "id": 7}'], "tags.jsonl")
    >>> (example,) = JsonLines().read(lines)
    >>> print(JsonLines().annotate(example, ["DET", "VERB"]), end="")
    {"tokens": ["The", "dog"], "labels": ["DET", "NOUN"], "id": 7, "predicted": ["DET", "VERB"]}
    """

    name: ClassVar[str] = "jsonl"

    content: Literal["words", "attributes", "row", "set", "dependencies"] = "words"
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
        return self.columns if self.content in ("words", "dependencies") else ()

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        first = next((line for line in head if line.strip(BLANKS)), "")
        if not first.lstrip(BLANKS).startswith("{"):
            return None
        try:
            found = load_object(first)
        except ValueError:
            return cls()
        if "features" in found:
            return cls("set" if isinstance(found.get("labels"), list) else "row")
        tokens = found.get("tokens")
        token = tokens[0] if isinstance(tokens, list) and tokens else ""
        if isinstance(token, dict):
            return cls("attributes")
        content: Any = "dependencies" if "heads" in found else "words"
        return cls(content, default_names(len(token))) if isinstance(token, list) and token else cls(content)

    def parse(self, lines: Lines) -> Iterator[Example]:
        read = self._single if self.content in ("row", "set") else self._sequence
        for line in lines:
            if not line.strip(BLANKS):
                continue
            try:
                x, y = read(load_object(line))
            except ValueError as error:
                raise lines.error(str(error), getattr(error, "column", 1)) from None
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        if self.content in ("row", "set"):
            return dump({"features": x} | ({} if y is None else {self._key: listed(y)}))
        if self.content == "dependencies" and y is not None:
            return dump({"tokens": x, **self._written_tree(x, y)})
        if y is not None and len(y) != len(x):
            raise ValueError(f"there are {len(y)} labels for {len(x)} tokens")
        if len(x) == 0:
            raise ValueError("a sequence without tokens cannot be written")
        tokens = [dict.fromkeys(t, 1.0) if self.content == "attributes" and isinstance(t, list) else t for t in x]
        return dump({"tokens": tokens} | ({} if y is None else {"labels": list(map(listed, y))}))

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        predicted = {"predicted": y if self.content == "row" else listed(y) if self.content == "set" else list(y)}
        found = load_object(line)
        if "predicted" in found:
            return dump(found | predicted)
        # Spaces and numbers stay as they were.
        before, end, after = line.rpartition("}")
        return f"{before}, {dump(predicted).strip()[1:-1]}{end}{after}\n"

    @property
    def _key(self) -> str:
        """Under which an example that is no sequence has its output."""
        return "label" if self.content == "row" else "labels"

    def _single(self, found: dict[str, Any]) -> tuple[Any, Any]:
        features, told = found.get("features"), found.get(self._key)
        if not isinstance(features, dict):
            raise ValueError(f'expected an object of "features", found {shown_value(features)}')
        y = read_label_set(told) if self.content == "set" else self._label(told, '"label"')
        return read_features(features, "features"), y

    def _sequence(self, found: dict[str, Any]) -> tuple[Any, Any]:
        tokens, labels = found.get("tokens"), found.get("labels")
        if not isinstance(tokens, list) or not tokens:
            raise ValueError(f'expected a list of "tokens", found {shown_value(tokens)}')
        token_of = self._attributes if self.content == "attributes" else self._words
        x = [token_of(token, t) for t, token in enumerate(tokens)]
        if self.content == "dependencies":
            return x, self._tree(found.get("heads"), labels, len(x))
        if labels is None:
            return x, None
        if not isinstance(labels, list) or len(labels) != len(tokens):
            raise ValueError(f'expected {len(tokens)} "labels", one for each token, found {shown_value(labels)}')
        for t, label in enumerate(labels):
            if self._label(label, f"labels[{t}]") is None and not self.partial:
                raise ValueError(f"labels[{t}] is null, but a sequence has all its labels or none")
        return x, labels

    def _tree(self, heads: Any, labels: Any, n: int) -> list[Any] | None:
        if heads is None and (labels is None or not self.partial):
            return None
        given = {"heads": [None] * n if heads is None else heads, "labels": [None] * n if labels is None else labels}
        for name, values in given.items():
            if not isinstance(values, list) or len(values) != n:
                raise ValueError(f'expected {n} "{name}", one for each token, found {shown_value(values)}')
        for t, label in enumerate(given["labels"]):
            read_label(label, f"labels[{t}]")
        pairs = list(zip(*given.values(), strict=True))
        if self.partial:
            y: list[Any] = [None if pair == (None, None) else pair for pair in pairs]
        else:
            y = given["heads"] if labels is None else pairs
        check_tree(split_tree(y, "the tree", partial=self.partial)[0], "this")
        return y

    def _written_tree(self, x: Any, y: Any) -> dict[str, Any]:
        heads, labels = split_tree(y, "y", partial=self.partial)
        if len(heads) != len(x) or not heads:
            raise ValueError(f"there are {len(heads)} heads for {len(x)} tokens")
        check_tree(heads, "y")
        return {"heads": heads} | ({} if labels is None else {"labels": labels})

    def known(self, label: Any) -> Any:
        return frozenset(label) if isinstance(label, list) else label

    def _label(self, label: Any, where: str) -> Any:
        return read_label(label, where, partial=self.partial)

    def _words(self, token: Any, t: int) -> Any:
        if len(self.columns) == 1 and isinstance(token, str):
            return token
        if isinstance(token, list) and len(token) == len(self.columns) and all(isinstance(v, str) for v in token):
            return token[0] if len(token) == 1 else tuple(token)
        expected = "a string" if len(self.columns) == 1 else f"a list of {len(self.columns)} strings"
        raise ValueError(f"expected {expected} as tokens[{t}], like the tokens before it, found {shown_value(token)}")

    def _attributes(self, token: Any, t: int) -> dict[str, float]:
        if not isinstance(token, dict):
            raise ValueError(f"expected an object of features as tokens[{t}], found {shown_value(token)}")
        return read_features(token, f"tokens[{t}]")
