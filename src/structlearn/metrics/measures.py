"""Scores of a structure's own, each a formula of counts that are summed over examples."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from structlearn.data.arrays import Flags, FloatArray, IntArray
from structlearn.metrics.resampled import Formula

#: What columns of counts are called, and the scores that follow from them.
Columns = tuple[Hashable, ...]
Formulas = Mapping[str, Formula]


class Measures:
    """What `Model.measures` counts in each example, and the scores that follow from sums of it.

    From one resampling of the examples come the intervals of all scores, since a score of a resample needs no more than
    its sums. The mean of a value is the quotient of its sum and the sum of a column of ones.

    Examples may also be counted piece by piece. If which columns there are depends on the examples, as where there are
    three for each label that occurs, they need names, and `formulas` is a function of those of all pieces.

    Parameters
    ----------
    counts : (n_examples, k)
        Any numbers that may be added.
    formulas : mapping from name to function, or a function that makes it of the names of columns
        Each takes sums (…, k) and gives scores (…), vectorised and finite whatever the sums; `ratio` divides so. In
        names _ stands for a blank. The first score is the one to look at first.
    right : (n_examples,) of bool, optional
        Which outputs are right, where == cannot tell.
    columns : k different names, optional
        For a function; a piece that lacks a column counts 0 there. They are numbered by default.

    Examples
    --------
    >>> from structlearn.metrics import ratio
    >>> found = Measures([[1, 2], [3, 4]], {"recall": lambda sums: ratio(sums[..., 0], sums[..., 1])})
    >>> found.scores()
    {'recall': 0.6666666666666666}
    """

    def __init__(
        self,
        counts: npt.ArrayLike,
        formulas: Formulas | Callable[[Columns], Formulas],
        right: Flags | None = None,
        columns: Sequence[Hashable] | None = None,
    ):
        self.counts: FloatArray = np.asarray(counts, np.float64)
        self.right = right
        if self.counts.ndim != 2:
            raise ValueError(f"counts has shape {self.counts.shape}; expected a row for each example")
        if not np.isfinite(self.counts).all():
            i, k = np.argwhere(~np.isfinite(self.counts))[0].tolist()
            raise ValueError(f"counts[{i}, {k}] is {self.counts[i, k]}; it must be finite")
        if right is not None and np.shape(right) != self.counts.shape[:1]:
            raise ValueError(f"right has shape {np.shape(right)}, but counts has {len(self.counts)} rows")
        self.columns = tuple(range(self.counts.shape[1]) if columns is None else columns)
        if len(set(self.columns)) != self.counts.shape[1]:
            raise ValueError(f"columns has {len(set(self.columns))} names, but counts {self.counts.shape[1]} columns")
        self._formulas = formulas

    @property
    def formulas(self) -> Formulas:
        """The scores by name."""
        return self._formulas(self.columns) if callable(self._formulas) else self._formulas

    def scores(self) -> dict[str, float]:
        """The scores of all examples together."""
        sums = np.sum(self.counts, axis=0)
        return {name: float(formula(sums)) for name, formula in self.formulas.items()}


def joined(pieces: Sequence[Measures]) -> Measures:
    """The measures of all examples from those of pieces of them, in order.

    >>> from structlearn.metrics.resampled import quotient
    >>> def shares(columns):
    ...     return {f"share of {name}": quotient(k, 0) for k, name in enumerate(columns) if k}
    >>> pieces = [Measures([[4, n]], shares, columns=["all", name]) for name, n in (("a", 1), ("b", 2))]
    >>> found = joined(pieces)
    >>> found.counts.tolist(), found.scores()
    ([[4.0, 1.0, 0.0], [4.0, 0.0, 2.0]], {'share of a': 0.125, 'share of b': 0.25})
    """
    first = pieces[0]
    columns = tuple(dict.fromkeys(name for piece in pieces for name in piece.columns))
    for k, piece in enumerate(pieces):
        named = callable(piece._formulas) and callable(first._formulas)
        if not named and (piece.columns != first.columns or list(piece.formulas) != list(first.formulas)):
            raise ValueError(
                f"measures has other columns or scores in piece {k} than in piece 0; Measures takes names of columns, "
                "and formulas that are a function of these names"
            )
    counts = np.zeros((sum(len(piece.counts) for piece in pieces), len(columns)))
    place, begin = {name: k for k, name in enumerate(columns)}, 0
    for piece in pieces:
        counts[begin : begin + len(piece.counts), [place[name] for name in piece.columns]] = piece.counts
        begin += len(piece.counts)
    right = [piece.right for piece in pieces if piece.right is not None]
    return Measures(counts, first._formulas, np.concatenate(right) if len(right) == len(pieces) else None, columns)


def class_columns(classes: Sequence[Any], parts: Sequence[str]) -> list[tuple[Any, str]]:
    """Names of columns of which each class has some."""
    return [(each, part) for each in classes for part in parts]


def classes_in(columns: Columns, parts: Sequence[str]) -> tuple[tuple[Any, ...], IntArray]:
    """The classes that have columns, in one order whatever that of the columns, and their places (n_classes, n_parts).

    Sums of numbers such as 0.1 depend on the order.

    >>> classes_in(("all", *class_columns("ba", ["right", "wrong"])), ["right", "wrong"])
    (('a', 'b'), array([[3, 4],
           [1, 2]]))
    """
    at = {name: k for k, name in enumerate(columns)}
    found = dict.fromkeys(name[0] for name in columns if isinstance(name, tuple))
    classes = sorted(found, key=lambda each: (type(each).__name__, str(each)))
    places = [[at[each, part] for part in parts] for each in classes]
    return tuple(classes), np.array(places, np.int64).reshape(-1, len(parts))
