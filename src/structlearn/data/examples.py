"""Lists of examples, whatever these are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any, NamedTuple

import numpy as np

from structlearn.wording import shown


class Words(NamedTuple):
    """What messages call an example, its places, one of these, and the matrix of their features."""

    example: str
    places: str
    each: str
    matrix: str

    @property
    def place(self) -> str:
        """
        >>> EDGES.place
        'edge'
        """
        return self.each.split()[-1]


SEQUENCES = Words("sequence", "rows", "a token", "a sequence is a matrix with a row a token")
NODES = Words("graph", "nodes", "a node", "the nodes of a graph are a matrix with a row a node")
EDGES = Words("graph", "edges", "an edge", "the features of edges are a matrix with a row an edge")


def check_examples(name: str, given: Any) -> None:
    """Refuses what has no length or no order.

    >>> check_examples("X", 3)
    Traceback (most recent call last):
    ...
    ValueError: X is 3; a list or an array is needed
    """
    if isinstance(given, Iterator):
        raise TypeError(f"{name} is a {type(given).__name__}; a list or an array is needed")
    if not is_listed(given):
        raise ValueError(f"{name} is {shown(given)}; a list or an array is needed")


def is_listed(given: Any) -> bool:
    """Whether something has a length and an order, and is no text.

    >>> is_listed([]), is_listed("text"), is_listed({1}), is_listed(3)
    (True, False, False, False)
    """
    if type(given) in (list, tuple):
        return True
    held = not isinstance(given, type) and (hasattr(given, "__len__") or hasattr(given, "__array__"))
    return held and not isinstance(given, (str, bytes, Set, Mapping)) and getattr(given, "shape", None) != ()


def same_output(left: Any, right: Any) -> bool:
    """Whether two outputs are the same, arrays and containers of arrays included.

    >>> same_output([np.arange(2), "a"], ((0, 1), "a")), same_output(np.ones(2), 1)
    (True, False)
    """
    listed = [isinstance(each, (list, tuple)) or np.ndim(each) > 0 for each in (left, right)]
    if all(listed):
        return len(left) == len(right) and all(map(same_output, left, right))
    return not any(listed) and bool(np.all(left == right))
