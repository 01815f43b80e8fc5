"""Graphs that an engine does not take."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from structlearn.data.factor_graphs.reduction import ReducedGraph


class UnsuitedGraphError(ValueError):
    """A factor or variables are not what an engine takes.

    Engines see graphs without what is known and count what is left, so the text has `{factor}` and `{variables[0]}`
    where these numbers belong.

    Examples
    --------
    >>> str(UnsuitedGraphError("factor {factor}, of variable {variables[0]}, is too large", 3, [7]))
    'factor 3, of variable 7, is too large'
    """

    def __init__(self, text: str, factor: int | None = None, variables: list[int] | None = None):
        super().__init__(text.format(factor=factor, variables=variables))
        self._text = text
        self._factor = factor
        self._variables = variables or []

    def of(self, reduced: ReducedGraph) -> UnsuitedGraphError:
        """The same in the numbers of the whole graph."""
        factor = None if self._factor is None else int(reduced.factors[self._factor])
        return type(self)(self._text, factor, reduced.variables[self._variables].tolist())


class NotSubmodularError(UnsuitedGraphError):
    """Raised by cuts for a factor whose variables like to differ."""


@contextmanager
def refused_by_number(reduced: ReducedGraph) -> Iterator[None]:
    """Where an engine that was given what is left refuses it in the numbers of the whole graph."""
    try:
        yield
    except UnsuitedGraphError as error:
        raise error.of(reduced) from None
