"""Tables in ARFF, the format of Weka: named attributes, then a row of values a line, dense or sparse.

A header line ``@attribute NAME numeric`` (or ``real``, ``integer``), ``{a, b, c}``, ``string`` or ``date`` names each
column. Rows after ``@data`` have a value for each, separated by commas, or in braces the number of a column and its
value where that is not 0: ``{3 1, 7 yes}``. ``?`` is a value that is missing, ``%`` begins a comment. Names and values
with blanks, commas or braces stand in quotes, with a backslash before a quote. Clus has ``hierarchical a,a/b`` as well.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.io.numbers import parse_number
from structlearn.io.text import FormatError, Lines, Source, open_text, quoted
from structlearn.wording import count

Kind = Literal["numeric", "nominal", "string", "date", "hierarchical"]
Converter = Callable[[str], float]

NUMERIC = ("numeric", "real", "integer")
#: Kinds whose values are free text.
TEXT: tuple[Kind, ...] = ("string", "date", "hierarchical")
ESCAPED = {"n": "\n", "t": "\t", "r": "\r"}

QUOTED = r"""'((?:[^'\\]++|\\.)*+)'|"((?:[^"\\]++|\\.)*+)"|"""
# A field in quotes, or one without up to the next comma. Nothing is tried twice, so that long lines take linear time.
FIELD = re.compile(rf"""[ \t]*+(?:{QUOTED}([^,'"][^,]*+)?)[ \t]*+(,|$)""")
NAME = re.compile(rf"""(?:{QUOTED}([^ \t'"{{][^ \t{{]*+))""")
ESCAPE = re.compile(r"\\(.)")
# The number of a column in a sparse row, whose value comes next.
ENTRY = re.compile(r"[ \t]*+([0-9]{1,9})[ \t]++")
# What may hide a comment, which is quotes, or begins one.
COMMENT = re.compile(r"""'(?:[^'\\]++|\\.)*+(?:'|$)|"(?:[^"\\]++|\\.)*+(?:"|$)|(?:^|(?<=[ \t]))(%)""")


class Attribute(NamedTuple):
    """A column.

    Attributes
    ----------
    name : str
    kind : {"numeric", "nominal", "string", "date", "hierarchical"}
        "real" and "integer" are numeric.
    values : tuple of str
        That were declared: those that a nominal attribute may have, the nodes of a hierarchy.
    """

    name: str
    kind: Kind
    values: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class ArffTable:
    """The content of an ARFF file.

    Attributes
    ----------
    relation : str
    attributes : tuple of Attribute
    values : (n_rows, n_attributes) float array, or CSR array where rows were sparse
        Numbers; of nominal attributes the position among their values, of text that in `texts`. Missing ones are NaN.
    texts : dict of int to list of str
        The different texts of each column of text.
    file : str
        Its name, for messages.
    lines : (n_rows,) int array
        Where each row stands in the file, counted from 1.
    """

    relation: str
    attributes: tuple[Attribute, ...]
    values: FloatArray | csr_array
    texts: dict[int, list[str]]
    file: str
    lines: IntArray

    def error(self, message: str, row: int | None = None) -> FormatError:
        """An error at a row, or in the header."""
        return FormatError(message, self.file, 1 if row is None else int(self.lines[row]))

    def column(self, name: str) -> FloatArray | list[str | None]:
        """The values of an attribute: numbers, NaN where they are missing, or texts, None where they are.

        Examples
        --------
        >>> import io
        >>> table = read_arff(io.BytesIO(b"@attribute size real\\n@attribute 'the class' {a, b}\\n@data\\n1.5,b\\n?,a"))
        >>> table.column("size"), table.column("the class")
        (array([1.5, nan]), ['b', 'a'])
        """
        k = next((k for k, attribute in enumerate(self.attributes) if attribute.name == name), None)
        if k is None:
            raise self.error(f"there is no attribute {quoted(name)}")
        numbers = self.values[:, [k]]
        column: FloatArray = (numbers if isinstance(numbers, np.ndarray) else numbers.toarray()).ravel()
        if self.attributes[k].kind == "numeric":
            return column
        texts = self.texts.get(k, self.attributes[k].values)
        return [None if np.isnan(code) else texts[int(code)] for code in column]


