"""Multi-label data of Mulan: a table in ARFF, and an XML file that says which of its attributes are labels.

The XML has an element ``<label name="…"/>`` for each label, below ``<labels>``; labels below labels, a hierarchy, are
taken as labels like all others.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from structlearn.data.arrays import FloatArray, IntArray
from structlearn.io.arff import TEXT, ArffTable, Attribute, read_arff
from structlearn.io.text import Lines, Source, open_text, quoted

#: Cells of a table that is not sparse; a small sparse file might ask for any number.
MOST_CELLS = 2**30
BINARY = ("0", "1")


@dataclass(frozen=True, eq=False, slots=True)
class MultiLabelTable:
    """Examples with a set of labels each.

    Attributes
    ----------
    X : (n, n_features) float array, or CSR array where the file is sparse
    Y : (n, n_labels) int8 array
        1 where the example has the label, 0 elsewhere.
    feature_names, label_names : list of str
        In the order of the ARFF file.
    """

    X: FloatArray | csr_array
    Y: NDArray[np.int8]
    feature_names: list[str]
    label_names: list[str]


def read_mulan(source: Source, labels: Source, encoding: str = "utf-8") -> MultiLabelTable:
    """The examples of an ARFF file, whose labels an XML file names.

    A nominal feature becomes a column of zeros and ones for each of its values but the first, named ``name=value``;
    one of the values 0 and 1 keeps its name. Numbers that are missing are NaN.

    Parameters
    ----------
    source, labels : path, "-" or binary stream
        The ARFF and the XML file. Packed files are unpacked.
    encoding : str
        Of both; what the XML says of its own encoding does not count.

    Raises
    ------
    FormatError
        For a file that cannot be understood, XML with a document type, whatever it declares, labels that are no
        attributes or are neither 0 nor 1, and features that are text.

    Examples
    --------
    >>> import io
    >>> arff = b"@attribute size real\\n@attribute red {0,1}\\n@attribute round {0,1}\\n@data\\n1.5,1,0\\n2,1,1\\n"
    >>> xml = b'<labels><label name="red"/><label name="round"/></labels>'
    >>> data = read_mulan(io.BytesIO(arff), io.BytesIO(xml))
    >>> data.X.tolist(), data.Y.tolist(), data.label_names
    ([[1.5], [2.0]], [[1, 0], [1, 1]], ['red', 'round'])
    """
    named = read_label_names(labels, encoding)
    table = read_arff(source, encoding)
    places = {attribute.name: k for k, attribute in enumerate(table.attributes)}
    for name in named:
        if name not in places:
            raise table.error(f"the label {quoted(name)} is no attribute of the table")
    is_label = np.zeros(len(places), np.bool_)
    is_label[[places[name] for name in named]] = True
    label_columns, feature_columns = np.flatnonzero(is_label), np.flatnonzero(~is_label)
    X, feature_names = _features(table, feature_columns)
    return MultiLabelTable(
        X, _labels(table, label_columns), feature_names, [table.attributes[k].name for k in label_columns]
    )


def read_label_names(source: Source, encoding: str = "utf-8") -> list[str]:
    """The names in Mulan's XML file, in its order.

    >>> import io
    >>> read_label_names(io.BytesIO(b'<labels><label name="a"><label name="b"/></label></labels>'))
    ['a', 'b']
    """
    with open_text(source, encoding) as lines:
        return _LabelNames(lines).read()


class _LabelNames:
    """A parse of the XML, which meets its elements one after another."""

    def __init__(self, lines: Lines):
        self._lines = lines
        self._names: dict[str, None] = {}
        self._depth = 0
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._end
        # Entities, which may grow without bound or ask for other files, are declared in a document type alone.
        self._parser.StartDoctypeDeclHandler = self._refuse

    def read(self) -> list[str]:
        try:
            for line in self._lines:
                self._parser.Parse(line + "\n", False)
            self._parser.Parse("", True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise self._lines.error(f"this is no XML: {reason}", error.offset + 1, max(error.lineno, 1)) from None
        if not self._names:
            raise self._lines.error("the file names no label")
        return list(self._names)

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        expected = "label" if self._depth else "labels"
        if tag.rpartition(":")[2] != expected:
            raise self._lines.error(f"expected the element {expected!r}, found {quoted(tag)}")
        if self._depth:
            name = attributes.get("name", "")
            if not name:
                raise self._lines.error("a label without a name")
            if name in self._names:
                raise self._lines.error(f"a second label of the name {quoted(name)}")
            self._names[name] = None
        self._depth += 1

    def _end(self, tag: str) -> None:
        self._depth -= 1

    def _refuse(self, *_: object) -> None:
        raise self._lines.error("the file declares a document type; label names need none, so it is not read")


def _labels(table: ArffTable, columns: IntArray) -> NDArray[np.int8]:
    """Zeros and ones."""
    codes = _dense(table, table.values[:, columns])
    for j, k in enumerate(columns):
        attribute = table.attributes[k]
        if attribute.kind == "nominal" and set(attribute.values) <= set(BINARY):
            numbers = np.array(attribute.values, np.float64)
            here = ~np.isnan(codes[:, j])
            codes[here, j] = numbers[codes[here, j].astype(np.int64)]
        elif attribute.kind != "numeric":
            raise table.error(f"the label {quoted(attribute.name)} has other values than 0 and 1")
    bad = np.argwhere(~np.isin(codes, (0.0, 1.0)))
    if len(bad):
        i, j = bad[0]
        name = table.attributes[columns[j]].name
        raise table.error(f"the label {quoted(name)} is {codes[i, j]}; expected 0 or 1", i)
    return codes.astype(np.int8)


def _features(table: ArffTable, columns: IntArray) -> tuple[FloatArray | csr_array, list[str]]:
    """Numbers and the names of their columns."""
    text = next((table.attributes[k].name for k in columns if table.attributes[k].kind in TEXT), None)
    if text is not None:
        raise table.error(f"the feature {quoted(text)} is text; only numbers and nominal values are read")
    names = [_column_names(table.attributes[k]) for k in columns]
    starts = np.cumsum([0, *map(len, names)])
    nominal = np.array([table.attributes[k].kind == "nominal" for k in columns], np.bool_)
    cells = coo_array(table.values[:, columns])
    rows, places = cells.coords
    values = cells.data
    missing = np.flatnonzero(nominal[places] & np.isnan(values))
    if len(missing):
        i, k = rows[missing[0]], columns[places[missing[0]]]
        raise table.error(f"the feature {quoted(table.attributes[k].name)} has no value", i)
    chosen = nominal[places]
    # The first value of a nominal feature is 0, which is nowhere stored.
    into = starts[places] + np.where(chosen, values - 1, 0).astype(np.int64)
    shape = (cells.shape[0], int(starts[-1]))
    kept = values != 0
    X = csr_array((np.where(chosen, 1.0, values)[kept], (rows[kept], into[kept])), shape=shape)
    X.sort_indices()
    flat = [name for each in names for name in each]
    return (_dense(table, X) if isinstance(table.values, np.ndarray) else X), flat


def _column_names(attribute: Attribute) -> list[str]:
    if attribute.kind == "numeric" or attribute.values == BINARY:
        return [attribute.name]
    return [f"{attribute.name}={value}" for value in attribute.values[1:]]


def _dense(table: ArffTable, values: FloatArray | csr_array) -> FloatArray:
    """An array of its own, if it is not too large."""
    n_rows, n_columns = values.shape
    if n_rows * n_columns > MOST_CELLS:
        raise table.error(f"{n_rows:,} rows with {n_columns:,} columns; at most {MOST_CELLS:,} cells are read")
    dense: FloatArray = values.copy() if isinstance(values, np.ndarray) else values.toarray()
    return dense
