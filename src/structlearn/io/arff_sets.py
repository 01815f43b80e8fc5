"""Examples with sets of labels in ARFF, as Mulan and MEKA have them: some of the attributes are labels.

Mulan names them in an XML file beside, MEKA by a number in the name of the relation: ``-C 6`` are the first six
attributes, ``-C -6`` the last six.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from structlearn.io.arff import ENTRY, FIELD, TEXT, Attribute, Rows, comment_start, read_contents, read_header
from structlearn.io.compression import PACKED
from structlearn.io.format import Example, Format, Structure
from structlearn.io.mulan import BINARY, read_label_names
from structlearn.io.text import Lines, quoted

MEKA = re.compile(r"-[Cc]\s+(-?[0-9]{1,6})\b")
#: What names say of the part of the data, which the XML file is not about.
PART = re.compile(r"[-_.](?:train|test|dev|valid|validation)$", re.IGNORECASE)


class LabelPlaces(dict[str, int]):
    """The columns of the labels by their names.

    Attributes
    ----------
    ones : frozenset of int
        Those columns that are 1 in a sparse row that does not name them.
    """

    def __init__(self, places: dict[str, int], ones: frozenset[int]):
        super().__init__(places)
        self.ones = ones

    def __reduce__(self) -> tuple[Any, ...]:
        return LabelPlaces, (dict(self), self.ones)


class ArffRow(dict[str, float]):
    """The features of a row, and where its labels are, which `ArffSets.annotate` replaces.

    Attributes
    ----------
    places : LabelPlaces
    """

    places: LabelPlaces


@dataclass(frozen=True)
class ArffSets(Format):
    """The rows of an ARFF file, with the labels that are 1 as y.

    Nominal features become names with their value, ``name=value``, but for their first value, which is 0 as all that a
    sparse row leaves out; those of the values 0 and 1 keep their name. A row whose labels are all ``?`` has none.
    Predictions replace the labels; nothing else of a file changes.

    Parameters
    ----------
    labels : tuple of str
        Which attributes are labels. A file is recognised with those of the XML file that lies beside it under its name,
        with or without -train, -test and the like.
    n_labels : int
        That so many of the first attributes are, or of the last if it is negative, where they are not named.

    Examples
    --------
    >>> text = b"@attribute size real\\n@attribute red {0,1}\\n@attribute round {0,1}\\n@data\\n1.5,1,0\\n"
    >>> (example,) = ArffSets(("red", "round")).read(Lines([text], "shapes.arff"))
    >>> example.x, example.y, ArffSets(("red", "round")).annotate(example, {"round"})
    ({'size': 1.5}, {'red'}, '1.5,0,1\\n')
    """

    name: ClassVar[str] = "arff"

    labels: tuple[str, ...] = ()
    n_labels: int = 0

    @property
    def structure(self) -> Structure:
        return "set"

    @classmethod
    def recognise(cls, head: Sequence[str], filename: str) -> Self | None:
        contents = [line.strip() for line in head if line.strip() and not line.lstrip().startswith("%")]
        if not contents or not re.match(r"@(relation|attribute)\b", contents[0], re.IGNORECASE):
            return None
        beside = next((path for path in _xml_files(filename) if path.is_file()), None)
        if beside is not None:
            return cls(tuple(read_label_names(beside)))
        relation = next((line for line in contents if line.lower().startswith("@relation")), "")
        found = MEKA.search(relation)
        return cls(n_labels=int(found[1])) if found else cls()

    def parse(self, lines: Lines) -> Iterator[Example]:
        contents = read_contents(lines)
        _, attributes = read_header((content for _, content in contents), lines)
        places = self._places(attributes, lines)
        rows = Rows(lines, attributes)
        for line, content in contents:
            cells = rows.read(content)
            try:
                x, y = _example(cells, attributes, places, dict.fromkeys(places.ones, 1.0) if rows.sparse else {})
            except ValueError as error:
                raise lines.error(str(error)) from None
            yield Example(x, y, lines.number, (line,), file=lines.name)

    def write(self, x: Any, y: Any) -> str:
        raise ValueError("an example cannot be written in arff, which names the attributes of all before the first one")

    def annotate(self, example: Example, y: Any) -> str:
        (line,) = example.source
        places: LabelPlaces = example.x.places
        unknown = next((label for label in y if label not in places), None)
        if unknown is not None:
            raise ValueError(f"the label {quoted(str(unknown))} cannot be written: no attribute is called so")
        end = comment_start(line)
        body, rest = line[:end].rstrip(), line[len(line[:end].rstrip()) :]
        numbers = {column: int(label in y) for label, column in places.items()}
        sparse = body.lstrip().startswith("{")
        return (_sparse(body, numbers, places.ones) if sparse else _dense(body, numbers)) + rest + "\n"

    def _places(self, attributes: tuple[Attribute, ...], lines: Lines) -> LabelPlaces:
        """Where the labels are, in the order of the attributes."""
        columns = {attribute.name: k for k, attribute in enumerate(attributes)}
        n = self.n_labels
        if abs(n) > len(attributes):
            raise lines.error(f"{abs(n)} attributes are labels by -C, but there are {len(attributes)}")
        named = self.labels or [attribute.name for attribute in (attributes[:n] if n >= 0 else attributes[n:])]
        if not named:
            raise lines.error(
                "nothing says which attributes are labels: name them, or the XML file that does, by --label", line=1
            )
        for name in named:
            if name not in columns:
                raise lines.error(f"the label {quoted(name)} is no attribute of the table")
            _check_label(attributes[columns[name]], lines)
        ones = frozenset(columns[name] for name in named if attributes[columns[name]].values[:1] == ("1",))
        return LabelPlaces(dict(sorted(((name, columns[name]) for name in named), key=lambda item: item[1])), ones)


def _xml_files(filename: str) -> Iterator[Path]:
    """Where the names of the labels of a file may be."""
    path = Path(filename)
    while path.suffix.lower() in PACKED:
        path = path.with_suffix("")
    for stem in dict.fromkeys((path.stem, PART.sub("", path.stem))):
        if stem:
            yield from (path.with_name(f"{stem}.xml{packed}") for packed in ("", *PACKED))


def _check_label(attribute: Attribute, lines: Lines) -> None:
    binary = attribute.kind == "nominal" and set(attribute.values) <= set(BINARY)
    if attribute.kind != "numeric" and not binary:
        raise lines.error(f"the label {quoted(attribute.name)} has other values than 0 and 1")


def _example(
    cells: list[tuple[int, float]], attributes: tuple[Attribute, ...], places: LabelPlaces, told: dict[int, float]
) -> tuple[ArffRow, set[str] | None]:
    """Features and labels of a row; `told` are the labels that it has without naming them."""
    x = ArffRow()
    x.places = places
    columns = {column: label for label, column in places.items()}
    for k, code in cells:
        attribute = attributes[k]
        if k in columns:
            told[k] = float(attribute.values[int(code)]) if attribute.values and not math.isnan(code) else code
        elif attribute.kind in TEXT:
            raise ValueError(f"the feature {quoted(attribute.name)} is text; only numbers and nominal values are read")
        elif math.isnan(code):
            raise ValueError(f"the feature {quoted(attribute.name)} has no value")
        elif code != 0:
            nominal = attribute.kind == "nominal"
            named = nominal and attribute.values != BINARY
            name = f"{attribute.name}={attribute.values[int(code)]}" if named else attribute.name
            x[name] = 1.0 if nominal else code
    if len(told) == len(columns) and all(map(math.isnan, told.values())):
        return x, None
    return x, {columns[k] for k, value in told.items() if _is_one(value, columns[k])}


def _is_one(value: float, label: str) -> bool:
    if value not in (0.0, 1.0):
        told = "?" if math.isnan(value) else f"{value:g}"
        raise ValueError(f"the label {quoted(label)} is {told}; expected 0 or 1")
    return value == 1.0


def _dense(body: str, numbers: dict[int, int]) -> str:
    """A row with other values in some of its columns."""
    pieces, at = [], 0
    for column in range(len(body) + 1):
        field = FIELD.match(body, at)
        assert field is not None
        pieces.append(str(numbers[column]) if column in numbers else body[at : field.start(4)])
        at = field.end()
        if not field[4]:
            break
    return ",".join(pieces)


def _sparse(body: str, numbers: dict[int, int], ones: frozenset[int]) -> str:
    """The same, where values that are left out need not be written."""
    begin = body.index("{") + 1
    inner = body[begin:-1]
    entries = [(column, f"{column} {value}") for column, value in numbers.items() if value != int(column in ones)]
    at, more = 0, bool(inner.strip())
    while more:
        entry = ENTRY.match(inner, at)
        assert entry is not None
        field = FIELD.match(inner, entry.end())
        assert field is not None
        if int(entry[1]) not in numbers:
            entries.append((int(entry[1]), inner[at : field.start(4)]))
        at, more = field.end(), bool(field[4])
    return body[:begin] + ",".join(text for _, text in sorted(entries)) + "}"