def read_arff(source: Source, encoding: str = "utf-8") -> ArffTable:
    """The table of an ARFF file.

    Parameters
    ----------
    source : path, "-" or binary stream
        Packed files are unpacked.
    encoding : str

    Raises
    ------
    FormatError
        With file and line, for what cannot be understood: also for rows of both kinds, columns of a sparse row that
        do not increase, values that were not declared, numbers that are not finite, and text left out of a sparse row.

    Examples
    --------
    >>> import io
    >>> table = read_arff(io.BytesIO(b"@attribute a integer\\n@attribute b {no, yes}\\n@data\\n{1 yes}\\n{0 7}"))
    >>> table.attributes[1], table.values.toarray().tolist()
    (Attribute(name='b', kind='nominal', values=('no', 'yes')), [[0.0, 1.0], [7.0, 0.0]])
    """
    with open_text(source, encoding) as lines:
        contents = (content for _, content in read_contents(lines))
        relation, attributes = read_header(contents, lines)
        return _Table(lines, attributes).read(relation, contents)


def read_contents(lines: Lines) -> Iterator[tuple[str, str]]:
    """Lines as they are and without comments and blanks around them, where something is left."""
    for line in lines:
        if content := line[: comment_start(line)].strip():
            yield line, content


def comment_start(line: str) -> int:
    """Where the comment of a line begins, or where the line ends."""
    if "%" not in line:
        return len(line)
    return next((match.start() for match in COMMENT.finditer(line) if match[1]), len(line))


def read_header(contents: Iterator[str], lines: Lines) -> tuple[str, tuple[Attribute, ...]]:
    """The relation's name and the attributes; takes what there is up to @data."""
    relation = ""
    attributes: dict[str, Attribute] = {}
    for line in contents:
        word, rest = _split(line)
        match word.lower():
            case "@relation":
                relation, _ = _named(rest, lines) if rest else ("", "")
            case "@attribute":
                attribute = _attribute(rest, lines)
                if attribute.name in attributes:
                    raise lines.error(f"a second attribute of the name {quoted(attribute.name)}")
                attributes[attribute.name] = attribute
            case "@data":
                if not attributes:
                    raise lines.error("no attribute stands before @data")
                return relation, tuple(attributes.values())
            case _:
                raise lines.error(f"expected @relation, @attribute or @data, found {quoted(word)}")
    raise lines.error("the file ends before @data; is it in ARFF?")


def _attribute(text: str, lines: Lines) -> Attribute:
    name, rest = _named(text, lines)
    if rest.startswith("{"):
        return Attribute(name, "nominal", _declared(name, rest, lines))
    word, rest = _split(rest)
    kind = word.lower()
    if kind in NUMERIC:
        return Attribute(name, "numeric")
    if kind == "string":
        return Attribute(name, "string")
    if kind == "date":
        return Attribute(name, "date")
    if kind == "hierarchical" and rest:
        return Attribute(name, "hierarchical", tuple(part.strip() for part in rest.split(",")))
    raise lines.error(
        f"the attribute {quoted(name)} is of the kind {quoted(word)}; "
        "numeric, real, integer, string, date, hierarchical and values in braces are read"
    )


def _split(text: str) -> tuple[str, str]:
    """The first word, and what comes after it."""
    word, *rest = text.split(None, 1) or [""]
    return word, rest[0] if rest else ""


def _named(text: str, lines: Lines) -> tuple[str, str]:
    """A name, which may be in quotes, and what comes after it."""
    match = NAME.match(text)
    if match is None:
        raise lines.error(f"expected a name, found {quoted(text)}")
    return _text(match), text[match.end() :].strip()


def _declared(name: str, text: str, lines: Lines) -> tuple[str, ...]:
    """The values of a nominal attribute."""
    if not text.endswith("}"):
        raise lines.error(f"the values of {quoted(name)} do not end with a brace")
    values: list[str] = []
    for value, is_quoted in _fields(text[1:-1], lines):
        if not value and not is_quoted:
            raise lines.error(f"a value of {quoted(name)} is empty")
        values.append(value)
    (value, n), *_ = Counter(values).most_common(1)
    if n > 1:
        raise lines.error(f"the value {quoted(value)} of {quoted(name)} is declared {n} times")
    return tuple(values)


def _fields(text: str, lines: Lines) -> Iterator[tuple[str, bool]]:
    """The fields between commas, without quotes, and whether they had some."""
    if "'" not in text and '"' not in text and "\\" not in text:
        for field in text.split(","):
            yield field.strip(), False
        return
    at = 0
    while True:
        match = FIELD.match(text, at)
        if match is None:
            raise lines.error(f"expected a value and a comma, found {quoted(text[at:])}")
        yield _text(match), _is_quoted(match)
        if not match[4]:
            return
        at = match.end()


def _text(match: re.Match[str]) -> str:
    """What FIELD or NAME found, without quotes and escapes."""
    text: str = match[1] or match[2] or (match[3] or "").strip()
    return ESCAPE.sub(lambda found: ESCAPED.get(found[1], found[1]), text) if "\\" in text else text


def _is_quoted(match: re.Match[str]) -> bool:
    return match[1] is not None or match[2] is not None


