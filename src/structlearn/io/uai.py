"""Graphical models in the format of the UAI inference competitions: factors, evidence and answers.

A file has the word MARKOV or BAYES, the number of variables, how many labels each has, the number of factors, the
variables of each factor after how many these are, and the values of each factor after how many those are, the label of
the last variable running fastest. Values are the factors themselves, not logarithms; a zero forbids. Evidence is a
number of variables, then a variable and its label each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from math import prod
from os import PathLike
from pathlib import Path

import numpy as np

from structlearn.data.arrays import FloatArray, LabelArray
from structlearn.data.factor_graphs import FactorGraph, GridGraph
from structlearn.data.ragged import Ragged
from structlearn.io.numbers import write_number
from structlearn.io.text import FormatError, Lines, Source, open_text, quoted

#: Labels of all variables together, which take memory also where no factor has them.
MOST_LABELS = 2**24
#: Joint labels of a factor that is written.
LARGEST_TABLE = 2**24
#: Numbers are of these characters, and so are neither nan nor inf nor 0x1.
_FIGURES = re.compile(r"[0-9+\-.eE]+")
_WHOLE = re.compile(r"[0-9]{1,18}")


def read_uai(source: Source, evidence: Source | None = None, encoding: str = "utf-8") -> FactorGraph:
    """The factor graph of a UAI file, where the labels of the evidence are the only ones of their variables.

    Parameters
    ----------
    source : path, "-" or binary stream
        Packed files are unpacked.
    evidence : path, "-" or binary stream, optional
    encoding : str

    Examples
    --------
    >>> import io
    >>> graph = read_uai(io.BytesIO(b"MARKOV 2  2 2  1  2 0 1  4  1 2 3 0"))
    >>> graph, round(float(np.exp(graph.score([1, 0]))), 6), graph.score([1, 1])
    (FactorGraph(2 variables, 1 factor), 3.0, -inf)
    """
    with open_text(source, encoding) as lines:
        graph = _Reader(lines).graph()
    return graph if evidence is None else graph.given(read_evidence(evidence, graph, encoding))


def read_evidence(source: Source, graph: FactorGraph, encoding: str = "utf-8") -> dict[int, int]:
    """The labels that are known, by their variables.

    Examples
    --------
    >>> import io
    >>> graph = FactorGraph.of([2, 3], [])
    >>> read_evidence(io.BytesIO(b"1  1 2"), graph)
    {1: 2}
    """
    with open_text(source, encoding) as lines:
        reader = _Reader(lines)
        numbers = reader.rest()
        # Older files begin with the number of samples, which is one.
        old = len(numbers) > 1 and numbers[0] == 1 and len(numbers) == 2 + 2 * numbers[1]
        n, *pairs = numbers[1:] if old else numbers or [0]
        if len(pairs) != 2 * n:
            raise reader.error(f"expected {n} variables with a label each, found {len(pairs)} numbers")
        found: dict[int, int] = {}
        for variable, label in zip(pairs[::2], pairs[1::2], strict=True):
            if variable >= graph.n_variables:
                raise reader.error(f"variable {variable} is known; there are {graph.n_variables}")
            if label >= graph.n_labels[variable]:
                raise reader.error(f"variable {variable} has label {label}; there are {graph.n_labels[variable]}")
            if found.setdefault(variable, label) != label:
                raise reader.error(f"variable {variable} has label {found[variable]} and label {label}")
        return found


def write_uai(graph: FactorGraph | GridGraph, path: str | PathLike[str]) -> None:
    """A factor graph as a UAI file, compact factors as tables; refused where exp of a score is no number."""
    if isinstance(graph, GridGraph):
        graph = graph.factor_graph
    sizes = np.diff(graph.factor_offsets)
    if sizes.max(initial=0) > LARGEST_TABLE or sizes.min(initial=1) < 1:
        f = int(np.argmax(np.where(sizes < 1, LARGEST_TABLE + 1, sizes)))
        raise ValueError(
            f"factor {f} would be a table of more than {LARGEST_TABLE:,} values, which UAI files do not save"
        )
    Path(path).write_text("".join(f"{line}\n" for line in _written(graph)), encoding="ascii")


def format_map(labels: LabelArray) -> str:
    """The answer of the task MAP: how many labels there are, and the labels.

    >>> format_map(np.array([1, 0]))
    'MAP\\n2 1 0\\n'
    """
    return f"MAP\n{' '.join(map(str, [labels.size, *labels.ravel().tolist()]))}\n"


def format_marginals(nodes: Ragged) -> str:
    """The answer of the task MAR: the number of variables, then of each that of its labels and their probabilities."""
    parts = [str(len(nodes))]
    for node in nodes:
        parts += [str(len(node)), *map(write_number, node)]
    return f"MAR\n{' '.join(parts)}\n"


def format_log_z(log_z: float) -> str:
    """The answer of the task PR: the logarithm to the base of ten of the sum.

    >>> format_log_z(math.log(1000))
    'PR\\n3.0\\n'
    """
    return f"PR\n{round(log_z / math.log(10), 12)}\n"


class _Reader:
    """The numbers of a file one after another, whatever the lines."""

    def __init__(self, lines: Lines):
        self._lines = lines
        self._words: Iterator[str] = (word for line in lines for word in line.split())

    def graph(self) -> FactorGraph:
        kind = next(self._words, "")
        if kind.upper() not in ("MARKOV", "BAYES"):
            raise self.error(f"expected MARKOV or BAYES, found {quoted(kind)}")
        n_variables = self._whole("the number of variables")
        n_labels = self._several(n_variables, "the number of labels of a variable")
        if 0 in n_labels:
            raise self.error(f"variable {n_labels.index(0)} has no labels")
        if sum(n_labels) > MOST_LABELS:
            raise self.error(f"the variables have {sum(n_labels)} labels; at most {MOST_LABELS} are read")
        scopes = [self._scope(f, n_variables) for f in range(self._whole("the number of factors"))]
        factors = [(scope, self._table(f, [n_labels[i] for i in scope])) for f, scope in enumerate(scopes)]
        if word := next(self._words, ""):
            raise self.error(f"{quoted(word)} after the last factor")
        return FactorGraph.of(np.array(n_labels, np.int64), factors)

    def rest(self) -> list[int]:
        """All numbers to come."""
        return [self._parsed(word, "a number") for word in self._words]

    def error(self, message: str) -> FormatError:
        return self._lines.error(message)

    def _scope(self, f: int, n_variables: int) -> list[int]:
        scope = self._several(self._whole(f"the number of variables of factor {f}"), f"a variable of factor {f}")
        bad = next((i for i in scope if i >= n_variables), None)
        if bad is not None:
            raise self.error(f"factor {f} has variable {bad}; there are {n_variables}")
        if len(set(scope)) < len(scope):
            raise self.error(f"factor {f} has a variable twice")
        return scope

    def _table(self, f: int, shape: list[int]) -> FloatArray:
        size = self._whole(f"the number of values of factor {f}")
        if size != prod(shape):
            raise self.error(f"factor {f} has {size} values; its variables have {prod(shape)} joint labels")
        words = self._take(size, f"a value of factor {f}")
        for word in words:
            if not _FIGURES.fullmatch(word):
                raise self.error(f"expected a value of factor {f}, found {quoted(word)}")
        try:
            values = np.array(words, np.float64).reshape(shape)
        except ValueError as error:
            raise self.error(f"a value of factor {f} is no number: {error}") from None
        bad = values[~((values >= 0.0) & (values < np.inf))]
        if bad.size:
            raise self.error(f"factor {f} has the value {bad[0]}; expected a finite number ≥ 0")
        with np.errstate(divide="ignore"):
            return np.log(values)

    def _whole(self, what: str) -> int:
        return self._several(1, what)[0]

    def _several(self, n: int, what: str) -> list[int]:
        return [self._parsed(word, what) for word in self._take(n, what)]

    def _take(self, n: int, what: str) -> list[str]:
        words = list(islice(self._words, n))
        if len(words) < n:
            raise self.error(f"expected {what}, found the end of the file")
        return words

    def _parsed(self, word: str, what: str) -> int:
        if not _WHOLE.fullmatch(word):
            raise self.error(f"expected {what}, found {quoted(word)}")
        return int(word)


def _written(graph: FactorGraph) -> Iterator[str]:
    unaries = [graph.unary(i).copy() for i in range(graph.n_variables)]
    constant = float(graph.constants.sum())
    if unaries:
        unaries[0] += constant
    scopes = [[i] for i in range(len(unaries))] + [graph.scope(f).tolist() for f in range(graph.n_factors)]
    yield "MARKOV"
    yield str(graph.n_variables)
    yield _listed(graph.n_labels.tolist())
    yield str(len(scopes))
    yield from (_listed([len(scope), *scope]) for scope in scopes)
    for f, table in enumerate([*unaries, *(graph.table(f) for f in range(graph.n_factors))]):
        yield f"{table.size}\n{' '.join(map(write_number, _exponentials(table, f)))}"


def _exponentials(table: FloatArray, f: int) -> list[float]:
    with np.errstate(over="ignore"):
        values = np.exp(table)
    bad = table[(values == np.inf) | ((values == 0.0) & (table > -np.inf))]
    if bad.size:
        raise ValueError(f"the file's factor {f} has the score {bad[0]}, whose exponential is no number")
    return [float(value) for value in values.ravel()]


def _listed(numbers: Iterable[int]) -> str:
    return " ".join(map(str, numbers))
