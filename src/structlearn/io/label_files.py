"""What files say about labels: what it costs to confuse two of them, and a taxonomy above them."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator

from structlearn.io.text import Lines, Source, open_text, quoted


def read_costs(source: Source, encoding: str = "utf-8") -> dict[tuple[str, str], float]:
    """The costs of all pairs (true label, predicted label), from CSV with a row a true label.

    The first line names the predicted labels, after a cell that is not read; each further line begins with its true
    label. Rows and columns have the same labels; a right label costs 0.

    Raises
    ------
    FormatError
        Names file and line of what is no such matrix.

    Examples
    --------
    >>> import io
    >>> read_costs(io.BytesIO(b",ill,well\\nill,0,5\\nwell,1,0\\n"))
    {('ill', 'ill'): 0.0, ('ill', 'well'): 5.0, ('well', 'ill'): 1.0, ('well', 'well'): 0.0}
    """
    with open_text(source, encoding) as lines:
        rows = _rows(lines)
        _, header = next(rows, (0, [""]))
        labels = [label.strip() for label in header[1:]]
        if not labels or not all(labels):
            raise lines.error(f"expected a cell and then the labels, found {quoted(','.join(header))}", line=1)
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise lines.error(f"the label {quoted(twice)} is there twice", line=1)
        costs: dict[tuple[str, str], float] = {}
        for number, (first, *cells) in rows:
            true = first.strip()
            if true not in labels or (true, labels[0]) in costs:
                why = "is there twice" if true in labels else "is none of those in the first line"
                raise lines.error(f"the label {quoted(true)} {why}", line=number)
            if len(cells) != len(labels):
                raise lines.error(f"expected {len(labels)} costs of {quoted(true)}, found {len(cells)}", line=number)
            for label, cell in zip(labels, cells, strict=True):
                costs[true, label] = _cost(lines, number, true, label, cell)
        missing = next((label for label in labels if (label, labels[0]) not in costs), None)
        if missing is not None:
            raise lines.error(f"there is no line for the true label {quoted(missing)}")
        return costs


def read_parents(source: Source, encoding: str = "utf-8") -> dict[str, list[str]]:
    """The parents of every node of a taxonomy, from CSV with a node and one of its parents a line.

    What only occurs as a parent is a root. Lines that begin with "#" are comments.

    Raises
    ------
    FormatError
        Names file and line of what is no such pair.

    Examples
    --------
    >>> import io
    >>> read_parents(io.BytesIO(b"cat,pet\\ndog,pet\\npet,animal\\n"))
    {'cat': ['pet'], 'dog': ['pet'], 'pet': ['animal']}
    """
    with open_text(source, encoding) as lines:
        parents: dict[str, list[str]] = {}
        for number, row in _rows(lines):
            cells = [cell.strip() for cell in row]
            if len(cells) != 2 or not all(cells):
                raise lines.error(f"expected a node and its parent, found {quoted(','.join(row))}", line=number)
            node, parent = cells
            if parent in parents.setdefault(node, []):
                raise lines.error(f"{quoted(node)} below {quoted(parent)} is there twice", line=number)
            parents[node].append(parent)
        if not parents:
            raise lines.error("the file holds no node")
        return parents


def _rows(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """The cells of all lines but blank ones and comments, with their numbers."""
    for line in lines:
        if line.strip() and not line.startswith("#"):
            yield lines.number, next(csv.reader([line]))


def _cost(lines: Lines, number: int, true: str, label: str, cell: str) -> float:
    try:
        cost = float(cell)
    except ValueError:
        cost = math.nan
    if not (0.0 <= cost < math.inf) or "_" in cell:
        raise lines.error(f"{quoted(cell)} is no cost of {quoted(true)} as {quoted(label)}: a number ≥ 0", line=number)
    if true == label and cost:
        raise lines.error(f"{quoted(true)} as itself costs {cost:g}; a right label costs nothing", line=number)
    return cost