class Rows:
    """The rows of a file, as they are read: all dense, or all sparse.

    Attributes
    ----------
    sparse : bool or None
        None before the first row.
    """

    def __init__(self, lines: Lines, attributes: tuple[Attribute, ...]):
        self.sparse: bool | None = None
        self._lines = lines
        self._attributes = attributes
        self._codes: list[dict[str, float]] = [
            {value: float(code) for code, value in enumerate(a.values)} if a.kind == "nominal" else {}
            for a in attributes
        ]
        self._text_columns = [k for k, a in enumerate(attributes) if a.kind in TEXT]

    def read(self, content: str) -> list[tuple[int, float]]:
        """The columns of a row and the numbers that stand for their values; of a sparse one, those that it names."""
        here = content.startswith("{")
        if self.sparse is None:
            self.sparse = here
        elif self.sparse != here:
            raise self._lines.error("a sparse row after dense ones" if here else "a dense row after sparse ones")
        return self._sparse(content) if here else self._dense(content)

    def texts(self) -> dict[int, list[str]]:
        """The different texts of each column of text so far, in the order of their numbers."""
        return {k: list(self._codes[k]) for k in self._text_columns}

    def _dense(self, line: str) -> list[tuple[int, float]]:
        row = list(_fields(line, self._lines))
        if len(row) != len(self._attributes):
            raise self._lines.error(f"expected {count(len(self._attributes), 'value')}, found {len(row)}")
        return [(k, self._value(k, *field)) for k, field in enumerate(row)]

    def _sparse(self, line: str) -> list[tuple[int, float]]:
        if not line.endswith("}"):
            raise self._lines.error("the sparse row does not end with a brace")
        last = -1
        cells = []
        for k, field in _entries(line[1:-1], self._lines):
            if k <= last:
                raise self._lines.error(f"column {k} comes after {last}; columns must increase")
            if k >= len(self._attributes):
                n = len(self._attributes)
                raise self._lines.error(f"column {k} has a value; there are {count(n, 'attribute')}, counted from 0")
            last = k
            cells.append((k, self._value(k, *field)))
        here = {k for k, _ in cells} if self._text_columns else set()
        for k in self._text_columns:
            if k not in here:
                raise self._lines.error(f"the sparse row leaves out the text {quoted(self._attributes[k].name)}")
        return cells

    def _value(self, k: int, text: str, is_quoted: bool) -> float:
        """The number that stands for a value of column k."""
        if text == "?" and not is_quoted:
            return np.nan
        attribute, codes = self._attributes[k], self._codes[k]
        if attribute.kind == "numeric":
            try:
                return parse_number(text)
            except ValueError as error:
                raise self._error(k, str(error)) from None
        if attribute.kind == "nominal":
            code = codes.get(text)
            if code is None:
                raise self._error(k, f"the value {quoted(text)} is not among those declared")
            return code
        if not text and not is_quoted:
            raise self._error(k, "the value is empty")
        return codes.setdefault(text, float(len(codes)))

    def _error(self, k: int, message: str) -> FormatError:
        return self._lines.error(f"column {k}, {quoted(self._attributes[k].name)}: {message}")


class _Table:
    """All rows of a file together."""

    def __init__(self, lines: Lines, attributes: tuple[Attribute, ...]):
        self._lines = lines
        self._attributes = attributes
        self._data, self._columns, self._ends = array("d"), array("q"), array("q", [0])

    def read(self, relation: str, contents: Iterator[str]) -> ArffTable:
        rows = Rows(self._lines, self._attributes)
        numbers = array("q")
        for content in contents:
            cells = rows.read(content)
            self._data.extend(value for _, value in cells)
            if rows.sparse:
                self._columns.extend(k for k, _ in cells)
            self._ends.append(len(self._data))
            numbers.append(self._lines.number)
        values, lines = self._values(rows.sparse or False), np.array(numbers, np.int64)
        return ArffTable(relation, self._attributes, values, rows.texts(), self._lines.name, lines)

    def _values(self, sparse: bool) -> FloatArray | csr_array:
        shape = (len(self._ends) - 1, len(self._attributes))
        data = np.array(self._data, np.float64)
        if not sparse:
            return data.reshape(shape)
        return csr_array((data, np.array(self._columns, np.int64), np.array(self._ends, np.int64)), shape=shape)


def _entries(text: str, lines: Lines) -> Iterator[tuple[int, tuple[str, bool]]]:
    """The columns and values of a sparse row."""
    at = 0
    more = bool(text.strip())
    while more:
        match = ENTRY.match(text, at)
        field = match and FIELD.match(text, match.end())
        if match is None or field is None:
            raise lines.error(f"expected the number of a column and its value, found {quoted(text[at:])}")
        yield int(match[1]), (_text(field), _is_quoted(field))
        at, more = field.end(), bool(field[4])
